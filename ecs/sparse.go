package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Sparse is the handle of a sparse type: a component whose values lie in a set beside the chunks.
// Adding and removing it moves no row and makes no archetype, whatever else the entity has. In
// return a loop over rows finds each value by its entity. It serves what comes and goes often, or
// what few entities have: effects, marks, targets.
//
//	            Component                      Sparse
//	Add, Remove a move of the entity's row     4 B, 8 B and the value, in a set
//	loops       a column for each chunk        Column by row; Slice and Entities of the set alone
//	memory      in the row                     the value, 8 B, and 4 B for each index up to the greatest
//
// Terms name a sparse type like others. A type in Read, Write, With, Disabled, Present or Any makes
// rows match one by one, so the rows of such a query have a mask: loop by Rows.Each. Archetypes
// know nothing of it: NewArchetype refuses it. Values end with their entity at Destroy, even if
// Cleanup types keep the entity. Instantiate, Clone, moves to other worlds and SwapComponents take
// values along.
//
// Entries are dense, in the order in which they were added, but that the last entry takes the place
// of a removed one. Addresses of values, and slices of them, are valid until the set changes: by
// Add, Remove and Reserve, by every call that begins, ends or copies an entity with the type, such
// as Destroy of another one, and by World.Trim, Shrink and Reset.
//
// All methods belong to the world's owner: one goroutine at a time.
type Sparse[T any] struct{ sparseHandle }

// A Sparse of one type is compiled with the package, so that internal/lint sees its methods.
var _ Type = Sparse[DisabledEntity]{}

// RegisterSparse registers T as a sparse type of w; see Register. A T that is also registered as a
// component is a separate type there. The only option is Enableable. Cost of the first entry: 48
// KiB.
func RegisterSparse[T any](w *World, options ...TypeOption) Sparse[T] {
	info := world.SparseOf(reflect.TypeFor[T]())
	applyOptions(info, "RegisterSparse", options)
	return Sparse[T]{sparseHandle{w.inner().Register("RegisterSparse", info)}}
}

// Get returns a pointer to e's value for reading, or nil if e is not alive or has none. The pointer
// is valid until the next Add or Remove of the type. Cost: three loads.
func (s Sparse[T]) Get(e Entity) *T {
	return (*T)(s.t.SparseValue("Sparse.Get", entity.ID(e))) // Safe because the set has values of T.
}

// Mut is Get for writing: it also marks the value changed.
func (s Sparse[T]) Mut(e Entity) *T {
	return (*T)(s.t.MutSparse("Sparse.Mut", entity.ID(e))) // Safe because the set has values of T.
}

// Set writes e's value and marks it changed. It returns false if e is not alive or has none.
func (s Sparse[T]) Set(e Entity, v T) bool {
	p := (*T)(s.t.MutSparse("Sparse.Set", entity.ID(e))) // Safe because the set has values of T.
	if p == nil {
		return false
	}
	*p = v
	return true
}

// Add gives e the value v. It returns false and keeps the old value if e has one. It panics if e is
// not alive, and inside a loop over rows. It panics with a *LimitError if there is no room;
// nothing has changed then. No row moves, so batches and lists of chunks stay valid.
func (s Sparse[T]) Add(e Entity, v T) bool {
	p, err := s.t.AddSparse("Sparse.Add", entity.ID(e))
	if err != nil {
		panic(err)
	}
	if p == nil {
		return false
	}
	*(*T)(p) = v // Safe because the set has values of T.
	return true
}

// Values returns the values of all entries for reading, disabled ones among them, in the order of
// Entities. The slice is valid until the next Add or Remove of the type.
func (s Sparse[T]) Values() []T { return s.slice("Sparse.Values", world.MayRead) }

// Slice is Values for writing: it marks all entries changed.
func (s Sparse[T]) Slice() []T { return s.slice("Sparse.Slice", world.MayWrite) }

func (s Sparse[T]) slice(op string, access uint8) []T {
	set := s.t.OpenSet(op, access)
	if set.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*T)(set.Value(1)), set.Len()) // Safe because the entries, from 1, lie one behind the other.
}

// SparseColumn finds the values of a sparse type for the rows that it was made for. It is valid as
// long as these.
type SparseColumn[T any] struct {
	values sparse.SetView
	ids    []entity.ID
}

// Column returns the values of rows, to be found by row. If the query
// declares Write, or the rows come from a Batch, Column marks all values of the type changed. It
// panics for a type that the query does not declare with Read or Write, and like Component.Slice.
func (s Sparse[T]) Column(rows Rows) SparseColumn[T] {
	set, ids := rows.core.Sparse(s.t, "Sparse.Column")
	return SparseColumn[T]{set.View(), ids}
}

// At returns the value of row i, or nil if its entity has none. It panics unless i is in [0, Len()
// of the rows).
func (c *SparseColumn[T]) At(i int) *T {
	return (*T)(c.values.Of(c.ids[i])) // Safe because the set has values of T.
}

// sparseHandle has the methods of Sparse that do not depend on T.
type sparseHandle struct{ t *world.Type }

func (h sparseHandle) info() *world.Type { return h.t }

func (h sparseHandle) operand() query.Operand { return query.Operand{Type: h.t} }

// String returns the type's name, which begins with "sparse".
func (h sparseHandle) String() string { return handle(h).String() }

// Has reports whether e is alive and has the type, enabled or disabled.
func (h sparseHandle) Has(e Entity) bool { return h.t.EntryOf("Sparse.Has", entity.ID(e)) != 0 }

// Remove removes the type from e. It returns false if e is not alive or does not have it, and
// panics like Sparse.Add.
func (h sparseHandle) Remove(e Entity) bool { return h.t.RemoveSparse("Sparse.Remove", entity.ID(e)) }

// Len returns how many entities have the type, enabled or disabled.
func (h sparseHandle) Len() int { return h.t.OpenSet("Sparse.Len", 0).Len() }

// Entities returns the entities that have the type, in order, for reading. The slice is valid until
// the next Add or Remove of the type.
func (h sparseHandle) Entities() []Entity {
	return entitiesOf(h.t.OpenSet("Sparse.Entities", 0).IDs())
}

// Reserve makes room for n more entries, of entities that are alive now, so that Add needs none. An
// error is a *LimitError. Reserve panics inside a loop over rows.
func (h sparseHandle) Reserve(n int) error { return h.t.ReserveSparse("Sparse.Reserve", n) }

// Enabled reports whether e is alive and has the type, enabled.
func (h sparseHandle) Enabled(e Entity) bool {
	at := h.t.EntryOf("Sparse.Enabled", entity.ID(e))
	return at != 0 && h.t.Sparse.Enabled(at)
}

// Enable enables e's value and marks it changed. It returns false if e is not alive or does not
// have the type. It panics if the type is not Enableable. Loops may call it; their masks do not
// change.
func (h sparseHandle) Enable(e Entity) bool {
	return h.t.SwitchSparse("Sparse.Enable", entity.ID(e), true)
}

// Disable disables e's value; see Enable.
func (h sparseHandle) Disable(e Entity) bool {
	return h.t.SwitchSparse("Sparse.Disable", entity.ID(e), false)
}

// EnableList enables the values of the entities of a list that are alive and have one. It returns
// their number and counts duplicates once. It panics like Enable, and for an entity of another
// world, before anything changes.
func (h sparseHandle) EnableList(list []Entity) int {
	return edit.SwitchList(h.t, "Sparse.EnableList", idsOf(list), true)
}

// DisableList disables the values; see EnableList.
func (h sparseHandle) DisableList(list []Entity) int {
	return edit.SwitchList(h.t, "Sparse.DisableList", idsOf(list), false)
}

// EnableQuery enables the values of the entities that match q and have one, and returns their
// number; see Component.EnableQuery.
func (h sparseHandle) EnableQuery(q *Query) int {
	return edit.SwitchMatches(h.t, "Sparse.EnableQuery", q.inner(), true)
}

// DisableQuery disables the values; see EnableQuery.
func (h sparseHandle) DisableQuery(q *Query) int {
	return edit.SwitchMatches(h.t, "Sparse.DisableQuery", q.inner(), false)
}

// Changed reports whether e has a value that may have changed after the given version: it, or one
// of the 63 entries with which it shares a version, was added, opened by Mut or Set, switched, or
// put in the place of a removed one; or all were opened for writing, by Slice or Column.
// For version 0 Changed returns true if e has a value.
func (h sparseHandle) Changed(e Entity, since uint32) bool {
	at := h.t.EntryOf("Sparse.Changed", entity.ID(e))
	return at != 0 && h.t.Sparse.Newer(at, since)
}
