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

// Archetype is a set of component types, with a value for each that is shared, and owner of the
// chunks of all entities that have exactly that set and those values. Its rows are dense: only the
// last chunk is ever part full, and a row that goes is replaced by the last one.
//
// All methods belong to the world's owner: one goroutine at a time.
type Archetype struct {
	table   match.Archetype // its rows, types and values as queries see them; the first field, see whole
	w       *World
	values  []*value.Shared // of the shared types, in their order (W11)
	key     uint64          // hash of types and values, for catalogue.byKey
	alike   *Archetype      // the next with the same key there
	edges   []edge          // paths to archetypes one type away
	edge    *path           // the last one asked for
	edgeKey uint32          // its type, with edgeAdds when that is added
	copies  *path           // of one row to its copy, where that is its columns and bits alone, see Instantiate; nil: not known
	into    *Change         // see Into; made on need
	lasting bool            // Destroy does more than to end rows: there are Cleanup types, or LinkedEntity
	dying   bool            // it has CleanupEntity: nothing is created here
	pinned  bool            // somebody may have it from NewArchetype, so it stays without rows
}

const (
	edgeAdds = 1 << 16 // of Archetype.edgeKey
	noEdge   = 1 << 17
)

// edge is the path to the archetype that differs by one type.
type edge struct {
	id   typeID // the type that is added or removed
	path *path
}

// path is how rows go to another archetype.
type path = table.Transition

// NewArchetype returns the archetype of a set of types, components and buffers, in any order; the
// same set always gives the same archetype. Of a shared type it takes a value, see Shared.Of; the
// type alone stands for its zero value. It panics for a type of another world or one that is given
// twice, and with a *LimitError when a row does not fit a chunk.
func NewArchetype(w *World, types ...Type) *Archetype {
	a, err := TryNewArchetype(w, types...)
	if err != nil {
		panic(err)
	}
	return a
}

// TryNewArchetype is NewArchetype that returns the *LimitError.
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
		sig.Add(id)
		if s, ok := t.(SharedValue); ok {
			given = append(given, s.v)
		}
	}
	a, err := w.archetypeOf(sig, w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, given, nil, nil))
	if err != nil {
		return nil, during("NewArchetype", err)
	}
	if !w.isShared() { // goroutines of a share may look up what is there, at once
		a.pinned = true
	}
	return a, nil
}

// archetypeOf finds or makes the archetype of a set of types and of values, which valuesFor gave.
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
	w.archetypes.add(a)
	w.index.Enter(&a.table)
	w.news.match()
	return a, nil
}

// again returns the archetype of the same types and values that the world has, which is a unless it
// was given up. It makes one when there is none.
func (a *Archetype) again() (*Archetype, error) {
	if !a.table.Closed {
		return a, nil
	}
	return a.w.archetypeOf(a.table.Sig, a.w.valuesFor(make([]*value.Shared, 0, usualValues), &a.table.Sig, a.values, nil, nil))
}

// now is again that makes none: where the world has no such archetype it returns a.
func (a *Archetype) now() *Archetype {
	if a.table.Closed {
		values := a.w.valuesFor(make([]*value.Shared, 0, usualValues), &a.table.Sig, a.values, nil, nil)
		if b := a.w.archetypes.find(&a.table.Sig, values); b != nil {
			return b
		}
	}
	return a
}

// The table of an archetype begins where the archetype does.
var _ [0]struct{} = [unsafe.Offsetof(Archetype{}.table)]struct{}{}

// whole returns the archetype that what its queries know is part of.
func whole(a *match.Archetype) *Archetype {
	// Safe because what a world's index knows are first fields of archetypes.
	return (*Archetype)(unsafe.Pointer(a))
}

// archetypeAt returns the archetype of a chunk's owner.
func (w *World) archetypeAt(o owner) *Archetype {
	// Safe because the owner of a chunk names an archetype (W3): a bounds check would cost every
	// structural change of one entity three instructions.
	return *(**Archetype)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.archetypes.list)), uintptr(o.Table())*unsafe.Sizeof(w.archetypes.list[0])))
}

// archetypeOn returns the archetype whose table it is, nil for none.
func (w *World) archetypeOn(t *table.Table) *Archetype {
	if t == nil {
		return nil
	}
	return w.archetypes.list[t.Index]
}

// refuseDying panics for a call that would make entities that have the tag CleanupEntity.
//
//go:noinline
func refuseDying(op string) {
	panic("ecs: " + op + ": CleanupEntity comes with World.Destroy; no entity is created with it")
}

// isLastCleanup reports whether a type is the archetype's only one that is Cleanup.
func (a *Archetype) isLastCleanup(id typeID) bool {
	rest := a.table.Sig
	rest.Drop(id)
	return !rest.Meets(&a.w.types.cleanup)
}

// differs reports whether two archetypes have different values of one type.
func (a *Archetype) differs(b *Archetype) bool {
	for _, v := range a.values {
		if other := b.valueOf(typeID(v.Type)); other != nil && other != v {
			return true
		}
	}
	return false
}

// pathTo returns the path from a to another archetype: one to another value of a shared type is
// good until a is asked for another.
func (a *Archetype) pathTo(to *Archetype) *path {
	if a.differs(to) {
		return a.table.Sideways(&to.table.Table)
	}
	return a.table.To(&to.table.Table)
}

// Len returns the number of entities that have exactly the archetype's types.
func (a *Archetype) Len() int {
	if a.table.Closed {
		a = a.now()
	}
	return a.table.Store.Len()
}

// Has reports whether the archetype has a type. It panics for one of another world.
func (a *Archetype) Has(t Type) bool { return a.table.Sig.Has(a.w.idOf("Archetype.Has", t)) }

// World returns the archetype's world.
func (a *Archetype) World() *World { return a.w }

// Chunks returns the number of chunks that hold rows.
func (a *Archetype) Chunks() int { return len(a.now().table.Store.Chunks()) }

// Chunk describes the i'th chunk, i in [0, Chunks()): where it begins, in bytes from the universe's
// base, how many bytes it has, 2 KiB or 16 KiB to 1 MiB, powers of two, and how many rows. All but
// the last are full. It panics for another i.
func (a *Archetype) Chunk(i int) (offset, bytes, rows int) {
	if a = a.now(); uint(i) >= uint(len(a.table.Store.Chunks())) {
		panic(fmt.Sprintf("ecs: Archetype.Chunk: %d is not in [0, %d) of %v", i, len(a.table.Store.Chunks()), a))
	}
	c := a.table.Store.Chunks()[i]
	return int(c.First) * alloc.SmallChunkSize, c.Bytes(), a.table.Store.RowsOf(i)
}

// Plan returns the layout of a unit of 16 KiB; it prints as a drawing. A chunk of n units has n
// times the rows, and each column at n times the offset; n is 1/8 for a small chunk of 2 KiB, whose
// rows are rounded down, and 63 for one of 1 MiB with more than four columns. While there are no
// rows it may change, see Change.ApplyQuery. Cost: it is worked out at each call.
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

// entities returns the entity column of a chunk that starts at base.
func entities(base unsafe.Pointer, rows int) []Entity {
	// Safe because the entity column lies at offset 0 and holds plan.Rows >= rows entities.
	return unsafe.Slice((*Entity)(base), rows)
}
