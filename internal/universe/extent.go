package universe

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"quarry/internal/universe/ledger"
	"quarry/internal/universe/mapping"
	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// Extent is memory of a universe that stays contiguous as it grows, for data accessed by base and
// index. Up to a megachunk it is a run of chunks. Beyond that it is a reservation of address space
// of its own, larger than the requested size and committed as the extent grows:
//
//	     size   lies in
//	   65,536 B  a run of 4 chunks
//	1,048,576 B  a run of 64 chunks
//	1,048,577 B  1 granule of 2,097,152 B of a reservation
//	9,000,000 B  5 granules of it: the base is the same
//
// A smaller extent, too, lies in a reservation when it shows a file (MapFile), when no run of its
// length was free, or when it was larger before: shrinking allocates no chunks, since the universe
// may be full.
//
// An extent belongs to one goroutine at a time. Its bytes move only inside Resize.
//
// Invariants, checked by Verify:
//
//	X1 An extent of size 0 has no memory. Any other extent has its run of chunks in use, or a
//	   mapping with as many granules as its size needs.
//	X2 The bytes after the size, up to the end of the chunks or granules, read as zero. (A file that
//	   MapFile shows must have them so.)
type Extent struct {
	u       *Universe
	most    int                // largest size in bytes
	base    unsafe.Pointer     // first byte; nil while the size is 0
	size    int                // bytes in use
	run     ChunkIndex         // first chunk, when there is no mapping
	mapping *mapping.Mapping   // nil: a run of chunks, or nothing
	left    []*mapping.Mapping // mappings that the system refused to take back; Resize and Release try again
	reserve func(size, least int) (mapping.Region, error)
}

// NewExtent returns an extent of size 0 that may grow to most bytes. It allocates nothing.
func (u *Universe) NewExtent(most int) *Extent {
	return &Extent{u: u, most: most, reserve: func(size, least int) (mapping.Region, error) {
		r, err := mmap.ReserveUpTo(size, least)
		if err != nil {
			return nil, err // not r, which would be a nil region in an interface
		}
		return r, nil
	}}
}

// Base returns the address of the first byte, nil while the size is 0. Resize may change it.
func (x *Extent) Base() unsafe.Pointer { return x.base }

// Size returns the size in bytes.
func (x *Extent) Size() int { return x.size }

// Resize makes the extent size bytes long. The first bytes, up to the smaller of the two sizes,
// keep their contents; added bytes read as zero. An error wraps ErrFull, ErrReserve, ErrCommit or,
// beyond the limit given to NewExtent, ErrTooBig; nothing has changed then. Shrinking never fails.
// Resize panics for a negative size. Cost: a copy of the bytes when they move, which they mostly do
// when a run of chunks grows, and when the extent moves to a reservation.
func (x *Extent) Resize(size int) error {
	switch {
	case size < 0:
		panic(fmt.Sprintf("alloc: Extent.Resize: size=%d is negative", size))
	case size > x.most:
		return fmt.Errorf("alloc: Extent.Resize: %d bytes, the limit is %d: %w", size, x.most, sentinel.ErrTooBig)
	case size <= x.size:
		x.shrink(size)
	case size <= x.room():
		x.size = size
	default:
		if err := x.grow(size); err != nil {
			return fmt.Errorf("alloc: Extent.Resize: from %d to %d bytes: %w", x.size, size, err)
		}
	}
	return nil
}

// MapFile makes an extent of size 0 size bytes long and shows a file in it, from its byte at on, a
// multiple of 2 MiB. The file must have whole granules of 2 MiB up to the size; its bytes after the
// size, up to the end of the last granule, must be zero, which MapFile does not check and Verify
// does. Pages come in when they are touched, and one that is written becomes the process's own, so
// the file does not change; see mmap.Region.MapFile. The extent lies in a reservation, whatever its
// size, and counts as committed, and in the budget, whole. Later calls treat it like any other:
// what Resize adds reads as zero, also where it showed the file before.
//
// Errors are those of Resize; nothing has changed then. Where files cannot be mapped (Windows, the
// Go heap) and where the file is too short, the error wraps ErrCommit and that of package mmap.
// MapFile panics when f is nil, for another at, for a negative size, and when the extent has bytes.
// Cost: a few system calls, whatever the size.
func (x *Extent) MapFile(size int, f *os.File, at int64) error {
	CheckFile("Extent.MapFile", f, at)
	switch {
	case size < 0:
		panic(fmt.Sprintf("alloc: Extent.MapFile: size=%d is negative", size))
	case x.size != 0:
		panic(fmt.Sprintf("alloc: Extent.MapFile: the extent has %d bytes", x.size))
	case size > x.most:
		return fmt.Errorf("alloc: Extent.MapFile: %d bytes, the limit is %d: %w", size, x.most, sentinel.ErrTooBig)
	case size == 0:
		return nil
	case !mmap.Real: // so that no Go memory is made first, as large as the file
		return fmt.Errorf("alloc: Extent.MapFile: %d bytes: %w: %w", size, sentinel.ErrCommit, mmap.ErrUnsupported)
	}
	m, err := x.newMapping(size, func(r mapping.Region, n int) error { return r.MapFile(0, n, f, at) })
	if err != nil {
		return fmt.Errorf("alloc: Extent.MapFile: %d bytes: %w", size, err)
	}
	x.mapping, x.base, x.size = m, m.Block, size
	return nil
}

// Release frees the memory and sets the size to 0. It returns an error when the system refused to
// take back a reservation; Release may be called again to retry.
func (x *Extent) Release() error {
	x.shrink(0)
	if err := x.giveBack(); err != nil {
		return fmt.Errorf("alloc: Extent.Release: %w", err)
	}
	return nil
}

func granulesFor(size int) int { return (size + mmap.Granule - 1) / mmap.Granule }

// room returns the bytes of memory that the extent holds.
func (x *Extent) room() int {
	switch {
	case x.mapping != nil:
		return x.mapping.Granules * mmap.Granule
	case x.size > 0:
		return ChunksFor(x.size) * ChunkSize
	}
	return 0
}

// grow makes room for a larger size, in place where possible.
func (x *Extent) grow(size int) error {
	if x.mapping != nil && size <= x.mapping.Region.Size() {
		if err := x.u.Refuse("Extent"); err != nil {
			return err
		}
		if err := x.commit(size); err != nil {
			return fmt.Errorf("%w: %w", sentinel.ErrCommit, err)
		}
		x.size = size
		return nil
	}
	if x.mapping != nil || size > MegachunkSize {
		return x.moveToMapping(size)
	}
	err := x.growRun(size)
	if err != nil && x.moveToMapping(size) == nil {
		return nil // no run was free
	}
	return err
}

// growRun extends the run of chunks, or moves the bytes to a longer run.
func (x *Extent) growRun(size int) error {
	have, want := ChunksFor(x.size), ChunksFor(size)
	if x.size > 0 && x.u.Extend(x.run, have, want-have) {
		clear(x.u.Memory(x.run+ChunkIndex(have), want-have))
		x.size = size
		return nil
	}
	return x.moveToRun(size)
}

// moveToRun moves the bytes to a new run of chunks.
func (x *Extent) moveToRun(size int) error {
	n := ChunksFor(size)
	run, err := x.u.Exact(n, ZeroedRun, "AllocExact") // X2; what is fresh takes no pages before it is used
	if err != nil {
		return err
	}
	copy(x.u.Memory(run, n), x.bytes())
	x.leave()
	x.run, x.base, x.size = run, x.u.Pointer(run), size
	return nil
}

// moveToMapping moves the bytes to a new reservation with room for size.
func (x *Extent) moveToMapping(size int) error {
	m, err := x.newMapping(size, func(r mapping.Region, n int) error { return r.Commit(0, n) })
	if err != nil {
		return err
	}
	// Safe because the mapping is larger than the extent's bytes.
	copy(unsafe.Slice((*byte)(m.Block), x.size), x.bytes())
	x.leave()
	x.mapping, x.base, x.size = m, m.Block, size
	return nil
}

// newMapping returns a new reservation with room for size, which the given function commits.
func (x *Extent) newMapping(size int, commit func(r mapping.Region, n int) error) (*mapping.Mapping, error) {
	if err := x.u.Refuse("Extent"); err != nil {
		return nil, err
	}
	_ = x.giveBack() // a mapping refused again costs no more than before
	wanted := x.most
	if !mmap.Real {
		wanted = min(wanted, 2*size) // addresses of the Go heap are memory
	}
	need := granulesFor(size) * mmap.Granule
	if err := ledger.Process.Charge(need); err != nil {
		return nil, fmt.Errorf("%w: %w", sentinel.ErrCommit, err)
	}
	m, err := x.open(max(wanted, need), need, commit)
	if err != nil {
		ledger.Process.Refund(need)
		return nil, err
	}
	return m, nil
}

// open reserves wanted bytes, or fewer but at least need, and commits need bytes.
func (x *Extent) open(wanted, need int, commit func(r mapping.Region, n int) error) (*mapping.Mapping, error) {
	region, err := x.reserve(wanted, need)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sentinel.ErrReserve, err)
	}
	if x.u.Small {
		_ = region.Hint(mmap.SmallPages, true) // only a hint: without it the extent costs more memory
	}
	m := &mapping.Mapping{Region: region, Block: region.Base(), Granules: need / mmap.Granule}
	if err := commit(region, need); err != nil {
		x.left = append(x.left, m)
		return nil, errors.Join(fmt.Errorf("%w: %w", sentinel.ErrCommit, err), x.giveBack())
	}
	x.u.Extents.Add(int64(need))
	return m, nil
}

// shrink frees the memory that a smaller size does not need.
func (x *Extent) shrink(size int) {
	if size == 0 {
		x.leave()
		x.base, x.size = nil, 0
		return
	}
	clear(x.bytes()[size:]) // X2
	have, keep := ChunksFor(x.size), ChunksFor(size)
	x.size = size
	switch {
	case x.mapping == nil && keep < have:
		x.u.Free(x.run+ChunkIndex(keep), have-keep)
	case x.mapping != nil:
		_ = x.commit(size) // what the system does not take back stays as room
	}
}

// commit makes the mapping have exactly as many granules as size needs.
func (x *Extent) commit(size int) error {
	m, granules := x.mapping, granulesFor(size)
	if err := m.Commit(granules); err != nil {
		return err
	}
	x.u.Extents.Add(int64(granules-m.Granules) * mmap.Granule)
	m.Granules = granules
	return nil
}

// leave frees the memory that holds the bytes.
func (x *Extent) leave() {
	switch {
	case x.mapping != nil:
		x.left = append(x.left, x.mapping)
		x.mapping = nil
		_ = x.giveBack() // Release tries again and reports the error
	case x.size > 0:
		x.u.Free(x.run, ChunksFor(x.size))
	}
}

// giveBack releases the mappings in left.
func (x *Extent) giveBack() (err error) {
	kept := x.left[:0]
	for _, m := range x.left {
		committed := m.Region.Committed()
		e := m.Region.Release()
		committed -= m.Region.Committed() // a failed Release may have returned part of it
		ledger.Process.Refund(committed)
		x.u.Extents.Add(int64(-committed))
		if e != nil {
			err = errors.Join(err, e)
			kept = append(kept, m)
		}
	}
	clear(x.left[len(kept):])
	x.left = kept
	return err
}

// bytes returns the bytes in use.
func (x *Extent) bytes() []byte {
	// Safe because the extent has size bytes from base on until the next Resize.
	return unsafe.Slice((*byte)(x.base), x.size)
}

// Verify checks the invariants X1 and X2 and returns an error that names one that does not hold. It
// reads the bytes after the size.
func (x *Extent) Verify() error {
	switch {
	case x.size == 0 && (x.base != nil || x.mapping != nil):
		return fmt.Errorf("alloc: X1: an extent of size 0 has memory at %p", x.base)
	case x.size == 0:
		return nil
	case x.mapping != nil:
		if m := x.mapping; x.base != m.Region.Base() || m.Region.Committed() != m.Granules*mmap.Granule ||
			x.size > m.Granules*mmap.Granule {
			return fmt.Errorf("alloc: X1: an extent of %d bytes has %d granules, of which %d bytes are committed",
				x.size, m.Granules, m.Region.Committed())
		}
	default:
		for i := range ChunksFor(x.size) {
			if !x.u.InUse(x.run + ChunkIndex(i)) {
				return fmt.Errorf("alloc: X1: chunk %d of an extent of %d bytes from chunk %d on is not in use",
					i, x.size, x.run)
			}
		}
	}
	// Safe because the memory has so many bytes.
	for i, b := range unsafe.Slice((*byte)(x.base), x.room())[x.size:] {
		if b != 0 {
			return fmt.Errorf("alloc: X2: byte %d behind an extent of %d bytes is %#x", i, x.size, b)
		}
	}
	return nil
}
