package universe

import (
	"math/bits"
	"sync"
	"unsafe"

	"quarry/mmap"
)

// Metadata blocks: zeroed memory for the metadata of universes, which lies apart from all chunks.
// The metadata of 16 GiB take 0.5 MB, of which a small world writes a few pages, so a metadata
// block is address space that gets its pages of 4 KiB as they are written:
//
//	region   | granule: 4 blocks of 512 KiB | granule | no access yet ...    64 MiB
//	block    | masks .w.......... | dirty .w........ | gone ... | ...        w: written, has a page
//
// The caller that gives a metadata block back clears the bytes that it wrote. The pages of
// warmBlocks metadata blocks of a size stay, so that worlds which come and go one after another
// cost neither system calls nor page faults for their metadata; those of further metadata blocks go
// back to the system. The addresses stay with the process. Where pages are not real, and where the
// system refuses, a metadata block is memory of Go. So are metadata blocks of less than 64 KiB, of
// universes below 2 GiB: where addresses are scarce, a region among the small ranges that universes
// park would keep these from being joined.
//
// Invariants, checked by verify:
//
//	B1 A metadata block that is free reads as zero.
//	B2 Free metadata blocks lie in ready granules of a region, at multiples of their size, and do not overlap.

const (
	metadataRegion = 64 << 20 // bytes of address space reserved at a time
	leastBlock     = 16       // log2 of the smallest metadata block in a region
	largestBlock   = 21       // log2 of the largest, a granule
	warmBlocks     = 16       // free metadata blocks of a size that keep their pages
)

// metadataBlock is memory for metadata. Its owner carves arrays from it.
type metadataBlock struct {
	base   unsafe.Pointer
	size   int   // bytes
	left   int   // bytes not carved yet
	region Pages // nil: memory of Go
	offset int   // of base in the region
}

// metadataBlocks hands out metadata blocks to any goroutine.
type metadataBlocks struct {
	reserve func(size, least int) (Pages, error) // nil: package mmap

	mu     sync.Mutex
	region Pages // the metadata blocks not handed out yet lie here
	cut    int   // bytes of it that were handed out
	ready  int   // bytes of it that are committed
	warm   [largestBlock + 1][]metadataBlock
	cold   [largestBlock + 1][]metadataBlock
}

// memory returns the bytes of a metadata block.
func (s *metadataBlock) memory() []byte {
	// Safe because the metadata block has so many bytes.
	return unsafe.Slice((*byte)(s.base), s.size)
}

// carve returns the next n elements of a metadata block, on cache lines of their own. T holds no Go
// pointer, and the metadata block has room.
func carve[T any](s *metadataBlock, n int) []T {
	var t T
	size := carved(n, unsafe.Sizeof(t))
	// Safe because the metadata block has so many bytes left, on a cache line, and T has no Go
	// pointers; the length of the memory has it once more.
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.memory()[s.size-s.left:][:size]))), n)
	s.left -= size
	return all
}

// carved returns how many bytes of a metadata block n elements take.
func carved(n int, size uintptr) int { return (n*int(size) + 63) &^ 63 }

// take returns a metadata block of at least size bytes, which is at most a granule. It reads as
// zero.
func (l *metadataBlocks) take(size int) metadataBlock {
	class := bits.Len(uint(size - 1))
	if class < leastBlock {
		return goMetadataBlock(class)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, free := range []*[]metadataBlock{&l.warm[class], &l.cold[class]} {
		if last := len(*free) - 1; last >= 0 {
			s := (*free)[last]
			*free = (*free)[:last]
			return s
		}
	}
	if s, ok := l.next(1 << class); ok {
		return s
	}
	return goMetadataBlock(class)
}

// goMetadataBlock returns a metadata block in memory of Go.
func goMetadataBlock(class int) metadataBlock {
	words := make([]uint64, max(1<<class, 64)/8) // of a power of two, so aligned to a cache line
	// Safe because a metadata block holds no Go pointers.
	return metadataBlock{base: unsafe.Pointer(&words[0]), size: 8 * len(words), left: 8 * len(words)}
}

// next cuts a metadata block off the region. mu is held.
func (l *metadataBlocks) next(size int) (s metadataBlock, ok bool) {
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
	return metadataBlock{unsafe.Add(l.region.Base(), at), size, size, l.region, at}, true
}

// fresh reserves a region whose pages are small.
func (l *metadataBlocks) fresh() (Pages, error) {
	if l.reserve != nil {
		return l.reserve(metadataRegion, mmap.Granule)
	}
	r, err := mmap.ReserveUpTo(metadataRegion, mmap.Granule)
	if err != nil {
		return nil, err // not r, which would be a nil region in an interface
	}
	_ = r.Hint(mmap.SmallPages, true) // without it the metadata costs more memory
	return r, nil
}

// give takes back a metadata block that its owner has cleared.
func (l *metadataBlocks) give(s metadataBlock) {
	if s.region == nil {
		return
	}
	s.left = s.size
	class := bits.Len(uint(s.size - 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.warm[class]) < warmBlocks {
		l.warm[class] = append(l.warm[class], s)
		return
	}
	_ = s.region.Discard(s.offset, s.size) // it is clear: a refusal only keeps its pages
	l.cold[class] = append(l.cold[class], s)
}
