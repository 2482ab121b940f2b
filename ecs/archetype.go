package ecs

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/table"
	"quarry/layout"
)

// place says where a type lies in an archetype's chunks.
type place struct {
	offset uint32 // bytes from a small chunk's start to the column, see column
	use    uint32 // slot << 8 | flags
}

func useOf(slot int, flags uint8) uint32 { return uint32(slot)<<8 | uint32(flags) }

// slot returns the index into the archetype's types.
func (p place) slot() uint16 { return uint16(p.use >> 8) }

// flags returns mayRead | mayWrite, or 0: the type is absent.
func (p place) flags() uint8 { return uint8(p.use) }

// column is a type with storage in an archetype's chunks; its key is the typeID.
type column = alloc.GridColumn

// Archetype is a set of component types, with a value for each that is shared, and owner
// of the chunks of all entities that have exactly that set and those values. Its rows are dense: only the last chunk is ever
// part full, and a row that goes is replaced by the last one.
//
// All methods belong to the world's owner: one goroutine at a time.
type Archetype struct {
	w         *World
	index     uint32 // in World.archetypes
	sig       signature
	values    []*value     // of the shared types, in their order (W11)
	key       uint64       // hash of both, for World.byTypes
	alike     *Archetype   // the next with the same key there
	types     []typeID     // in rising order
	place     []place      // by typeID, up to the highest of types
	grid      alloc.Grid   // rows and chunks (W2); the entity column, at offset 0, is not among its columns
	owning    []column     // those of the grid's columns whose rows own something elsewhere, buffers first: see World.releaseOne
	bufferN   int          // how many of them are buffers, the others are managed
	ownRows   int          // of a unit in the plan of its own types, see layout.go
	lent      *layout.Plan // with holes, that it took over; nil: its own
	ways      []*way       // that begin or end here, found so far
	edges     []edge       // those to archetypes one type away
	edge      *way         // the last one asked for
	edgeKey   uint32       // its type, with edgeAdds when that is added
	adopt     *Change      // into this archetype, made on need
	pickedBy  uint64       // serial of the last pick by list with rows of it
	pickedAt  int          // its index there
	coming    int          // rows that need room, while a change is prepared
	sources   int          // archetypes that rows come from, meanwhile
	regular   bool         // full chunks come, too
	side      *way         // to the archetypes of other values, see sideways
	lasting   bool         // Destroy does more than to end rows: there are Cleanup types, or LinkedEntity
	dying     bool         // it has Dying: nothing is created here
	pinned    bool         // somebody may have it from NewArchetype, so it stays without rows
	forgotten bool         // taken out of the world again, see retire

	books table.Books // of the grid's chunks: versions, and enable bits
}

// NewArchetype returns the archetype of a set of types, components and buffers, in
// any order; the same set always gives the same archetype. Of a shared type it takes a
// value, see Shared.Of; the type alone stands for its zero value. It panics for a type of
// another world or one that is given twice, and with a *LimitError when a row does
// not fit a chunk.
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
	given := w.given[:0]
	for _, t := range types {
		id := w.idOf("NewArchetype", t)
		if sig.Has(id) {
			panic(fmt.Sprintf("ecs: NewArchetype: %s is given twice", w.types[id].name))
		}
		if id == dyingID {
			refuseDying("NewArchetype")
		}
		sig.Add(id)
		if s, ok := t.(SharedValue); ok {
			given = append(given, s.v)
		}
	}
	w.given = given
	a, err := w.archetypeOf(sig, w.valuesFor(&sig, given, nil, nil))
	if err != nil {
		return nil, during("NewArchetype", err)
	}
	a.pinned = true
	return a, nil
}

// idOf returns the type's number after checking that it is one of w's.
func (w *World) idOf(op string, t Type) typeID {
	info := infoOf(op, t)
	w.checkOwn(op, info)
	return info.id
}

// checkOwn panics unless a type is one of w's.
func (w *World) checkOwn(op string, t *typeInfo) {
	switch {
	case t == nil:
		panic("ecs: " + op + ": " + unmade["Component"])
	case t.w != w:
		panic(fmt.Sprintf("ecs: %s: %s was registered in another world", op, t.name))
	}
}

// keyOf returns the hash of a set of types and of values.
func (w *World) keyOf(sig *signature, values []*value) uint64 {
	key := maphash.Comparable(w.seed, *sig)
	for _, v := range values {
		key = maphash.Comparable(w.seed, [2]uint64{key, v.serial})
	}
	return key
}

// withKey returns the archetype of a set and values with that hash, or nil.
func (w *World) withKey(key uint64, sig *signature, values []*value) *Archetype {
	for a := w.byTypes[key]; a != nil; a = a.alike {
		if a.sig == *sig && slices.Equal(a.values, values) {
			return a
		}
	}
	return nil
}

// archetypeOf finds or makes the archetype of a set of types and of values, which
// valuesFor gave.
func (w *World) archetypeOf(sig signature, values []*value) (*Archetype, error) {
	key := w.keyOf(&sig, values)
	if a := w.withKey(key, &sig, values); a != nil {
		return a, nil
	}
	w.checkUnshared("NewArchetype")
	w.Settle("NewArchetype")
	a := &Archetype{w: w, index: uint32(len(w.archetypes)), sig: sig, values: slices.Clone(values), key: key, alike: w.byTypes[key]}
	a.types = make([]typeID, 0, sig.Count())
	for id := range w.types {
		if sig.Has(typeID(id)) {
			a.types = append(a.types, typeID(id))
		}
	}
	if err := a.layOut(); err != nil {
		return nil, err
	}
	a.edgeKey = noEdge
	w.archetypes = append(w.archetypes, a)
	w.byTypes[key] = a
	for _, v := range a.values {
		v.hold()
		v.archetypes = append(v.archetypes, a)
	}
	if len(a.values) > 0 {
		w.valued++
	}
	w.changeMatches()
	for m := range a.suitors() {
		m.consider(a)
	}
	return a, nil
}

// refuseDying panics for a call that would make entities that are Dying.
//
//go:noinline
func refuseDying(op string) {
	panic("ecs: " + op + ": Dying comes with World.Destroy; no entity is created with it")
}

// isLastCleanup reports whether a type is the archetype's only one that is Cleanup.
func (a *Archetype) isLastCleanup(id typeID) bool {
	rest := a.sig
	rest.Drop(id)
	return !rest.Meets(&a.w.cleanupTypes)
}

// Len returns the number of entities that have exactly the archetype's types.
func (a *Archetype) Len() int {
	if a.forgotten {
		a = a.now()
	}
	return a.grid.Len()
}

// Has reports whether the archetype has a type. It panics for one of another world.
func (a *Archetype) Has(t Type) bool { return a.sig.Has(a.w.idOf("Archetype.Has", t)) }

// World returns the archetype's world.
func (a *Archetype) World() *World { return a.w }

// Chunks returns the number of chunks that hold rows.
func (a *Archetype) Chunks() int { return len(a.now().grid.Chunks()) }

// Chunk describes the i'th chunk, i in [0, Chunks()): where it begins, in bytes from the
// universe's base, how many bytes it has, 2 KiB or 16 KiB to 1 MiB, powers of two, and
// how many rows. All but the last are full. It panics for another i.
func (a *Archetype) Chunk(i int) (offset, bytes, rows int) {
	if a = a.now(); uint(i) >= uint(len(a.grid.Chunks())) {
		panic(fmt.Sprintf("ecs: Archetype.Chunk: %d is not in [0, %d) of %v", i, len(a.grid.Chunks()), a))
	}
	c := a.grid.Chunks()[i]
	return int(c.First) * alloc.EighthSize, c.Bytes(), a.grid.RowsOf(i)
}

// Plan returns the layout of a unit of 16 KiB; it prints as a drawing. A chunk of n
// units has n times the rows, and each column at n times the offset; n is 1/8 for a small
// chunk of 2 KiB, whose rows are rounded down, and 63 for one of 1 MiB with more than four
// columns. While there are no rows it may change, see Change.ApplyQuery. Cost: it is worked out at each call.
func (a *Archetype) Plan() layout.Plan {
	a = a.now()
	if a.lent != nil {
		return *a.lent
	}
	plan, err := a.ownPlan()
	if err != nil {
		panic("ecs: Archetype.Plan: " + err.Error()) // it was laid out when it was made
	}
	return plan
}

// String lists the archetype's types.
func (a *Archetype) String() string {
	names := make([]string, len(a.types))
	for i, id := range a.types {
		names[i] = a.w.types[id].name
		if v := a.valueOf(id); v != nil {
			names[i] = v.String()
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}

// growing says how much room to make.
type growing bool

const (
	byPolicy growing = false
	exactly  growing = true
)

// own adds a column to the owning ones.
func (a *Archetype) own(c column) {
	if a.w.types[c.Key].buffer {
		a.owning = slices.Insert(a.owning, a.bufferN, c)
		a.bufferN++
		return
	}
	a.owning = append(a.owning, c)
}

// buffers returns the columns that are buffers.
func (a *Archetype) buffers() []column { return a.owning[:a.bufferN] }

// managed returns the columns of managed types.
func (a *Archetype) managed() []column { return a.owning[a.bufferN:] }

// grow makes room for n more rows by the policy of the archetype, in its own layout when
// they are the first.
func (a *Archetype) grow(n int) error {
	a.lieAlone()
	err := a.growAs(byPolicy, n)
	if err == nil {
		a.promote()
	}
	return err
}

// growAs makes room in the layout that there is, and leaves an only chunk which was
// outgrown where it is, for promote or settle: when the universe refuses, once more after
// the world has given its reserves back. On an error no row has changed.
func (a *Archetype) growAs(how growing, n int) error {
	before := len(a.grid.Chunks())
	grow := func() error {
		if how == exactly {
			return a.grid.GrowExact(n)
		}
		return a.grid.Grow(n)
	}
	err := grow()
	if err != nil && a.w.Trim() > 0 {
		err = grow()
	}
	if err != nil {
		return limit("", 0, err)
	}
	chunks := a.grid.Chunks()
	for pos := before; pos < len(chunks); pos++ {
		a.enter(chunks[pos], pos)
	}
	return nil
}

// promote moves the rows of a chunk that was outgrown to the chunk behind it, which takes
// its position. The versions of its types and of its order stay. It cannot fail.
func (a *Archetype) promote() {
	pos, ok := a.grid.Leaving()
	if !ok {
		return
	}
	old, n := a.grid.Chunks()[pos], a.grid.RowsOf(pos)
	ids := entities(a.grid.Row(pos+1, 0).Base, n)
	copy(ids, entities(a.grid.Row(pos, 0).Base, n))
	a.w.ids.MoveRows(idsOf(ids), locate(a.grid.Chunks()[pos+1].First, 0))
	a.books.Promote(pos)
	a.w.setOwner(old, nil, 0)
	a.grid.Promote()
	chunks := a.grid.Chunks()
	for i := pos; i < len(chunks); i++ {
		a.w.setOwner(chunks[i], a, i)
	}
}

// settle gives up room that was made and not used.
func (a *Archetype) settle() {
	for last := len(a.grid.Chunks()) - 1; last >= a.grid.Needed(); last-- {
		a.leave(last)
	}
	a.grid.Settle()
}

// enter begins the books of a chunk; leave ends those of the last chunk, which is about to lose
// its last row.
func (a *Archetype) enter(c alloc.GridChunk, pos int) {
	a.w.setOwner(c, a, pos)
	a.books.Add(a.grid.Fits(c))
}

func (a *Archetype) leave(last int) {
	a.w.setOwner(a.grid.Chunks()[last], nil, 0)
	a.books.Cut(last)
}

// entityAt returns the entity of a row.
func entityAt(at alloc.GridRow) *Entity {
	// Safe because the entity column lies at offset 0 of the row's chunk.
	return (*Entity)(unsafe.Add(at.Base, uintptr(at.Row)*unsafe.Sizeof(Entity{})))
}

// entities returns the entity column of a chunk that starts at base.
func entities(base unsafe.Pointer, rows int) []Entity {
	// Safe because the entity column lies at offset 0 and holds plan.Rows >= rows
	// entities.
	return unsafe.Slice((*Entity)(base), rows)
}
