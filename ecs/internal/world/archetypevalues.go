package world

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"quarry/ecs/internal/value"
)

// Values of archetypes. An archetype is a set of types and one value for each shared type among
// them. Each value is stored once, in the world's Go memory (ecs/internal/value):
//
//	[Position Cell=3]   chunks of the entities in cell 3
//	[Position Cell=7]   chunks of the entities in cell 7
//
// So chunks are grouped by value, at no cost per row. Whatever moves rows between archetypes also
// moves them between values; if layouts are equal, chunks change hands unchanged. An archetype
// knows its values, and the index of matches (ecs/internal/match) knows the archetypes of each
// value.
//
// Archetypes that were created for a value and have no rows any more are retired by World.Shrink,
// and by the next change or creation once they are as many as the others. A value is dropped with
// the last archetype that has it and the last query that names it.
//
// Invariant, checked by Verify:
//
//	W11 An archetype has one value for each of its shared types, which the store of the type
//	    knows, and its table has their serials. Archetypes hold the values that they have,
//	    queries hold the values that they name, and nothing else holds any: K1 to K3 of package value.

// TextOf returns a value of the type with its name, such as Cell=3, or Cell=(long) if it holds long
// arrays.
func (t *Type) TextOf(v *value.Shared) string { return t.Name + "=" + TextOf(v.Any()) }

// ValueOf returns the archetype's value of a shared type, or nil.
func (a *Archetype) ValueOf(id TypeID) *value.Shared { return ValueIn(a.Values, id) }

// UsualValues is a usual upper limit of an archetype's shared types: the stack has room for that
// many values.
const UsualValues = 8

// ValuesFor appends to all, which is empty, the values of an archetype with the types of sig, in
// order of type. The value of a type is the first found in given, in a, which may be nil, and in
// others; otherwise it is the zero value.
func (w *World) ValuesFor(all []*value.Shared, sig *Signature, given []*value.Shared, a *Archetype,
	others []*value.Shared) []*value.Shared {
	if !sig.Meets(&w.Types.Shared) {
		return nil
	}
	for i := range sig {
		for word := sig[i] & w.Types.Shared[i]; word != 0; word &= word - 1 {
			id := TypeID(i*64 + bits.TrailingZeros64(word))
			v := ValueIn(given, id)
			if v == nil && a != nil {
				v = a.ValueOf(id)
			}
			if v == nil {
				v = ValueIn(others, id)
			}
			if v == nil {
				v = w.Types.List[id].Shared.Zero()
			}
			all = append(all, v.Canonical())
		}
	}
	return all
}

// ValueIn returns the value of a type in a list, or nil.
func ValueIn(list []*value.Shared, id TypeID) *value.Shared {
	for _, v := range list {
		if TypeID(v.Type) == id {
			return v
		}
	}
	return nil
}

// verifyValues checks W11.
func (w *World) verifyValues() error {
	held, bySerial := map[*value.Shared]int{}, map[uint64]*value.Shared{}
	for v := range w.SharedValues() {
		bySerial[v.Serial] = v
	}
	for m := range w.Index.Matchings() {
		for _, serial := range slices.Concat(m.Where...) {
			v := bySerial[serial]
			if v == nil {
				return fmt.Errorf("ecs: W11: no store knows the value with serial %d, which %d queries name",
					serial, m.Queries())
			}
			held[v] += m.Queries()
		}
	}
	for _, a := range w.Archetypes.List {
		at := 0
		for _, id := range a.Table.Types {
			t := w.Types.List[id]
			if t.Kind != KindShared {
				continue
			}
			if at >= len(a.Values) || TypeID(a.Values[at].Type) != id {
				return fmt.Errorf("ecs: W11: %v has %d values, none of %s in its place", a, len(a.Values), t.Name)
			}
			v := a.Values[at]
			if at >= len(a.Table.Values) || a.Table.Values[at] != v.Serial {
				return fmt.Errorf("ecs: W11: %v has serials %d, that of %s is %d",
					a, a.Table.Values, t.TextOf(v), v.Serial)
			}
			if bySerial[v.Serial] != v {
				return fmt.Errorf("ecs: W11: the store does not know %s, which %v has", t.TextOf(v), a)
			}
			held[v]++
			at++
		}
		if at != len(a.Values) || at != len(a.Table.Values) {
			return fmt.Errorf("ecs: W11: %v has %d values for %d shared types", a, len(a.Values), at)
		}
	}
	for _, t := range w.Types.List {
		if t.Kind != KindShared {
			continue
		}
		if err := t.Shared.Verify(held); err != nil {
			return fmt.Errorf("ecs: W11: %s: %w", t.Name, err)
		}
	}
	return nil
}

// SharedValues yields all shared values in use, of all types.
func (w *World) SharedValues() iter.Seq[*value.Shared] {
	return func(yield func(*value.Shared) bool) {
		for _, t := range w.Types.List {
			if t.Kind != KindShared {
				continue
			}
			for v := range t.Shared.All() {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// SerialsOf returns the serials of values, in their order.
func SerialsOf(values []*value.Shared) []uint64 {
	serials := make([]uint64, len(values))
	for i, v := range values {
		serials[i] = v.Serial
	}
	return serials
}

// SharedValue is ecs.SharedValue.
type SharedValue struct {
	Type  *Type
	Value *value.Shared
}

// String is ecs.SharedValue.String.
func (v SharedValue) String() string {
	if v.Value == nil {
		return "no value"
	}
	return v.Type.TextOf(v.Value)
}

// LenOf returns the number of entities that have the value.
func (w *World) LenOf(v *value.Shared) (n int) {
	for _, set := range w.Index.ArchetypesOfValue(v.Serial) {
		n += ArchetypeOfMatch(set).Table.Store.Len()
	}
	return n
}
