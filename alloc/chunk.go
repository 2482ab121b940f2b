package alloc

import (
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// ChunkIndex names a chunk of a universe, in 0..2^20-1.
type ChunkIndex uint32

// Base returns the address of chunk 0.
func (u *Universe) Base() unsafe.Pointer { return u.base }

// Pointer returns the address of a chunk. It checks neither that c is a chunk of this universe nor
// that the chunk is in use.
func (u *Universe) Pointer(c ChunkIndex) unsafe.Pointer {
	// Safe because base is the start of one reservation (one Go object in race
	// builds) and c is below its number of chunks.
	return unsafe.Add(u.base, uintptr(c)<<chunkShift)
}

// IndexOf returns the chunk that p points into, and false when p does not point into this universe.
func (u *Universe) IndexOf(p unsafe.Pointer) (ChunkIndex, bool) {
	offset := uintptr(p) - uintptr(u.base)
	if offset >= uintptr(u.index.Words())*MegachunkSize {
		return 0, false
	}
	return ChunkIndex(offset >> chunkShift), true
}

// Bytes returns the memory of the run of n chunks from first on. It panics unless all of them are
// in use and n is in 1..64.
func (u *Universe) Bytes(first ChunkIndex, n int) []byte {
	checkCount("Bytes", n)
	for i := range n {
		if !u.InUse(first + ChunkIndex(i)) {
			panic(fmt.Sprintf("alloc: Universe.Bytes: chunk %d of [%d, %d) is not in use", int(first)+i, first, int(first)+n))
		}
	}
	return u.bytes(first, n)
}

func (u *Universe) bytes(first ChunkIndex, n int) []byte {
	// Safe because the caller holds the n chunks from first on, which are
	// contiguous and committed.
	return unsafe.Slice((*byte)(u.Pointer(first)), n*ChunkSize)
}

// isRun reports whether the n chunks from offset at of megachunk m are a run: all in one megachunk,
// which exists.
func (u *Universe) isRun(m, at, n int) bool {
	return uint(n-1) < ChunksPerMegachunk && at+n <= ChunksPerMegachunk && m < u.index.Words()
}

// InUse reports whether a chunk is allocated.
func (u *Universe) InUse(c ChunkIndex) bool {
	m := int(c) / ChunksPerMegachunk
	return m < u.index.Words() && u.index.Word(m).Load()>>(c%ChunksPerMegachunk)&1 != 0
}

// Runs iterates over all chunks in use, in rising order, as maximal runs of contiguous chunks of
// one megachunk; adjacent chunks from separate calls form one run. Other goroutines may allocate
// and free meanwhile; each megachunk is read at one instant.
func (u *Universe) Runs() iter.Seq2[ChunkIndex, int] {
	return func(yield func(ChunkIndex, int) bool) {
		for m := range 2 * u.reached() {
			for used := u.index.Word(m).Load(); used != 0; {
				at := bits.TrailingZeros64(used)
				n := bits.TrailingZeros64(^(used >> at))
				if !yield(ChunkIndex(m*ChunksPerMegachunk+at), n) {
					return
				}
				used &^= bitmask.Mask(at, n)
			}
		}
	}
}
