package ecs

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/value"
)

// Managed is the handle of a managed type: a component of any Go type, including pointers, strings,
// maps and interfaces. The values lie in Go memory; the chunk holds a 4-byte slot per row that
// locates the value. Archetypes, changes and terms therefore take a Managed like a component, and
// no structural change moves a value. A *T is valid until its entity loses the component. The value
// is then zeroed for the garbage collector, and its slot is reused. After World.SwapComponents a *T
// is the value of the other entity.
//
// An entity that gets the component by any other call than Managed.Add has no value at first. Get
// returns nil until the first Mut or Set creates a zero value.
//
// All methods belong to the world's owner: one goroutine at a time.
type Managed[T any] struct {
	handle
	store *value.Store[T]
}

// RegisterManaged registers T as a managed type of w; see Register. A T that is also registered as
// a component is a separate type there. The options are Enableable, Cleanup, TrackRows, MaxRows,
// CopyWith, without which the values are not in snapshots, and Codec, for world files.
func RegisterManaged[T any](w *World, options ...TypeOption) Managed[T] {
	t := reflect.TypeFor[T]()
	info := &typeInfo{rtype: t, name: "managed " + shortName(t), kind: KindManaged, managed: value.NewStore[T](),
		finder: finder{size: int(unsafe.Sizeof(value.Slot(0)))}, align: int(unsafe.Alignof(value.Slot(0)))}
	info.apply("RegisterManaged", options)
	registered := w.register("RegisterManaged", info)
	return Managed[T]{handle{registered}, registered.managed.(*value.Store[T])}
}

// Get returns e's value for reading, or nil if e is not alive, does not have the component, or has
// no value yet. Has tells whether e has the component. Get changes nothing, so goroutines that
// share the world may call it.
func (m Managed[T]) Get(e Entity) *T {
	p, _ := m.t.own().find(opManagedGet, e)
	if p == nil {
		return nil
	}
	return m.store.Get(*(*value.Slot)(p)) // Safe because a managed type's column holds slots.
}

// Mut returns e's value for writing, and creates a zero value if there is none. It returns nil if e
// is not alive or does not have the component. It marks the component changed in e's chunk. Cost:
// as Component.Mut, plus one allocation per page of new values.
func (m Managed[T]) Mut(e Entity) *T { return m.made(opManagedMut, e) }

func (m Managed[T]) made(op lookupOp, e Entity) *T {
	p := (*value.Slot)(m.t.mut(op, e)) // Safe because a managed type's column holds slots.
	if p == nil {
		return nil
	}
	if *p == 0 {
		m.t.checkMaking(op.String())
	}
	return m.store.Make(p)
}

// checkMaking panics while a copy function runs: a value would have a slot that the copy lacks.
//
//go:noinline
func (t *typeInfo) checkMaking(op string) {
	if t.w.loops.change != "" {
		panic(t.w.refusal(op))
	}
}

// Set writes e's value and marks the component changed. It returns false if e is not alive or does
// not have the component.
func (m Managed[T]) Set(e Entity, v T) bool {
	p := m.made(opManagedSet, e)
	if p != nil {
		*p = v
	}
	return p != nil
}

// Add gives e the component with value v. It returns false and keeps the old value if e already has
// the component. It panics like Component.Add.
func (m Managed[T]) Add(e Entity, v T) bool {
	return m.begin(m.t.add("Managed.Add", e), v)
}

// TryAdd is like Add but returns the *LimitError.
func (m Managed[T]) TryAdd(e Entity, v T) (bool, error) {
	p, err := m.t.tryAdd("Managed.Add", e)
	return m.begin(p, v), err
}

// begin creates the value of a row that has just received the component. p is the row's slot, or
// nil if no row received it.
func (m Managed[T]) begin(p unsafe.Pointer, v T) bool {
	if p == nil {
		return false
	}
	at := (*value.Slot)(p) // Safe because add returns the place of a slot.
	*at = 0                // the slot's previous content belonged to another row
	*m.store.Make(at) = v
	return true
}

// refuseMaking panics for a row of a borrow that has no value. A borrow creates no values, because
// other goroutines read the pages that hold them.
//
//go:noinline
func (t *typeInfo) refuseMaking(b *Borrow) {
	// errors.md, Borrows: `has no value of ... yet, and none is made in a borrow: make it before,
	// with Managed.Set` | A job opened a managed value to write that was never set. | Before the
	// job: `log.Set(e, Log{})`.
	panic(fmt.Sprintf("ecs: Managed.At: a row of %s has no value of %s yet, and none is made in a borrow: make it before, with Managed.Set", b.name, t.name))
}

// At returns the value of the i'th row of rows. If the query declares Write or the rows come from a
// Batch, the value is for writing: At creates it if there is none, and marks the component changed.
// Otherwise the value is for reading, and nil if there is none. At panics like Component.Slice, if
// i is not in [0, rows.Len()), and if the chunk lacks an Optional component; see In. In the rows of
// a snapshot it returns the snapshot's copy, which is for reading and valid until the snapshot is
// closed or renewed, and panics for a type without CopyWith.
func (m Managed[T]) At(rows Rows, i int) *T {
	column := rows.columnFor(m.t, "Managed.At", i, 1)
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.noRow(m.t, i)
	}
	p := element[value.Slot](column, rows.s.first+i)
	if b := rows.s.b; b != nil && b.past != nil {
		return b.past.managedOf("Managed.At", m.t).(*value.Store[T]).Get(*p)
	}
	if *p == 0 && rows.s.t.columnOf(m.t.id).Flags()&(mayWrite|gatedWrite) != 0 {
		if rows.s.b != nil {
			m.t.refuseMaking(rows.s.b)
		}
		m.t.checkMaking("Managed.At")
		return m.store.Make(p)
	}
	return m.store.Get(*p)
}

// trimManaged returns the memory of ended managed values to Go.
func (w *World) trimManaged() {
	for _, t := range w.types.list {
		if t.kind == KindManaged {
			t.managed.Trim()
		}
	}
}

// verifyManaged checks W10 for the managed ones of some types.
func (w *World) verifyManaged(types []*typeInfo) error {
	for _, t := range types {
		if t.kind != KindManaged {
			continue
		}
		if err := t.managed.Verify(t.slots()); err != nil {
			return fmt.Errorf("ecs: W10: %s: %w", t.name, err)
		}
	}
	return nil
}

// slots yields the slots of all rows of a managed type, chunk by chunk, with the chunk's name.
func (t *typeInfo) slots() iter.Seq2[string, []value.Slot] {
	return func(yield func(string, []value.Slot) bool) {
		for _, a := range t.w.archetypes.list {
			if !a.table.Sig.Has(t.id) {
				continue
			}
			for pos := range a.table.Store.Chunks() {
				if !yield(fmt.Sprintf("chunk %d of %v", pos, a), value.SlotsAt(a.table.Store.Row(pos, 0), a.table.Column(t.id), a.table.Store.RowsOf(pos))) {
					return
				}
			}
		}
	}
}
