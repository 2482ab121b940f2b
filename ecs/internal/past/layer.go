package past

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe"
)

// Layer is the content of all memories at one moment.
type Layer struct {
	past         *Past
	number       uint64
	below, above *Layer  // the next older and newer one; written by the owner while past.mu is held
	parts        []*part // by memory
	lost         atomic.Pointer[error]
	closed       bool
}

// Number returns the layer's number: the later the moment, the greater.
func (l *Layer) Number() uint64 { return l.number }

// Err returns why the layer is lost, or nil: memory was written for whose old bytes there was no
// room. The error wraps that of the universe.
func (l *Layer) Err() error {
	if err := l.lost.Load(); err != nil {
		return *err
	}
	return nil
}

func (l *Layer) lose(err error) {
	err = fmt.Errorf("old bytes could not be kept: %w", err)
	l.lost.CompareAndSwap(nil, &err)
}

// part is the copies of one memory in a layer.
type part struct {
	mu    sync.Mutex
	units map[uint32]universe.ChunkIndex // the chunks with the bytes, by unit
	notes []note                         // by rising address; nil but in debug builds
}

// part returns the part of a memory. It belongs to the owner.
func (l *Layer) part(at int) *part {
	for len(l.parts) <= at {
		l.parts = append(l.parts, &part{units: map[uint32]universe.ChunkIndex{}})
	}
	return l.parts[at]
}

// has returns the chunk with the bytes of a unit.
func (p *part) has(unit int) (c universe.ChunkIndex, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok = p.units[uint32(unit)]
	return c, ok
}

// put copies the bytes of a unit, which the part lacks, to the part. The bytes must not change
// meanwhile. An error is from the universe; the part lacks the unit then.
func (p *part) put(u *universe.Universe, unit int, from []byte) error {
	c, err := u.AllocExact(1)
	if err != nil {
		return err
	}
	copy(u.Bytes(c, 1), from)
	p.mu.Lock()
	p.units[uint32(unit)] = c
	p.mu.Unlock()
	return nil
}

// Read copies the bytes of a unit, as they were when the layer began, to dst. An error means that
// the layer is lost. Any goroutine may call it.
func (l *Layer) Read(m *Memory, unit int, dst []byte) error {
	p := l.past
	p.mu.RLock()
	defer p.mu.RUnlock()
	for {
		s := m.stateNow(unit)
		switch {
		case s >= stateOf(l.number): // not as it was
			old, err := l.oldest(m, unit)
			copy(dst, old)
			return err
		case s&busy != 0:
			wait()
		case m.state(unit).CompareAndSwap(s, s|busy):
			copy(dst, m.bytes(unit))
			m.state(unit).Store(s)
			return l.Err()
		}
	}
}

// ReadBytes fills dst with the bytes of a memory from at on, as they were when the layer began. An
// error means that the layer is lost. Any goroutine may call it.
func (l *Layer) ReadBytes(m *Memory, at int, dst []byte) error {
	for len(dst) > 0 {
		skip := at % UnitSize
		n := min(UnitSize-skip, len(dst))
		if n == UnitSize {
			if err := l.Read(m, at/UnitSize, dst[:n]); err != nil {
				return err
			}
		} else {
			var unit [UnitSize]byte
			if err := l.Read(m, at/UnitSize, unit[:]); err != nil {
				return err
			}
			copy(dst[:n], unit[skip:])
		}
		at, dst = at+n, dst[n:]
	}
	return nil
}

// Kept returns the bytes of a unit as they were when the layer began, without a copy, or nil if
// neither the layer nor a newer one has them. They are valid until the layer is closed. An error
// means that the layer is lost. Any goroutine may call it.
func (l *Layer) Kept(m *Memory, unit int) ([]byte, error) {
	l.past.mu.RLock()
	defer l.past.mu.RUnlock()
	return l.oldest(m, unit)
}

// Old returns the bytes of a unit as they were when the layer began, if the unit may have been
// written since. It belongs to the owner; the bytes are valid until the layer is closed. An error
// means that the layer is lost.
func (l *Layer) Old(m *Memory, unit int) (old []byte, written bool, err error) {
	if m.stateNow(unit)&^busy < stateOf(l.number) {
		return nil, false, nil
	}
	old, err = l.oldest(m, unit)
	return old, true, err
}

// oldest returns the bytes of a unit from the oldest layer, from l on, that has it, and nil for a
// unit that was born since. A layer that is lost may find the bytes of a later moment.
func (l *Layer) oldest(m *Memory, unit int) ([]byte, error) {
	for from := l; from != nil; from = from.above {
		if m.at >= len(from.parts) {
			continue
		}
		if c, ok := from.parts[m.at].has(unit); ok {
			return l.past.u.Bytes(c, 1), l.Err()
		}
	}
	return nil, l.Err()
}

// Units returns the number of units of which the layer has copies.
func (l *Layer) Units() (n int) {
	for _, p := range l.parts {
		p.mu.Lock()
		n += len(p.units)
		p.mu.Unlock()
	}
	return n
}

// handOver gives the units that the layer has, and an older one lacks, to the older one, and frees
// the others.
func (l *Layer) handOver(below *Layer) {
	for at, from := range l.parts {
		for unit, c := range from.units {
			if below != nil {
				to := below.part(at)
				if _, has := to.units[unit]; !has {
					to.units[unit] = c
					continue
				}
			}
			l.past.u.Free(c, 1)
		}
		clear(from.units)
		if debug.On {
			clear(from.notes)
			from.notes = from.notes[:0]
		}
	}
}

// Put brings back the bytes of a unit as they were when the layer began, if it was written since,
// and reports whether they differed. Save has kept the unit for newer layers, and the layer is not
// lost. It belongs to the owner.
func (l *Layer) Put(m *Memory, unit int) (differed bool) {
	old, written, _ := l.Old(m, unit)
	if now := m.bytes(unit); written && old != nil && !bytes.Equal(old, now) {
		m.BeforeWrite(unsafe.Pointer(&now[0]), 1) // Safe because it is the unit's first byte.
		copy(now, old)
		return true
	}
	return false
}
