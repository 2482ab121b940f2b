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

// Pointer returns the address of a chunk. The index must be one of this
// universe; neither that nor whether the chunk is in use is checked.
func (u *Universe) Pointer(c ChunkIndex) unsafe.Pointer {
	// Safe because base is the start of one reservation (one Go object in race
	// builds) and c is below its number of chunks.
	return unsafe.Add(u.base, uintptr(c)<<chunkShift)
}

// IndexOf returns the chunk that p points into, and false when p does not point
// into this universe.
func (u *Universe) IndexOf(p unsafe.Pointer) (ChunkIndex, bool) {
	offset := uintptr(p) - uintptr(u.base)
	if offset >= uintptr(u.index.Words())*MegachunkSize {
		return 0, false
	}
	return ChunkIndex(offset >> chunkShift), true
}

// Bytes returns the memory of a run of n chunks that is in use. It panics when
// one of them is not, and unless n is in 1..64.
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

// isRun reports whether n chunks from one at offset at on are a run of megachunk m.
func (u *Universe) isRun(m, at, n int) bool {
	return uint(n-1) < ChunksPerMegachunk && at+n <= ChunksPerMegachunk && m < u.index.Words()
}

// InUse reports whether a chunk is handed out.
func (u *Universe) InUse(c ChunkIndex) bool {
	m := int(c) / ChunksPerMegachunk
	return m < u.index.Words() && u.index.Word(m).Load()>>(c%ChunksPerMegachunk)&1 != 0
}

// Runs walks all chunks in use, as runs of contiguous chunks of one megachunk in
// rising order: what separate calls handed out side by side is one run. Other
// goroutines may allocate and free meanwhile; each megachunk is seen at one
// instant.
func (u *Universe) Runs() iter.Seq2[ChunkIndex, int] {
	return func(yield func(ChunkIndex, int) bool) {
		for m := range u.index.Words() {
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
