package ecs

import (
	"iter"
	"math/bits"
)

// Which rows match. Without enable bits they all do, and Dense says so. The
// mask is a snapshot taken when the loop came to the chunk: toggling a row does
// not change it.

// Dense reports whether every row matches; a plain loop over the slices is
// right then.
func (r Rows) Dense() bool { return r.check("Rows.Dense").dense }

// Mask returns one bit per row, in words of 64, set where the row matches; bits
// beyond the last row are 0. It is good until the loop goes on and must not be
// written.
func (r Rows) Mask() []uint64 {
	s := r.check("Rows.Mask")
	n := r.Len()
	words := s.words(n)
	if !s.filled {
		for i := range words {
			words[i] = ^uint64(0)
		}
		if n%64 != 0 {
			words[len(words)-1] = 1<<(n%64) - 1
		}
		s.filled = true
	}
	return words
}

// Count returns the number of rows that match.
func (r Rows) Count() int {
	if r.check("Rows.Count").dense {
		return r.Len()
	}
	n := 0
	for _, w := range r.Mask() {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each yields the index of every row that matches, in rising order, for use
// with the slices of the same rows. It inlines into the loop. A range over a slice
// takes the same rows when they are Dense, as all are of a batch and of a query that
// names no type that is Enableable.
func (r Rows) Each() iter.Seq[int] {
	mask := r.Mask()
	return func(yield func(int) bool) {
		for i, word := range mask {
			for ; word != 0; word &= word - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// first returns the first row that matches.
func (r Rows) first() int {
	for row := range r.Each() {
		return row
	}
	return 0
}

// Runs yields [lo, hi) for every longest run of rows that match, in rising
// order: what kernels take.
func (r Rows) Runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { walkRuns(r.Mask(), r.Len(), yield) }
}

func walkRuns(mask []uint64, n int, yield func(int, int) bool) {
	for lo := nextBit(mask, 0, n, 0); lo < n; {
		hi := nextBit(mask, lo, n, ^uint64(0))
		if !yield(lo, hi) {
			return
		}
		lo = nextBit(mask, hi, n, 0)
	}
}

// nextBit returns the first i in [from, n) whose bit differs from those of
// same, or n.
func nextBit(mask []uint64, from, n int, same uint64) int {
	for from < n {
		word := (mask[from/64] ^ same) >> (from % 64)
		if word != 0 {
			return min(n, from+bits.TrailingZeros64(word))
		}
		from = from&^63 + 64
	}
	return n
}
