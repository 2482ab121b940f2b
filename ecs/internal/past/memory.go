package past

import (
	"sync/atomic"
	"unsafe"
)

// UnitSize is the number of bytes of a unit.
const UnitSize = 16 << 10

// pageUnits is the number of units whose states are made at once.
const pageUnits = 1024

// Memory is a range of memory whose past is kept, cut into units.
type Memory struct {
	past  *Past
	at    int // index in past.memories
	base  unsafe.Pointer
	units int                         // number of units
	pages []atomic.Pointer[statePage] // of pageUnits units each; nil: no unit has been copied yet
}

// statePage holds the states of units: from bit 2 on the number of the latest layer that needs no
// copy of the unit any more, as it or a later one has the bytes, or as the unit was born since.
type statePage [pageUnits]atomic.Uint64

const (
	busy = 1 << iota // a goroutine copies the unit; the number is still the one before
	born             // the unit was born when the layer with the number was the newest
)

// stateOf returns the least state with the number of a layer.
func stateOf(number uint64) uint64 { return number << 2 }

// Units returns the number of units, from the byte at off on, that n bytes touch, and the first.
func Units(off, n int) (first, units int) {
	first = off / UnitSize
	if n == 0 {
		return first, 0
	}
	return first, (off+n-1)/UnitSize - first + 1
}

// state returns the state of a unit, which it makes if there is none.
func (m *Memory) state(unit int) *atomic.Uint64 {
	p := &m.pages[unit/pageUnits]
	page := p.Load()
	if page == nil {
		p.CompareAndSwap(nil, new(statePage))
		page = p.Load()
	}
	return &page[unit%pageUnits]
}

// bytes returns the bytes of a unit.
func (m *Memory) bytes(unit int) []byte {
	// Safe because the caller's unit lies in the memory.
	return unsafe.Slice((*byte)(unsafe.Add(m.base, unit*UnitSize)), UnitSize)
}
