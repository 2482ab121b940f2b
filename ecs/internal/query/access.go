package query

import (
	"fmt"
	"math/bits"

	"quarry/ecs/internal/world"
)

// Access is ecs.Query.Access.
func (q *Query) Access() world.Access { return q.Accesses("Query.Access", false) }

// Accesses returns the access of a loop over the query. With looks it returns only the types that
// decide which rows match.
func (q *Query) Accesses(op string, looks bool) (a world.Access) {
	q.CheckOpen(op)
	for i := range q.Terms {
		t := &q.Terms[i]
		for _, o := range t.Of {
			a.Add(o.Type.ID, t.accessTo(o, looks))
		}
	}
	return a
}

// Conflicts is ecs.World.Conflicts.
func Conflicts(w *world.World, a, b world.Access) (names []string) {
	if w == nil || w.Universe == nil {
		panic("ecs: World.Conflicts: " + world.Unmade["World"])
	}
	for i := range a.Reads {
		of := a.Writes[i]&(b.Reads[i]|b.Writes[i]) | a.Reads[i]&b.Writes[i]
		for ; of != 0; of &= of - 1 {
			id := i*64 + bits.TrailingZeros64(of)
			if id >= len(w.Types.List) {
				panic(
					fmt.Sprintf("ecs: World.Conflicts: the accesses have type %d, the world has %d types: they are of another world",
						id, len(w.Types.List)))
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
		access = world.MayRead
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
