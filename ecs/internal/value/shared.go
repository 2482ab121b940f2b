package value

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// Shared values. A value that archetypes share lies once in Go memory. The archetypes and queries
// that point to it are its holders. The first Hold enters the value in the store of its type; the
// last LetGo removes it. A value without holders is not in the store, so several equal ones may
// exist. The canonical value is the one in the store:
//
//	Of(3) -> a, not in the store     Of(3) -> b, not in the store
//	a.Hold: in the store, 1 holder   b.Canonical() == a

// Shared is a value of a shared type.
type Shared struct {
	Serial uint64 // number in the order in which values were made
	Type   int    // number of the type
	store  AnyValues
	v      any // of the store's type
	refs   int // number of holders; 0 if the value is not in the store
}

// Any returns the value as a Go value. A nil value of an interface type has no type.
func (v *Shared) Any() any { return v.v }

// As returns the value as a T.
func As[T any](v *Shared) T {
	x, _ := v.v.(T)
	return x
}

// Canonical returns the value in the store that is the same as v, or v if there is none. A caller
// that keeps a value calls Canonical again later: v may have left the store, and another value may
// have entered.
func (v *Shared) Canonical() *Shared {
	if v.refs == 0 {
		if now := v.store.known(v); now != nil {
			return now
		}
	}
	return v
}

// Hold adds a holder to a canonical value: an archetype that has the value, or a query that names
// it.
func (v *Shared) Hold() {
	if v.refs == 0 {
		v.store.enter(v)
	}
	v.refs++
}

// LetGo removes a holder.
func (v *Shared) LetGo() {
	if v.refs--; v.refs == 0 {
		v.store.leave(v)
	}
}

// CompareSerials orders values by the order in which they were made.
func CompareSerials(a, b *Shared) int { return cmp.Compare(a.Serial, b.Serial) }

// HoldAll holds the canonical values of a list, each once, and returns them in order of their
// serials.
func HoldAll(list []*Shared) (all []*Shared) {
	for _, v := range list {
		v = v.Canonical() // if several are the same, the one that an earlier iteration holds
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

// AnyValues is a [Values] without the type of its values. Calls are made per archetype or handle,
// not per row.
type AnyValues interface {
	// Sets the type's number and the counter of serials; the first call.
	Open(number int, serials *atomic.Uint64)
	Zero() *Shared // the value of the zero T
	// The value that is the same as v, of any store of T, with its entities renamed; a nil rename
	// changes none.
	Copy(v *Shared, rename func(*entity.ID)) *Shared
	Same(v *Shared) *Shared         // the value in the store that is the same as v, of any store of T, or nil
	OfAny(x any) *Shared            // the value that is the same as x, a T: the store's, or a new one
	Entities(visit func(entity.ID)) // calls visit for the entities in all values
	Fresh() AnyValues               // an empty store of T
	Drop()                          // removes all values
	All() iter.Seq[*Shared]         // the values in the store, in no order
	// Verify checks K1 to K3; held has the number of holders of each value.
	Verify(held map[*Shared]int) error

	known(v *Shared) *Shared // the value in the store that is the same, or nil
	enter(v *Shared)         // adds a value that is not in the store
	leave(v *Shared)         // takes it out
}
