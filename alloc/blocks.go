package alloc

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"quarry/internal/universe/memory"
	"quarry/layout"
)

// Blocks of any size, named by references.
//
// A reference names a slot of a pool, and the slot has the address of the block:
//
//	BlockRef          slots (Pool)                     blocks, from the allocator
//	+------+-----+    +---------+------+-------+       +------------------+
//	| slot | gen |--->| address | size | align |------>| size bytes       |
//	+------+-----+    +---------+------+-------+       +------------------+
//	4 B    4 B        8 B       8 B    8 B
//
// The slot has a generation, odd while the block is live, which Pool keeps in Go memory. So a block
// of any allocator can move when it is resized, and its reference stays.
//
// Invariants, checked by Verify:
//
//	B1 The pool of slots is sound, and has a slot for each block.
//	B2 A block has an address that fits its alignment, and no other block's bytes.
//	B3 The allocator is open and has given up no block.
//	B4 The bytes of all blocks are counted.

// Blocks allocates blocks of any size from an Allocator and names each by a BlockRef. One goroutine
// at a time may use it, as a Pool; several may read at once. Close it before its Allocator. An
// arena that goes back to before a block takes all of them with it: every call but Close panics
// then.
//
// Cost beside the allocator's: Alloc and Free 10 ns for both, Bytes 2 ns. A block has 24 B of its
// slot off the heap, and 4 B of Go memory without pointers for its generation.
type Blocks struct {
	from  Reallocator
	hold  Hold
	slots poolSlots
	bytes int // in live blocks, as requested
}

// BlockRef names a block of a Blocks. It has no pointer, so components, values in other blocks and
// containers may hold it. It stays safe to use after the block was freed: Bytes then returns nil.
// The zero BlockRef names nothing. A slot would have to be freed 2^31 times before an old reference
// names a new block. It means something only to the Blocks that it came from, and nothing to
// another process: what goes to a file with a world is a blob of package ecs/blob.
type BlockRef struct {
	Slot       uint32 // number of the slot
	Generation uint32 // of the slot; odd while the block is live. 0: none
}

// block is where a block is.
type block struct {
	p     uintptr // off the heap, where nothing moves
	size  int     // bytes
	align int     // as requested
}

// NewBlocks returns an empty Blocks over an allocator. It panics if the allocator is nil, or frees
// in order, as a Stack does.
func NewBlocks(from Allocator) *Blocks {
	checkAllocator("NewBlocks", from)
	if FreesInOrder(from) {
		panic(fmt.Sprintf("alloc: NewBlocks: the allocator frees in order (%T)", from))
	}
	size, align := sizeAlign[block]()
	b := &Blocks{from: WithRealloc(from), hold: HoldOn(from)}
	b.slots = poolSlots{from: from, slabBytes: ChunkSize, of: reflect.TypeFor[block]()}
	b.slots.shape(size, align)
	return b
}

// Alloc returns the reference of a new block of size bytes, whose contents are not cleared. An
// error is the allocator's, or wraps ErrFull at 2^32 blocks; nothing has changed then.
func (b *Blocks) Alloc(size, align int) (BlockRef, error) {
	r, _, err := b.alloc("Blocks.Alloc", size, align)
	return r, err
}

// Put returns the reference of a new block that holds a copy of data. Errors are those of Alloc.
func (b *Blocks) Put(data []byte) (BlockRef, error) {
	r, p, err := b.alloc("Blocks.Put", len(data), 1)
	if err == nil {
		// Safe because the block has the size of data.
		copy(unsafe.Slice((*byte)(p), len(data)), data)
	}
	return r, err
}

func (b *Blocks) alloc(name string, size, align int) (BlockRef, unsafe.Pointer, error) {
	memory.Check(name, size, align)
	b.check(name)
	slabs := b.slots.backed
	i, err := b.slots.takeSlot(name)
	if err != nil {
		return BlockRef{}, nil, err
	}
	if b.slots.backed != slabs {
		b.hold.Renew()
	}
	made := false
	defer func() {
		if !made { // also when the allocator panics: the slot holds what it held before
			b.slots.freeSlot(i)
		}
	}()
	p, err := b.from.Alloc(size, align)
	if err != nil {
		return BlockRef{}, nil, err
	}
	made = true
	b.hold.Renew()
	*b.at(i) = block{uintptr(p), size, align}
	b.bytes += size
	return b.ref(i), p, nil
}

// Bytes returns the bytes of a block, or nil if it was freed. They are valid until Free or Resize
// of the block.
func (b *Blocks) Bytes(r BlockRef) []byte {
	at := b.get("Blocks.Bytes", r)
	if at == nil {
		return nil
	}
	// Safe because by the generation the block is live.
	return unsafe.Slice((*byte)(at.pointer()), at.size)
}

// get returns where a block is, or nil if it was freed.
func (b *Blocks) get(name string, r BlockRef) *block {
	if b.hold.Lost() {
		panicLost("alloc: " + name)
	}
	if uint(r.Slot) >= uint(len(b.slots.generations)) || b.slots.generations[r.Slot] != r.Generation ||
		r.Generation&1 == 0 {
		return nil
	}
	return b.at(int(r.Slot))
}

// at returns the contents of a slot in use.
func (b *Blocks) at(i int) *block {
	// Safe because a slot has the size and alignment of a block.
	return (*block)(b.slots.pointer(i))
}

// ref returns the reference of a slot in use.
func (b *Blocks) ref(i int) BlockRef { return BlockRef{uint32(i), b.slots.generations[i]} }

// Resize changes the size of a block, which may move, and returns its bytes. The first min(old,
// new) keep their contents, added bytes are not cleared, and the reference stays. On an error,
// which is the allocator's, the block is unchanged. It panics if the block was freed.
func (b *Blocks) Resize(r BlockRef, size int) ([]byte, error) {
	memory.Check("Blocks.Resize", size, 0)
	at := b.live("Blocks.Resize", r)
	was := at.pointer()
	p, err := b.from.ReallocSized(was, at.size, at.align, size)
	if err != nil {
		return nil, err
	}
	if p != was || size > at.size {
		b.hold.Renew()
	} else {
		b.hold.Freed()
	}
	b.bytes += size - at.size
	at.p, at.size = uintptr(p), size
	// Safe because the block has size bytes now.
	return unsafe.Slice((*byte)(p), size), nil
}

// Free frees a block. The zero BlockRef does nothing. Free panics, and changes nothing, if the
// block was freed.
func (b *Blocks) Free(r BlockRef) {
	if r == (BlockRef{}) {
		return
	}
	at := b.live("Blocks.Free", r)
	b.from.FreeSized(at.pointer(), at.size, at.align)
	b.bytes -= at.size
	b.slots.freeSlot(int(r.Slot))
	b.hold.Freed()
}

// live returns the slot of a live block, or panics.
func (b *Blocks) live(name string, r BlockRef) *block {
	b.check(name)
	at := b.get(name, r)
	if at == nil {
		panic(fmt.Sprintf("alloc: %s: the reference {%d %d} names no block of these (freed before?)",
			name, r.Slot, r.Generation))
	}
	return at
}

// check panics if the blocks cannot be used.
func (b *Blocks) check(name string) {
	if b.slots.closed {
		panic("alloc: " + name + ": the blocks are closed")
	}
	if b.hold.Lost() {
		panicLost("alloc: " + name)
	}
}

// All iterates over the blocks in the order of slots. Blocks may come and go meanwhile: one that
// was freed is not shown, a new one may be.
func (b *Blocks) All() iter.Seq2[BlockRef, []byte] {
	return func(yield func(BlockRef, []byte) bool) {
		b.check("Blocks.All")
		for i := b.slots.next(0); i >= 0; i = b.slots.next(i + 1) {
			if r := b.ref(i); !yield(r, b.Bytes(r)) {
				return
			}
		}
	}
}

// Len returns the number of live blocks.
func (b *Blocks) Len() int { return b.slots.live }

// Size returns the bytes of live blocks, as requested.
func (b *Blocks) Size() int { return b.bytes }

// Trim frees slots that no block needs. References are unaffected.
func (b *Blocks) Trim() {
	b.check("Blocks.Trim")
	b.slots.trim()
	b.hold.Freed()
}

// Close frees all blocks. If some were live, the error wraps ErrLeak and counts them. A second call
// does nothing, and neither does one after the allocator was closed or has given the blocks up.
func (b *Blocks) Close() error {
	if b.slots.closed {
		return nil
	}
	if b.hold.Lost() {
		b.slots.abandon()
		b.bytes = 0
		return nil
	}
	var err error
	if n := b.Len(); n > 0 {
		err = fmt.Errorf("alloc: Blocks.Close: %d blocks of %d bytes: %w", n, b.bytes, ErrLeak)
		for i := b.slots.next(0); i >= 0; i = b.slots.next(i + 1) {
			at := *b.at(i)
			b.from.FreeSized(at.pointer(), at.size, at.align)
			b.bytes -= at.size
			b.slots.freeSlot(i)
		}
	}
	return errors.Join(err, b.slots.close())
}

// Verify checks the numbered invariants and returns an error that names one that does not hold.
func (b *Blocks) Verify() error {
	if b.slots.closed {
		return nil
	}
	if b.Len() > 0 && b.hold.Lost() {
		return fmt.Errorf("alloc: blocks: B3: %d blocks are of an allocator that was closed, or gave them up", b.Len())
	}
	if err := b.slots.verify(); err != nil {
		return fmt.Errorf("alloc: blocks: B1: %w", err)
	}
	bytes, byAddress := 0, []block(nil)
	for i := b.slots.next(0); i >= 0; i = b.slots.next(i + 1) {
		at := *b.at(i)
		if at.p == 0 || at.p&uintptr(max(at.align, 1)-1) != 0 || at.size < 0 {
			return fmt.Errorf("alloc: blocks: B2: slot %d has %d bytes at %#x, aligned to %d",
				i, at.size, at.p, at.align)
		}
		bytes += at.size
		byAddress = append(byAddress, at)
	}
	slices.SortFunc(byAddress, func(a, c block) int { return cmp.Compare(a.p, c.p) })
	for i := range len(byAddress) - 1 {
		if at, next := byAddress[i], byAddress[i+1]; at.p+uintptr(max(at.size, 1)) > next.p {
			return fmt.Errorf("alloc: blocks: B2: %d bytes at %#x lie in the block of %d bytes at %#x",
				next.size, next.p, at.size, at.p)
		}
	}
	if bytes != b.bytes {
		return fmt.Errorf("alloc: blocks: B4: the blocks have %d bytes, counted as %d", bytes, b.bytes)
	}
	return nil
}

// pointer returns the address of the block.
func (at *block) pointer() unsafe.Pointer {
	// Safe because it is off the heap, where nothing moves, and the block is live.
	return *(*unsafe.Pointer)(unsafe.Pointer(&at.p))
}

// MakeBlock returns a block of n zero values of T, and its reference. Errors are those of Alloc and
// MakeSlice. It panics if n is negative, and a T of no bytes has no BlockOf.
func MakeBlock[T any](b *Blocks, n int) (BlockRef, []T, error) {
	if err := layout.PointerFreeFor[T](); err != nil {
		return BlockRef{}, nil, fmt.Errorf("alloc: MakeBlock: %w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	b.checkNil("MakeBlock")
	if n < 0 {
		panic(fmt.Sprintf("alloc: MakeBlock: n=%d is negative", n))
	}
	if size > 0 && n > memory.MaxSize/size {
		return BlockRef{}, nil, fmt.Errorf("alloc: MakeBlock: %d values of %d bytes each: %w", n, size, ErrTooBig)
	}
	r, p, err := b.alloc("MakeBlock", n*size, align)
	if err != nil {
		return BlockRef{}, nil, err
	}
	// Safe because the block has n values of T and is aligned for it.
	s := unsafe.Slice((*T)(p), n)
	zeroSlice(s)
	return r, s, nil
}

// BlockOf returns a block as a slice of T, or nil if it was freed; see Blocks.Bytes. It panics if T
// holds Go pointers, and if the block is not of whole values aligned for T, which blocks of
// MakeBlock[T] are.
func BlockOf[T any](b *Blocks, r BlockRef) []T {
	b.checkNil("BlockOf")
	at := b.get("BlockOf", r)
	if at == nil {
		return nil
	}
	size, align := sizeAlign[T]()
	err := layout.PointerFreeFor[T]()
	if err != nil || at.p&uintptr(align-1) != 0 || size == 0 || at.size%size != 0 {
		panicBlockOf(at, reflect.TypeFor[T](), err)
	}
	// Safe because the block is live, aligned for T and has at.size bytes.
	return unsafe.Slice((*T)(at.pointer()), at.size/size)
}

func (b *Blocks) checkNil(name string) {
	if b == nil {
		panic("alloc: " + name + ": the blocks are nil")
	}
}

//go:noinline
func panicBlockOf(at *block, t reflect.Type, err error) {
	if err != nil {
		panic(fmt.Sprintf("alloc: BlockOf: %v%s", err, noPointers))
	}
	panic(fmt.Sprintf("alloc: BlockOf: the block of %d bytes at %#x is not a slice of %v, of %d bytes aligned to %d",
		at.size, at.p, t, t.Size(), t.Align()))
}
