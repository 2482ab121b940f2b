package ecs

import (
	"reflect"
	"unsafe"
)

// Links: the entities that stand in components, in elements of buffers and in managed and
// shared values, wherever a type has a field of type Entity; behind pointers, in slices,
// maps and interfaces they are not found.

// linked returns the values of a row whose links count: a component's is the one at p, a
// buffer's are its elements, and a managed type's is in its store.
func (t *typeInfo) linked(p unsafe.Pointer) (first unsafe.Pointer, n int) {
	switch {
	case t.buffer:
		h := (*header)(p) // Safe because a buffer's column holds headers.
		return t.w.elements(h), int(h.length)
	case t.managed != nil:
		s := *(*slot)(p) // Safe because a managed type's column holds slots.
		return t.managed.at(s), int(min(s, 1))
	}
	return p, 1
}

// linkAt returns a link of the i'th of some values.
func (t *typeInfo) linkAt(first unsafe.Pointer, i int, offset uintptr) *Entity {
	// Safe because each value has an entity there; buffers have element bytes each, and
	// others one value.
	return (*Entity)(unsafe.Add(first, uintptr(i*t.element)+offset))
}

// eachLink calls visit for the links of some rows. It is one call a link, so it serves what
// rewrites all links of an archetype: moving and cloning worlds.
func (rows span) eachLink(visit func(*Entity)) {
	a := rows.a
	for _, c := range a.grid.Columns() {
		t := a.w.types[c.Key]
		if len(t.links) == 0 {
			continue
		}
		pos, row := a.grid.Find(rows.start)
		for left := rows.n; left > 0; pos, row = pos+1, 0 {
			k := min(left, a.grid.RowsOf(pos)-row)
			at := a.grid.Row(pos, row)
			for range k {
				first, n := t.linked(at.Element(c.Offset, c.Size))
				for i := range n {
					for _, offset := range t.links {
						visit(t.linkAt(first, i, offset))
					}
				}
				at.Row++
			}
			left -= k
		}
	}
}

// appendLinks appends where a value of a type has entities, if it begins at at.
func appendLinks(to []uintptr, t reflect.Type, at uintptr) []uintptr {
	switch {
	case t == reflect.TypeFor[Entity]():
		return append(to, at)
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			to = appendLinks(to, t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			to = appendLinks(to, t.Field(i).Type, at+t.Field(i).Offset)
		}
	}
	return to
}
