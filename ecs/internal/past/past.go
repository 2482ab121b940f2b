package past

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/internal/universe"
)

// Invariants, checked by Verify:
//
//	P1 Numbers of layers rise from the oldest to the newest. No unit's state is busy, or has a
//	   number above that of the layer begun last.
//	P2 If a layer lacks a piece that existed at its moment, then a newer layer has the piece, or
//	   nobody has written it since (the number in its unit's state is below the layer's, or the
//	   state does not have the piece), or the layer is lost.
//	P3 The copies of a unit in a layer lie in a chunk of their own, which is in use in the universe.
//
// A write of a piece goes by BeforeWrite, so the state's number is then at least that of the newest
// layer, and the state has the piece. Hence P2: the bytes of a layer's moment are those of the
// oldest layer, from it on, that has the piece, and if none has it those of the memory.
//
// A layer may hold copies of pieces that did not exist at its moment; they are never read.

// Past keeps the past of some memories, from the first layer on to the last.
type Past struct {
	u        *universe.Universe    // has the copies
	newest   atomic.Pointer[Layer] // nil without layers; written by the owner
	mu       sync.RWMutex          // held to read by Read, to write where layers or memories come, go or move
	number   uint64                // of the layer that began last
	memories []*Memory
	spare    [][]*part       // of closed layers, for reuse
	buffer   *[UnitSize]byte // of Old
}

// Open initializes a zero Past without layers, whose copies lie in u.
func (p *Past) Open(u *universe.Universe) { p.u = u }

// Add adds a range of memory. It belongs to the owner, as all but BeforeWrite and Read does. Layers
// that exist have no part in it.
func (p *Past) Add(base unsafe.Pointer, size int) *Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &Memory{past: p, at: len(p.memories)}
	m.set(base, size)
	p.memories = append(p.memories, m)
	if newest := p.newest.Load(); newest != nil {
		for l := newest; l != nil; l = l.below {
			l.part(m.at)
		}
		for unit := range m.units {
			m.state(unit).Store(savedState(newest.number, allPieces))
		}
	}
	return m
}

// Number returns the number of the layer that began last; 0: none ever did.
func (p *Past) Number() uint64 { return p.number }

// Newest returns the newest layer, or nil.
func (p *Past) Newest() *Layer { return p.newest.Load() }

// Layers returns the number of layers.
func (p *Past) Layers() (n int) {
	for l := p.newest.Load(); l != nil; l = l.below {
		n++
	}
	return n
}

// Between reports whether a layer has a number above born, and up to ended: whether what was born
// when born was the last number, and ended at ended, is part of a layer.
func (p *Past) Between(born, ended uint64) bool {
	l := p.newest.Load()
	for l != nil && l.number > ended {
		l = l.below
	}
	return l != nil && l.number > born
}

// Begin begins a layer: the present content of the memories.
func (p *Past) Begin() *Layer {
	l := &Layer{past: p}
	l.begin()
	return l
}

// Restart closes the layer, unless it is closed, and begins it anew with the present content of the
// memories.
func (l *Layer) Restart() {
	l.Close()
	l.begin()
}

func (l *Layer) begin() {
	p := l.past
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	l.number, l.below, l.above, l.closed = p.number, p.newest.Load(), nil, false
	l.lost.Store(nil)
	if n := len(p.spare); n > 0 && l.parts == nil { // not a closed layer itself, which callers may hold
		l.parts, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	if len(p.memories) > 0 {
		l.part(len(p.memories) - 1)
	}
	if l.below != nil {
		l.below.above = l
	}
	p.newest.Store(l)
}

// Close ends the layer. Copies that an older layer lacks go to that layer. A second call does
// nothing.
func (l *Layer) Close() {
	p := l.past
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.closed {
		return
	}
	l.handOver(l.below)
	if l.below != nil {
		l.below.above = l.above
	}
	if l.above != nil {
		l.above.below = l.below
	} else {
		p.newest.Store(l.below)
	}
	p.spare = append(p.spare, l.parts)
	l.closed, l.above, l.below, l.parts = true, nil, nil, nil
}

// Units returns the number of units that have been copied and are kept.
func (p *Past) Units() (n int) {
	for l := p.newest.Load(); l != nil; l = l.below {
		n += l.Units()
	}
	return n
}

// wait lets another goroutine finish the copy of a unit.
func wait() { runtime.Gosched() }
