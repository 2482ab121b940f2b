package query

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"quarry/ecs/internal/world"
)

// Masked terms. Between and Changed are about chunks: a chunk passes or not, by the bounds of a
// field or by the version of a type. Masked selects rows. Once a chunk has passed, the mask of its
// rows, as the enable bits and sparse types leave it, is narrowed by the numbers in the field, and
// by the versions of rows. Changed and Ordered terms pass a chunk if one of them does, so versions
// narrow only where no term that is not Masked has passed the chunk.

// Masked is ecs.Term.Masked.
func (t Term) Masked() Term {
	switch t.Kind {
	case TermBetween:
	case TermChanged:
		for _, o := range t.Of {
			if o.Type != nil && !o.Type.Tracked {
				panic(fmt.Sprintf("ecs: Term.Masked: %v: %s was not registered with ecs.TrackRows", t, o.Type.Name))
			}
		}
	default:
		panic(fmt.Sprintf("ecs: Term.Masked: %v: only Between and Changed have Masked", t))
	}
	t.masked = true
	return t
}

// narrowMasked clears the bits of the mask whose rows do not pass the query's Masked terms.
// matching rows match so far; it returns how many are left. The mask is valid as for filter.
func (s *Scan) narrowMasked(a *world.Archetype, pos, first, n, matching int) int {
	words, narrowed := s.maskFor(n), false
	if matching == n {
		fillMask(words, n)
	}
	for i := range s.Query.Ranges {
		if r := &s.Query.Ranges[i]; r.masked && !r.covers(a, pos) {
			a.Table.Narrow(r.Type.ID, r.Field, pos, first, n, r.Low, r.High, words)
			narrowed = true
		}
	}
	if s.Query.Narrows(a, pos, s.Since) {
		s.Query.narrowNew(a, pos, first, n, s.Since, words)
		narrowed = true
	}
	if !narrowed {
		return matching
	}
	matching = 0
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// Narrows reports whether the query's rows in a chunk, which has passed, must be tested one by one:
// only Masked terms have passed it.
func (q *Query) Narrows(a *world.Archetype, pos int, since uint32) bool {
	if len(q.MaskedNew) == 0 || since == 0 || q.Ordered && world.Newer(a.Table.Metadata.Ordered(pos), since) {
		return false
	}
	for _, id := range q.Changed {
		if a.Table.Sig.Has(id) && !slices.Contains(q.MaskedNew, id) &&
			world.Newer(a.Table.Metadata.Changed(a.Table.Places[id].Slot(), pos), since) {
			return false
		}
	}
	return len(q.Watched) == 0 || !q.passesSets(a, pos, since)
}

// IsNewRow reports whether a row is newer than since by one of the Masked terms of types.
func (q *Query) IsNewRow(a *world.Archetype, pos, row int, since uint32) bool {
	for _, id := range q.MaskedNew {
		if a.Table.Sig.Has(id) && NewAt(&a.Table.Metadata, a.Table.Places[id].Slot(), pos, row, since) {
			return true
		}
	}
	return false
}

// narrowNew clears the bits of n rows from first on that are not newer than since by a Masked term.
func (q *Query) narrowNew(a *world.Archetype, pos, first, n int, since uint32, words []uint64) {
	for i := range words {
		if words[i] == 0 {
			continue
		}
		pass, lo := uint64(0), i*64
		for _, id := range q.MaskedNew {
			if !a.Table.Sig.Has(id) {
				continue
			}
			list := a.Table.Metadata.RowVersions(a.Table.Places[id].Slot(), pos)[first+lo : first+min(n, lo+64)]
			pass |= newBits(list, since)
		}
		words[i] &= pass
	}
}

// newBits returns a bit for each of at most 64 versions: whether it is newer than since. Eight at a
// time do not wait for one another.
func newBits(list []uint32, since uint32) (bits uint64) {
	for k := len(list); k > 0; {
		if k < 8 {
			k--
			bits = bits<<1 | newBit(&list[k], since)
			continue
		}
		k -= 8
		v := list[k : k+8 : k+8]
		low := newBit(&v[0], since) | newBit(&v[1], since)<<1 | newBit(&v[2], since)<<2 | newBit(&v[3], since)<<3
		high := newBit(&v[4], since) | newBit(&v[5], since)<<1 | newBit(&v[6], since)<<2 | newBit(&v[7], since)<<3
		bits = bits<<8 | high<<4 | low
	}
	return bits
}

// newBit returns 1 if a version is newer than since, or 0.
func newBit(v *uint32, since uint32) uint64 { return bitOf(int32(atomic.LoadUint32(v)-since) > 0) }

// bitOf returns 1 or 0 without a branch.
func bitOf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
