package query

import (
	"math/bits"
	"sync/atomic"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Filters by sparse types. Archetypes do not determine which entities have a sparse type, so the
// terms of a query that name one become filters that each row passes or not. They narrow the mask
// of a chunk after the enable bits (Scan.filter).

// entryState is how a row must have a type.
type entryState uint8

const (
	wantEnabled entryState = iota
	wantPresent
	wantDisabled
)

// isSparse reports whether the term names a sparse type.
func (t *Term) isSparse() bool {
	for _, o := range t.Of {
		if o.Type.Place() == world.PerEntity {
			return true
		}
	}
	return false
}

// AppendSparseFilters appends the tests that the term requires.
func (t *Term) AppendSparseFilters(to []sparseFilter) []sparseFilter {
	if !t.isSparse() {
		return to
	}
	one := sparseFilter{}
	switch t.Kind {
	case TermRead, TermWrite, TermWith:
	case TermWithout:
		one.invert = true
	case TermAbsent:
		one.want, one.invert = wantPresent, true
	case TermPresent:
		one.want = wantPresent
	case TermDisabled:
		one.want = wantDisabled
	case TermAny:
		for _, o := range t.Of {
			if o.Type.Place() == world.PerEntity {
				one.Of = append(one.Of, o.Type)
			} else {
				one.dense = append(one.dense, o.Type)
			}
		}
		return append(to, one)
	default: // Optional and Changed require nothing of rows
		return to
	}
	for _, o := range t.Of {
		if o.Type.Place() == world.PerEntity {
			one.Of = []*world.Type{o.Type}
			to = append(to, one)
		}
	}
	return to
}

// few is the number of rows below which a word of the mask is tested row by row.
const few = 8

// narrow clears the bits of rows that fail the test, in the words of n rows of a chunk from row
// first on.
func (t *sparseFilter) narrow(a *world.Archetype, pos, first, n int, words []uint64) {
	ids := table.IDs(a.Table.Store.Row(pos, 0).Base, first+n)[first:]
	for i, word := range words {
		if word == 0 {
			continue
		}
		if bits.OnesCount64(word) >= few {
			words[i] = word & t.mask(a, pos, first/64+i, ids[i*64:min(len(ids), i*64+64)])
			continue
		}
		for left := word; left != 0; left &= left - 1 {
			row := i*64 + bits.TrailingZeros64(left)
			if !t.Passes(a, pos, first+row, ids[row]) {
				words[i] &^= left & -left
			}
		}
	}
}

// mask returns a bit for each of up to 64 rows of a chunk, those of a word: whether it passes.
func (t *sparseFilter) mask(a *world.Archetype, pos, word int, ids []entity.ID) (pass uint64) {
	for _, of := range t.Of {
		has, on := of.Sparse.Mask(ids)
		switch t.want {
		case wantEnabled:
			pass |= on
		case wantPresent:
			pass |= has
		case wantDisabled:
			pass |= has &^ on
		}
	}
	for _, of := range t.dense {
		switch {
		case !a.Table.Sig.Has(of.ID):
		case !of.Enableable:
			return ^uint64(0)
		default:
			pass |= atomic.LoadUint64(&a.Table.Metadata.Bits(a.Table.Places[of.ID].Slot(), pos).Words()[word])
		}
	}
	if t.invert {
		return ^pass
	}
	return pass
}

// Passes reports whether one row passes.
func (t *sparseFilter) Passes(a *world.Archetype, pos, row int, e entity.ID) bool {
	for _, of := range t.Of {
		at := of.Sparse.Find(e)
		if at == 0 {
			continue
		}
		if t.want == wantPresent || of.Sparse.Enabled(at) == (t.want == wantEnabled) {
			return !t.invert
		}
	}
	for _, of := range t.dense {
		if a.Table.Sig.Has(of.ID) &&
			(!of.Enableable || a.Table.Metadata.Bits(a.Table.Places[of.ID].Slot(), pos).Has(row)) {
			return true
		}
	}
	return t.invert
}

// passesSets reports whether a row of a chunk has a value of a sparse type that is newer than
// since.
func (q *Query) passesSets(a *world.Archetype, pos int, since uint32) bool {
	for _, s := range q.Watched {
		if !world.Newer(s.Latest(), since) {
			continue
		}
		for _, e := range table.IDs(a.Table.Store.Row(pos, 0).Base, a.Table.Store.RowsOf(pos)) {
			if at := s.Find(e); at != 0 && s.Newer(at, since) {
				return true
			}
		}
	}
	return false
}
