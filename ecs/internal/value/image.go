package value

import (
	"fmt"
	"sync/atomic"

	"quarry/bitmask"
	"quarry/internal/heap"
	"quarry/internal/universe"
)

// Blocks that came with a file. They lie one after the other in chunks of their own, and the heap
// does not know them: its metadata would cost something for each block. The buffers know where the
// region is and how many of its blocks are in use:
//
//	region    | block | block      | block |         |     3 in use
//	grows     the elements move to a block of the heap, and the old one is no longer counted
//	shrinks   the block stays as it is, until the elements fit the chunk
//	ends      the count falls; at 0 the chunks go back to the universe, all at once
//
// A Header from a file is checked once, by Admit, before anyone follows it.

// region is the blocks that came with a file.
type region struct {
	u      *universe.Universe
	first  universe.ChunkIndex
	chunks int
	blocks int          // that there were
	live   atomic.Int64 // blocks in use, or waiting for snapshots
	taken  bitmask.Bits // units that blocks have which were admitted; nil once all were
}

// has reports whether the block with a number is the region's. Once the last block has ended, none
// is: others have the chunks.
func (r *region) has(ref uint32) bool {
	const per = universe.ChunkSize / refUnit
	return r != nil && ref != 0 && r.live.Load() > 0 &&
		universe.ChunkIndex((ref-1)/per)-r.first < universe.ChunkIndex(r.chunks)
}

// end frees one block; the last frees the region.
func (r *region) end() {
	if r.live.Add(-1) == 0 {
		r.free()
	}
}

// free frees the chunks, megachunk by megachunk.
func (r *region) free() {
	for first, end := r.first, r.first+universe.ChunkIndex(r.chunks); first < end; {
		n := min(universe.ChunksPerMegachunk-int(first)%universe.ChunksPerMegachunk, int(end-first))
		r.u.Free(first, n)
		first += universe.ChunkIndex(n)
	}
}

// Filed reports whether buffers have blocks that came with a file.
func (b *Buffers) Filed() bool { return b.region != nil }

// use returns the number of blocks in use and their bytes; those of the chunks, since the sizes of
// blocks are in headers only.
func (r *region) use() (blocks, bytes int) {
	if r == nil || r.live.Load() <= 0 {
		return 0, 0
	}
	return int(r.live.Load()), r.chunks * universe.ChunkSize
}

// verify checks H1 and H2 of a buffer with a block of the region.
func (r *region) verify(h *Header, k *Shape) error {
	end := uint64(r.first+universe.ChunkIndex(r.chunks)) * universe.ChunkSize
	if at := uint64(h.ref-1) * refUnit; h.length > h.capacity || at+uint64(h.capacity)*uint64(k.Element) > end {
		return fmt.Errorf("value: H2: length %d, capacity %d of %d bytes at byte %d, in blocks up to byte %d",
			h.length, h.capacity, k.Element, at, end)
	}
	return nil
}

// AdoptBlocks gives new buffers a region with a number of blocks, which rows of the world have, in
// chunks that belong to the buffers from then on. Without blocks the chunks are freed.
func (b *Buffers) AdoptBlocks(first universe.ChunkIndex, chunks, blocks int) {
	r := &region{u: b.u, first: first, chunks: chunks, blocks: blocks}
	if r.live.Store(int64(blocks)); blocks == 0 {
		r.free()
		return
	}
	b.region = r
}

// take takes the units of a block of so many bytes, from byte at of the region on; false: another
// block has some of them.
func (r *region) take(at, bytes int) bool {
	first, n := at/refUnit, (bytes+refUnit-1)/refUnit
	if r.taken == nil {
		r.taken = make(bitmask.Bits, (r.chunks*universe.ChunkSize/refUnit+bitmask.WordBits-1)/bitmask.WordBits)
	}
	if r.taken.CountRange(first, n) > 0 {
		return false
	}
	r.taken.SetRange(first, n)
	return true
}

// Admitted ends the calls of Admit.
func (b *Buffers) Admitted() {
	if b.region != nil {
		b.region.taken = nil
	}
}

// Recount corrects the number of blocks in use, if the number in a file differs from its rows: the
// region would be freed too early, or never.
func (b *Buffers) Recount(blocks int) {
	r := b.region
	if r == nil {
		return
	}
	if r.blocks = blocks; blocks == 0 {
		r.free()
		b.region = nil
	}
	r.live.Store(int64(blocks))
}

// Admit checks the header of a buffer from a file, and makes it valid in this world, where the
// blocks of the file lie moved chunks further. It writes the header only if that changes it,
// because the system copies a page of a mapped file when it is written. After an error the header
// is that of an empty buffer.
func (b *Buffers) Admit(h *Header, k *Shape, moved universe.ChunkIndex) error {
	now, err := b.admitted(*h, k, moved)
	if now != *h {
		*h = now
	}
	return err
}

// admitted returns what Admit makes of a header.
func (b *Buffers) admitted(h Header, k *Shape, moved universe.ChunkIndex) (Header, error) {
	if h.ref == 0 {
		if int(h.length) <= k.Inline {
			return Header{length: h.length}, nil
		}
		return Header{}, fmt.Errorf("a buffer has %d elements in the chunk, where %d fit", h.length, k.Inline)
	}
	ref, r := uint64(h.ref)+uint64(moved)*(universe.ChunkSize/refUnit), b.region
	end := (ref-1)*refUnit + uint64(h.capacity)*uint64(k.Element)
	if ref > 1<<32-1 || !r.has(uint32(ref)) || h.capacity < h.length || int(h.capacity) <= k.Inline ||
		end > uint64(r.first+universe.ChunkIndex(r.chunks))*universe.ChunkSize {
		return Header{},
			fmt.Errorf("a buffer has %d elements, room for %d, and block %d, which does not lie with the blocks",
				h.length, h.capacity, h.ref)
	}
	begin := (ref - 1) * refUnit
	if !r.take(int(begin-uint64(r.first)*universe.ChunkSize), int(end-begin)) {
		return Header{}, fmt.Errorf("a buffer has %d elements in block %d, where another's are", h.length, h.ref)
	}
	return Header{ref: uint32(ref), length: h.length, capacity: h.capacity}, nil
}

// Blocks lays out the blocks of buffers in a file, in the order in which they are added.
type Blocks struct {
	own   Spill
	list  []placedBlock
	bytes int
}

// placedBlock is a block in a file.
type placedBlock struct {
	from   Header // of the world
	shape  *Shape
	offset int // from the first block
}

// Open initializes zero Blocks with those of a heap at a moment, whose bytes stay.
func (l *Blocks) Open(u *universe.Universe, heap *heap.Heap) {
	var b Buffers
	b.Look(u, heap)
	l.own = *b.OwnerSpill()
}

// Add adds the block of a spilled buffer.
func (l *Blocks) Add(h *Header, k *Shape) {
	l.list = append(l.list, placedBlock{*h, k, l.bytes})
	n := l.room(len(l.list)-1) * k.Element
	l.bytes += (n + refUnit - 1) &^ (refUnit - 1)
}

// room returns the capacity of a block in the file: no more than its elements, but above the inline
// room (H2).
func (l *Blocks) room(i int) int { return max(l.list[i].from.Len(), l.list[i].shape.Inline+1) }

// Len returns the number of blocks, and Bytes their size.
func (l *Blocks) Len() int { return len(l.list) }

// Bytes is described at Len.
func (l *Blocks) Bytes() int { return l.bytes }

// Place makes the header of block i what it is in a file whose blocks begin at a byte, a multiple
// of a chunk.
func (l *Blocks) Place(h *Header, i, begin int) {
	*h = Header{
		ref: uint32((begin+l.list[i].offset)/refUnit) + 1, length: l.list[i].from.length, capacity: uint32(l.room(i)),
	}
}

// Read fills dst with the bytes of the blocks from at on, and zeros between and after them. Any
// goroutine may call it while the snapshot is there.
func (l *Blocks) Read(at int, dst []byte) {
	clear(dst)
	lo, hi := 0, len(l.list)
	for lo < hi { // the last block that begins at or before at
		if mid := (lo + hi) / 2; l.list[mid].offset <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for i := max(lo-1, 0); i < len(l.list) && l.list[i].offset < at+len(dst); i++ {
		b := &l.list[i]
		bytes := l.own.Bytes(&b.from, b.shape, 0, b.from.Len())
		if skip := at - b.offset; skip >= len(bytes) {
			continue
		} else if skip > 0 {
			copy(dst, bytes[skip:])
		} else {
			copy(dst[-skip:], bytes)
		}
	}
}
