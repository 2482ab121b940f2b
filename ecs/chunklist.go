package ecs

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/query"
)

// ChunkList is a list of the chunks that a loop over a query yields. It may be kept until the next
// structural change of the world, indexed, cut, and handed to goroutines while the world is lent.
// A ChunkList is a value; the zero ChunkList is empty.
type ChunkList struct {
	q      *Query // nil: empty
	chunks []listed
	epoch  uint64 // the world's epoch when the list was made
	since  uint32 // the query's Since at that time, for Masked terms
}

// listed is a chunk of a list.
type listed struct {
	a   *Archetype
	pos int // in the archetype's store
}

// Chunks returns the list of the chunks that Rows would yield now, in the same order: those of
// matching archetypes that pass Changed and Ordered terms and have a row that matches. It uses the
// memory of dst, which may be the zero value; dst, and lists cut from it, are not used any more.
// Since does not advance. Chunks may be called inside loops; it panics if a borrow writes what the
// query reads, and if the query is closed. Cost: as a loop that does nothing, and 16 B for each
// chunk.
func (q *Query) Chunks(dst ChunkList) ChunkList {
	q.inner().Ready("Query.Chunks")
	w := q.core.World
	list := dst.chunks[:0]
	s := query.OpenScan(w, q.inner())
	defer s.End()
	s.Walk(q.inner(), func(rows query.Rows) bool {
		list = append(list, listed{archetypeFrom(s.Binding.Archetype), s.Pos})
		return true
	})
	return ChunkList{q: q, chunks: list, epoch: w.Writer.Epoch, since: q.core.Since}
}

// Len returns the number of chunks.
func (l ChunkList) Len() int { return len(l.chunks) }

// Slice returns the list of the chunks lo to hi-1, as void as l. It panics unless 0 <= lo <= hi <=
// Len.
func (l ChunkList) Slice(lo, hi int) ChunkList {
	if lo < 0 || lo > hi || hi > len(l.chunks) {
		panic(fmt.Sprintf("ecs: ChunkList.Slice: [%d, %d) of %d chunks", lo, hi, len(l.chunks)))
	}
	l.chunks = l.chunks[lo:hi:hi]
	return l
}

// At returns where the i'th chunk is: its archetype, and its position as Archetype.Chunk takes it.
// The row is 0. At panics for a void list, and unless i is in [0, Len).
func (l ChunkList) At(i int) Location {
	const op = "ChunkList.At"
	if uint(i) >= uint(len(l.chunks)) {
		panic(fmt.Sprintf("ecs: %s: %d is not in [0, %d)", op, i, len(l.chunks)))
	}
	l.check(op)
	return Location{Archetype: l.chunks[i].a, Chunk: l.chunks[i].pos}
}

// Void reports whether the list can no longer be used: there was a structural change since it was
// made, or its query was closed. An empty list is never void.
func (l ChunkList) Void() bool {
	return len(l.chunks) > 0 &&
		(l.q.core.Matching == nil || l.q.core.World.Closed || l.epoch != l.q.core.World.Writer.Epoch)
}

// check panics for a list that is void.
func (l ChunkList) check(op string) {
	if l.Void() {
		l.q.inner().CheckOpen(op)
		panic(fmt.Sprintf("ecs: %s: the list of %d chunks of %v is void: the world has changed since it was made",
			op, len(l.chunks), l.q))
	}
}

// Rows yields the rows of the chunks in the order of the list, as Query.Rows does: with the enable
// bits of now, so a chunk in which no row matches any more is passed over. Changed and Ordered
// terms chose the chunks when the list was made, and are not asked again. Only a Masked Changed
// term still chooses rows: those written since what Query.Since was when the list was made. Since
// does not advance. While the world is lent, goroutines that are given lists of their own, cut by
// Slice, share the work. It panics for a void list.
func (l ChunkList) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) {
		if len(l.chunks) == 0 {
			return
		}
		const op = "ChunkList.Rows"
		l.check(op)
		l.q.inner().Ready(op)
		if b := query.LoanOf(l.q.core.World); b != nil {
			r := b.Take(op, l.q.inner())
			defer b.GiveBack(r)
			walkList(&r.Scan, l, yield)
			return
		}
		s := query.OpenScan(l.q.core.World, l.q.inner())
		defer s.End()
		walkList(s, l, yield)
	}
}

// walkList yields the chunks of a list that is not void.
func walkList(s *query.Scan, l ChunkList, yield func(Rows) bool) {
	s.Since = l.since
	var last *Archetype
	for _, c := range l.chunks {
		if c.a != last {
			last, s.Binding = c.a, l.q.inner().FindBinding(c.a.inner()) // which an archetype with rows keeps
		}
		if s.Binding == nil || c.pos >= len(c.a.core.Table.Store.Chunks()) {
			panic(fmt.Sprintf(
				"ecs: ChunkList.Rows: the list of %v has chunks of another list: its memory was given to Query.Chunks",
				l.q))
		}
		if rows, ok := s.Chunk(c.pos); ok && !yield(Rows{rows}) {
			return
		}
	}
}
