package query

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Query is ecs.Query.
type Query struct {
	World     *world.World
	Terms     []Term
	Matching  *match.Matching    // nil once closed
	named     []*value.Shared    // values of the Where terms; the query holds a reference to each
	Bindings  []Binding          // one per matching archetype, see bindNew
	seen      uint64             // QueryEpochs.Matched when bindings were last brought up to date; 0 means never
	replanned uint64             // QueryEpochs.Replanned at that time
	lost      uint64             // Matching.Lost at that time
	Allowed   []uint8            // by TypeID: what loops may do with the type, see declared
	writes    bool               // some type may be written
	OfAll     bool               // made by NewQueryOfAll
	Changed   []world.TypeID     // types of the Changed terms
	MaskedNew []world.TypeID     // those of the terms that are Masked
	Watched   []*world.SparseSet // sets of sparse types among them
	Sets      []sparseFilter     // tests that rows must pass by sparse types
	Driver    Driver             // what loops go through, if there are such tests
	Ordered   bool               // the query has an Ordered term
	Ranges    []QueryRange       // the Between terms
	Masked    bool               // one of them, or of the Changed terms, is Masked
	Pinned    bool               // since does not advance when a loop ends, see door.PinSince
	Since     uint32             // version that Changed and Ordered compare with; 0 means that everything is new
	// QueryEpochs.OwnerMatched at which every row of the bindings matches, at any version, see
	// bindNew.
	ownerSeen uint64
}

// Binding is a query's table for one archetype, and the only table that Slice consults. It has the
// places of the declared columns, and what loops may do with them. A query binds its new matches
// before it runs.
type Binding struct {
	Archetype *world.Archetype
	tests     []match.BitTest // enable-bit tests of the match
	Lowest    uint            // TypeID of the first entry of columns
	// By TypeID, from lowest on; flags 0: not declared; declared alone: declared, but not in the
	// archetype.
	Columns []world.Place
}

// ColumnOf returns the type's offset and what loops may do with the column.
func (t *Binding) ColumnOf(id world.TypeID) world.Place {
	if i := uint(id) - t.Lowest; i < uint(len(t.Columns)) {
		return t.Columns[i]
	}
	return world.Place{}
}

// declared marks a type that the query gives access to, whether or not the archetype has it.
const declared = 1 << 7

// Declare records the access and the versions that the i'th operand of a term requires.
func (q *Query) Declare(t *Term, i int, seen *world.Signature) {
	w, kind, o := q.World, t.Kind, t.Of[i]
	w.CheckOwn("NewQuery", o.Type)
	id := o.Type.ID
	for _, before := range t.Of[:i] {
		if before.Type == o.Type {
			panic(fmt.Sprintf("ecs: NewQuery: %s names %s twice", TermNames[kind], w.Types.List[id].Name))
		}
	}
	if kind == TermChanged {
		if slices.Contains(q.Changed, id) {
			panic(fmt.Sprintf("ecs: NewQuery: %s is in two Changed terms", w.Types.List[id].Name))
		}
		q.Changed = append(q.Changed, id)
		if t.masked {
			q.MaskedNew, q.Masked = append(q.MaskedNew, id), true
		}
		if o.Type.Place() == world.PerEntity {
			q.Watched = append(q.Watched, o.Type.Sparse)
		}
		return
	}
	if kind == TermBetween {
		q.Ranges = append(q.Ranges, QueryRange{t.Span, t.masked})
		q.Masked = q.Masked || t.masked
		return
	}
	if seen.Has(id) {
		panic(fmt.Sprintf("ecs: NewQuery: %s is in two terms", w.Types.List[id].Name))
	}
	seen.Add(id)
	if kind == TermDisabled && !w.Types.List[id].Enableable {
		panic(fmt.Sprintf("ecs: NewQuery: Disabled %s: it was not registered with ecs.Enableable",
			w.Types.List[id].Name))
	}
	access := o.Access
	if access != 0 {
		access |= declared
	}
	if t.shows(o) {
		access |= world.MaySee
	}
	if access != 0 {
		for int(id) >= len(q.Allowed) {
			q.Allowed = append(q.Allowed, 0)
		}
		q.Allowed[id] = access
		q.writes = q.writes || access&world.MayWrite != 0
	}
}

// Close is ecs.Query.Close.
func (q *Query) Close() {
	if q == nil || q.World == nil {
		q.Refuse("Query.Close")
	}
	q.World.CheckNotLent("Query.Close")
	if loopOver(q.World, q) {
		panic(fmt.Sprintf("ecs: Query.Close: inside a loop over %v", q))
	}
	q.World.EndBorrows("Query.Close")
	if q.Matching != nil && !q.World.Closed {
		q.World.Index.Drop(q.Matching)
		for _, v := range q.named {
			v.LetGo()
		}
	}
	q.Matching = nil
}

// loopOver reports whether a loop over the query is in progress.
func loopOver(w *world.World, q *Query) bool {
	return slices.ContainsFunc(ScansOf(w).List, func(s *Scan) bool { return s.open && s.Query == q })
}

// SetSince is ecs.Query.SetSince for the call op. A version that is pinned stays when loops end.
func (q *Query) SetSince(op string, version uint32, pinned bool) {
	if q == nil || q.World == nil {
		q.Refuse(op)
	}
	q.World.CheckNotLent(op)
	q.Since, q.Pinned = version, pinned
}

// MatchesArchetype implements door.MatchesArchetype.
func (q *Query) MatchesArchetype(a *world.Archetype) (matches, bits bool) {
	q.CheckOpen("query.MatchesArchetype")
	if a == nil || a.World != q.World {
		panic("ecs: query.MatchesArchetype: the archetype is nil or belongs to another world")
	}
	matches = q.Matching.Wants(&a.Table)
	return matches, matches && (len(q.Matching.TestsOf(&a.Table)) > 0 || q.tested())
}

// filters reports whether the query has Changed or Ordered terms, which filter chunks by version.
func (q *Query) filters() bool { return q.Ordered || len(q.Changed) > 0 }

// advancesSince reports whether Since advances when a loop ends.
func (q *Query) advancesSince() bool { return q.filters() && !q.Pinned }

// FiltersChunks reports whether the query has terms that are about the values of chunks: their
// versions, or the numbers in them.
func (q *Query) FiltersChunks() bool { return q.filters() || len(q.Ranges) > 0 }

// tested reports whether sparse types, ranges or versions of rows decide which rows match, in any
// archetype.
func (q *Query) tested() bool { return q.Masked || len(q.Sets) > 0 }

// MaySkipChunks reports whether versions, if since is not 0, or ranges decide which chunks pass.
func (q *Query) MaySkipChunks(since uint32) bool {
	return since != 0 && q.filters() || len(q.Ranges) > 0
}

// ChunkPasses reports whether the loop of a borrow, or of the owner if b is nil, shows n rows of a
// chunk from first on: by the Changed and Ordered terms, if since is not 0, and by the Between
// terms.
func (q *Query) ChunkPasses(b *Borrow, a *world.Archetype, pos, first, n int, since uint32) bool {
	if since != 0 && q.filters() && !q.isNew(a, pos, since) {
		return false
	}
	for i := range q.Ranges {
		if !q.Ranges[i].chunkPasses(q, b, a, pos, first, n) {
			return false
		}
	}
	return true
}

// isNew reports whether a chunk is newer than since by one of the Changed and Ordered terms.
func (q *Query) isNew(a *world.Archetype, pos int, since uint32) bool {
	if q.Ordered && world.Newer(a.Table.Metadata.Ordered(pos), since) {
		return true
	}
	for _, id := range q.Changed {
		if int(id) < len(a.Table.Places) && a.Table.Places[id].Flags() != 0 &&
			world.Newer(a.Table.Metadata.Changed(a.Table.Places[id].Slot(), pos), since) {
			return true
		}
	}
	return len(q.Watched) > 0 && q.passesSets(a, pos, since)
}

// String is ecs.Query.String.
func (q *Query) String() string {
	parts := make([]string, len(q.Terms))
	for i, t := range q.Terms {
		parts[i] = t.String()
	}
	return "query(" + strings.Join(parts, ", ") + ")"
}

// Refuse panics with the reason why the query cannot be used.
//
//go:noinline
func (q *Query) Refuse(op string) {
	if q == nil || q.World == nil {
		panic("ecs: " + op + ": the query is nil or the zero value; queries come from NewQuery")
	}
	if q.World.Closed {
		q.World.Refuse(op)
	}
	panic(fmt.Sprintf("ecs: %s: %v is closed", op, q))
}

// CheckOpen panics if the query or its world is closed.
func (q *Query) CheckOpen(op string) {
	if q == nil || q.Matching == nil || q.World.Closed {
		q.Refuse(op)
	}
}

// Driver is what the loops of a query that requires a sparse type, and the parts of jobs over it,
// go through. It changes what they cost, not what they yield.
type Driver uint8

// rowKey is where the row of an entry is, so that keys sort as loops go: the index of the query's
// binding 24 bits, the chunk's position 22, the row 18.
type rowKey uint64

// RowRange is a range of rows of one chunk that a borrow's query sees. Its first row is a multiple
// of 64.
type RowRange struct {
	Binding, Pos uint32 // index in the borrow's bindings; the chunk's position in the archetype's store
	Lo, N        uint32 // first row and number of rows
}

// Accessor gives one goroutine access to the rows of a borrow. It may be used again whenever the
// borrow is out.
type Accessor struct {
	Borrow *Borrow
	Scan   Scan
}

// Borrow is ecs.Borrow.
type Borrow struct {
	world.Lease
	Query *Query // the query whose rows are lent; nil: everything is lent for reading
	// Query as the goroutines see it: access is BarrierRead and BarrierWrite, and the bindings are
	// its own.
	own    Query
	chunks bool          // the rows of a chunk are not split: a chunk type is written
	types  []*world.Type // types in access

	accessors []*Accessor
	idle      []*Accessor // accessors that Rows may reuse
}

// A nesting is where a scan's loop stands among the open loops of its world.
type nesting struct {
	depth  int  // open loops when it had begun, itself among them
	pulled bool // it began inside another loop, on a goroutine of iter.Pull
}

// Scan is the state of a loop over rows, to which a Rows points. A world keeps its scans for reuse,
// so loops allocate nothing. While a scan is open the world is locked against structural changes.
type Scan struct {
	World   *world.World
	Query   *Query      // its access applies to the rows
	Binding *Binding    // of the current rows' archetype
	Pos     int         // position of the current chunk in the archetype's store
	First   int         // first of the current rows; nonzero only for batches and borrows
	Since   uint32      // the version that the query's terms compare with in this loop, see narrowMasked
	Scale   uintptr     // of the current chunk: see store.Store.Scale
	Serial  uint32      // of the current rows; rows with another serial are stale
	Dense   bool        // every row of the chunk matches
	filled  bool        // Mask has been computed for the current rows
	open    bool        // the loop is in progress; never set for an accessor's scan
	Own     Binding     // for the rows of a batch
	Mask    []uint64    // sized for the largest chunk seen
	of      *world.Type // the sparse type of a loop over all its values; nil for all other loops
	keys    []rowKey    // of the entries that the loop goes through, see walkSet
	Borrow  *Borrow     // the borrow of an accessor's scan; nil for the owner
	nesting nesting     // in debug builds
	loop    uint64      // number of the loop of a Cursor, or of the next; from 1 on
	cursor  cursorState // of a loop that a Cursor drives
}

// sparseFilter is a condition on sparse types that a row must meet. A term gives one filter for
// each of its sparse types; an Any term gives one filter for all its types.
type sparseFilter struct {
	Of     []*world.Type // sparse types: the row must have at least one of them, in the state want
	dense  []*world.Type // of an Any term, its types that are not sparse: one that is enabled is enough too
	want   entryState
	invert bool // the row must have none of them in the state want
}

// QueryRange is a Between term of a query.
type QueryRange struct {
	*FieldRange
	masked bool
}
