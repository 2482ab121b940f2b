package universe

import (
	"math/bits"
	"sync"
	"unsafe"

	"quarry/mmap"
)

// Sheets: zeroed memory for the books of universes, which lie apart from all chunks. The books of
// 16 GiB take 0.5 MB, of which a small world writes a few pages, so a sheet is address space that
// gets its pages of 4 KiB as they are written:
//
//	region   | granule: 4 sheets of 512 KiB | granule | no access yet ...    64 MiB
//	sheet    | masks .w.......... | dirty .w........ | gone ... | ...        w: written, has a page
//
// The caller that gives a sheet back clears the bytes that it wrote. The pages of warmSheets sheets
// of a size stay, so that worlds which come and go one after another cost neither system calls nor
// page faults for their books; those of further sheets go back to the system. The addresses stay
// with the process. Where pages are not real, and where the system refuses, a sheet is memory of
// Go. So are sheets of less than 64 KiB, of universes below 2 GiB: where addresses are scarce, a
// region among the small ranges that universes park would keep these from being joined.
//
// Invariants, checked by verify:
//
//	B1 A sheet that is free reads as zero.
//	B2 Free sheets lie in ready granules of a region, at multiples of their size, and do not overlap.

const (
	sheetRegion  = 64 << 20 // bytes of address space reserved at a time
	leastSheet   = 16       // log2 of the smallest sheet in a region
	largestSheet = 21       // log2 of the largest, a granule
	warmSheets   = 16       // free sheets of a size that keep their pages
)

// sheet is memory for books. Its owner carves arrays from it.
type sheet struct {
	base   unsafe.Pointer
	size   int   // bytes
	left   int   // bytes not carved yet
	region Pages // nil: memory of Go
	offset int   // of base in the region
}

// sheets hands out sheets to any goroutine.
type sheets struct {
	reserve func(size, least int) (Pages, error) // nil: package mmap

	mu     sync.Mutex
	region Pages // the sheets not handed out yet lie here
	cut    int   // bytes of it that were handed out
	ready  int   // bytes of it that are committed
	warm   [largestSheet + 1][]sheet
	cold   [largestSheet + 1][]sheet
}

// memory returns the bytes of a sheet.
func (s *sheet) memory() []byte {
	// Safe because the sheet has so many bytes.
	return unsafe.Slice((*byte)(s.base), s.size)
}

// carve returns the next n elements of a sheet, on cache lines of their own. T holds no Go pointer,
// and the sheet has room.
func carve[T any](s *sheet, n int) []T {
	var t T
	size := carved(n, unsafe.Sizeof(t))
	// Safe because the sheet has so many bytes left, on a cache line, and T has no Go pointers; the
	// length of the memory says so once more.
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.memory()[s.size-s.left:][:size]))), n)
	s.left -= size
	return all
}

// carved returns how many bytes of a sheet n elements take.
func carved(n int, size uintptr) int { return (n*int(size) + 63) &^ 63 }

// take returns a sheet of at least size bytes, which is at most a granule. It reads as zero.
func (l *sheets) take(size int) sheet {
	class := bits.Len(uint(size - 1))
	if class < leastSheet {
		return goSheet(class)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, free := range []*[]sheet{&l.warm[class], &l.cold[class]} {
		if last := len(*free) - 1; last >= 0 {
			s := (*free)[last]
			*free = (*free)[:last]
			return s
		}
	}
	if s, ok := l.next(1 << class); ok {
		return s
	}
	return goSheet(class)
}

// goSheet returns a sheet in memory of Go.
func goSheet(class int) sheet {
	words := make([]uint64, max(1<<class, 64)/8) // of a power of two, so aligned to a cache line
	// Safe because a sheet holds no Go pointers.
	return sheet{base: unsafe.Pointer(&words[0]), size: 8 * len(words), left: 8 * len(words)}
}

// next cuts a sheet off the region. mu is held.
func (l *sheets) next(size int) (s sheet, ok bool) {
	if !mmap.Real {
		return s, false
	}
	at := (l.cut + size - 1) &^ (size - 1)
	if l.region == nil || at+size > l.region.Size() {
		region, err := l.fresh()
		if err != nil {
			return s, false
		}
		l.region, l.cut, l.ready, at = region, 0, 0, 0
	}
	if at+size > l.ready {
		if l.region.Commit(l.ready, mmap.Granule) != nil {
			return s, false
		}
		l.ready += mmap.Granule
	}
	l.cut = at + size
	// Safe because the region has these bytes.
	return sheet{unsafe.Add(l.region.Base(), at), size, size, l.region, at}, true
}

// fresh reserves a region whose pages are small.
func (l *sheets) fresh() (Pages, error) {
	if l.reserve != nil {
		return l.reserve(sheetRegion, mmap.Granule)
	}
	r, err := mmap.ReserveUpTo(sheetRegion, mmap.Granule)
	if err != nil {
		return nil, err // not r, which would be a nil region in an interface
	}
	_ = r.Hint(mmap.SmallPages, true) // without it the books cost more memory
	return r, nil
}

// give takes back a sheet that its owner has cleared.
func (l *sheets) give(s sheet) {
	if s.region == nil {
		return
	}
	s.left = s.size
	class := bits.Len(uint(s.size - 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.warm[class]) < warmSheets {
		l.warm[class] = append(l.warm[class], s)
		return
	}
	_ = s.region.Discard(s.offset, s.size) // it is clear: a refusal only keeps its pages
	l.cold[class] = append(l.cold[class], s)
}
