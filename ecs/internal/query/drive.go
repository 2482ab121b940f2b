package query

import (
	"slices"

	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Driving. A loop over a query that requires a sparse type can go through the chunks of archetypes
// and test each row, or through the entries of the set and find the row of each. Both yield the
// same rows, with the same masks, in the same order: entries are sorted by place first. Where,
// Chunks and changes by query go through the chunks.

const (
	DriveBySize   Driver = iota // the set if it is small beside the rows, else the chunks; for programs
	DriveBySet                  // the set of the sparse type that has the fewest entries; for tests
	DriveByChunks               // the chunks of matching archetypes; for tests
)

// setCost is how many rows a loop by chunks tests in the time of one entry of a loop by the set: 17
// to 19 by BenchmarkSparseDrive, for entries in no order.
const setCost = 20

// driving returns the set that loops go through now, or nil: the chunks.
func (q *Query) driving() *sparse.Set {
	if len(q.Sets) == 0 || q.Driver == DriveByChunks {
		return nil
	}
	var set *sparse.Set
	for i := range q.Sets {
		if t := &q.Sets[i]; !t.invert && len(t.Of) == 1 && len(t.dense) == 0 {
			if s := &t.Of[0].Sparse.Set; set == nil || s.Len() < set.Len() {
				set = s
			}
		}
	}
	if set == nil || q.Driver == DriveBySet {
		return set
	}
	rows, most := 0, set.Len()*setCost
	for i := range q.Bindings {
		if rows += q.Bindings[i].Archetype.Table.Store.Len(); rows > most {
			return set
		}
	}
	return nil
}

func makeRowKey(binding, pos, row int) rowKey {
	return rowKey(binding)<<40 | rowKey(pos)<<SpanBits | rowKey(row)
}

func (s rowKey) binding() int { return int(s >> 40) }
func (s rowKey) pos() int     { return int(s>>SpanBits) & (1<<22 - 1) }
func (s rowKey) row() int     { return int(s) & (MostRows - 1) }

// appendRowKeys appends the keys of the rows of a set's entities in the query's archetypes, in
// order.
func (q *Query) appendRowKeys(dst []rowKey, set *sparse.Set) []rowKey {
	w := q.World
	var last *world.Archetype
	binding := -1
	for _, e := range set.IDs() {
		l := w.IDs.Locate(e)
		o := w.Tables.OwnerOf(l)
		if a := w.ArchetypeAt(o); a != last {
			last, binding = a, q.bindingAt(a)
		}
		if binding >= 0 {
			dst = append(dst, makeRowKey(binding, o.Pos(), o.Row(l)))
		}
	}
	slices.Sort(dst)
	return dst
}

// bindingAt returns the index of the query's binding of an archetype, or -1. Bindings and archetype
// numbers are both in order of creation. So a binding's position is its archetype's number, less at
// most the number of archetypes without a binding. Most queries by value match nearly all
// archetypes of a type, so the search visits few bindings.
func (q *Query) bindingAt(a *world.Archetype) int {
	at := int(a.Table.Index)
	low, high := max(0, at+len(q.Bindings)-len(q.World.Archetypes.List)), min(at+1, len(q.Bindings))
	for low < high {
		mid := int(uint(low+high) / 2)
		if int(q.Bindings[mid].Archetype.Table.Index) < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(q.Bindings) && q.Bindings[low].Archetype == a {
		return low
	}
	return -1
}

// sameChunk returns how many of the first keys are in one chunk.
func sameChunk(keys []rowKey) (n int) {
	for n < len(keys) && keys[n]>>SpanBits == keys[0]>>SpanBits {
		n++
	}
	return n
}

// walkSet is Walk through the entries of a set.
func (s *Scan) walkSet(q *Query, set *sparse.Set, filters bool, since uint32, yield func(Rows) bool) (ended bool) {
	s.keys = q.appendRowKeys(s.keys[:0], set)
	for keys := s.keys; len(keys) > 0; {
		n := sameChunk(keys)
		t, pos := &q.Bindings[keys[0].binding()], keys[0].pos()
		s.Binding = t
		if !filters || q.ChunkPasses(s.Borrow, t.Archetype, pos, 0, t.Archetype.Table.Store.RowsOf(pos), since) {
			if rows, ok := s.rowsOfKeys(q, pos, keys[:n]); ok && !yield(rows) {
				return false
			}
		}
		keys = keys[n:]
	}
	return true
}

// rowsOfKeys moves the loop to a chunk of the binding's archetype, of which only the rows of keys
// can match; ok is false if none does.
func (s *Scan) rowsOfKeys(q *Query, pos int, keys []rowKey) (rows Rows, ok bool) {
	a := s.Binding.Archetype
	n := a.Table.Store.RowsOf(pos)
	words := s.maskFor(n)
	clear(words)
	for _, at := range keys {
		words[at.row()/64] |= 1 << (at.row() % 64)
	}
	matching := narrowByTests(a, s.Binding.tests, q.Sets, pos, 0, n, words)
	if q.Masked && matching > 0 {
		matching = s.narrowMasked(a, pos, 0, n, matching)
	}
	if matching == 0 {
		return Rows{}, false
	}
	at := a.Table.Store.Row(pos, 0)
	s.MoveTo(pos, at.Scale, matching == n)
	return MakeRows(s, at.Base, n), true
}

// splitSet appends the ranges of grain rows that have an entry of the set.
func (q *Query) splitSet(dst []RowRange, set *sparse.Set, grain int) []RowRange {
	keys := q.appendRowKeys(nil, set)
	for i, at := range keys {
		lo := at.row() / grain * grain
		if i > 0 && keys[i-1]>>SpanBits == at>>SpanBits && keys[i-1].row()/grain*grain == lo {
			continue
		}
		rows := q.Bindings[at.binding()].Archetype.Table.Store.RowsOf(at.pos())
		dst = append(dst, RowRange{uint32(at.binding()), uint32(at.pos()), uint32(lo), uint32(min(grain, rows-lo))})
	}
	return dst
}
