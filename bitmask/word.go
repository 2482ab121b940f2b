package bitmask

import (
	"fmt"
	"math/bits"
)

// Word is a mask of 64 units that goroutines claim and free. In the zero value all units are free.
//
// Every change is a compare-and-swap loop on the one word, so each call takes effect at one instant
// and there are no intermediate states: a run is claimed whole or not at all, and a run that is not
// wholly claimed is never freed.
type Word struct {
	v atomicWord // bit i set: unit i is in use
}

// Load returns the mask at this instant.
func (w *Word) Load() uint64 { return w.v.Load() }

// TryAlloc claims the lowest run of n free units. It returns the run's offset and the masks before
// and after the call: the word was empty when before == 0, is full when now == ^0, and before ^ now
// is the run. When there is no such run it changes nothing and returns WordBits and ok = false. It
// panics unless n is in 1..64.
func (w *Word) TryAlloc(n int) (offset int, before, now uint64, ok bool) {
	for first := true; ; first = false {
		before = w.v.Load()
		if mutant != staleSearch || first {
			offset, ok = FindRun(before, n)
		}
		if !ok {
			return offset, before, before, false
		}
		now = before | Mask(offset, n)
		if w.v.CompareAndSwap(before, now) {
			return offset, before, now, true
		}
	}
}

// TryAllocAligned is TryAlloc of a run whose offset is a multiple of n. It panics
// unless n is a power of two in 1..64.
func (w *Word) TryAllocAligned(n int) (offset int, before, now uint64, ok bool) {
	for {
		before = w.v.Load()
		if offset, ok = FindAligned(before, n); !ok {
			return offset, before, before, false
		}
		now = before | Mask(offset, n)
		if w.v.CompareAndSwap(before, now) {
			return offset, before, now, true
		}
	}
}

// ClaimOne is TryAlloc(1) without the search for runs, small enough to be inlined. lost is how
// often another goroutine changed the word meanwhile: a caller that loses often may prefer another
// word.
func (w *Word) ClaimOne() (offset int, before uint64, lost int, ok bool) {
	old := w.v.Load()
	for ; old != ^uint64(0); lost++ {
		if w.v.CompareAndSwap(old, old|^old&(old+1)) {
			return bits.TrailingZeros64(^old), old, lost, true
		}
		old = w.v.Load()
	}
	return WordBits, old, lost, false
}

// FreeOne is TryFree(offset, 1), small enough to be inlined. It does not check offset, of which
// only the lowest six bits are used.
func (w *Word) FreeOne(offset int) (before uint64, ok bool) {
	m := uint64(1) << (uint(offset) % WordBits)
	old := w.v.Load()
	for old&m != 0 && !w.v.CompareAndSwap(old, old&^m) {
		old = w.v.Load()
	}
	return old, old&m != 0
}

// TryAllocAt claims the n units from offset on. It returns the masks before and after the call.
// When one of the units is in use it changes nothing and returns ok = false. It panics unless the
// run lies inside the word.
func (w *Word) TryAllocAt(offset, n int) (before, now uint64, ok bool) {
	m := Mask(offset, n)
	for {
		before = w.v.Load()
		if before&m != 0 {
			return before, before, false
		}
		if w.v.CompareAndSwap(before, before|m) {
			return before, before | m, true
		}
	}
}

// TryFree frees the n units from offset on. It returns the masks before and after the call: the
// word was full when before == ^0, and is empty when now == 0. When one of the units is free, which
// is a double free, it changes nothing and returns ok = false. It panics unless the run lies inside
// the word.
func (w *Word) TryFree(offset, n int) (before, now uint64, ok bool) {
	m := Mask(offset, n)
	for {
		before = w.v.Load()
		if before&m != m && mutant != uncheckedFree {
			return before, before, false
		}
		if w.v.CompareAndSwap(before, before&^m) {
			return before, before &^ m, true
		}
	}
}

// SetBit sets bit i and returns whether it was set before. It panics unless i is in 0..63.
func (w *Word) SetBit(i int) (was bool) {
	m := wordBit("Word.SetBit", i)
	return w.v.Or(m)&m != 0
}

// ClearBit clears bit i and returns whether it was set before. It panics unless i is in 0..63.
func (w *Word) ClearBit(i int) (was bool) {
	m := wordBit("Word.ClearBit", i)
	return w.v.And(^m)&m != 0
}

func wordBit(name string, i int) uint64 {
	if uint(i) >= WordBits {
		badBit(name, i, WordBits)
	}
	return 1 << uint(i)
}

//go:noinline
func badBit(name string, i, n int) {
	panic(fmt.Sprintf("bitmask: %s: i=%d is not in %d bits", name, i, n))
}
