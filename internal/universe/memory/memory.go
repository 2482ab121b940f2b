package memory

import (
	"fmt"
	"unsafe"

	"quarry/internal/debug"
)

// These bound all requests.
const (
	Quantum  = 16      // bytes; every block is aligned to it unless a caller requests more
	MaxAlign = 1 << 30 // bytes of the largest alignment
	MaxSize  = 1 << 46 // bytes of the largest block; beyond any address space today
)

// Check panics unless size and align are valid arguments of an Allocator.
func Check(name string, size, align int) { CheckOp(name, "", size, align) }

// CheckOp is Check for a name in two parts. Only the panic joins them, because joining
// allocates.
func CheckOp(of, op string, size, align int) {
	if size < 0 || align < 0 || align&(align-1) != 0 || align > MaxAlign {
		panicCheck(of, op, size, align)
	}
}

//go:noinline
func panicCheck(of, op string, size, align int) {
	panic(fmt.Sprintf("alloc: %s%s: size=%d align=%d: want a size >= 0 and a power of two up to %d",
		of, op, size, align, MaxAlign))
}

// Refuse returns an error if a request of the named function is to be refused; a nil refusal
// refuses none.
func Refuse(refusal func() error, name string) error {
	if refusal == nil {
		return nil
	}
	if err := refusal(); err != nil {
		return fmt.Errorf("alloc: %s: %w", name, err)
	}
	return nil
}

// Fits reports whether a block of usable bytes may be resized to size in place: it has the room
// and would not waste more than half of it.
func Fits(usable, size int) bool {
	return size <= usable && (size >= usable/2 || usable == Quantum)
}

// clearStep is the largest number of bytes cleared or copied in one step, which cannot be
// preempted.
const clearStep = 256 << 10

// Zero clears the first n bytes of a block.
func Zero(p unsafe.Pointer, n int) {
	// Safe because the block is live and has at least n bytes.
	for b := unsafe.Slice((*byte)(p), n); len(b) > 0; {
		step := min(len(b), clearStep)
		clear(b[:step])
		b = b[step:]
	}
}

// Poison fills the first n bytes of a block with a pattern.
func Poison(p unsafe.Pointer, n int, pattern byte) {
	// Safe because the block has n bytes and no one else uses it: it is about to be handed out or
	// was just freed.
	debug.Poison(unsafe.Slice((*byte)(p), n), pattern)
}

// Move copies n bytes from one block to another, in steps, since one copy cannot be preempted.
func Move(to, from unsafe.Pointer, n int) {
	// Safe because both blocks are live and at least n bytes long.
	t, f := unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n)
	for at := 0; at < n; at += clearStep {
		copy(t[at:min(n, at+clearStep)], f[at:])
	}
}
