package mmap

import "math/bits"

// granules is a set of granule numbers: granule g is bit g%64 of word g/64. Transitions are rare
// and a region of 16 GiB has 128 words, so the methods are simple; each range is [lo, hi).
type granules []uint64

func newGranules(n int) granules { return make(granules, (n+63)/64) }

// newSets returns the five sets of a region of n granules in one piece of memory. All are empty,
// except that stale is a copy of old, if any.
func newSets(n int, old granules) (ready, locked, fine, filed, stale granules) {
	k := (n + 63) / 64
	all := make(granules, 5*k)
	ready, locked, fine, filed, stale = all[:k:k], all[k:2*k:2*k], all[2*k:3*k:3*k], all[3*k:4*k:4*k], all[4*k:]
	copy(stale, old)
	return ready, locked, fine, filed, stale
}

func (s granules) has(g int) bool { return s[g/64]>>(g%64)&1 != 0 }

// rangeMask returns the bits of word w that lie in [lo, hi).
func rangeMask(w, lo, hi int) uint64 {
	from, to := max(lo-w*64, 0), min(hi-w*64, 64)
	if from >= to {
		return 0
	}
	return ^uint64(0) << from & (^uint64(0) >> (64 - to))
}

func (s granules) set(lo, hi int) {
	for w := lo / 64; w*64 < hi; w++ {
		s[w] |= rangeMask(w, lo, hi)
	}
}

func (s granules) clear(lo, hi int) {
	for w := lo / 64; w*64 < hi; w++ {
		s[w] &^= rangeMask(w, lo, hi)
	}
}

// next returns the first granule in [lo, hi) whose membership is member, or hi.
func (s granules) next(lo, hi int, member bool) int {
	flip := ^uint64(0)
	if member {
		flip = 0
	}
	before := uint64(1)<<(lo%64) - 1 // bits of the first word that lie below lo
	for w := lo / 64; w*64 < hi; w++ {
		if word := (s[w] ^ flip) &^ before; word != 0 {
			return min(w*64+bits.TrailingZeros64(word), hi)
		}
		before = 0
	}
	return hi
}

// granuleRange is the granules [lo, hi).
type granuleRange struct{ lo, hi int }

func (s granuleRange) offset() int { return s.lo * Granule }
func (s granuleRange) size() int   { return (s.hi - s.lo) * Granule }

// runsIn returns the maximal runs of members in [lo, hi), in ascending order.
func (s granules) runsIn(lo, hi int) []granuleRange {
	var all []granuleRange
	for {
		from := s.next(lo, hi, true)
		if from == hi {
			return all
		}
		lo = s.next(from, hi, false)
		all = append(all, granuleRange{from, lo})
	}
}

// part returns a set of the members of [lo, hi), counted from lo; nil if there are none.
func (s granules) part(lo, hi int) granules {
	if s == nil || s.next(lo, hi, true) == hi {
		return nil
	}
	set := newGranules(hi - lo)
	set.paste(s, lo, hi, 0)
	return set
}

// paste adds the members of [lo, hi) of from, which may be nil, as [at, at+hi-lo).
func (s granules) paste(from granules, lo, hi, at int) {
	if from == nil {
		return
	}
	for _, one := range from.runsIn(lo, hi) {
		s.set(one.lo-lo+at, one.hi-lo+at)
	}
}

// count returns the number of members and the number of maximal runs of members.
func (s granules) count() (members, runs int) {
	var carry uint64 // top bit of the previous word: a run that reaches into this one
	for _, word := range s {
		if word == 0 { // most are, and a region has many
			carry = 0
			continue
		}
		members += bits.OnesCount64(word)
		runs += bits.OnesCount64(word &^ (word<<1 | carry))
		carry = word >> 63
	}
	return members, runs
}
