package wrap

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"quarry/alloc"
	"quarry/mmap"
)

// What Guard makes of a block:
//
//	front                        body                            behind
//	+----------------------------+-------+-------------+---------+--------------------+
//	| zone: faults, or canaries  | slack | the block   | slack   | zone: as in front  |
//	+----------------------------+-------+-------------+---------+--------------------+
//	base                                 p             p + size                base + total
//	     whole pages                      whole pages                whole pages
//
// The block ends where the zone behind begins, except for the slack that its alignment needs; slack
// holds canaries. When the memory belongs to an mmap.Region whose pages can be guarded, the zones
// fault, and so does the body while the block is in quarantine. Otherwise, or when the system
// refuses, zones hold canaries, and a block in quarantine holds debug.Freed; then a line of 64 B
// takes the place of the page above.
//
// A block is in one of three states. Once a goroutine has changed live to leaving, under the lock,
// only that goroutine touches the block, so system calls and calls of the allocator inside need no
// lock:
//
//	 Alloc        FreeSized            quarantine           is full, or Close
//	-------> live ---------> leaving -------------> freed -------------> leaving --> inside
//
// Invariants, checked by Verify:
//
//	G1 A block lies in its body, aligned, and front, body and behind make up the memory from the
//	   allocator inside; no two of these memories overlap.
//	G2 The blocks in quarantine are the freed ones, and their bytes are counted right.
//	G3 Nothing but the block itself was written to, and a freed block not at all. Memory that
//	   faults needs no check.

// ErrDamage is wrapped by the errors of Guard for memory that was written out of bounds or after it
// was freed.
var ErrDamage = errors.New("written out of bounds or after free")

// Guard detects misuse of blocks: accesses before, behind and after the life of a block, and
// invalid frees. Its reports contain the stacks where the block was allocated and freed.
// docs/memory.md lists what it detects, and what it does not.
//
// Where the memory of the allocator inside allows it, each block gets pages of its own between two
// zones that fault when they are touched (see Run, and Monitor for what faults outside of Run).
// Elsewhere, and with Canaries, the zones hold a pattern, which FreeSized, Verify and Close check.
// A freed block waits in quarantine, where accesses are detected, before the allocator inside gets
// it back. Around an *alloc.Stack, which requires frees in order, there is no quarantine. New
// blocks hold the byte 0xCD.
//
// Any goroutine that may use the allocator inside may use a Guard. Blocks must be freed only
// through the Guard: reset an arena inside only after Close.
//
// Cost on an AMD Zen 5, Linux 6.18, for Alloc and FreeSized of 64 B: 11 us, three pages of
// addresses and one of memory; with Canaries 1.3 us and 576 B. docs/memory.md has more.
type Guard struct {
	inside
	parts alloc.Reallocator // its own calls
	// Bytes: the page, or a line where nothing is guarded; zones and bodies are multiples of it.
	unit    int
	zone    int  // bytes of a zone
	pages   bool // zones should fault
	regions func(p unsafe.Pointer) (fencer, int)
	monitor *Monitor // nil: none

	mu     sync.Mutex
	blocks map[unsafe.Pointer]*guarded // all blocks by address; under mu
	wait   quarantine                  // under mu
	found  []error                     // damage of blocks already returned; under mu
	made   uint64                      // blocks made so far; under mu
	closed bool                        // under mu
}

// GuardOption is an option of NewGuard.
type GuardOption func(*Guard)

// Zone sets how many bytes before and behind a block are guarded, rounded up to whole pages (64 B
// with Canaries). The default is one page (256 B with Canaries). With 1 MiB, accesses up to 1 MiB
// out of bounds are detected. Zone panics when bytes is less than 0 or more than 1 GiB.
func Zone(bytes int) GuardOption {
	if bytes < 0 || bytes > mostZone {
		panic(fmt.Sprintf("wrap: Zone: bytes=%d is not in 0..%d", bytes, mostZone))
	}
	return func(g *Guard) { g.zone = bytes }
}

// Quarantine sets how many bytes, zones included, must be freed after a block before it leaves the
// quarantine. The default is 1 MiB; 0 means no quarantine. Quarantine panics when bytes is less
// than 0.
func Quarantine(bytes int) GuardOption {
	if bytes < 0 {
		panic(fmt.Sprintf("wrap: Quarantine: bytes=%d is less than 0", bytes))
	}
	return func(g *Guard) { g.wait.most = bytes }
}

// Canaries makes a Guard without faults and without system calls. It detects writes only when a
// block is freed or verified, and never detects reads.
func Canaries() GuardOption { return func(g *Guard) { g.pages = false } }

const (
	mostZone   = 1 << 30 // bytes
	canaryUnit = 64      // bytes: a cache line
	canaryZone = 256     // bytes
)

// NewGuard returns a Guard around a.
func NewGuard(a alloc.Allocator, options ...GuardOption) *Guard {
	g := &Guard{
		inside:  insideOf("NewGuard", a),
		zone:    -1,
		pages:   mmap.Guards() != mmap.GuardNone,
		regions: fencerAt,
		blocks:  map[unsafe.Pointer]*guarded{},
		wait:    quarantine{most: 1 << 20},
	}
	for _, o := range options {
		if o == nil {
			panic("wrap: NewGuard: an option is nil")
		}
		o(g)
	}
	g.parts = alloc.WithRealloc(byParts{g})
	zone := canaryZone
	g.unit = canaryUnit
	if g.pages {
		g.unit, zone = mmap.PageSize(), 1
	}
	if g.zone >= 0 {
		zone = max(g.zone, 1)
	}
	g.zone = roundUp(zone, g.unit)
	if alloc.FreesInOrder(a) {
		g.wait.most = 0
	}
	return g
}

// Alloc returns a block between zones. An error is that of the allocator inside, after the
// quarantine has been emptied, or wraps alloc.ErrTooBig when zones and block together exceed an
// int.
func (g *Guard) Alloc(size, align int) (unsafe.Pointer, error) {
	g.checkRequest("Guard.Alloc", size, align)
	b := &guarded{size: size, align: align, born: callersAt(0, someFrames)}
	if size > math.MaxInt-2*g.zone-b.alignment()-2*g.unit {
		return nil, fmt.Errorf("wrap: Guard.Alloc: block of %d bytes between zones of %d: %w",
			size, g.zone, alloc.ErrTooBig)
	}
	b.total = 2*g.zone + max(b.alignment()-g.unit, 0) + roundUp(size, g.unit)
	base, err := g.from.Alloc(b.total, g.unit)
	if err != nil && !errors.Is(err, alloc.ErrTooBig) && g.giveUp() {
		base, err = g.from.Alloc(b.total, g.unit)
	}
	if err != nil {
		return nil, err
	}
	b.place(base, g.zone, g.unit)
	if g.pages {
		b.region, b.offset = g.regions(base)
	}
	b.prepare()
	g.monitor.record(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.made++
	b.number = g.made
	g.blocks[b.p] = b
	return b.p, nil
}

// ResizeSized returns false for every new size, since a block ends where its zone begins.
func (g *Guard) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	g.checkRequest("Guard.ResizeSized", to, align)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.find("Guard.ResizeSized", p, size, align)
	return to == size
}

// AllocZeroed is Alloc of a zeroed block.
func (g *Guard) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	return g.parts.AllocZeroed(size, align)
}

// ReallocSized moves the block, which is freed as by FreeSized, unless to is its size.
func (g *Guard) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return g.parts.ReallocSized(p, size, align, to)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (g *Guard) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return g.parts.ReallocZeroed(p, size, align, to)
}

// FreeSized puts a block into quarantine. It panics, before anything has changed, for a double
// free, an address that is not a block, a wrong size or alignment, and a block that was written out
// of bounds. It also panics, after the block has been freed, when a block that leaves the
// quarantine was written to there.
func (g *Guard) FreeSized(p unsafe.Pointer, size, align int) {
	if p == nil {
		return
	}
	b := g.take(p, size, align)
	g.monitor.record(b)
	if g.wait.most == 0 {
		g.freeNow(b)
		return
	}
	b.bury()
	if found := g.giveBack(g.enter(b)); found != "" {
		panic("wrap: Guard.FreeSized: " + found)
	}
}

// take changes a live block to leaving, or panics.
func (g *Guard) take(p unsafe.Pointer, size, align int) *guarded {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.find("Guard.FreeSized", p, size, align)
	if e := b.damage(); e != nil {
		panic("wrap: Guard.FreeSized: " + e.text())
	}
	b.state, b.died = stateLeaving, callersAt(1, someFrames)
	return b
}

// find returns the live block at p, or panics. mu is held.
func (g *Guard) find(name string, p unsafe.Pointer, size, align int) *guarded {
	b := g.blocks[p]
	switch {
	case g.closed:
		panic("wrap: " + name + ": the Guard is closed")
	case b == nil:
		if e := g.at(uintptr(p)); e != nil {
			panic(fmt.Sprintf("wrap: %s: %p is not a block but %s", name, p, e.where()))
		}
		panic(fmt.Sprintf("wrap: %s: %p is not a block of this Guard (freed twice, a while ago?)", name, p))
	case b.state != stateLive:
		panic(fmt.Sprintf("wrap: %s: freed twice: %s", name, b.describe()))
	case size != b.size || alignment(align) != b.alignment():
		panic(fmt.Sprintf("wrap: %s: size=%d align=%d for %s", name, size, align, b.describe()))
	}
	return b
}

// checkRequest panics unless size and align are valid arguments of an Allocator.
func (g *Guard) checkRequest(name string, size, align int) {
	if size < 0 || align < 0 || align&(align-1) != 0 || align > alloc.MaxAlign {
		panic(fmt.Sprintf("wrap: %s: size=%d align=%d: want a size >= 0 and a power of two up to %d",
			name, size, align, alloc.MaxAlign))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		panic("wrap: " + name + ": the Guard is closed")
	}
}
