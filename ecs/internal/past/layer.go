package past

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
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

// part returns the part of a memory. It belongs to the owner.
func (l *Layer) part(at int) *part {
	for len(l.parts) <= at {
		l.parts = append(l.parts, &part{})
	}
	return l.parts[at]
}

// Read copies the bytes of a unit, as they were when the layer began, to dst. An error means that
// the layer is lost. Any goroutine may call it.
func (l *Layer) Read(m *Memory, unit int, dst []byte) error {
	l.past.mu.RLock()
	defer l.past.mu.RUnlock()
	return l.read(m, unit, allPieces, dst)
}

// read is Read of pieces, to their places in dst. past.mu is held to read.
func (l *Layer) read(m *Memory, unit int, rest pieces, dst []byte) error {
	for {
		s := m.stateNow(unit)
		if s >= stateOf(l.number) { // not as it was
			if rest = l.collect(m, unit, rest, dst) &^ savedIn(s); rest == 0 {
				return l.Err()
			}
		}
		switch {
		case s&busy != 0:
			wait()
		case m.state(unit).CompareAndSwap(s, s|busy): // so no piece was saved since
			rest.copyTo(dst, m.bytes(unit))
			m.state(unit).Store(s)
			return l.Err()
		}
	}
}

// collect copies pieces of a unit to dst, each from the oldest layer, from l on, that has it, and
// returns those that no layer has.
func (l *Layer) collect(m *Memory, unit int, set pieces, dst []byte) pieces {
	for from := l; from != nil && set != 0; from = from.above {
		if m.at >= len(from.parts) {
			continue
		}
		if k := from.parts[m.at].of(unit); k.pieces()&set != 0 {
			(k.pieces() & set).copyTo(dst, l.past.u.Bytes(k.chunk(), 1))
			set &^= k.pieces()
		}
	}
	return set
}

// ReadBytes fills dst with the bytes of a memory from at on, as they were when the layer began. An
// error means that the layer is lost. Any goroutine may call it.
func (l *Layer) ReadBytes(m *Memory, at int, dst []byte) error {
	var buffer [UnitSize]byte
	for len(dst) > 0 {
		n := min(UnitSize-at%UnitSize, len(dst))
		b, err := l.Bytes(m, at, n, &buffer)
		if err != nil {
			return err
		}
		copy(dst, b)
		at, dst = at+n, dst[n:]
	}
	return nil
}

// Bytes returns n bytes of one unit, from byte at of a memory on, as they were when the layer
// began: those that a layer has kept, or a copy in buffer. They are valid until the layer is
// closed. An error means that the layer is lost. Any goroutine may call it.
func (l *Layer) Bytes(m *Memory, at, n int, buffer *[UnitSize]byte) ([]byte, error) {
	l.past.mu.RLock()
	defer l.past.mu.RUnlock()
	unit, first := at/UnitSize, at%UnitSize
	set := piecesOf(first, n)
	if b := l.keptIn(m, unit, set); b != nil {
		return b[first : first+n], l.Err()
	}
	err := l.read(m, unit, set, buffer[:])
	return buffer[first : first+n], err
}

// keptIn returns the bytes of a unit, of which pieces are good: if all of them lie in the oldest
// layer, from l on, that has some; otherwise nil.
func (l *Layer) keptIn(m *Memory, unit int, set pieces) []byte {
	for from := l; from != nil; from = from.above {
		if m.at >= len(from.parts) {
			continue
		}
		switch k := from.parts[m.at].of(unit); k.pieces() & set {
		case 0:
		case set:
			return l.past.u.Bytes(k.chunk(), 1)
		default:
			return nil
		}
	}
	return nil
}

// Wrote reports whether a unit may have been written since the layer began. It belongs to the
// owner. An error means that it was, and that the layer is lost.
func (l *Layer) Wrote(m *Memory, unit int) (bool, error) {
	if m.stateNow(unit)&^busy < stateOf(l.number) {
		return false, nil
	}
	return true, l.Err()
}

// Old is Wrote that also returns the bytes of a unit that was written, as they were when the layer
// began, and nil for a unit that was born since. It belongs to the owner; the bytes are valid until
// the next call for any layer, or until the layer is closed. A layer that is lost may find the
// bytes of a later moment.
func (l *Layer) Old(m *Memory, unit int) (old []byte, written bool, err error) {
	if written, err = l.Wrote(m, unit); !written {
		return nil, false, nil
	}
	if old = l.keptIn(m, unit, allPieces); old != nil {
		return old, true, err
	}
	p := l.past
	if p.buffer == nil {
		p.buffer = new([UnitSize]byte)
	}
	rest := l.collect(m, unit, allPieces, p.buffer[:])
	saved := savedIn(m.stateNow(unit))
	if rest&saved == allPieces {
		return nil, true, err
	}
	if rest &^= saved; rest != 0 { // else the memory may lack the unit
		rest.copyTo(p.buffer[:], m.bytes(unit))
	}
	return p.buffer[:], true, err
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

// handOver gives the pieces that the layer has, and an older one lacks, to the older one, and frees
// the others.
func (l *Layer) handOver(below *Layer) {
	for at, from := range l.parts {
		for _, unit := range from.units {
			if k := from.at(int(unit)); below != nil {
				below.part(at).take(l.past.u, int(unit), k)
			} else {
				l.past.u.Free(k.chunk(), 1)
			}
		}
		from.clear()
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
