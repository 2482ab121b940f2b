package alloc

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"quarry/layout"
)

// Pool hands out slots for values of T, all of one size, in slabs of another
// allocator's memory. Which slots are in use is kept in Go memory, so a value that is
// freed twice, or was never one, is always caught, and the live ones can be walked.
// A Ref names a slot and is nil once the slot was freed. One goroutine at a time may
// use it.
//
// In debug builds (quarry_debug, -race) a free slot holds 0xDD, and New and Verify tell of
// one that was written to. A wrapper below sees slabs, not slots.
//
// Cost on an AMD Zen 5, Go 1.26: New and Free of 64 B 8 ns for both, Get of a Ref 2 ns.
type Pool[T any] struct{ slots poolSlots }

// Ref names a value in a Pool. It holds no pointer, so it may lie in memory off the
// heap and in other Refs' values, and it is as good after the value was freed: Get then
// returns nil. The zero Ref names nothing. A slot would have to be freed 2^31 times for
// an old Ref to name a new value. Only the pool that it came from knows it: another one,
// and one that is filled from a file, gives whatever it has in that slot, so links that
// were saved are translated (see the example).
type Ref[T any] struct {
	Slot       uint32 // number of the slot
	Generation uint32 // of the slot's use; odd. 0: none
}

// PoolOption changes how NewPool works.
type PoolOption func(*poolSlots)

// SlabSize sets about how many bytes a pool asks for at a time; default 16 KiB. A slab
// has 8 slots at least and 4,096 at most. It panics for less than 1.
func SlabSize(bytes int) PoolOption {
	if bytes < 1 {
		panic(fmt.Sprintf("alloc: SlabSize: bytes=%d is less than 1", bytes))
	}
	return func(s *poolSlots) { s.slabBytes = bytes }
}

// NewPool makes an empty pool whose slabs are of from. It takes none before the first
// New. An error is a *layout.PointerError when T holds Go pointers.
func NewPool[T any](from Allocator, options ...PoolOption) (*Pool[T], error) {
	checkAllocator("NewPool", from)
	if err := layout.PointerFreeFor[T](); err != nil {
		return nil, fmt.Errorf("alloc: NewPool: %w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	p := &Pool[T]{slots: poolSlots{from: from, slabBytes: 16 << 10, of: reflect.TypeFor[T]()}}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewPool: an option is nil")
		}
		o(&p.slots)
	}
	p.slots.shape(size, align)
	return p, nil
}

// New returns a zero value in a free slot. An error is that of the allocator below, or
// wraps ErrFull at 2^32 slots.
func (p *Pool[T]) New() (*T, error) {
	at, err := p.slots.take("Pool.New")
	if err != nil {
		return nil, err
	}
	// Safe because the slot is free memory as large as a T and aligned for it.
	v := (*T)(at)
	clear(unsafe.Slice(v, 1))
	return v, nil
}

// Free gives a value's slot back. Nil does nothing. It panics, changing nothing, for a
// value that is not a live one of this pool.
func (p *Pool[T]) Free(v *T) {
	if v != nil {
		// Safe because only the address is looked at.
		p.slots.free("Pool.Free", unsafe.Pointer(v))
	}
}

// Ref returns the name of a live value, and panics for any other.
func (p *Pool[T]) Ref(v *T) Ref[T] {
	// Safe because only the address is looked at.
	i := p.slots.find("Pool.Ref", unsafe.Pointer(v))
	return Ref[T]{Slot: uint32(i), Generation: p.slots.generations[i]}
}

// Get returns the value that a Ref names, or nil when it was freed.
func (p *Pool[T]) Get(r Ref[T]) *T {
	if uint(r.Slot) >= uint(len(p.slots.generations)) || p.slots.generations[r.Slot] != r.Generation || r.Generation&1 == 0 {
		return nil
	}
	// Safe because the generation says that the slot is in use.
	return (*T)(p.slots.pointer(int(r.Slot)))
}

// All walks the live values by rising slot. Values may be freed and made meanwhile:
// a freed one is not shown, a new one may be or not.
func (p *Pool[T]) All() iter.Seq2[Ref[T], *T] {
	return func(yield func(Ref[T], *T) bool) {
		for i := p.slots.next(0); i >= 0; i = p.slots.next(i + 1) {
			// Safe because the slot is in use.
			if !yield(Ref[T]{uint32(i), p.slots.generations[i]}, (*T)(p.slots.pointer(i))) {
				return
			}
		}
	}
}

// Alloc makes a Pool an Allocator of blocks no larger than a T, with an alignment that
// divides T's size and is at most 64; an error wraps ErrTooBig for others. Contents are not
// cleared.
func (p *Pool[T]) Alloc(size, align int) (unsafe.Pointer, error) {
	checkBlock("Pool.Alloc", size, align)
	if err := p.slots.fits(size, align); err != nil {
		return nil, err
	}
	return p.slots.take("Pool.Alloc")
}

// ResizeSized reports whether a slot has to bytes.
func (p *Pool[T]) ResizeSized(b unsafe.Pointer, size, align, to int) bool {
	checkBlock("Pool.ResizeSized", to, align)
	p.slots.checkSized("Pool.ResizeSized", b, size, align)
	return p.slots.fits(to, align) == nil
}

// FreeSized gives a block's slot back.
func (p *Pool[T]) FreeSized(b unsafe.Pointer, size, align int) {
	if b != nil {
		p.slots.checkSized("Pool.FreeSized", b, size, align)
		p.slots.free("Pool.FreeSized", b)
	}
}

// Len returns the number of live values.
func (p *Pool[T]) Len() int { return p.slots.live }

// Cap returns the number of slots that there is memory for.
func (p *Pool[T]) Cap() int { return p.slots.backed * p.slots.per }

// Trim gives slabs without a live value back. Refs stay as good as they were.
func (p *Pool[T]) Trim() { p.slots.trim() }

// Close gives all memory back. When values were live the error wraps ErrLeak and
// counts them. A second call does nothing.
func (p *Pool[T]) Close() error { return p.slots.close() }

// Verify checks the invariants of the pool and returns an error that names the one
// that does not hold.
func (p *Pool[T]) Verify() error { return p.slots.verify() }
