package ecs

import (
	"math/bits"
	"sync/atomic"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Tests by sparse types. Archetypes do not tell which entities have a sparse type, so the terms of
// a query that name one become tests that each row passes or not. They narrow the mask of a chunk
// after the enable bits (scan.filter).

// rowTest is a condition on sparse types that a row must meet: for a term with several types, and
// for With, one test for each; for Any, one test for all types of the term.
type rowTest struct {
	of     []*typeInfo // sparse types, of which the row must have one, in the state that is wanted
	dense  []*typeInfo // for Any, other types, of which one that is enabled will do as well
	want   entryState
	invert bool // the row must have none of them so
}

// entryState is how a row must have a type.
type entryState uint8

const (
	wantEnabled entryState = iota
	wantPresent
	wantDisabled
)

// isSparse reports whether the term names a sparse type.
func (t *Term) isSparse() bool {
	for _, o := range t.of {
		if o.t.place() == perEntity {
			return true
		}
	}
	return false
}

// appendTests appends the tests that the term asks for.
func (t *Term) appendTests(to []rowTest) []rowTest {
	if !t.isSparse() {
		return to
	}
	one := rowTest{}
	switch t.kind {
	case termRead, termWrite, termWith:
	case termWithout:
		one.invert = true
	case termAbsent:
		one.want, one.invert = wantPresent, true
	case termPresent:
		one.want = wantPresent
	case termDisabled:
		one.want = wantDisabled
	case termAny:
		for _, o := range t.of {
			if o.t.place() == perEntity {
				one.of = append(one.of, o.t)
			} else {
				one.dense = append(one.dense, o.t)
			}
		}
		return append(to, one)
	default: // Optional and Changed require nothing of rows
		return to
	}
	for _, o := range t.of {
		if o.t.place() == perEntity {
			one.of = []*typeInfo{o.t}
			to = append(to, one)
		}
	}
	return to
}

// few is the number of rows below which a word of the mask is tested row by row.
const few = 8

// narrow clears the bits of rows that fail the test, in the words of n rows of a chunk from row
// first on.
func (t *rowTest) narrow(a *Archetype, pos, first, n int, words []uint64) {
	ids := table.IDs(a.table.Store.Row(pos, 0).Base, first+n)[first:]
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
			if !t.passes(a, pos, first+row, ids[row]) {
				words[i] &^= left & -left
			}
		}
	}
}

// mask returns a bit for each of up to 64 rows of a chunk, those of a word: whether it passes.
func (t *rowTest) mask(a *Archetype, pos, word int, ids []entity.ID) (pass uint64) {
	for _, of := range t.of {
		has, on := of.sparse.Mask(ids)
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
		case !a.table.Sig.Has(of.id):
		case !of.enableable:
			return ^uint64(0)
		default:
			pass |= atomic.LoadUint64(&a.table.Books.Bits(a.table.Places[of.id].Slot(), pos).Words()[word])
		}
	}
	if t.invert {
		return ^pass
	}
	return pass
}

// passes reports whether one row passes.
func (t *rowTest) passes(a *Archetype, pos, row int, e entity.ID) bool {
	for _, of := range t.of {
		at := of.sparse.Find(e)
		if at == 0 {
			continue
		}
		if t.want == wantPresent || of.sparse.Enabled(at) == (t.want == wantEnabled) {
			return !t.invert
		}
	}
	for _, of := range t.dense {
		if a.table.Sig.Has(of.id) && (!of.enableable || a.table.Books.Bits(a.table.Places[of.id].Slot(), pos).Has(row)) {
			return true
		}
	}
	return t.invert
}

// passesSets reports whether a row of a chunk has a value of a sparse type that is newer than
// since.
func (q *Query) passesSets(a *Archetype, pos int, since uint32) bool {
	for _, s := range q.watched {
		if !newer(s.Latest(), since) {
			continue
		}
		for _, e := range table.IDs(a.table.Store.Row(pos, 0).Base, a.table.Store.RowsOf(pos)) {
			if at := s.Find(e); at != 0 && s.newer(at, since) {
				return true
			}
		}
	}
	return false
}
