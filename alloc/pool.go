package alloc

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"quarry/internal/universe/memory"
	"quarry/layout"
)

// Pool allocates slots for values of type T from slabs that come from another allocator. Go memory
// records which slots are in use, so a free of a pointer that is no live value is always caught (a
// double free is not if the slot has a new value), and the live values can be iterated over. A Ref
// names a slot; Get returns nil for it once the value was freed. One goroutine at a time may use a
// Pool.
//
// In debug builds (quarry_debug, -race) a free slot holds 0xDD, and New and Verify report a free
// slot that was written to. A wrapper around the underlying allocator sees slabs, not slots.
//
// Cost on an AMD Zen 5, Go 1.26: New and Free of 64 B 8 ns for both, Get of a Ref 2 ns.
type Pool[T any] struct{ slots poolSlots }

// Ref names a value in a Pool. It holds no pointer, so it may be stored in off-heap memory and in
// the values of other Refs. It stays safe to use after the value was freed: Get then returns nil.
// The zero Ref names nothing. A slot would have to be freed 2^31 times before an old Ref names a
// new value. A Ref is meaningful only to the pool it came from: another pool, or a pool refilled
// from a file, returns whatever value it has in that slot, so saved links must be translated (see
// the example).
type Ref[T any] struct {
	Slot       uint32 // number of the slot
	Generation uint32 // generation of the slot; odd while in use. 0: none
}

// NewPool returns an empty pool whose slabs come from from: 16 KiB each, but never fewer than 8 nor
// more than 4,096 slots. It allocates none before the first New. An error is a *layout.PointerError
// when T holds Go pointers.
func NewPool[T any](from Allocator) (*Pool[T], error) {
	checkAllocator("NewPool", from)
	if err := layout.PointerFreeFor[T](); err != nil {
		return nil, fmt.Errorf("alloc: NewPool: %w%s", err, noPointers)
	}
	size, align := sizeAlign[T]()
	p := &Pool[T]{slots: poolSlots{from: from, slabBytes: 16 << 10, of: reflect.TypeFor[T]()}}
	p.slots.shape(size, align)
	return p, nil
}

// New returns a zero value in a free slot. An error is the underlying allocator's, or wraps ErrFull
// at 2^32 slots.
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

// Free frees a value. A nil v does nothing. Free panics, and changes nothing, when v is not a live
// value of this pool.
func (p *Pool[T]) Free(v *T) {
	if v != nil {
		// Safe because only the address is used.
		p.slots.free("Pool.Free", unsafe.Pointer(v))
	}
}

// Ref returns the Ref of a live value. It panics for any other pointer.
func (p *Pool[T]) Ref(v *T) Ref[T] {
	// Safe because only the address is used.
	i := p.slots.find("Pool.Ref", unsafe.Pointer(v))
	return Ref[T]{Slot: uint32(i), Generation: p.slots.generations[i]}
}

// Get returns the value that r names, or nil when the value was freed.
func (p *Pool[T]) Get(r Ref[T]) *T {
	if uint(r.Slot) >= uint(len(p.slots.generations)) || p.slots.generations[r.Slot] != r.Generation ||
		r.Generation&1 == 0 {
		return nil
	}
	// Safe because by the generation the slot is in use.
	return (*T)(p.slots.pointer(int(r.Slot)))
}

// All iterates over the live values by rising slot. Values may be created and freed meanwhile: a
// freed value is not shown, a new one may be.
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

// Alloc returns a slot as a block of bytes, so that a Pool is an Allocator. size must be at most
// the size of T, and align must divide that size and be at most 64 (0 stands for 16); otherwise the
// error wraps ErrTooBig. Contents are not cleared.
func (p *Pool[T]) Alloc(size, align int) (unsafe.Pointer, error) {
	memory.Check("Pool.Alloc", size, align)
	if err := p.slots.fits(size, align); err != nil {
		return nil, err
	}
	return p.slots.take("Pool.Alloc")
}

// ResizeSized reports whether a slot has room for to bytes.
func (p *Pool[T]) ResizeSized(b unsafe.Pointer, size, align, to int) bool {
	memory.Check("Pool.ResizeSized", to, align)
	p.slots.checkSized("Pool.ResizeSized", b, size, align)
	return p.slots.fits(to, align) == nil
}

// FreeSized frees the slot of a block.
func (p *Pool[T]) FreeSized(b unsafe.Pointer, size, align int) {
	if b != nil {
		p.slots.checkSized("Pool.FreeSized", b, size, align)
		p.slots.free("Pool.FreeSized", b)
	}
}

// Len returns the number of live values.
func (p *Pool[T]) Len() int { return p.slots.live }

// Cap returns the number of slots that have memory.
func (p *Pool[T]) Cap() int { return p.slots.backed * p.slots.per }

// Trim frees slabs without live values. Refs are unaffected.
func (p *Pool[T]) Trim() { p.slots.trim() }

// Close frees all memory. When values were live, the error wraps ErrLeak and counts them. A second
// call does nothing.
func (p *Pool[T]) Close() error { return p.slots.close() }

// Verify checks the numbered invariants of the pool and returns an error that names one that does
// not hold.
func (p *Pool[T]) Verify() error { return p.slots.verify() }
