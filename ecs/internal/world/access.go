package world

import (
	"fmt"
	"math/bits"
)

// Access is ecs.Access.
type Access struct{ reads, writes Signature }

// Access is ecs.Query.Access.
func (q *Query) Access() Access { return q.Accesses("Query.Access", false) }

// Accesses returns the access of a loop over the query. With looks it returns only the types that
// decide which rows match.
func (q *Query) Accesses(op string, looks bool) (a Access) {
	q.CheckOpen(op)
	for i := range q.Terms {
		t := &q.Terms[i]
		for _, o := range t.Of {
			a.add(o.Type.ID, t.accessTo(o, looks))
		}
	}
	return a
}

func (a *Access) add(id TypeID, access uint8) {
	if access&MayWrite != 0 {
		a.writes.Add(id)
	} else if access != 0 {
		a.reads.Add(id)
	}
}

// Join adds the types that b reads and writes to a.
func (a *Access) Join(b *Access) {
	if b == nil {
		panic("ecs: seam.Join: the access is nil")
	}
	for i := range a.reads {
		a.reads[i] |= b.reads[i]
		a.writes[i] |= b.writes[i]
	}
}

// Conflicts reports whether a and b must not be used at the same time: one of them writes a type
// that the other reads or writes.
func (a *Access) Conflicts(b *Access) bool {
	if b == nil {
		panic("ecs: seam.Conflicts: the access is nil")
	}
	return a.writes.Meets(&b.writes) || a.writes.Meets(&b.reads) || a.reads.Meets(&b.writes)
}

// Conflicts is ecs.World.Conflicts.
func (w *World) Conflicts(a, b Access) (names []string) {
	if w == nil || w.Universe == nil {
		panic("ecs: World.Conflicts: " + Unmade["World"])
	}
	for i := range a.reads {
		of := a.writes[i]&(b.reads[i]|b.writes[i]) | a.reads[i]&b.writes[i]
		for ; of != 0; of &= of - 1 {
			id := i*64 + bits.TrailingZeros64(of)
			if id >= len(w.Types.List) {
				panic(fmt.Sprintf("ecs: World.Conflicts: the accesses have type %d, the world has %d types: they are of another world", id, len(w.Types.List)))
			}
			names = append(names, w.Types.List[id].Name)
		}
	}
	return names
}

// accessTo returns the access of a loop to an operand of the term: MayRead if its enable bits or
// versions are checked, plus, unless looks is set, the declared access.
func (t *Term) accessTo(o Operand, looks bool) (access uint8) {
	if t.looksAt(o) || !looks && t.shows(o) {
		access = MayRead
	}
	if !looks {
		access |= o.Access
	}
	return access
}

// shows reports whether loops may ask for the enable bits of an operand, whatever its access: the
// term requires the type, and so names it for its bits.
func (t *Term) shows(o Operand) bool {
	switch t.Kind {
	case TermWith, TermDisabled, TermPresent:
		return o.Type.Enableable
	}
	return false
}

// looksAt reports whether enable bits or versions of an operand decide which rows match.
func (t *Term) looksAt(o Operand) bool {
	switch t.Kind {
	case TermChanged, TermBetween:
		return true
	case TermOptional, TermPresent, TermAbsent:
		return false
	}
	return o.Type.Enableable
}
