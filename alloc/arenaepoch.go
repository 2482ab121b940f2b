package alloc

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe/memory"
)

// The record of what an arena gave up: epochs, and poison in debug builds.

// cut begins an epoch: everything from the current position on has been given up.
func (a *Arena) cut() {
	if !a.temps {
		return
	}
	a.epoch++
	a.cuts = addCut(a.cuts, a.epoch, a.position())
}

// cutBack is cut by Rewind and Reset, which give up blocks of everybody.
func (a *Arena) cutBack() {
	if a.temps {
		a.cut()
		a.backs = addCut(a.backs, a.epoch, a.position())
	}
}

// addCut appends a cut and drops those that it contains.
func addCut(cuts []cut, epoch uint64, at uintptr) []cut {
	for n := len(cuts); n > 0 && cuts[n-1].position >= at; n-- {
		cuts = cuts[:n-1]
	}
	return append(cuts, cut{epoch: epoch, position: at})
}

// givenUp reports whether the bytes at position in that epoch have been given up since.
func (a *Arena) givenUp(epoch uint64, position uintptr) bool {
	return contains(a.cuts, epoch, position)
}

// wentBack reports whether Rewind or Reset gave up the bytes at position in that epoch. What
// FreeSized and ResizeSized give up is the caller's own.
func (a *Arena) wentBack(epoch uint64, position uintptr) bool {
	return contains(a.backs, epoch, position)
}

// contains reports whether one of the cuts after an epoch contains a position.
func contains(cuts []cut, epoch uint64, position uintptr) bool {
	i, _ := slices.BinarySearchFunc(cuts, epoch+1, func(c cut, e uint64) int {
		return cmp.Compare(c.epoch, e)
	})
	return i < len(cuts) && cuts[i].position <= position
}

// giveUp poisons [from, to) of blocks[i] in debug builds.
func (a *Arena) giveUp(i int, from, to uintptr) {
	if debug.On {
		b := &a.blocks[i]
		// Safe because [from, to) lies in the block.
		memory.Poison(unsafe.Add(b.p, from), int(to-from), debug.Freed)
		b.poison = max(b.poison, to)
	}
}

// handOut panics if [from, to) of the current block was written after it was given up, and marks
// [at, to) as fresh.
func (a *Arena) handOut(from, at, to uintptr) {
	b := &a.blocks[a.cur]
	if bad, ok := b.stale(from, min(to, b.poison)); ok {
		panic(
			fmt.Sprintf("alloc: Arena.Alloc: byte %d of the block at %p was written after it was given up by Rewind, Reset or FreeSized",
				bad, b.p))
	}
	// Safe because [at, to) lies in the block.
	memory.Poison(unsafe.Add(b.p, at), int(to-at), debug.Fresh)
}

// stale finds a byte of [from, to) that is not poisoned.
func (b *arenaBlock) stale(from, to uintptr) (bad uintptr, ok bool) {
	if from >= to {
		return 0, false
	}
	// Safe because [from, to) lies in the block.
	for i, v := range unsafe.Slice((*byte)(unsafe.Add(b.p, from)), to-from) {
		if v != debug.Freed {
			return from + uintptr(i), true
		}
	}
	return 0, false
}

// Temp is a pointer to a value in an arena that detects, in every build, use after the arena gave
// the value up. A Temp holds Go pointers, so it must stay in Go memory.
type Temp[T any] struct {
	p        *T
	a        *Arena
	epoch    uint64
	position uintptr
}

// NewTemp allocates a zero T in the arena. Its errors are those of New.
func NewTemp[T any](a *Arena) (Temp[T], error) {
	if a == nil {
		panic("alloc: NewTemp: the arena is nil")
	}
	p, err := New[T](a)
	if err != nil {
		return Temp[T]{}, err
	}
	a.temps = true
	return Temp[T]{p: p, a: a, epoch: a.epoch, position: a.position() - max(unsafe.Sizeof(*p), 1)}, nil
}

// Get returns the value. It panics for the zero Temp, and when the arena has given the value up by
// Rewind, Reset or FreeSized. Cost: one comparison while the arena has given nothing up since
// NewTemp, then a binary search of what it gave up.
func (t Temp[T]) Get() *T {
	if t.a == nil || t.a.epoch != t.epoch && t.a.givenUp(t.epoch, t.position) {
		t.panicStale()
	}
	return t.p
}

// IsLive reports whether Get would return the value.
func (t Temp[T]) IsLive() bool {
	return t.a != nil && !t.a.givenUp(t.epoch, t.position)
}

//go:noinline
func (t Temp[T]) panicStale() {
	if t.a == nil {
		panic(fmt.Sprintf("alloc: Temp.Get: this Temp of %s was never made", reflect.TypeFor[T]()))
	}
	panic(fmt.Sprintf(
		"alloc: Temp.Get: the %s at byte %d of the arena was made in epoch %d and given up since; this is epoch %d",
		reflect.TypeFor[T](), t.position, t.epoch, t.a.epoch))
}

// Verify checks the numbered invariants of the arena and returns an error that names one that does
// not hold.
func (a *Arena) Verify() error {
	if a.base == nil {
		if a.at != 0 || a.end != 0 || a.cur != 0 || a.before != 0 {
			return fmt.Errorf("alloc: arena: A1: no current block, but byte %d of %d", a.at, a.end)
		}
	} else if a.cur >= len(a.blocks) || a.base != a.blocks[a.cur].p || a.end != a.blocks[a.cur].size || a.at > a.end {
		return fmt.Errorf("alloc: arena: A1: byte %d of block %d of %d", a.at, a.cur, len(a.blocks))
	}
	before := uintptr(0)
	for i, b := range a.blocks[:min(a.cur, len(a.blocks))] {
		if before += b.size; b.used > b.size {
			return fmt.Errorf("alloc: arena: A1: %d of %d bytes of block %d are in use", b.used, b.size, i)
		}
	}
	if before != a.before {
		return fmt.Errorf("alloc: arena: A1: %d bytes before block %d, counted as %d", before, a.cur, a.before)
	}
	for i, m := range a.marks {
		if m.position > a.position() || i > 0 && m.position <= a.marks[i-1].position {
			return fmt.Errorf("alloc: arena: A2: mark %d is at %d, the arena at %d", i, m.position, a.position())
		}
	}
	for _, cuts := range [][]cut{a.cuts, a.backs} {
		for i, c := range cuts {
			if c.epoch > a.epoch || i > 0 && (c.epoch <= cuts[i-1].epoch || c.position <= cuts[i-1].position) {
				return fmt.Errorf("alloc: arena: A3: cut %d is of epoch %d at %d, now is %d",
					i, c.epoch, c.position, a.epoch)
			}
		}
	}
	if len(a.blocks) > 0 && isClosed(a.from) {
		return fmt.Errorf("alloc: arena: A5: %d blocks are of an allocator that is closed", len(a.blocks))
	}
	return a.verifyPoison()
}

// verifyPoison checks A4.
func (a *Arena) verifyPoison() error {
	for i := range a.blocks {
		b, from := &a.blocks[i], uintptr(0)
		switch {
		case !debug.On:
			return nil
		case i < a.cur:
			from = b.used
		case i == a.cur:
			from = a.at
		}
		if bad, ok := b.stale(from, b.poison); ok {
			return fmt.Errorf("alloc: arena: A4: byte %d of block %d was written after it was given up", bad, i)
		}
	}
	return nil
}
