package mmap

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// parkBase is where the granules of a Park begin: beyond what WebAssembly can address, and
// where no system has the heap of Go, whose collector looks at pointers.
const parkBase = 1 << 40

// Park is a park of granules from parkBase on, which nobody owns or touches; it knows them
// by their numbers.
type Park struct{ park }

// Add parks the granules [lo, hi) of a block, which is not 0.
func (p *Park) Add(lo, hi, block int, stale []bool) {
	// Safe because the address is not touched, and not one of Go's heap.
	m := memory{base: unsafe.Add(nil, parkBase+lo*Granule), size: (hi - lo) * Granule, block: uintptr(block),
		stale: newGranules(hi - lo)}
	for i, set := range stale {
		if set {
			m.stale.set(i, i+1)
		}
	}
	p.add(m)
}

// Take takes n granules and returns which of them are stale.
func (p *Park) Take(n int) (lo, hi int, stale []bool, ok bool) {
	m, ok := p.take(n * Granule)
	if !ok {
		return 0, 0, nil, false
	}
	lo = number(m)
	for i := range m.size / Granule {
		stale = append(stale, m.stale != nil && m.stale.has(i))
	}
	return lo, lo + m.size/Granule, stale, true
}

func number(m memory) int { return int(uintptr(m.base)-parkBase) / Granule }

func (p *Park) Bytes() int    { return p.bytes }
func (p *Park) Verify() error { return p.verify() }

// Pieces are the pieces, as granules [lo, hi).
func (p *Park) Pieces() (all [][2]int) {
	for _, m := range p.pieces {
		lo := number(m)
		all = append(all, [2]int{lo, lo + m.size/Granule})
	}
	return all
}

// ParkCorruptions breaks one invariant each, by its name, in a park of three granules
// and, behind a gap, two, of which the first is stale.
var ParkCorruptions = map[string]func(*Park){
	"P1 order": func(p *Park) { p.pieces[0], p.pieces[1] = p.pieces[1], p.pieces[0] },
	"P1 size":  func(p *Park) { p.pieces[0].size-- },
	"P1 none":  func(p *Park) { p.pieces[0].size = 0 },
	"P1 twice": func(p *Park) { p.pieces[0].size = 6 * Granule },
	"P2":       func(p *Park) { p.bytes += Granule },
	"P3 words": func(p *Park) { p.pieces[1].stale = append(p.pieces[1].stale, 0) },
	"P3 bits":  func(p *Park) { p.pieces[1].stale.set(2, 3) },
	"P3 empty": func(p *Park) { p.pieces[1].stale.clear(0, 1) },
}

// Counted is a backing that keeps which ranges it handed out. Of Go objects those that the
// collector got are not known, but where they were others may come.
type Counted struct {
	Backing
	Ranges [][2]uintptr // first byte and end
	Bytes  int          // in all of them, at the time
	Calls  int          // reservations
	Blocks bool         // no call may reach across two of them
}

func (c *Counted) reserve(size int) (memory, error) {
	m, err := c.Backing.reserve(size)
	if err == nil {
		lo, hi := uintptr(m.base), uintptr(m.base)+uintptr(m.size)
		c.Ranges = slices.DeleteFunc(c.Ranges, func(old [2]uintptr) bool { return old[0] < hi && lo < old[1] })
		c.Ranges = append(c.Ranges, [2]uintptr{lo, hi})
		c.Bytes += m.size
		c.Calls++
		c.Blocks = m.block != 0
	}
	return m, err
}

// Alone is a backing that counts reservations begun while another is under way.
type Alone struct {
	Backing
	inside, Meetings atomic.Int32
}

func (a *Alone) reserve(size int) (memory, error) {
	if a.inside.Add(1) > 1 {
		a.Meetings.Add(1)
	}
	defer a.inside.Add(-1)
	runtime.Gosched()
	return a.Backing.reserve(size)
}

// Tight is a backing that leaves Go no room for more work while Short.
type Tight struct {
	Backing
	Short bool
	Asked int
}

func (t *Tight) reuse() error {
	t.Asked++
	if t.Short {
		return ErrFlaky
	}
	return nil
}

// Repeats is the result of vain when open regions are left of those at a vain collection, which
// took so long and ended so long ago.
func Repeats(before, open int, took, ago time.Duration) bool {
	v := vain{open: before, end: time.Now().Add(-ago), took: took}
	return v.repeats(open)
}
