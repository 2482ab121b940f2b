package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/world"
)

// GetList appends to dst the result of Get for each entity, which is nil if the entity is not alive
// or does not have the component, and returns the extended dst. Entities may repeat. The pointers
// are valid until the next structural change of the world. When GetList returns, the values' cache
// lines are being prefetched: look up a few hundred entities and then use them, rather than a
// million at once.
//
// GetList panics like Get for an entity of another world; the spare capacity of dst may have been
// written by then. It allocates only if that capacity is too small.
func (c Component[T]) GetList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.FindMany(world.OpGetMany, addresses(dst), idsOf(entities), false))
}

// MutList is GetList for writing: it also marks the component changed in the chunk of each entity.
// If it panics, some chunks may have been marked.
func (c Component[T]) MutList(dst []*T, entities []Entity) []*T {
	return pointersTo[T](c.t.FindMany(world.OpMutMany, addresses(dst), idsOf(entities), true))
}

// addresses and pointersTo convert a list of pointers to one without a type and back, so that
// FindMany is compiled once for all types.
func addresses[T any](list []*T) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Pointer(&list)) // Safe because all pointers have one form.
}

func pointersTo[T any](list []unsafe.Pointer) []*T {
	return *(*[]*T)(unsafe.Pointer(&list)) // Safe because what was found are addresses of a T, or nil.
}

// CopyList copies the component of each e = entities[i] to dst[i], and the zero value if e is not
// alive or does not have the component. It returns the number of missing components. Entities may
// repeat; dst must not lie in the world's memory. CopyList allocates nothing.
//
// CopyList panics if the lengths differ, before anything is written. It panics like Get for an
// entity of another world; the values before it may have been written by then.
func (c Component[T]) CopyList(dst []T, entities []Entity) (missing int) {
	const op = world.OpGather
	t := c.t
	t.Ready(op, false)
	if len(dst) != len(entities) {
		panic(fmt.Sprintf("ecs: %s: len(dst)=%d is not len(entities)=%d", op, len(dst), len(entities)))
	}
	// One block's values are copied while the next one's are on their way.
	var blocks [2]world.Found
	size, far := world.LookupBlock, t.IsFar()
	if far {
		size = world.FarBlock
	}
	n := t.FindBlock(op, blocks[0][:size], idsOf(entities), far, false)
	for turn := 0; n > 0; turn ^= 1 {
		entities = entities[n:]
		next := t.FindBlock(op, blocks[turn^1][:size], idsOf(entities), far, false)
		for i, p := range blocks[turn][:n] {
			if p == 0 {
				clear(dst[i : i+1])
				missing++
				continue
			}
			// Safe because p is the address of a T (L1), kept alive by the universe.
			dst[i] = **(**T)(unsafe.Pointer(&p))
		}
		dst, n = dst[n:], next
	}
	return missing
}
