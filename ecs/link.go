package ecs

import "unsafe"

// Links: the entities that stand in components and in elements of buffers, wherever a type
// has a field of type Entity.

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
				t.eachLink(at.Element(c.Offset, c.Size), visit)
				at.Row++
			}
			left -= k
		}
	}
}

// eachLink calls visit for the links of a component at p, or of the elements of a buffer.
func (t *typeInfo) eachLink(p unsafe.Pointer, visit func(*Entity)) {
	n := 1
	if t.buffer {
		h := (*header)(p) // Safe because a buffer's value is a header.
		p, n = t.w.elements(h), int(h.length)
	}
	for i := range n {
		for _, offset := range t.links {
			// Safe because a value, or an element, has an entity there.
			visit((*Entity)(unsafe.Add(p, uintptr(i*t.element)+offset)))
		}
	}
}
