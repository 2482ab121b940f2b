package query

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/world"
)

// Ready chunks. The chunks of a view's query, with what a loop needs of each in one place: the
// view's struct, whose slices are its columns, and the versions that writes mark. A walk finds a
// chunk's length, columns and versions in five places. Whether ready chunks are still right is seen
// by three numbers, before each loop:
//
//	Writer.Epoch      rows have come or gone: the numbers of rows are compared
//	Tables.Placed     a chunk or its versions lie elsewhere: so are the counts of the archetypes
//	OwnerMatched      archetypes match, or columns have moved: all is made anew
//
// Invariant, which debug builds check before each loop over ready chunks:
//
//	Q2 Ready chunks that are current are the chunks of the query's archetypes in their order, with
//	   their rows and where these lie.
//
// A world that is locked changes none of the three in a way that moves a ready chunk, so a loop
// that goes on beside another keeps its place.

// mostReady is the most chunks that are kept ready. More of them would not stay in the cache.
const mostReady = 4096

// Ready has the ready chunks of a view. One without Columns is never current.
type Ready struct {
	Query   *Query
	list    []readyChunk
	structs unsafe.Pointer // the view's, by ready chunk
	size    uintptr        // of one
	epoch   uint64
	placed  uint64
	matched uint64 // 0 where loops must look at each chunk
	sum     uint64 // sumPlaced
	rows    []int  // by binding: rows of the archetype, all of which are ready

	Columns  []ReadyColumn
	Make     func(n int) (structs unsafe.Pointer, size uintptr)     // makes n structs
	Fill     func(m unsafe.Pointer, a *world.Archetype, pos, n int) // fills one with n rows of a chunk
	FillNext func() func(Rows) unsafe.Pointer                       // for a loop that looks at each chunk
}

// readyChunk is a chunk with rows.
type readyChunk struct {
	marks        []*uint32 // versions of the columns that the view writes
	base         unsafe.Pointer
	n            int // rows
	binding, pos int
}

// ReadyColumn is a column of a view.
type ReadyColumn struct {
	Type  *world.Type
	Write bool
}

// current reports whether loops may go through the ready chunks.
func (r *Ready) current() bool {
	w := r.Query.World
	return r.Query.Matching != nil && r.matched == w.QueryEpochs.OwnerMatched &&
		r.epoch == w.Writer.Epoch && r.placed == w.Tables.Placed
}

// refresh makes the ready chunks current. It returns false if loops must look at each chunk: the
// query may skip some, what it reads is lent, or a write needs a barrier.
func (r *Ready) refresh() bool {
	q, w := r.Query, r.Query.World
	if w.QueryEpochs.OwnerMatched == world.NoEpoch { // other goroutines may be here too
		return false
	}
	if r.matched != w.QueryEpochs.OwnerMatched || r.placed != w.Tables.Placed && r.sum != q.sumPlaced() {
		if r.matched = 0; !r.build() {
			return false
		}
		r.structs, r.size = r.Make(len(r.list))
	}
	last := -1
	for i := range q.Bindings {
		a := q.Bindings[i].Archetype
		rows, n := a.Table.Store.Len(), len(a.Table.Store.Chunks())
		if rows == r.rows[i] {
			last += n
			continue
		}
		r.rows[i] = rows
		for pos := range n {
			last++
			if t := &r.list[last]; t.n != a.Table.Store.RowsOf(pos) {
				t.n = a.Table.Store.RowsOf(pos)
				r.Fill(unsafe.Add(r.structs, uintptr(last)*r.size), a, pos, t.n) // Safe because each chunk has one.
			}
		}
	}
	r.epoch, r.placed, r.matched = w.Writer.Epoch, w.Tables.Placed, w.QueryEpochs.OwnerMatched
	return true
}

// sumPlaced returns a sum that changes when a chunk of the query's archetypes comes, goes or moves.
func (q *Query) sumPlaced() (sum uint64) {
	for i := range q.Bindings {
		sum += uint64(q.Bindings[i].Archetype.Table.Placed)
	}
	return sum
}

// build lists the chunks anew, without their rows. It returns false if loops must look at
// each.
func (r *Ready) build() bool {
	q, columns, chunks := r.Query, r.Columns, 0
	for i := range q.Bindings {
		chunks += len(q.Bindings[i].Archetype.Table.Store.Chunks())
	}
	if q.ownerSeen != q.World.QueryEpochs.OwnerMatched || chunks > mostReady || len(columns) == 0 ||
		slices.ContainsFunc(columns, func(c ReadyColumn) bool { return c.Type.NeedsBarrier() }) {
		return false
	}
	r.list, r.sum = r.list[:0], q.sumPlaced()
	r.rows = slices.Grow(r.rows[:0], len(q.Bindings))[:len(q.Bindings)]
	clear(r.rows)
	marks := make([]*uint32, 0, chunks*len(columns))
	for i := range q.Bindings {
		a := q.Bindings[i].Archetype
		for pos := range a.Table.Store.Chunks() {
			from := len(marks)
			for _, c := range columns {
				if p := q.Bindings[i].ColumnOf(c.Type.ID); c.Write && p.Flags()&world.MayWrite != 0 {
					marks = append(marks, a.Table.Metadata.Version(p.Slot(), pos))
				}
			}
			base := a.Table.Store.Row(pos, 0).Base
			r.list = append(r.list, readyChunk{marks[from:len(marks):len(marks)], base, 0, i, pos})
		}
	}
	return true
}

// verify checks Q2.
func (r *Ready) verify() error {
	q, i := r.Query, 0
	for b := range q.Bindings {
		g := &q.Bindings[b].Archetype.Table.Store
		for pos := range g.Chunks() {
			if n := g.RowsOf(pos); n > 0 {
				if i >= len(r.list) || r.list[i].binding != b || r.list[i].pos != pos || r.list[i].n != n ||
					r.list[i].base != g.Row(pos, 0).Base {
					return fmt.Errorf("ecs: Q2: ready chunk %d of %v is not chunk %d of %v with %d rows", i, q, pos,
						q.Bindings[b].Archetype, n)
				}
				i++
			}
		}
	}
	if i != len(r.list) {
		return fmt.Errorf("ecs: Q2: %v has %d ready chunks of %d", q, len(r.list), i)
	}
	return nil
}
