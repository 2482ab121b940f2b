package past

import (
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
)

// UnitSize is the number of bytes of a unit. A copy of one takes a chunk of the universe.
const UnitSize = universe.ChunkSize

// pageUnits is the number of units whose states are made at once.
const pageUnits = 1024

// Memory is a range of memory whose past is kept, cut into units.
type Memory struct {
	past  *Past
	at    int                         // index in past.memories
	base  unsafe.Pointer              // of unit 0; written by the owner while past.mu is held
	units int                         // number of units; written likewise
	pages []atomic.Pointer[statePage] // of pageUnits units each; nil: no unit has been copied yet
}

// statePage holds the states of units. Bit 0 is busy. Bits 1 to 16 are pieces, and the others the
// number of a layer: what these pieces were when that layer began, it or an older layer has, or a
// newer one, or no layer needs, as they were born since; and the other pieces are as they were
// then.
type statePage [pageUnits]atomic.Uint64

const (
	// busy is set in the state of a unit while a goroutine copies pieces of the unit, of which the
	// state does not have those yet.
	busy = 1

	numberShift = 17
)

// stateOf returns the least state with the number of a layer.
func stateOf(number uint64) uint64 { return number << numberShift }

// savedState returns the state with the number of a layer and pieces.
func savedState(number uint64, set pieces) uint64 { return stateOf(number) | uint64(set)<<1 }

// savedIn returns the pieces of a state.
func savedIn(s uint64) pieces { return pieces(s >> 1) }

// lacked returns the pieces of a set that must be copied for a layer, the newest, before they are
// written, if s is the state of their unit. The layer of the state may have been newer.
func (l *Layer) lacked(s uint64, set pieces) pieces {
	if s >= stateOf(l.number) {
		return set &^ savedIn(s)
	}
	return set
}

// saved returns the state of a unit after pieces of it were copied for a layer, the newest.
func (l *Layer) saved(s uint64, set pieces) uint64 {
	if s >= stateOf(l.number) {
		return s | uint64(set)<<1
	}
	return savedState(l.number, set)
}

// state returns the state of a unit, and makes it if it is missing.
func (m *Memory) state(unit int) *atomic.Uint64 {
	p := &m.pages[unit/pageUnits]
	page := p.Load()
	if page == nil {
		p.CompareAndSwap(nil, new(statePage))
		page = p.Load()
	}
	return &page[unit%pageUnits]
}

// stateNow is state for callers that only read: units without states have the zero state.
func (m *Memory) stateNow(unit int) uint64 {
	if unit/pageUnits >= len(m.pages) {
		return 0
	}
	page := m.pages[unit/pageUnits].Load()
	if page == nil {
		return 0
	}
	return page[unit%pageUnits].Load()
}

// bytes returns the bytes of a unit.
func (m *Memory) bytes(unit int) []byte {
	// Safe because the caller's unit lies in the memory.
	return unsafe.Slice((*byte)(unsafe.Add(m.base, unit*UnitSize)), UnitSize)
}

// Past returns the past that the memory is part of.
func (m *Memory) Past() *Past { return m.past }

// Units returns the number of units.
func (m *Memory) Units() int { return m.units }

// Base returns the address of unit 0.
func (m *Memory) Base() unsafe.Pointer { return m.base }

// Resize calls resize, which may move the memory with the bytes of the units that it had, or give
// it another size, and returns where it is. Goroutines that read layers wait meanwhile. It belongs
// to the owner. Units that the memory had and loses must have passed BeforeWrite.
func (m *Memory) Resize(resize func() (base unsafe.Pointer, size int)) {
	m.past.mu.Lock()
	defer m.past.mu.Unlock()
	m.set(resize())
}

func (m *Memory) set(base unsafe.Pointer, size int) {
	m.base, m.units = base, (size+UnitSize-1)/UnitSize
	if more := (m.units+pageUnits-1)/pageUnits - len(m.pages); more > 0 {
		pages := make([]atomic.Pointer[statePage], len(m.pages)+more)
		for i := range m.pages {
			pages[i].Store(m.pages[i].Load())
		}
		m.pages = pages
	}
}

// BeforeWrite must be called before n bytes of the memory, from p on, are written.
func (m *Memory) BeforeWrite(p unsafe.Pointer, n int) {
	l := m.past.newest.Load()
	if l == nil || n == 0 {
		return
	}
	// Safe because the addresses are only subtracted.
	at := int(uintptr(p) - uintptr(m.base))
	for end := at + n; at < end; {
		unit, first := at/UnitSize, at%UnitSize
		n := min(UnitSize-first, end-at)
		set := piecesOf(first, n)
		if l.lacked(m.state(unit).Load(), set) != 0 {
			if err := m.save(unit, set, l); err != nil {
				m.forgo(unit, set, l, err)
			}
		}
		at += n
	}
}

// Save is BeforeWrite of one unit that changes nothing where there is no memory: the unit must not
// be written then.
func (m *Memory) Save(unit int) error {
	if l := m.past.newest.Load(); l != nil && l.lacked(m.state(unit).Load(), allPieces) != 0 {
		return m.save(unit, allPieces, l)
	}
	return nil
}

// Born records that n bytes of whole units from p on belong to no layer: they are newer than all.
func (m *Memory) Born(p unsafe.Pointer, n int) {
	l := m.past.newest.Load()
	if l == nil {
		return
	}
	first := int(uintptr(p)-uintptr(m.base)) / UnitSize // Safe because the addresses are only subtracted.
	for unit := first; unit < first+n/UnitSize; unit++ {
		m.state(unit).Store(savedState(l.number, allPieces))
	}
}

// save copies pieces of a unit to a layer that lacks them, unless another goroutine does.
func (m *Memory) save(unit int, set pieces, l *Layer) error {
	state := m.state(unit)
	for {
		s := state.Load()
		lacked := l.lacked(s, set)
		switch {
		case lacked == 0:
			return nil
		case s&busy != 0:
			wait()
		case state.CompareAndSwap(s, s|busy):
			if debug.On {
				m.checkUnit(unit, s)
			}
			if err := l.parts[m.at].put(l.past.u, unit, lacked, m.bytes(unit)); err != nil {
				state.Store(s)
				return err
			}
			state.Store(l.saved(s, lacked))
			return nil
		}
	}
}

// forgo lets pieces of a unit be written that could not be copied: the layers that lack them are
// lost. Where other pieces of the unit were written before, that may be older layers too, which the
// unit is newer than.
func (m *Memory) forgo(unit int, set pieces, newest *Layer, err error) {
	m.past.mu.RLock()
	defer m.past.mu.RUnlock()
	state := m.state(unit)
	for {
		s := state.Load()
		lacked := newest.lacked(s, set)
		switch {
		case lacked == 0: // another goroutine has copied them, or forgone them
			return
		case s&busy != 0:
			wait()
		case state.CompareAndSwap(s, s|busy):
			for l := newest; l != nil; l = l.below {
				if lacked = l.lacked(s, lacked) &^ l.parts[m.at].of(unit).pieces(); lacked == 0 {
					break
				}
				l.lose(err)
			}
			state.Store(newest.saved(s, set))
			return
		}
	}
}
