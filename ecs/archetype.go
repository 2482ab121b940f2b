package ecs

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// Archetype is a set of component types, with one value for each shared type. It owns the chunks of
// all entities that have exactly these types and values. Its rows are dense: only the last chunk
// may be partly full, and a row that leaves is replaced by the last row.
//
// All methods belong to the world's owner: one goroutine at a time. While a borrow is out, its
// goroutines may call those that ask for types, rows and chunks: Has, Components, Len, Chunks,
// Chunk, String.
type Archetype struct {
	table   match.Archetype // rows, types and values, as queries see them; the first field, see whole
	w       *World
	values  []*value.Shared // of the shared types, in order of type (W11)
	key     uint64          // hash of types and values, for catalogue.byKey
	alike   *Archetype      // next archetype with the same key
	edges   []edge          // transitions to archetypes that differ by one type
	edge    *path           // the transition used last
	edgeKey uint32          // its type, plus edgeAdds if the type is added
	copies  *path           // transition from a row to its copy, if copying columns and bits suffices, see Instantiate; nil: not known
	into    *Change         // created on first use of Into
	lasting bool            // Destroy has more to do than end rows: the archetype has Cleanup types or LinkedEntity
	dying   bool            // has CleanupEntity, so no entity is created here
	pinned  bool            // a caller of NewArchetype may hold it, so it stays even without rows
	born    uint64          // number of the snapshot taken last when it was made
	frozen  *table.Frozen   // of an archetype of a snapshot; nil for all others
}

const (
	edgeAdds = 1 << 16 // flag in Archetype.edgeKey
	noEdge   = 1 << 17
)

// edge is the transition to the archetype that differs by one type.
type edge struct {
	id   typeID // the type that is added or removed
	path *path
}

// path is the transition of rows from one archetype to another.
type path = table.Transition

// NewArchetype returns the archetype with the given types (components, buffers and others), in any
// order. The same set always yields the same archetype. A shared type is given by a value, see
// Shared.Of; the type alone stands for its zero value. NewArchetype panics for a type of another
// world and for a type that is given twice. It panics with a *LimitError if a row does not fit in a
// chunk. The archetype and the shared values it names stay until World.Close, so with many values
// over time use Archetype.With, whose archetypes World.Shrink gives up.
func NewArchetype(w *World, types ...Type) *Archetype {
	a, err := TryNewArchetype(w, types...)
	if err != nil {
		panic(err)
	}
	return a
}

// TryNewArchetype is like NewArchetype but returns the *LimitError.
func TryNewArchetype(w *World, types ...Type) (*Archetype, error) {
	w.checkNew("NewArchetype")
	var sig signature
	given := make([]*value.Shared, 0, usualValues)
	for _, t := range types {
		id := w.idOf("NewArchetype", t)
		if sig.Has(id) {
			panic(fmt.Sprintf("ecs: NewArchetype: %s is given twice", w.types.list[id].name))
		}
		if id == dyingID {
			refuseDying("NewArchetype")
		}
		if w.types.list[id].place() == perEntity {
			// errors.md, Types, terms and handles: `is sparse: no archetype has it` | A sparse type
			// for `NewArchetype`. | `Sparse.Add` it to the entities that are created there.
			panic(fmt.Sprintf("ecs: NewArchetype: %s is sparse: no archetype has it; add it to entities", w.types.list[id].name))
		}
		sig.Add(id)
		if s, ok := t.(SharedValue); ok {
			given = append(given, s.v)
		}
	}
	a, err := w.archetypeOf(sig, w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, given, nil, nil))
	if err != nil {
		return nil, during("NewArchetype", err)
	}
	if !w.Shared() { // goroutines of a share may look up what is there, at once
		a.pinned = true
	}
	return a, nil
}

// archetypeOf finds or creates the archetype with the given types and shared values; valuesFor
// supplies the values.
func (w *World) archetypeOf(sig signature, values []*value.Shared) (*Archetype, error) {
	key := w.archetypes.keyOf(&sig, values)
	if a := w.archetypes.withKey(key, &sig, values); a != nil {
		return a, nil
	}
	w.checkUnshared("NewArchetype")
	w.endBorrows("NewArchetype")
	a := &Archetype{w: w, values: slices.Clone(values), key: key}
	if err := a.table.Init(&w.tables, sig, len(values) > 0); err != nil {
		return nil, planLimit(err)
	}
	a.dying = sig.Has(dyingID)
	a.lasting = sig.Meets(&w.types.cleanup) || sig.Has(linkedID)
	a.edgeKey = noEdge
	a.table.Values = serialsOf(a.values)
	for _, v := range a.values {
		v.Hold()
	}
	if w.history != nil {
		a.born = w.history.past.Number()
	}
	w.archetypes.add(a)
	w.index.Enter(&a.table)
	w.news.match()
	return a, nil
}

// again returns the world's current archetype with a's types and values. That is a itself unless a
// was retired. again creates the archetype if there is none.
func (a *Archetype) again() (*Archetype, error) {
	if !a.table.Closed {
		return a, nil
	}
	return a.w.archetypeOf(a.table.Sig, a.w.valuesFor(make([]*value.Shared, 0, usualValues), &a.table.Sig, a.values, nil, nil))
}

// now is like again but creates nothing: it returns a if the world has no such archetype.
func (a *Archetype) now() *Archetype {
	if a.table.Closed {
		values := a.w.valuesFor(make([]*value.Shared, 0, usualValues), &a.table.Sig, a.values, nil, nil)
		if b := a.w.archetypes.find(&a.table.Sig, values); b != nil {
			return b
		}
	}
	return a
}

// whole relies on this: an archetype and its table have the same address.
var _ [0]struct{} = [unsafe.Offsetof(Archetype{}.table)]struct{}{}

// whole returns the archetype that contains the given match.Archetype.
func whole(a *match.Archetype) *Archetype {
	// Safe because every match.Archetype in a world's index is the first field of an Archetype.
	return (*Archetype)(unsafe.Pointer(a))
}

// archetypeAt returns the archetype that a chunk's owner names. The index is checked: where rows of
// a file were damaged, a record may lead to no chunk (W3 fails), and this is what stops there.
func (w *World) archetypeAt(o owner) *Archetype { return w.archetypes.list[o.Table()] }

// archetypeOn returns the archetype that the table belongs to, or nil for a nil table.
func (w *World) archetypeOn(t *table.Table) *Archetype {
	if t == nil {
		return nil
	}
	return w.archetypes.list[t.Index]
}

// refuseDying panics for a call that would create entities with the tag CleanupEntity.
//
//go:noinline
func refuseDying(op string) {
	// errors.md, Entities: `CleanupEntity comes with World.Destroy` | `CleanupEntity` was to be
	// given or taken. | Remove the Cleanup types: it goes with the last.
	panic("ecs: " + op + ": CleanupEntity comes with World.Destroy; no entity is created with it")
}

// isLastCleanup reports whether the type is the archetype's only Cleanup type.
func (a *Archetype) isLastCleanup(id typeID) bool {
	rest := a.table.Sig
	rest.Drop(id)
	return !rest.Meets(&a.w.types.cleanup)
}

// differs reports whether the two archetypes have different values of some shared type.
func (a *Archetype) differs(b *Archetype) bool {
	for _, v := range a.values {
		if other := b.valueOf(typeID(v.Type)); other != nil && other != v {
			return true
		}
	}
	return false
}

// pathTo returns the transition from a to another archetype. A transition that changes the value of
// a shared type is valid only until the next one from a is requested.
func (a *Archetype) pathTo(to *Archetype) *path {
	if a.differs(to) {
		return a.table.Sideways(&to.table.Table)
	}
	return a.table.To(&to.table.Table)
}

// Len returns the number of entities that have exactly the archetype's types and shared values.
func (a *Archetype) Len() int {
	if a.table.Closed {
		a = a.now()
	}
	return a.table.Store.Len()
}

// Has reports whether the archetype has the type. It panics for a type of another world.
func (a *Archetype) Has(t Type) bool { return a.table.Sig.Has(a.World().idOf("Archetype.Has", t)) }

// World returns the archetype's world; for an archetype of a snapshot, the one that took it.
func (a *Archetype) World() *World {
	if a.frozen != nil {
		return a.w.types.list[0].live.w
	}
	return a.w
}

// Chunks returns the number of chunks that hold rows.
func (a *Archetype) Chunks() int { return len(a.now().table.Store.Chunks()) }

// Chunk returns the i'th chunk's offset in bytes from the universe's base, its size in bytes, and
// its number of rows. The size is a power of two: 2 KiB, or 16 KiB to 1 MiB. All chunks but the
// last are full. Chunk panics if i is not in [0, Chunks()).
func (a *Archetype) Chunk(i int) (offset, bytes, rows int) {
	if a = a.now(); uint(i) >= uint(len(a.table.Store.Chunks())) {
		panic(fmt.Sprintf("ecs: Archetype.Chunk: %d is not in [0, %d) of %v", i, len(a.table.Store.Chunks()), a))
	}
	c := a.table.Store.Chunks()[i]
	return int(c.First) * alloc.SmallChunkSize, c.Bytes(), a.table.Store.RowsOf(i)
}

// Plan returns the layout of a 16 KiB unit; it prints as a drawing. A chunk of n units has n times
// the rows, and each column at n times the offset. For a small chunk of 2 KiB, n is 1/8 and the row
// count is rounded down; for a chunk of 1 MiB with more than four columns, n is 63. The layout may
// change while the archetype has no rows, see Change.ApplyQuery. Cost: the layout is computed at
// each call.
func (a *Archetype) Plan() layout.Plan {
	a = a.now()
	return a.table.Plan()
}

// String lists the archetype's types.
func (a *Archetype) String() string {
	names := make([]string, len(a.table.Types))
	for i, id := range a.table.Types {
		names[i] = a.w.types.list[id].name
		if v := a.valueOf(id); v != nil {
			names[i] = a.w.types.list[id].textOf(v)
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}

// entities returns the entity column of the chunk at base.
func entities(base unsafe.Pointer, rows int) []Entity {
	// Safe because the entity column lies at offset 0 and holds plan.Rows >= rows entities.
	return unsafe.Slice((*Entity)(base), rows)
}
