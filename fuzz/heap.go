package fuzz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/alloc"
)

// The heap driver. The model is the list of live blocks in order of their addresses; every block is
// filled with its own number. Each call goes through the heap or one of its Locals, chosen by the
// record, so that blocks are also freed and resized through a handle that they did not come from.

// heap is one run.
type heap struct {
	u      *alloc.Universe
	h      *alloc.Heap
	locals []*alloc.Local
	blocks []*block // by address
	bytes  int      // usable, of all blocks
	serial uint64
	freed  unsafe.Pointer // the slot or run that was freed last, or nil
}

// block is a live block: [address, address+usable).
type block struct {
	p      unsafe.Pointer
	size   int // requested bytes
	align  int // asked for
	usable int
	number uint64
}

func (b *block) address() uintptr { return uintptr(b.p) }

// contents returns the first n bytes of a block.
func (b *block) contents(n int) []byte {
	// Safe because the block is live and n is at most its usable size.
	return unsafe.Slice((*byte)(b.p), n)
}

// heapOps are the operations; their order is part of the meaning of a stream.
var heapOps = []struct {
	name string
	do   func(*heap, record) error
}{
	{"Alloc", (*heap).alloc},
	{"AllocAligned", (*heap).allocAligned},
	{"Free", (*heap).free},
	{"FreeMany", (*heap).freeMany},
	{"Realloc", (*heap).realloc},
	{"Misuse", (*heap).misuse},
	{"Locals", (*heap).changeLocals},
	{"Resize", (*heap).resize},
	{"Trim", (*heap).trim},
}

// RunHeap applies a stream to a new heap on a universe of 2 to 8 MiB and returns the first
// difference from the model. At the end it closes the heap, with or without live blocks.
func RunHeap(data []byte) (steps int, err error) {
	s := newStream(data)
	u, err := alloc.NewUniverse(alloc.Size((1+int(s.size%4))<<21), alloc.Retain(int(s.flags%3)<<21))
	if err != nil {
		return 0, fmt.Errorf("fuzz: RunHeap: %w", err)
	}
	growth := []alloc.Growth{{}, {}, alloc.Fixed(7), alloc.Geometric(1.5).Capped(20)}[s.flags>>4&3]
	h, err := alloc.NewHeap(u, alloc.SlabGrowth(growth))
	if err != nil {
		return 0, fmt.Errorf("fuzz: RunHeap: %w", err)
	}
	d := &heap{u: u, h: h}
	table := s.table(len(heapOps), 0)
	for r, ok := s.next(); ok; r, ok = s.next() {
		op := &heapOps[choose(table, r)]
		err := guarded(func() error {
			if err := op.do(d, r); err != nil {
				return err
			}
			return d.check(steps%verifyEvery == 0)
		})
		if err != nil {
			return steps, fmt.Errorf("fuzz: RunHeap: step %d, %s %+v: %w", steps, op.name, r, err)
		}
		steps++
	}
	if err := guarded(func() error { return d.end(s.flags&8 != 0) }); err != nil {
		return steps, fmt.Errorf("fuzz: RunHeap: after %d steps: %w", steps, err)
	}
	return steps, nil
}

// sizeOf returns a size in bytes: mostly small, sometimes a run, rarely a mapping; often exactly at
// or near a border.
func sizeOf(r record) int {
	switch {
	case r.kind < 128:
		return int(r.who) % 300
	case r.kind < 190:
		return int(r.who) % 9000
	case r.kind < 200:
		return 1<<(r.who%15) - 1 + int(r.who>>14)
	case r.kind < 245:
		return int(r.who) << (r.n % 3)
	case r.kind < 253:
		return int(r.who)*20%(1<<20) + 1<<14
	}
	return 1<<20 - 1 + int(r.who)%3*(1<<20) // to just above the largest run, and 3 MiB
}

func (d *heap) alloc(r record) error {
	_, err := d.make(d.through(r), sizeOf(r), 0, r.kind&1 != 0)
	return err
}

func (d *heap) allocAligned(r record) error {
	align := 1 << (r.n % 15) // to a chunk
	if r.n>>8&63 == 0 {
		align = 1 << (15 + r.n%8) // to 4 MiB
	}
	_, err := d.make(d.through(r), sizeOf(r), align, r.kind&1 != 0)
	return err
}

// make allocates a block, or checks that there was no room.
func (d *heap) make(a allocator, size, align int, zeroed bool) (*block, error) {
	before := d.u.Stats()
	metadata := d.h.Stats()
	call := a.Alloc
	if zeroed {
		call = a.AllocZeroed
	}
	p, err := call(size, align)
	if err != nil {
		return nil, d.full(err, size, align, before, metadata)
	}
	b, err := d.enter(p, size, align, zeroed)
	return b, err
}

// full checks an error: the universe had no run for the block, and nothing has changed.
func (d *heap) full(err error, size, align int, before alloc.Stats, metadata alloc.HeapStats) error {
	run := max(1, (size+alloc.ChunkSize-1)/alloc.ChunkSize)
	switch {
	case !errors.Is(err, alloc.ErrFull):
		return fmt.Errorf("got %w, want alloc.ErrFull", err)
	case before.LongestRun >= run || size > 1<<20 || align > alloc.ChunkSize:
		return fmt.Errorf("%d bytes aligned to %d: got %w, but %d chunks are free in a run",
			size, align, err, before.LongestRun)
	}
	after := d.h.Stats()
	if after.Chunks > metadata.Chunks || after.Ahead > metadata.Ahead {
		return fmt.Errorf("a call that failed took chunks: got %+v want %+v", after, metadata)
	}
	// The heap may have given back empty chunks, and the Local what it keeps.
	after.Chunks, after.Ahead, after.Cached = metadata.Chunks, metadata.Ahead, metadata.Cached
	if after != metadata {
		return fmt.Errorf("a call that failed changed the metadata: got %+v want %+v", after, metadata)
	}
	return nil
}

// enter records a block that was handed out and fills it.
func (d *heap) enter(p unsafe.Pointer, size, align int, zeroed bool) (*block, error) {
	if err := d.h.Verify(); err != nil {
		return nil, err
	}
	if err := d.u.Verify(); err != nil { // before touching memory that may not be there
		return nil, err
	}
	d.serial++
	b := &block{p: p, size: size, align: align, usable: d.h.Usable(p), number: d.serial}
	if b.usable < size || p == nil || b.address()%uintptr(max(align, 16)) != 0 {
		return nil, fmt.Errorf("got %d bytes at %p, want %d, aligned to %d", b.usable, p, size, align)
	}
	if zeroed && slices.IndexFunc(b.contents(size), func(v byte) bool { return v != 0 }) >= 0 {
		return nil, fmt.Errorf("got %d bytes at %p that are not zero", size, p)
	}
	i := d.search(b.address())
	if i > 0 {
		if before := d.blocks[i-1]; before.address()+uintptr(before.usable) > b.address() {
			return nil, fmt.Errorf("got %d bytes at %p, in a block of %d at %p", b.usable, p, before.usable, before.p)
		}
	}
	if i < len(d.blocks) && b.address()+uintptr(b.usable) > d.blocks[i].address() {
		return nil, fmt.Errorf("got %d bytes at %p, over a block at %p", b.usable, p, d.blocks[i].p)
	}
	d.blocks = slices.Insert(d.blocks, i, b)
	d.bytes += b.usable
	b.fill()
	return b, nil
}

// search returns the place of the first block at or above an address.
func (d *heap) search(address uintptr) int {
	i := 0
	for i < len(d.blocks) && d.blocks[i].address() < address {
		i++
	}
	return i
}

// fill writes the block's number over its whole usable size.
func (b *block) fill() {
	s := b.contents(b.usable)
	for i := 0; i+8 <= len(s); i += 8 {
		binary.LittleEndian.PutUint64(s[i:], b.number)
	}
}

// compare looks for the block's number in its first n bytes.
func (b *block) compare(n int) error {
	s := b.contents(n)
	for i := 0; i+8 <= n; i += 8 {
		if got := binary.LittleEndian.Uint64(s[i:]); got != b.number {
			return fmt.Errorf("block of %d bytes at %p, byte %d: got %#x want %#x", b.usable, b.p, i, got, b.number)
		}
	}
	return nil
}

// leave checks a block's contents and takes it off the list.
func (d *heap) leave(i int) (*block, error) {
	b := d.blocks[i]
	d.blocks = slices.Delete(d.blocks, i, i+1)
	d.bytes -= b.usable
	return b, b.compare(b.usable)
}

func (d *heap) free(r record) error {
	a := d.through(r)
	if len(d.blocks) == 0 {
		a.Free(nil)
		return nil
	}
	b, err := d.leave(int(r.who) % len(d.blocks))
	if err != nil {
		return err
	}
	if got := d.through(record{n: r.n >> 4}).Usable(b.p); got != b.usable || !d.h.Owns(b.p) {
		return fmt.Errorf("Usable(%p): got %d want %d; owned %v", b.p, got, b.usable, d.h.Owns(b.p))
	}
	if r.bits(8, 2) == 0 {
		if err := panics("alloc: ", func() { a.FreeSized(b.p, b.usable+1, 0) }); err != nil {
			return fmt.Errorf("FreeSized of %d for %d bytes: %w", b.usable+1, b.usable, err)
		}
		a.FreeSized(b.p, b.size, b.align)
	} else {
		a.Free(b.p)
	}
	if d.h.Owns(b.p) {
		return fmt.Errorf("%p is owned after it was freed", b.p)
	}
	d.freed = nil
	if _, inside := d.u.IndexOf(b.p); inside {
		d.freed = b.p
	}
	return nil
}

// freeMany frees every block of a part of the list, or every second one.
func (d *heap) freeMany(r record) error {
	if len(d.blocks) < 100 && r.n&15 != 0 {
		return d.free(r)
	}
	step := 1 + int(r.bits(4, 2))
	lo := int(r.who) % max(1, len(d.blocks))
	if r.bits(6, 2) == 0 {
		lo = 0
	}
	for i := len(d.blocks) - 1; i >= lo; i -= step {
		if err := d.free(record{who: uint16(i), n: r.n + uint32(i)*77}); err != nil {
			return err
		}
	}
	return nil
}

func (d *heap) realloc(r record) error {
	size, align, a := sizeOf(r), 0, d.through(r)
	if r.bits(8, 3) == 0 {
		align = 1 << (r.n % 15)
	}
	if len(d.blocks) == 0 || r.bits(11, 5) == 0 {
		p, err := a.Realloc(nil, size, align)
		if err != nil {
			return d.full(err, size, align, d.u.Stats(), d.h.Stats())
		}
		_, err = d.enter(p, size, align, false)
		return err
	}
	i := int(r.who>>2) % len(d.blocks)
	old := *d.blocks[i]
	keeps, zeroed := old.usable, r.kind&1 != 0
	call := func() (unsafe.Pointer, error) { return a.Realloc(old.p, size, align) }
	if r.bits(16, 1) != 0 {
		align, keeps = old.align, old.size
		call = func() (unsafe.Pointer, error) { return a.ReallocSized(old.p, old.size, align, size) }
		if zeroed {
			call = func() (unsafe.Pointer, error) { return a.ReallocZeroed(old.p, old.size, align, size) }
		}
	}
	before, metadata := d.u.Stats(), d.h.Stats()
	p, err := call()
	if err != nil {
		if err := d.full(err, size, align, before, metadata); err != nil {
			return err
		}
		return d.blocks[i].compare(old.usable)
	}
	kept := block{p: p, number: old.number, usable: d.h.Usable(p)}
	if err := kept.compare(min(keeps, size)); err != nil {
		return fmt.Errorf("in Realloc of %d to %d bytes: %w", keeps, size, err)
	}
	if r.bits(16, 1) != 0 && zeroed &&
		slices.IndexFunc(kept.contents(size)[min(keeps, size):], func(v byte) bool { return v != 0 }) >= 0 {
		return fmt.Errorf("ReallocZeroed of %d to %d bytes: what was added is not zero", keeps, size)
	}
	d.blocks = slices.Delete(d.blocks, i, i+1)
	d.bytes -= old.usable
	if _, inside := d.u.IndexOf(old.p); inside && p != old.p {
		d.freed = old.p
	}
	_, err = d.enter(p, size, align, false)
	return err
}

// resize resizes a block in place, or checks that it is unchanged.
func (d *heap) resize(r record) error {
	if len(d.blocks) == 0 {
		return nil
	}
	i := int(r.who>>2) % len(d.blocks)
	b := d.blocks[i]
	size := sizeOf(r)
	if r.bits(8, 2) != 0 {
		size = b.size/2 + int(r.n>>10)%(b.size+1) // near enough to succeed
	}
	done := d.through(r).Resize(b.p, size)
	usable := d.h.Usable(b.p)
	switch {
	case done && usable < size:
		return fmt.Errorf("in Resize to %d bytes: got true and %d usable", size, usable)
	case !done && usable != b.usable:
		return fmt.Errorf("in Resize from %d to %d bytes: got false and %d usable", b.usable, size, usable)
	case !done && size <= b.usable && size >= b.usable/2:
		return fmt.Errorf("in Resize from %d to %d bytes: got false want true", b.usable, size)
	}
	if err := b.compare(min(b.usable, usable)); err != nil || !done {
		return err
	}
	d.blocks = slices.Delete(d.blocks, i, i+1)
	d.bytes -= b.usable
	_, err := d.enter(b.p, size, b.align, false)
	return err
}

// blockAt returns the live block that begins at p, or nil.
func (d *heap) blockAt(p unsafe.Pointer) *block {
	if i := d.search(uintptr(p)); i < len(d.blocks) && d.blocks[i].p == p {
		return d.blocks[i]
	}
	return nil
}

// check compares the metadata and, if all is set, the contents of all blocks.
func (d *heap) check(all bool) error {
	if err := errors.Join(d.h.Verify(), d.u.Verify()); err != nil {
		return err
	}
	got := d.h.Stats()
	if got.LiveBlocks != len(d.blocks) || got.LiveBytes != d.bytes {
		return fmt.Errorf("in Stats: got %+v want %d blocks of %d bytes", got, len(d.blocks), d.bytes)
	}
	if live := d.u.Stats().LiveChunks; live != got.Chunks {
		return fmt.Errorf("the heap says that it holds %d chunks, the universe %d", got.Chunks, live)
	}
	if most := sizeClasses*2*(1+len(d.locals)) + wideChunks + got.Ahead; len(d.blocks) == 0 &&
		(got.Chunks > most || got.Mapped != 0) {
		return fmt.Errorf("an empty heap with %d Locals holds %d chunks and %d mapped bytes",
			len(d.locals), got.Chunks, got.Mapped)
	}
	if all {
		for _, b := range d.blocks {
			if err := b.compare(b.usable); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizeClasses is the number of the heap's size classes: for each class, the heap and each Local may
// keep two empty chunks.
const sizeClasses = 31

// wideChunks is the most chunks that the heap keeps as empty slabs for blocks of 8 to 40 KiB.
const wideChunks = 4 + 2 + 3 + 8 + 5 + 4 + 3 + 5

// end closes the heap and, if empty is set, frees all blocks before.
func (d *heap) end(empty bool) error {
	if err := d.check(true); err != nil {
		return err
	}
	for empty && len(d.blocks) > 0 {
		if err := d.free(record{}); err != nil {
			return err
		}
	}
	if err := d.check(true); err != nil {
		return err
	}
	for len(d.locals) > 0 && len(d.blocks)%2 == 0 { // else the heap closes them
		d.locals[0].Close()
		d.locals = d.locals[1:]
	}
	if err := d.check(true); err != nil {
		return err
	}
	if err := d.h.Close(); errors.Is(err, alloc.ErrLeak) != (len(d.blocks) > 0) {
		return fmt.Errorf("in Close with %d live blocks: got %v", len(d.blocks), err)
	}
	if err := d.h.Close(); err != nil {
		return err
	}
	if live := d.u.Stats().LiveChunks; live != 0 {
		return fmt.Errorf("a closed heap leaves %d chunks", live)
	}
	return errors.Join(d.u.Verify(), d.u.Close())
}
