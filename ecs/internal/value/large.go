package value

import (
	"unsafe"

	"quarry/internal/universe"
)

// Large buffers. A block above 1 MiB is a span of whole chunks, however large, in the universe as
// every block of a buffer is:
//
//	grows     in place while the chunks after it are free; else it moves, and gives back each
//	          2 MiB that it has copied, so that both together need little more memory than one.
//	          A block that is more than half empty moves as small ones do, to copy the elements only
//	shrinks   in place, chunk by chunk, down to 65 of them
//
// A header counts elements in 32 bits, and names a block by 32 bits of 16 B. So a buffer has at
// most MaxLen elements, and at most the bytes of its universe. 64 GiB can be named; a universe has
// at most 16 (alloc.MaxSize), since indices of its chunks have 20 bits in handles and lists.

// large reports whether a buffer has a large block. One of 65 chunks that holds a single element of
// 1 MiB is not large; it moves when it grows, as smaller blocks do.
func (h *Header) large(k *Shape) bool {
	return h.ref != 0 && int(h.capacity)*k.Element > wholeFrom
}

// rebuildLarge is Rebuild for a large block, where from replaces all elements or comes between
// two.
func (s *Spill) rebuildLarge(h *Header, k *Shape, want, need, lo, hi int, from []byte) error {
	old := s.Block(h)
	// Safe because the addresses are only compared.
	inside := uintptr(unsafe.Pointer(unsafe.SliceData(from))) - uintptr(old)
	next, err := s.take(h, k, want, need)
	if err != nil {
		return err
	}
	if len(from) > 0 && inside < uintptr(h.capacity)*uintptr(k.Element) {
		// Safe because the source was in the block, which has kept its bytes.
		from = unsafe.Slice((*byte)(unsafe.Add(s.Block(&next), inside)), len(from))
	}
	next.length = h.length
	*h = next
	if lo == hi {
		return s.Insert(h, k, lo, len(from)/k.Element, from) // which fits now
	}
	return s.Set(h, k, len(from)/k.Element, from)
}

// step is the most bytes that are moved or cleared at once: Go does not interrupt a copy, and the
// collector waits for all goroutines when it begins.
const step = 256 << 10

// Move is copy for any number of bytes.
func Move(to, from []byte) int {
	n := min(len(to), len(from))
	if n <= step {
		return copy(to, from)
	}
	to, from = to[:n], from[:n]
	// Safe because the addresses are only compared.
	if ahead := uintptr(unsafe.Pointer(&to[0])) - uintptr(unsafe.Pointer(&from[0])); ahead < uintptr(n) {
		for at := n; at > 0; at -= min(step, at) { // from the end, for to overlaps what follows of from
			copy(to[max(at-step, 0):at], from[max(at-step, 0):at])
		}
		return n
	}
	for at := 0; at < n; at += step {
		copy(to[at:min(at+step, n)], from[at:])
	}
	return n
}

// Clear is clear for any number of bytes.
func Clear(b []byte) {
	for len(b) > step {
		clear(b[:step])
		b = b[step:]
	}
	clear(b)
}

const _ = uint(MaxLen - universe.MaxSize/refUnit) // a header can name each block
