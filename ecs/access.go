package ecs

import (
	"fmt"
	"math/bits"
)

// Access holds the types of one world that are read and the types that are written. The zero value
// holds none.
type Access struct{ reads, writes signature }

// Access returns the types that a loop over the query reads or may write. These are the types
// declared with Read and Write, alone and inside other terms. The types whose enable bits decide
// which rows match, and the types of Changed and Between terms, count as read. Other terms add
// nothing, because only structural changes alter which entity has which type or shared value.
func (q *Query) Access() Access { return q.accesses("Query.Access", false) }

// accesses returns the access of a loop over the query. With looks it returns only the types that
// decide which rows match.
func (q *Query) accesses(op string, looks bool) (a Access) {
	q.checkOpen(op)
	for i := range q.terms {
		t := &q.terms[i]
		for _, o := range t.of {
			a.add(o.t.id, t.accessTo(o, looks))
		}
	}
	return a
}

func (a *Access) add(id typeID, access uint8) {
	if access&mayWrite != 0 {
		a.writes.Add(id)
	} else if access != 0 {
		a.reads.Add(id)
	}
}

// join adds the types that b reads and writes to a.
func (a *Access) join(b *Access) {
	if b == nil {
		panic("ecs: seam.Join: the access is nil")
	}
	for i := range a.reads {
		a.reads[i] |= b.reads[i]
		a.writes[i] |= b.writes[i]
	}
}

// conflicts reports whether a and b must not be used at the same time: one of them writes a type
// that the other reads or writes.
func (a *Access) conflicts(b *Access) bool {
	if b == nil {
		panic("ecs: seam.Conflicts: the access is nil")
	}
	return a.writes.Meets(&b.writes) || a.writes.Meets(&b.reads) || a.reads.Meets(&b.writes)
}

// Conflicts returns the names of the types by which a and b conflict, in order of registration: the
// types that one of them writes and the other reads or writes. It returns nil if they do not
// conflict. A closed world answers too. Conflicts panics for types that the world does not have.
func (w *World) Conflicts(a, b Access) (names []string) {
	if w == nil || w.u == nil {
		panic("ecs: World.Conflicts: " + unmade["World"])
	}
	for i := range a.reads {
		of := a.writes[i]&(b.reads[i]|b.writes[i]) | a.reads[i]&b.writes[i]
		for ; of != 0; of &= of - 1 {
			id := i*64 + bits.TrailingZeros64(of)
			if id >= len(w.types.list) {
				panic(fmt.Sprintf("ecs: World.Conflicts: the accesses have type %d, the world has %d types: they are of another world", id, len(w.types.list)))
			}
			names = append(names, w.types.list[id].name)
		}
	}
	return names
}

// accessTo returns the access of a loop to an operand of the term: mayRead if its enable bits or
// versions are checked, plus, unless looks is set, the declared access.
func (t *Term) accessTo(o operand, looks bool) (access uint8) {
	if t.looksAt(o) || !looks && t.shows(o) {
		access = mayRead
	}
	if !looks {
		access |= o.access
	}
	return access
}

// shows reports whether loops may ask for the enable bits of an operand, whatever its access: the
// term requires the type, and so names it for its bits.
func (t *Term) shows(o operand) bool {
	switch t.kind {
	case termWith, termDisabled, termPresent:
		return o.t.enableable
	}
	return false
}

// looksAt reports whether enable bits or versions of an operand decide which rows match.
func (t *Term) looksAt(o operand) bool {
	switch t.kind {
	case termChanged, termBetween:
		return true
	case termOptional, termPresent, termAbsent:
		return false
	}
	return o.t.enableable
}
