package world

import (
	"slices"
	"strings"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Flags in Archetype.LastKey.
const (
	KeyAdds = 1 << 16 // flag in Archetype.LastKey
	NoKey   = 1 << 17
)

// ArchetypeOf finds or creates the archetype with the given types and shared values; ValuesFor
// supplies the values.
func (w *World) ArchetypeOf(sig Signature, values []*value.Shared) (*Archetype, error) {
	key := w.Archetypes.KeyOf(&sig, values)
	if a := w.Archetypes.withKey(key, &sig, values); a != nil {
		return a, nil
	}
	w.CheckNotLent("NewArchetype")
	w.EndBorrows("NewArchetype")
	a := &Archetype{World: w, Values: slices.Clone(values), Key: key}
	if err := a.Table.Init(&w.Tables, sig, len(values) > 0); err != nil {
		return nil, planLimit(err)
	}
	a.CleanupOnly = sig.Has(CleanupEntityID)
	a.DestroyedByChange = sig.Meets(&w.Types.Cleanup) || sig.Has(LinkedID)
	a.LastKey = NoKey
	a.Table.Values = SerialsOf(a.Values)
	for _, v := range a.Values {
		v.Hold()
	}
	if w.History != nil {
		a.Born = w.History.Past().Number()
	}
	w.Archetypes.Add(a)
	w.Index.Enter(&a.Table)
	w.QueryEpochs.NextMatched()
	return a, nil
}

// Current returns the world's current archetype with a's types and values. That is a itself unless
// a was retired. Current creates the archetype if there is none.
func (a *Archetype) Current() (*Archetype, error) {
	if !a.Table.Closed {
		return a, nil
	}
	return a.World.ArchetypeOf(a.Table.Sig, a.World.ValuesFor(make([]*value.Shared, 0, UsualValues), &a.Table.Sig,
		a.Values, nil, nil))
}

// CurrentOrNil is like Current but creates nothing: it returns a if the world has no such
// archetype.
func (a *Archetype) CurrentOrNil() *Archetype {
	if a.Table.Closed {
		values := a.World.ValuesFor(make([]*value.Shared, 0, UsualValues), &a.Table.Sig, a.Values, nil, nil)
		if b := a.World.Archetypes.Find(&a.Table.Sig, values); b != nil {
			return b
		}
	}
	return a
}

// ArchetypeOfMatch relies on this: an archetype and its table have the same address.
var _ [0]struct{} = [unsafe.Offsetof(Archetype{}.Table)]struct{}{}

// ArchetypeOfMatch returns the archetype that has the entry of an index.
func ArchetypeOfMatch(a *match.Entry) *Archetype {
	// Safe because every match.Entry in a world's index is the first field of an Archetype.
	return (*Archetype)(unsafe.Pointer(a))
}

// ArchetypeAt returns the archetype that a chunk's owner names. The index is checked: where rows of
// a file were damaged, a record may lead to no chunk (W3 fails), and this is what stops there.
func (w *World) ArchetypeAt(o owner) *Archetype { return w.Archetypes.List[o.Table()] }

// ArchetypeOn returns the archetype that the table belongs to, or nil for a nil table.
func (w *World) ArchetypeOn(t *table.Table) *Archetype {
	if t == nil {
		return nil
	}
	return w.Archetypes.List[t.Index]
}

// RefuseDying panics for a call that would create entities with the tag CleanupEntity.
//
//go:noinline
func RefuseDying(op string) {
	panic("ecs: " + op + ": CleanupEntity comes with World.Destroy; no entity is created with it")
}

// IsLastCleanup reports whether the type is the archetype's only Cleanup type.
func (a *Archetype) IsLastCleanup(id TypeID) bool {
	rest := a.Table.Sig
	rest.Drop(id)
	return !rest.Meets(&a.World.Types.Cleanup)
}

// Differs reports whether the two archetypes have different values of some shared type.
func (a *Archetype) Differs(b *Archetype) bool {
	for _, v := range a.Values {
		if other := b.ValueOf(TypeID(v.Type)); other != nil && other != v {
			return true
		}
	}
	return false
}

// TransitionTo returns the transition from a to another archetype. A transition that changes the
// value of a shared type is valid only until the next one from a is requested.
func (a *Archetype) TransitionTo(to *Archetype) *Transition {
	if a.Differs(to) {
		return a.Table.ToSharedValue(&to.Table.Table)
	}
	return a.Table.To(&to.Table.Table)
}

// String is ecs.Archetype.String.
func (a *Archetype) String() string {
	names := make([]string, len(a.Table.Types))
	for i, id := range a.Table.Types {
		names[i] = a.World.Types.List[id].Name
		if v := a.ValueOf(id); v != nil {
			names[i] = a.World.Types.List[id].TextOf(v)
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}

// Entities returns the entity column of the chunk at base.
func Entities(base unsafe.Pointer, rows int) []entity.ID {
	// Safe because the entity column lies at offset 0 and holds plan.Rows >= rows entities.
	return unsafe.Slice((*entity.ID)(base), rows)
}
