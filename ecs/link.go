package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// linksOf returns a function that visits the entities in a T, or nil if a T has none.
func linksOf[T any]() func(x *T, visit func(*entity.ID)) {
	links := world.GoTypeOf(reflect.TypeFor[T]()).Links
	if len(links) == 0 {
		return nil
	}
	return func(x *T, visit func(*entity.ID)) {
		// Safe because the links are a T's.
		world.EachEntity(links, unsafe.Pointer(x), 1, 0, idVisit(func(e *Entity) { visit((*entity.ID)(e)) }))
	}
}
