package universe

import (
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// ChunkIndex names a chunk of a universe, in 0..2^20-1.
type ChunkIndex uint32

// Base is Universe.Base of package alloc.
func (u *Universe) Base() unsafe.Pointer { return u.base }

// Pointer is Universe.Pointer of package alloc.
func (u *Universe) Pointer(c ChunkIndex) unsafe.Pointer {
	// Safe because base is the start of one reservation (one Go object in race
	// builds) and c is below its number of chunks.
	return unsafe.Add(u.base, uintptr(c)<<ChunkShift)
}

// IndexOf is Universe.IndexOf of package alloc.
func (u *Universe) IndexOf(p unsafe.Pointer) (ChunkIndex, bool) {
	offset := uintptr(p) - uintptr(u.base)
	if offset >= uintptr(u.Index.Words())*MegachunkSize {
		return 0, false
	}
	return ChunkIndex(offset >> ChunkShift), true
}

// Bytes is Universe.Bytes of package alloc.
func (u *Universe) Bytes(first ChunkIndex, n int) []byte {
	checkCount("Bytes", n)
	for i := range n {
		if !u.InUse(first + ChunkIndex(i)) {
			panic(fmt.Sprintf("alloc: Universe.Bytes: chunk %d of [%d, %d) is not in use",
				int(first)+i, first, int(first)+n))
		}
	}
	return u.Memory(first, n)
}

// Memory is Bytes without checks.
func (u *Universe) Memory(first ChunkIndex, n int) []byte {
	// Safe because the caller holds the n chunks from first on, which are
	// contiguous and committed.
	return unsafe.Slice((*byte)(u.Pointer(first)), n*ChunkSize)
}

// IsRun reports whether the n chunks from offset at of megachunk m are a run: all in one megachunk,
// which exists.
func (u *Universe) IsRun(m, at, n int) bool {
	return uint(n-1) < ChunksPerMegachunk && at+n <= ChunksPerMegachunk && m < u.Index.Words()
}

// InUse is Universe.InUse of package alloc.
func (u *Universe) InUse(c ChunkIndex) bool {
	m := int(c) / ChunksPerMegachunk
	return m < u.Index.Words() && u.Index.Word(m).Load()>>(c%ChunksPerMegachunk)&1 != 0 &&
		(!u.kept.some.Load() || !u.keeps(c))
}

// Runs is Universe.Runs of package alloc.
func (u *Universe) Runs() iter.Seq2[ChunkIndex, int] {
	return func(yield func(ChunkIndex, int) bool) {
		u.releaseKept()
		for m := range 2 * u.reached() {
			for used := u.Index.Word(m).Load(); used != 0; {
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

// ChunksFor returns the number of chunks in a run of size bytes.
func ChunksFor(size int) int { return (max(size, 1) + ChunkSize - 1) / ChunkSize }
