package blob

import (
	"reflect"
	"unsafe"

	"quarry/ecs"
)

// A sweeping counts what the values of a world hold.
type sweeping struct {
	counts map[ecs.Entity]uint64 // of all blobs
	shared map[sharedValue]bool  // that have been counted
}

type sharedValue struct {
	of    reflect.Type
	value any
}

// Sweep makes the number of references of each blob what the world holds, destroys the blobs that
// nothing holds, and returns how many those were. So a program may forget Retain and Release and
// sweep now and then. Held is what an entity has in a component, an element of a buffer, a sparse
// value or a chunk's value, once for each place, and in a shared value, once for all entities that
// have it. An ecs.Entity that is the blob counts as a Blob does. What Go variables and managed
// types hold is not seen.
//
// Sweep is a structural change: it panics inside a loop over rows and while the world is lent.
// Cost: one pass over the values of types that hold entities; an allocation for each buffer, sparse
// and shared value of them.
func (s *Store) Sweep() (freed int) {
	s.world.DestroyList(nil) // panics where it must, before anything changes
	w := sweeping{counts: map[ecs.Entity]uint64{}, shared: map[sharedValue]bool{}}
	var all, dead []ecs.Entity // in the order of rows
	s.each(func(e ecs.Entity, _ *header) bool {
		w.counts[e] = 0
		all = append(all, e)
		return true
	})
	for _, c := range s.world.Components() {
		if offsets := entitiesIn(nil, c.Go, 0); len(offsets) > 0 && c.Kind != ecs.KindManaged {
			w.count(s.world, c, offsets)
		}
	}
	for _, e := range all {
		if w.counts[e] == 0 {
			dead = append(dead, e)
		}
	}
	s.world.DestroyList(dead)
	for _, e := range all {
		if n := w.counts[e]; n > 0 && s.heads.Get(e).Count != n {
			s.heads.Mut(e).Count = n
		}
	}
	s.makeIndex()
	return len(dead)
}

// count counts what values of a type hold, which have entities at offsets.
func (w *sweeping) count(world *ecs.World, c ecs.ComponentInfo, offsets []uintptr) {
	term := ecs.Present(ecs.Read(c.Type))
	if c.Kind == ecs.KindShared {
		term = ecs.With(c.Type)
	}
	q := ecs.NewQuery(world, term, ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	size := c.Go.Size()
	for rows := range q.Rows() {
		switch c.Kind {
		case ecs.KindComponent:
			column := rows.Bytes(c.Type)
			// Safe because it has Len values.
			w.add(unsafe.Pointer(unsafe.SliceData(column)), rows.Len(), size, offsets)
		case ecs.KindBuffer, ecs.KindSparse:
			for i := range rows.Each() {
				w.addValue(rows.Value(c.Type, i), c.Kind, size, offsets)
			}
		case ecs.KindShared:
			v := rows.Value(c.Type, 0)
			if k := (sharedValue{c.Go, v}); !w.shared[k] {
				w.shared[k] = true
				w.addValue(v, c.Kind, size, offsets)
			}
		case ecs.KindChunk:
			w.addValue(rows.Value(c.Type, 0), c.Kind, size, offsets)
		}
	}
}

// addValue counts the references in a value from Rows.Value.
func (w *sweeping) addValue(value any, k ecs.Kind, size uintptr, offsets []uintptr) {
	if value == nil {
		return
	}
	v := reflect.ValueOf(value)
	if k == ecs.KindBuffer {
		w.add(v.UnsafePointer(), v.Len(), size, offsets)
		return
	}
	held := reflect.New(v.Type())
	held.Elem().Set(v)
	w.add(held.UnsafePointer(), 1, size, offsets)
}

// add counts what n values from first on hold.
func (w *sweeping) add(first unsafe.Pointer, n int, size uintptr, offsets []uintptr) {
	for i := range n {
		for _, offset := range offsets {
			// Safe because each value has an entity there.
			e := *(*ecs.Entity)(unsafe.Add(first, uintptr(i)*size+offset))
			if c, ok := w.counts[e]; ok {
				w.counts[e] = c + 1
			}
		}
	}
}

// entitiesIn appends where a value of a type, which begins at an offset, holds entities.
func entitiesIn(to []uintptr, t reflect.Type, offset uintptr) []uintptr {
	switch {
	case t == reflect.TypeFor[ecs.Entity]():
		return append(to, offset)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			to = entitiesIn(to, t.Field(i).Type, offset+t.Field(i).Offset)
		}
	case t.Kind() == reflect.Array && t.Len() > 0 && len(entitiesIn(nil, t.Elem(), 0)) > 0:
		for i := range t.Len() {
			to = entitiesIn(to, t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	}
	return to
}
