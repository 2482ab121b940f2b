package past

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Invariants, checked by Verify:
//
//	P1 Numbers of layers rise from the oldest to the newest, and no state has a number above the
//	   newest that ever was.
//	P2 A layer lacks a unit only if a newer one has it, or if the unit's state has a number below
//	   the layer's: nobody has written the unit since the layer's moment.
//	P3 A layer lists each unit that it has once, and has what it lists.
//
// A write of a unit goes by Gate, so the state's number is then at least that of the newest layer.
// Hence what P2 says: the bytes of a layer's moment are those of the oldest layer, from it on, that
// has the unit, and if none has it those of the memory.

// Past keeps the past of some memories. The zero value is ready to use and has no layers.
type Past struct {
	newest   atomic.Pointer[Layer] // nil without layers; written by the owner
	mu       sync.RWMutex          // held to read by Show while it looks for a unit in other layers, to write where layers or memories come, go or move
	number   uint64                // of the layer that began last
	memories []*Memory
	spare    []*Layer // closed layers, whose memory is used again
}

// Add adds a range of memory whose size is that of whole units. It belongs to the owner, as all
// but Gate does; layers that exist have no part in it.
func (p *Past) Add(base unsafe.Pointer, size int) *Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &Memory{past: p, at: len(p.memories)}
	m.set(base, size)
	p.memories = append(p.memories, m)
	return m
}

// Move says that the memory lies elsewhere now, with the same bytes in the units that it had, or
// has another size.
func (m *Memory) Move(base unsafe.Pointer, size int) {
	m.past.mu.Lock()
	defer m.past.mu.Unlock()
	m.set(base, size)
}

func (m *Memory) set(base unsafe.Pointer, size int) {
	m.base, m.units = base, size/UnitSize
	if more := (m.units+pageUnits-1)/pageUnits - len(m.pages); more > 0 {
		pages := make([]atomic.Pointer[statePage], len(m.pages)+more)
		for i := range m.pages {
			pages[i].Store(m.pages[i].Load())
		}
		m.pages = pages
	}
}

// Layers returns the number of layers.
func (p *Past) Layers() (n int) {
	for l := p.newest.Load(); l != nil; l = l.below {
		n++
	}
	return n
}

// Begin begins a layer: what the memories hold now.
func (p *Past) Begin() *Layer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	l := &Layer{past: p}
	if n := len(p.spare); n > 0 {
		l, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	l.number, l.below, l.above, l.closed = p.number, p.newest.Load(), nil, false
	for at := range p.memories {
		l.part(at)
	}
	if l.below != nil {
		l.below.above = l
	}
	p.newest.Store(l)
	return l
}

// Gate must be called before n units of a memory, from first on, are written. If there is an error,
// they must not be written.
func (m *Memory) Gate(first, n int) error {
	l := m.past.newest.Load()
	if l == nil {
		return nil
	}
	for unit := first; unit < first+n; unit++ {
		if m.state(unit).Load() < stateOf(l.number) {
			if err := m.save(unit, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// Born says that nothing in n units from first on is of any layer: they have come since.
func (m *Memory) Born(first, n int) {
	l := m.past.newest.Load()
	if l == nil {
		return
	}
	for unit := first; unit < first+n; unit++ {
		m.state(unit).Store(stateOf(l.number) | born)
	}
}

// save copies a unit to a layer that lacks it, unless another goroutine does.
func (m *Memory) save(unit int, l *Layer) error {
	state := m.state(unit)
	for {
		switch s := state.Load(); {
		case s >= stateOf(l.number):
			return nil
		case s&busy != 0:
			runtime.Gosched()
		case state.CompareAndSwap(s, s|busy):
			if err := l.parts[m.at].put(m, unit, m.bytes(unit)); err != nil {
				state.Store(s)
				return err
			}
			state.Store(stateOf(l.number))
			return nil
		}
	}
}

// Show returns the address of n units of a memory, from first on, as they were when the layer
// began. Nobody may write them. They are good until the layer is closed.
func (l *Layer) Show(m *Memory, first, n int) (unsafe.Pointer, error) {
	p := l.parts[m.at]
	for unit := first; unit < first+n; unit++ {
		if !p.has(unit) {
			if err := l.load(m, unit); err != nil {
				return nil, err
			}
		}
	}
	return p.address(first), nil
}

// load copies a unit to the layer, which lacks it.
func (l *Layer) load(m *Memory, unit int) error {
	m.past.mu.RLock()
	defer m.past.mu.RUnlock()
	state := m.state(unit)
	for {
		s := state.Load()
		switch {
		case s >= stateOf(l.number): // not as it was, or in the layer already
			if from := l.oldestWith(m, unit); from != l {
				return l.parts[m.at].put(m, unit, from.parts[m.at].bytes(unit))
			}
			return nil
		case s&busy != 0:
			runtime.Gosched()
		case state.CompareAndSwap(s, s|busy):
			if err := l.parts[m.at].put(m, unit, m.bytes(unit)); err != nil {
				state.Store(s)
				return err
			}
			state.Store(stateOf(l.number))
			return nil
		}
	}
}

// oldestWith returns the oldest layer, from l on, that has a unit. There is one.
func (l *Layer) oldestWith(m *Memory, unit int) *Layer {
	for !l.parts[m.at].has(unit) {
		l = l.above
	}
	return l
}

// Close ends the layer. What it has, and an older layer lacks, goes to that layer. After an error
// the layer is as it was.
func (l *Layer) Close() error {
	p := l.past
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.closed {
		return nil
	}
	if below := l.below; below != nil {
		for at, from := range l.parts {
			to := below.part(at)
			for _, unit := range from.units {
				if to.has(int(unit)) {
					continue
				}
				if err := to.put(p.memories[at], int(unit), from.bytes(int(unit))); err != nil {
					return err
				}
			}
		}
		below.above = l.above
	}
	if l.above != nil {
		l.above.below = l.below
	} else {
		p.newest.Store(l.below)
	}
	for _, part := range l.parts {
		part.clear()
	}
	l.closed, l.above, l.below = true, nil, nil
	p.spare = append(p.spare, l)
	return nil
}

// Restore makes the memories what they were when the layer began, and calls changed with each unit
// whose bytes differed, after it has changed. Layers, older and newer ones, stay as they are. No
// goroutine may read or write the memories meanwhile, but for Show. After an error nothing has
// changed.
func (l *Layer) Restore(changed func(m *Memory, unit int)) error {
	err := l.each(func(m *Memory, unit int, _ *part) error { return m.Gate(unit, 1) })
	if err != nil {
		return err
	}
	return l.each(func(m *Memory, unit int, from *part) error {
		if old, now := from.bytes(unit), m.bytes(unit); !bytes.Equal(old, now) {
			copy(now, old)
			changed(m, unit)
		}
		return nil
	})
}

// each calls visit with each unit that was written, or read, since the layer began, and the part
// that has its bytes of then. It ends with the first error.
func (l *Layer) each(visit func(m *Memory, unit int, from *part) error) error {
	for of := l; of != nil; of = of.above {
		for at := range of.parts {
			m, from := l.past.memories[at], of.parts[at]
			for i := 0; i < len(from.units); i++ { // visit may gate units, and so make the newest layer's list longer
				unit := int(from.units[i])
				if l.oldestWith(m, unit) != of {
					continue
				}
				if err := visit(m, unit, from); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Release gives the memory of closed layers back.
func (p *Past) Release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, l := range p.spare {
		for _, part := range l.parts {
			err = errors.Join(err, part.release())
		}
	}
	p.spare = nil
	return err
}
