//go:build bitmask_sched

package bitmask

import "sync/atomic"

// mutant is the planted defect. Only tests write it, while nothing else of this package runs.
var mutant = healthy

// turn, if not nil, is called before each access to an atomicWord. The function that it returns is
// called after the access, with the value that the access read. Only tests write turn, while
// nothing else of this package runs.
var turn func() (read func(uint64))

// atomicWord is an atomic.Uint64 that lets a test decide when each access happens. When turn is nil
// it behaves as a plain atomic.Uint64.
type atomicWord struct {
	v     atomic.Uint64
	still bool // set by a test: zero throughout, so that a load may happen at any time
}

// access waits for its turn to make the given access, and makes it.
func (a *atomicWord) access(do func() uint64) uint64 {
	if turn == nil {
		return do()
	}
	if a.still {
		panic("bitmask: a word that a test declared still is written")
	}
	read := turn()
	v := do()
	read(v)
	return v
}

// Load is as in sync/atomic.
func (a *atomicWord) Load() uint64 {
	if a.still {
		return a.v.Load()
	}
	return a.access(a.v.Load)
}

// Or is as in sync/atomic.
func (a *atomicWord) Or(mask uint64) (old uint64) {
	return a.access(func() uint64 { return a.v.Or(mask) })
}

// And is as in sync/atomic.
func (a *atomicWord) And(mask uint64) (old uint64) {
	return a.access(func() uint64 { return a.v.And(mask) })
}

// CompareAndSwap is as in sync/atomic.
func (a *atomicWord) CompareAndSwap(old, to uint64) (swapped bool) {
	if mutant == storeForSwap {
		a.access(func() uint64 { return a.v.Swap(to) })
		return true
	}
	return a.access(func() uint64 {
		if a.v.CompareAndSwap(old, to) {
			return 1
		}
		return 0
	}) != 0
}
