package mmap

import (
	"fmt"
	"slices"
	"unsafe"
)

// The parked address space: ranges that were handed out and have no owner now, in pieces:
//
//	Release of A, C     [  A  ]  b  [  C  ]        two pieces; b is an open region
//	        of b        [  A  |  b  |  C  ]        three, adjacent
//	take of |C|         [  A  |  b  ]  c           the piece of that size: an address recurs
//	     of less        [  A  | b ] d  c           carved from the smallest piece that has room
//	     of |A| + |b|   [     e      ] d  c        no piece has room: adjacent pieces are joined
//
// As long as only sizes recur that were used before, ranges stay as they were, so that a fault in a
// range shows which region it was. Among pieces that fit equally well, the next one after the piece
// taken last is taken. So they are taken in turn, and each waits, and makes stale pointers fault,
// for as long as possible.
//
// Ranges in reservations that no call may span (memory.block) are not joined. Pieces are also
// joined when there are many, because searches are linear: so there are either few, or about as
// many as gaps between the ranges in use.
//
// Where addresses are limited, the pieces beyond a share of the limit go back to the system, whole,
// those first that were parked longest: a pointer into one does not fault any more once another
// mapping of the process lies there.
//
//	P1  pieces ascend and do not overlap; each is one or more whole granules.
//	P2  bytes is the sum of their sizes.
//	P3  a piece lists its stale granules: none, or one bit per granule with some set.

// looseLimit is how many pieces there may be beyond twice the number that the last join left.
const looseLimit = 64

// park holds the parked ranges. Its space's mu guards it.
type park struct {
	pieces []memory // by ascending base
	bytes  int      // bytes in all pieces (P2)
	last   uintptr  // base of the range taken last; 0: none
	firm   int      // pieces that the last join left
	added  uint64   // ranges ever parked
}

// joins reports whether b begins where m ends and calls may span both.
func (m *memory) joins(b *memory) bool {
	return uintptr(m.base)+uintptr(m.size) == uintptr(b.base) && m.block == b.block
}

// cut returns [off, off+n) of a range.
func (m *memory) cut(off, n int) memory {
	one := *m
	// Safe because callers have 0 <= off and off+n <= m.size.
	one.base = unsafe.Add(m.base, off)
	one.size = n
	one.stale = m.stale.part(off/Granule, (off+n)/Granule)
	return one
}

// behind returns the index of the first piece that begins above addr.
func (p *park) behind(addr uintptr) int {
	i, _ := slices.BinarySearchFunc(p.pieces, addr, func(m memory, addr uintptr) int {
		if uintptr(m.base) <= addr {
			return -1
		}
		return 1
	})
	return i
}

// add parks a range. Its granules are denied, and are either dropped or stale.
func (p *park) add(m memory) {
	p.added++
	m.stale, m.since = m.stale.part(0, m.size/Granule), p.added
	p.pieces = slices.Insert(p.pieces, p.behind(uintptr(m.base)), m)
	p.bytes += m.size
	if len(p.pieces) > 2*p.firm+looseLimit {
		p.join()
	}
}

// join joins adjacent pieces.
func (p *park) join() {
	joined := p.pieces[:0]
	for lo := 0; lo < len(p.pieces); {
		m := p.pieces[lo]
		hi := lo + 1
		for ; hi < len(p.pieces) && p.pieces[hi-1].joins(&p.pieces[hi]); hi++ {
			m.size, m.since = m.size+p.pieces[hi].size, max(m.since, p.pieces[hi].since)
		}
		if hi-lo > 1 {
			m.stale = gather(p.pieces[lo:hi], m.size/Granule)
		}
		joined, lo = append(joined, m), hi
	}
	clear(p.pieces[len(joined):]) // a Go object must not stay reachable from here
	p.pieces, p.firm = joined, len(joined)
}

// gather returns the set of the stale granules, of n in all, of adjacent pieces; nil if there are
// none.
func gather(pieces []memory, n int) (all granules) {
	at := 0
	for i := range pieces {
		m := &pieces[i]
		if m.stale != nil {
			if all == nil {
				all = newGranules(n)
			}
			all.paste(m.stale, 0, m.size/Granule, at)
		}
		at += m.size / Granule
	}
	return all
}

// take carves out a range of the given size, if one is parked in one piece or in adjacent ones.
func (p *park) take(size int) (memory, bool) {
	best := p.fit(size)
	if best < 0 {
		p.join()
		best = p.fit(size)
	}
	if best < 0 {
		return memory{}, false
	}
	one := &p.pieces[best]
	m := *one
	if one.size == size {
		p.pieces = slices.Delete(p.pieces, best, best+1)
	} else {
		m, *one = one.cut(0, size), one.cut(size, one.size-size)
	}
	p.bytes -= size
	p.last = uintptr(m.base)
	return m, true
}

// fit returns the index of the smallest piece of at least size bytes, the first one after the piece
// taken last, or -1.
func (p *park) fit(size int) (best int) {
	best = -1
	for n, from, k := len(p.pieces), p.behind(p.last), 0; k < n; k++ {
		i := (from + k) % n
		if has := p.pieces[i].size; has >= size && (best < 0 || has < p.pieces[best].size) {
			if best = i; has == size {
				break
			}
		}
	}
	return best
}

// forget leaves whole Go objects to the collector until they have size bytes together, and returns
// how many bytes they have.
func (p *park) forget(size int) (bytes int) {
	p.join()
	p.pieces = slices.DeleteFunc(p.pieces, func(m memory) bool {
		if bytes >= size || m.size != len(m.object)-goHeapAlign {
			return false
		}
		bytes += m.size
		return true
	})
	p.bytes -= bytes
	return bytes
}

// shed calls unmap for pieces, those parked longest first, until most bytes are parked or it
// refuses, and returns how many bytes are no longer parked.
func (p *park) shed(most int, unmap func(*memory) error) (bytes int) {
	for p.bytes > most {
		oldest := 0
		for i := range p.pieces {
			if p.pieces[i].since < p.pieces[oldest].since {
				oldest = i
			}
		}
		size := p.pieces[oldest].size
		if unmap(&p.pieces[oldest]) != nil {
			break
		}
		p.pieces = slices.Delete(p.pieces, oldest, oldest+1)
		p.bytes -= size
		bytes += size
	}
	return bytes
}

// at returns the piece that contains an address, or nil.
func (p *park) at(addr uintptr) *memory {
	i := p.behind(addr) - 1
	if i < 0 || addr-uintptr(p.pieces[i].base) >= uintptr(p.pieces[i].size) {
		return nil
	}
	return &p.pieces[i]
}

// overlaps reports whether part of a range is parked.
func (p *park) overlaps(base unsafe.Pointer, size int) bool {
	i := p.behind(uintptr(base) + uintptr(size) - 1)
	return i > 0 && uintptr(p.pieces[i-1].base)+uintptr(p.pieces[i-1].size) > uintptr(base)
}

// verify checks P1 to P3.
func (p *park) verify() error {
	bytes, end := 0, uintptr(0)
	for i := range p.pieces {
		m := &p.pieces[i]
		if m.size <= 0 || m.size%Granule != 0 || uintptr(m.base) < max(end, 1) {
			return fmt.Errorf("mmap: P1: piece %d is %d bytes at %p, the one before ends at %#x",
				i, m.size, m.base, end)
		}
		end = uintptr(m.base) + uintptr(m.size)
		bytes += m.size
		n := m.size / Granule
		if all := len(m.stale) * 64; m.stale != nil && (len(m.stale) != (n+63)/64 ||
			m.stale.next(n, all, true) < all || m.stale.next(0, n, true) == n) {
			return fmt.Errorf("mmap: P3: of piece %d, of %d granules, these are stale: %x", i, n, m.stale)
		}
	}
	if bytes != p.bytes {
		return fmt.Errorf("mmap: P2: %d bytes are parked, and %d are counted", bytes, p.bytes)
	}
	return nil
}
