package ecs

import (
	"iter"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Faces and cores. A type of this package that package world has too is a struct around its core,
// and nothing else, so a pointer to the one is a pointer to the other: worlds, archetypes and the
// rest have one address. TestCores compares the sizes.

// coresOf views a list of faces, or of pointers to them, as one of their cores, and the reverse. It
// keeps the capacity.
func coresOf[C, F any](list []F) []C {
	// Safe because callers name a face and its core, or pointers to them.
	return unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(list))), cap(list))[:len(list)]
}

// entitiesOf views ids as entities; idsOf views entities as ids. Both keep the capacity.
func entitiesOf(ids []entity.ID) []Entity {
	// Safe because an Entity is an ID.
	return unsafe.Slice((*Entity)(unsafe.SliceData(ids)), cap(ids))[:len(ids)]
}

func idsOf(list []Entity) []entity.ID {
	// Safe because an Entity is an ID.
	return unsafe.Slice((*entity.ID)(unsafe.SliceData(list)), cap(list))[:len(list)]
}

// onCore is f for the cores of worlds; nil for nil.
func onCore(f func(*World)) func(*world.World) {
	if f == nil {
		return nil
	}
	return func(w *world.World) { f(worldFrom(w)) }
}

// Functions that walks call for each element are used as they are: a face and its core are passed
// in the same registers, so a function of the one is a function of the other.

func coreYield(f func(Rows) bool) func(query.Rows) bool {
	return *(*func(query.Rows) bool)(unsafe.Pointer(&f)) // Safe because a Rows is its core.
}

func idVisit(f func(*Entity)) func(*entity.ID) {
	return *(*func(*entity.ID))(unsafe.Pointer(&f)) // Safe because an Entity is an ID.
}

func idYield(f func(Entity) bool) func(entity.ID) bool {
	return *(*func(entity.ID) bool)(unsafe.Pointer(&f)) // Safe because an Entity is an ID.
}

func idNamed(f func(Entity, string) bool) func(entity.ID, string) bool {
	return *(*func(entity.ID, string) bool)(unsafe.Pointer(&f)) // Safe because an Entity is an ID.
}

// seqOf returns a walk over ids as one over entities.
func seqOf(ids iter.Seq[entity.ID]) iter.Seq[Entity] {
	return func(yield func(Entity) bool) { ids(idYield(yield)) }
}
