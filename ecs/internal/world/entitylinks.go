package world

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Links: the entity values in components, in elements of buffers and in managed and shared values,
// wherever a type has a field of type Entity. They are found so that a copy or a move can rewrite
// them; a link is no relation that queries know. Entities that pointers lead to, and those in
// slices, maps and interfaces, are not found.

// EachEntity calls visit for each entity in n values of size bytes.
func EachEntity(links []Link, first unsafe.Pointer, n int, size uintptr, visit func(*entity.ID)) {
	for i := range n {
		for j := range links {
			// Safe because each value has entities at its links.
			l, p := &links[j], unsafe.Add(first, uintptr(i)*size+links[j].Offset)
			if l.Count == 0 {
				visit((*entity.ID)(p))
			} else {
				EachEntity(l.Each, p, l.Count, l.Size, visit)
			}
		}
	}
}

// Retag replaces the tag of one world by the tag of another in each entity of n values of size
// bytes.
func Retag(links []Link, first unsafe.Pointer, n int, size uintptr, from, to entity.Tag) {
	for j := range links {
		l := links[j] // in registers
		if l.Count == 0 {
			for i := range n {
				// Safe because each value has entities at its links.
				(*entity.ID)(unsafe.Add(first, uintptr(i)*size+l.Offset)).Retag(from, to)
			}
			continue
		}
		for i := range n {
			Retag(l.Each, unsafe.Add(first, uintptr(i)*size+l.Offset), l.Count, l.Size, from, to) // Safe likewise.
		}
	}
}

// appendLinks appends the offsets of the entities in a value of a type that begins at offset at.
func appendLinks(to []Link, t reflect.Type, at uintptr) []Link {
	switch {
	case t.Size() == 0: // an array of such elements may be too long to walk
	case t == EntityType:
		return append(to, Link{Offset: at})
	case t.Kind() == reflect.Array:
		if each := appendLinks(nil, t.Elem(), 0); len(each) > 0 {
			return append(to, Link{Offset: at, Count: t.Len(), Size: t.Elem().Size(), Each: each})
		}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			to = appendLinks(to, t.Field(i).Type, at+t.Field(i).Offset)
		}
	}
	return to
}

// Link is the place of an entity in a value, or of an array of elements that hold entities. The
// list of a type is as long as its declaration, however long its arrays are.
type Link struct {
	Offset uintptr // bytes from the start of the value, or of the element around it
	Count  int     // number of elements of an array; 0 if the link is an entity
	Size   uintptr // bytes of one element
	Each   []Link  // links in one element
}

// EntityType is the Go type of entities.
var EntityType reflect.Type
