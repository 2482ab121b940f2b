package alloc

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/universe/memory"
	"quarry/layout"
)

// Blocks of any size, named by references.
//
// A reference names a slot, and the slot has the address of the block (blockslots.go):
//
//	BlockRef          slots                            blocks, from the allocator
//	+------+-----+    +---------+-----+------+         +------------------+
//	| slot | gen |--->| address | gen | size |-------->| size bytes       |
//	+------+-----+    +---------+-----+------+         +------------------+
//	4 B    4 B        8 B       4 B   4 B
//
// The slot has a generation, odd while the block is live. So a block of any allocator can move when
// it is resized, and its reference stays.
//
// Invariants, checked by Verify:
//
//	B1 The slots are sound, and there is one for each block.
//	B2 A block has an address that fits its alignment, and no other block's bytes.
//	B3 The allocator is open and has given up no block.
//	B4 The bytes of all blocks are counted.

// Blocks allocates blocks of any size from an Allocator and names each by a BlockRef. One goroutine
// at a time may use it, as a Pool; several may read at once. Close it before its Allocator. An
// arena that goes back to before a block takes all of them with it: every call but Close panics
// then.
//
// Cost beside the allocator's: Alloc and Free 12 ns for both, Bytes 2 ns. A block has 16 B of
// its slot off the heap.
type Blocks struct {
	from  Reallocator
	hold  Hold
	slots blockSlots
	bytes int // in live blocks, as requested
	open  bool
}

// BlockRef names a block of a Blocks. It has no pointer, so components, values in other blocks and
// containers may hold it. It stays safe to use after the block was freed: Bytes then returns nil.
// The zero BlockRef names nothing. A slot would have to be freed 2^31 times before an old reference
// names a new block. It means something only to the Blocks that it came from: other Blocks have the
// same slots and generations, so there it may name a living block, which is returned or freed; what
// is detected is a slot that is free there, or has another generation. To another process it means
// nothing: what goes to a file with a world is a blob of package ecs/blob.
type BlockRef struct {
	Slot       uint32 // number of the slot
	Generation uint32 // of the slot; odd while the block is live. 0: none
}

// NewBlocks returns an empty Blocks over an allocator. It panics if the allocator is nil, or frees
// in order, as a Stack does.
func NewBlocks(from Allocator) *Blocks {
	checkAllocator("NewBlocks", from)
	if FreesInOrder(from) {
		panic(fmt.Sprintf("alloc: NewBlocks: the allocator frees in order (%T)", from))
	}
	return &Blocks{from: WithRealloc(from), hold: HoldOn(from), open: true}
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
	if b == nil || !b.open || b.hold.Suspect() || debug.On {
		b.check(name)
	}
	if b.slots.free == 0 {
		if err := b.slots.grow(name, b.from); err != nil {
			return BlockRef{}, nil, err
		}
		b.hold.Renew()
	}
	p, err := b.from.Alloc(size, align)
	if err != nil {
		return BlockRef{}, nil, err
	}
	b.hold.Renew()
	b.bytes += size
	return b.slots.take(p, size, align), p, nil
}

// Bytes returns the bytes of a block, or nil if it was freed. They are valid until Free or Resize
// of the block.
func (b *Blocks) Bytes(r BlockRef) []byte {
	if b == nil || b.from == nil || b.hold.Suspect() {
		b.checkLost("Blocks.Bytes")
	}
	at := b.slots.find(r)
	if at == nil {
		return nil
	}
	// Safe because by the generation the block is live.
	return unsafe.Slice((*byte)(at.pointer()), b.slots.sizeOf(r.Slot, at))
}

// made panics if nobody made the blocks.
func (b *Blocks) made(name string) {
	if b == nil || b.from == nil {
		panic("alloc: " + name + ": the blocks are nil or the zero value; NewBlocks makes them")
	}
}

// checkLost panics if the allocator has given up the blocks.
//
//go:noinline
func (b *Blocks) checkLost(name string) {
	b.made(name)
	if b.hold.Lost() {
		panicLost("alloc: " + name)
	}
}

// Resize changes the size of a block, which may move, and returns its bytes. The first min(old,
// new) keep their contents, added bytes are not cleared, and the reference stays. On an error,
// which is the allocator's, the block is unchanged. It panics if the block was freed.
func (b *Blocks) Resize(r BlockRef, size int) ([]byte, error) {
	memory.Check("Blocks.Resize", size, 0)
	at := b.live("Blocks.Resize", r)
	old, was, align := b.slots.sizeOf(r.Slot, at), at.pointer(), at.align()
	p, err := b.from.ReallocSized(was, old, align, size)
	if err != nil {
		return nil, err
	}
	if p != was || size > old {
		b.hold.Renew()
	} else {
		b.hold.Freed()
	}
	b.bytes += size - old
	at.place = uint64(uintptr(p)) | alignCode(align)<<codeShift
	if old >= hugeSize {
		delete(b.slots.huge, r.Slot)
	}
	b.slots.setSize(r.Slot, at, size)
	// Safe because the block has size bytes now.
	return unsafe.Slice((*byte)(p), size), nil
}

// Free frees a block. The zero BlockRef does nothing. Free panics, and changes nothing, if the
// block was freed.
func (b *Blocks) Free(r BlockRef) {
	if r == (BlockRef{}) && b != nil {
		return
	}
	if b == nil || !b.open || b.hold.Suspect() || debug.On { // live, in place
		b.check("Blocks.Free")
	}
	at := b.slots.find(r)
	if at == nil {
		panicNoBlock("Blocks.Free", r)
	}
	b.free(r, at)
}

// free frees the block of a slot.
func (b *Blocks) free(r BlockRef, at *blockSlot) {
	size := b.slots.sizeOf(r.Slot, at)
	b.from.FreeSized(at.pointer(), size, at.align())
	b.bytes -= size
	b.slots.release(r.Slot, at)
	b.hold.Freed()
}

// live returns the slot of a live block, or panics.
func (b *Blocks) live(name string, r BlockRef) *blockSlot {
	b.check(name)
	at := b.slots.find(r)
	if at == nil {
		panicNoBlock(name, r)
	}
	return at
}

//go:noinline
func panicNoBlock(name string, r BlockRef) {
	panic(fmt.Sprintf("alloc: %s: the reference {%d %d} names no block of these (freed before?)",
		name, r.Slot, r.Generation))
}

// check panics if the blocks cannot be used.
func (b *Blocks) check(name string) {
	if b == nil || !b.open || b.hold.Suspect() {
		b.refuse(name)
	}
	if debug.On {
		checkBelow(name, b.from)
	}
}

//go:noinline
func (b *Blocks) refuse(name string) {
	b.made(name)
	if !b.open {
		panic("alloc: " + name + ": the blocks are closed")
	}
	b.checkLost(name)
}

// All iterates over the blocks in the order of slots. Blocks may come and go meanwhile: one that
// was freed is not shown, a new one may be.
func (b *Blocks) All() iter.Seq2[BlockRef, []byte] {
	return func(yield func(BlockRef, []byte) bool) {
		b.check("Blocks.All")
		for i, ok := b.slots.next(0); ok; i, ok = b.slots.next(int(i) + 1) {
			if r := (BlockRef{i, b.slots.at(i).generation}); !yield(r, b.Bytes(r)) {
				return
			}
		}
	}
}

// Len returns the number of live blocks.
func (b *Blocks) Len() int {
	b.made("Blocks.Len")
	return b.slots.live
}

// Size returns the bytes of live blocks, as requested.
func (b *Blocks) Size() int {
	b.made("Blocks.Size")
	return b.bytes
}

// Trim frees slots that no block needs. References are unaffected.
func (b *Blocks) Trim() {
	b.check("Blocks.Trim")
	b.slots.trim(b.from)
	b.hold.Freed()
}

// Close frees all blocks. If some were live, the error wraps ErrLeak and counts them. A second call
// does nothing, and neither does one after the allocator was closed or has given the blocks up.
func (b *Blocks) Close() error {
	b.made("Blocks.Close")
	if !b.open {
		return nil
	}
	b.open = false
	if b.hold.Lost() {
		b.slots, b.bytes = blockSlots{}, 0
		return nil
	}
	var err error
	if n := b.Len(); n > 0 {
		err = fmt.Errorf("alloc: Blocks.Close: %d blocks of %d bytes: %w", n, b.bytes, ErrLeak)
		for i, ok := b.slots.next(0); ok; i, ok = b.slots.next(int(i) + 1) {
			at := b.slots.at(i)
			size := b.slots.sizeOf(i, at)
			b.from.FreeSized(at.pointer(), size, at.align())
			b.bytes -= size
			b.slots.release(i, at)
		}
	}
	b.slots.close(b.from)
	return err
}

// Verify checks the numbered invariants and returns an error that names one that does not hold.
func (b *Blocks) Verify() error {
	b.made("Blocks.Verify")
	if !b.open {
		return nil
	}
	if b.Len() > 0 && b.hold.Lost() {
		return fmt.Errorf("alloc: blocks: B3: %d blocks are of an allocator that was closed, or gave them up", b.Len())
	}
	if err := b.slots.verify(); err != nil {
		return fmt.Errorf("alloc: blocks: B1: %w", err)
	}
	bytes, byAddress := 0, []block(nil)
	for i, ok := b.slots.next(0); ok; i, ok = b.slots.next(int(i) + 1) {
		s := b.slots.at(i)
		at := block{uintptr(s.pointer()), b.slots.sizeOf(i, s)}
		if at.p == 0 || at.p&uintptr(max(s.align(), 1)-1) != 0 || at.size < 0 {
			return fmt.Errorf("alloc: blocks: B2: slot %d has %d bytes at %#x, aligned to %d",
				i, at.size, at.p, s.align())
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

// block is what Verify sorts.
type block struct {
	p    uintptr
	size int
}

// MakeBlock returns a block of n zero values of T, and its reference. Errors are those of Alloc and
// MakeSlice. It panics if n is negative, and a T of no bytes has no BlockOf.
func MakeBlock[T any](b *Blocks, n int) (BlockRef, []T, error) {
	if err := layout.PointerFreeFor[T](); err != nil {
		return BlockRef{}, nil, fmt.Errorf("alloc: MakeBlock: %w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	b.made("MakeBlock")
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
	b.made("BlockOf")
	if b.hold.Suspect() {
		b.checkLost("BlockOf")
	}
	at := b.slots.find(r)
	if at == nil {
		return nil
	}
	p, has := at.pointer(), b.slots.sizeOf(r.Slot, at)
	size, align := sizeAlign[T]()
	err := layout.PointerFreeFor[T]()
	if err != nil || uintptr(p)&uintptr(align-1) != 0 || size == 0 || has%size != 0 {
		panicBlockOf(block{uintptr(p), has}, reflect.TypeFor[T](), err)
	}
	// Safe because the block is live, aligned for T and has so many bytes.
	return unsafe.Slice((*T)(p), has/size)
}

//go:noinline
func panicBlockOf(at block, t reflect.Type, err error) {
	if err != nil {
		panic(fmt.Sprintf("alloc: BlockOf: %v%s", err, noPointers))
	}
	panic(fmt.Sprintf("alloc: BlockOf: the block of %d bytes at %#x is not a slice of %v, of %d bytes aligned to %d",
		at.size, at.p, t, t.Size(), t.Align()))
}
