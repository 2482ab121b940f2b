package value

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// Shared values. A value that archetypes share lies once in Go memory, and whoever has it has a
// pointer to it. It comes to the store of its type with the first that holds it, and goes with the
// last. One that is made before, to be asked for, is not known yet, so there may be several that are the same:
//
//	Of(3) -> a, not known     Of(3) -> b, not known
//	a.Hold: known, held by 1  b.Settled() == a

// Shared is a value of a shared type.
type Shared struct {
	Serial uint64 // number in the order in which values were made
	Type   int    // number of the type
	store  AnyValues
	v      any // of the store's type
	refs   int // how many hold it; 0: the store does not know it
}

// Any returns what the value is in Go. A nil value of an interface type has no type.
func (v *Shared) Any() any { return v.v }

// As returns what a value of type T is in Go.
func As[T any](v *Shared) T {
	x, _ := v.v.(T)
	return x
}

// Settled returns the value that stands for v now: it may have left its store since it
// was asked for, and another have come.
func (v *Shared) Settled() *Shared {
	if v.refs == 0 {
		if now := v.store.known(v); now != nil {
			return now
		}
	}
	return v
}

// Hold counts one more that has a settled value, or names it.
func (v *Shared) Hold() {
	if v.refs == 0 {
		v.store.enter(v)
	}
	v.refs++
}

// LetGo takes back one Hold.
func (v *Shared) LetGo() {
	if v.refs--; v.refs == 0 {
		v.store.leave(v)
	}
}

// CompareSerials orders values as they were made.
func CompareSerials(a, b *Shared) int { return cmp.Compare(a.Serial, b.Serial) }

// HoldAll holds the values that stand for some, each once, and returns them in order.
func HoldAll(list []*Shared) (all []*Shared) {
	for _, v := range list {
		v = v.Settled() // as one that is held already, where several are the same
		v.Hold()
		all = append(all, v)
	}
	slices.SortFunc(all, CompareSerials)
	kept := all[:0]
	for i, v := range all {
		if i > 0 && v == all[i-1] {
			v.LetGo()
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// AnyValues is a [Values] without the type of its values. Calls are made for each archetype
// or handle, not for each row.
type AnyValues interface {
	Open(number int, serials *atomic.Uint64)         // gives the type its number, and values theirs; before all else
	Zero() *Shared                                   // that of the type's zero value
	Copy(v *Shared, rename func(*entity.ID)) *Shared // that of v, of any store of the type, whose entities are renamed; nil: as they are
	Entities(visit func(entity.ID))                  // shows the entities in all values
	Fresh() AnyValues                                // an empty one for the same type
	Drop()                                           // forgets all
	All() iter.Seq[*Shared]                          // those that are held, in no order
	// Verify checks K1 to K3 of a store beside how many hold each value.
	Verify(held map[*Shared]int) error

	known(v *Shared) *Shared // the value of the store that is the same, or nil
	enter(v *Shared)         // adds a value that is not known
	leave(v *Shared)         // takes it out
}
