package command

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Commands about whole entities, and commands without values.

// Create records the creation of an entity with the archetype's types, all zero. It returns a
// placeholder: later commands of this buffer may be about it, and fields of components and elements
// of buffers may hold it.
func (w *Writer) Create(a *ecs.Archetype) ecs.Entity {
	const name = "Writer.Create"
	if w != nil && w.stream != nil && w.stream.quick > 0 && a != nil && a == w.stream.created {
		s := w.stream // as below, where all has been checked before
		e := s.placeholder()
		if s.next1(s.createdAs, e, recordSize) == nil {
			w.record1(s.createdAs, e, 0)
		}
		return e
	}
	if !w.open() {
		w.check(name)
	}
	if a == nil || a.World() != w.stream.b.w {
		panic("command: " + name + ": the archetype is nil or belongs to another world")
	}
	s := w.stream
	if a != s.created {
		s.findCreate(a)
	}
	e := s.placeholder()
	w.record1(s.createdAs, e, 0)
	return e
}

// Instantiate records World.Instantiate of e, which may be a placeholder, and returns a placeholder
// for the copy. The copy takes e as it is when the command is played.
func (w *Writer) Instantiate(e ecs.Entity) ecs.Entity {
	w.check("Writer.Instantiate")
	w.checkEntity("Writer.Instantiate", e)
	number := w.stream.find(op{kind: instantiate}, nil)
	copied := w.stream.placeholder()
	_, value := w.record(number, copied, 0, nil, int(unsafe.Sizeof(e)))
	*(*ecs.Entity)(value) = e // Safe because the room is an entity's.
	return copied
}

// Destroy records World.Destroy of e. If e is already dead when the command is played, that is not
// a failure. For ecs.Null it records nothing.
func (w *Writer) Destroy(e ecs.Entity) {
	const name = "Writer.Destroy"
	w.check(name)
	number := w.stream.notedBare(destroy, 0)
	if number == 0 {
		number = w.stream.find(op{kind: destroy}, nil) + 1
		w.stream.noteBare(destroy, 0, number-1)
	}
	w.bare(name, destroy, number-1, e)
}

// Add records that e gets the types that it lacks, zero and enabled. For shared types use
// AddShared.
func (w *Writer) Add(e ecs.Entity, types ...ecs.Type) {
	checkTypes("Writer.Add", types...) // before any is recorded
	for _, t := range types {
		w.oneTyped("Writer.Add", add, t, e)
	}
}

// Remove records that e loses the types that it has. If e is dead when the command is played, that
// is not a failure. For ecs.Null it records nothing.
func (w *Writer) Remove(e ecs.Entity, types ...ecs.Type) {
	checkTypes("Writer.Remove", types...) // before any is recorded
	for _, t := range types {
		w.oneTyped("Writer.Remove", remove, t, e)
	}
}

// Apply records that c is applied to e: it adds and removes types in one step.
func (w *Writer) Apply(e ecs.Entity, c *ecs.Change) {
	o := w.changed("Writer.Apply", c)
	w.bare("Writer.Apply", apply, w.stream.find(o, nil), e)
}

// Enable records that e's component of type t is enabled. e must have the component when the
// command is played; whether it has a sparse one is not known before, so that command fails after
// others were applied, like SetSparse. Enable panics if t is not Enableable.
func (w *Writer) Enable(e ecs.Entity, t ecs.Type) {
	w.oneTyped("Writer.Enable", enable, t, e)
}

// Disable records that e's component of type t is disabled; see Enable.
func (w *Writer) Disable(e ecs.Entity, t ecs.Type) {
	w.oneTyped("Writer.Disable", disable, t, e)
}

// Lists: one command per entity, in order. DestroyList and RemoveList skip ecs.Null.

// DestroyList records Destroy of each entity of the list.
func (w *Writer) DestroyList(list []ecs.Entity) {
	w.many("Writer.DestroyList", op{kind: destroy}, list)
}

// AddList records Add of t to each entity of the list.
func (w *Writer) AddList(list []ecs.Entity, t ecs.Type) {
	w.many("Writer.AddList", w.typed("Writer.AddList", add, t), list)
}

// RemoveList records Remove of t from each entity of the list.
func (w *Writer) RemoveList(list []ecs.Entity, t ecs.Type) {
	w.many("Writer.RemoveList", w.typed("Writer.RemoveList", remove, t), list)
}

// ApplyList records Apply of c to each entity of the list.
func (w *Writer) ApplyList(list []ecs.Entity, c *ecs.Change) {
	w.many("Writer.ApplyList", w.changed("Writer.ApplyList", c), list)
}

// EnableList records Enable of t for each entity of the list.
func (w *Writer) EnableList(list []ecs.Entity, t ecs.Type) {
	w.many("Writer.EnableList", w.typed("Writer.EnableList", enable, t), list)
}

// DisableList records Disable of t for each entity of the list.
func (w *Writer) DisableList(list []ecs.Entity, t ecs.Type) {
	w.many("Writer.DisableList", w.typed("Writer.DisableList", disable, t), list)
}

// Queries: the matches are found when the command is played, after the commands before it. To fix
// the current matches instead, record a list: w.DestroyList(q.Entities(nil)). A query with Changed
// or Ordered terms panics, since commands played earlier would count as changes.

// DestroyQuery records World.DestroyQuery of q.
func (w *Writer) DestroyQuery(q *ecs.Query) {
	w.query("Writer.DestroyQuery", op{kind: destroy}, q)
}

// AddQuery records Add of t to the entities that match q.
func (w *Writer) AddQuery(q *ecs.Query, t ecs.Type) {
	w.query("Writer.AddQuery", w.typed("Writer.AddQuery", add, t), q)
}

// RemoveQuery records Remove of t from the entities that match q.
func (w *Writer) RemoveQuery(q *ecs.Query, t ecs.Type) {
	w.query("Writer.RemoveQuery", w.typed("Writer.RemoveQuery", remove, t), q)
}

// ApplyQuery records Change.ApplyQuery of c for q.
func (w *Writer) ApplyQuery(q *ecs.Query, c *ecs.Change) {
	w.query("Writer.ApplyQuery", w.changed("Writer.ApplyQuery", c), q)
}

// EnableQuery records that t is enabled for the entities that match q and have it.
func (w *Writer) EnableQuery(q *ecs.Query, t ecs.Type) {
	w.query("Writer.EnableQuery", w.typed("Writer.EnableQuery", enable, t), q)
}

// DisableQuery records that t is disabled for the entities that match q and have it.
func (w *Writer) DisableQuery(q *ecs.Query, t ecs.Type) {
	w.query("Writer.DisableQuery", w.typed("Writer.DisableQuery", disable, t), q)
}

// typed returns the op of a command about a type, without a value.
func (w *Writer) typed(name string, k commandKind, t ecs.Type) op {
	w.check(name)
	checkTypes(name, t)
	w.stream.indexOf(name, t)
	if k == add || k == remove {
		checkDying(name, t)
	}
	if _, ok := t.(ecs.SharedValue); ok {
		panic(fmt.Sprintf("command: %s: %v is a value; use AddShared, PutShared or SetShared, or name the type",
			name, t))
	}
	facts := door.FactsOf(t)
	if !facts.Enableable && (k == enable || k == disable) {
		panic(fmt.Sprintf("command: %s: %s was not registered with ecs.Enableable", name, typeName(t)))
	}
	if k == add && facts.Kind == ecs.KindShared {
		panic(fmt.Sprintf("command: %s: %s is shared: use AddShared, which names a value", name, typeName(t)))
	}
	return op{kind: k, t: t, sparse: facts.Kind == ecs.KindSparse}
}

// checkTypes panics for a type that is nil.
func checkTypes(name string, types ...ecs.Type) {
	for _, t := range types {
		if t == nil {
			panic("command: " + name + ": a type is nil")
		}
	}
}

// changed returns the op of a change.
func (w *Writer) changed(name string, c *ecs.Change) op {
	w.check(name)
	if c == nil || door.Change(c).World != door.World(w.stream.b.w) {
		panic("command: " + name + ": the change is nil or belongs to another world")
	}
	return op{kind: apply, change: c, sparse: door.Change(c).ChangesEntries()}
}

// oneTyped records a command about a type, without a value. What typed checks depends on the type
// alone, so a type that has passed is not checked again.
func (w *Writer) oneTyped(name string, k commandKind, t ecs.Type, e ecs.Entity) {
	w.check(name)
	number := uint16(0)
	index := door.TypeIndex(w.stream.b.w, t)
	if _, isValue := t.(ecs.SharedValue); index >= 0 && !isValue {
		number = w.stream.notedBare(k, index)
	}
	if number == 0 {
		number = w.stream.find(w.typed(name, k, t), nil) + 1
		w.stream.noteBare(k, index, number-1)
	}
	w.bare(name, k, number-1, e)
}

// bare records a command without a value, of a kind and with the number of its op.
func (w *Writer) bare(name string, k commandKind, number uint16, e ecs.Entity) {
	if e == ecs.Null && k.ignoresNull() {
		return
	}
	if e != w.stream.newest || e == ecs.Null {
		w.checkEntity(name, e)
	}
	w.record1(number, e, 0)
}

// many records a command about a list, without a value.
func (w *Writer) many(name string, o op, list []ecs.Entity) {
	w.check(name)
	if o.kind.ignoresNull() && slices.Contains(list, ecs.Null) {
		list = slices.DeleteFunc(slices.Clone(list), func(e ecs.Entity) bool { return e == ecs.Null })
	}
	for _, e := range list {
		w.checkEntity(name, e)
	}
	w.write(w.stream.find(o, nil), list, noQuery, payload{})
}

// query records a command about a query, without a value.
func (w *Writer) query(name string, o op, q *ecs.Query) {
	o.query = w.checkQuery(name, q)
	w.record(w.stream.find(o, nil), ecs.Null, 0, nil, 0)
}
