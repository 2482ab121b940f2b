package asm_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"quarry/internal/guard"
)

// The tests of kernels that write a column walk over the same cases: every
// length 0..512 at every offset of an element in the widest vector, with what
// lies around dst compared afterwards, the inputs apart from dst or the same
// memory; then every length in memory that ends, or begins, at a page without
// access.

const (
	longest     = 512 // elements or words, several times the widest step
	vectorBytes = 64  // the widest vector
)

// columnCase is one call's worth of memory. x and y are as long as dst or
// longer; either may be dst.
type columnCase[E any] struct {
	dst, x, y []E
	what      string
}

// rawBytes returns the memory of s.
func rawBytes[E any](s []E) []byte {
	var e E
	// Safe because the tests' elements hold no Go pointers.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(e)))
}

// elements returns the bytes of b as elements.
func elements[E any](b []byte) []E {
	var e E
	// Safe because the callers pass memory whose start and length are multiples
	// of the element's size, and that holds no Go pointers.
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(e)))
}

// eachColumn runs body on every case; source gives the content of the memory.
// alias reports whether x and y may be dst.
func eachColumn[E any](t *testing.T, source func([]E), alias bool, body func(columnCase[E])) {
	t.Helper()
	var e E
	vector := max(1, vectorBytes/int(unsafe.Sizeof(e)))
	room := longest + 3*vector
	d, x, y, pool := make([]E, room), make([]E, room), make([]E, room), make([]E, room)
	source(pool)
	source(x)
	source(y)
	for n := 0; n <= longest; n += columnStep(n) {
		for off := range vector {
			copy(d, pool[n%vector:])
			lo := vector + off
			c := columnCase[E]{d[lo : lo+n], x[off/2 : off/2+n+off%2], y[n%vector:], "apart"}
			if alias {
				c = aliased(c, n+off)
			}
			before := bytes.Clone(rawBytes(d))
			body(c)
			size := int(unsafe.Sizeof(e))
			after, end := rawBytes(d), (lo+n)*size
			if !bytes.Equal(before[:lo*size], after[:lo*size]) || !bytes.Equal(before[end:], after[end:]) {
				t.Fatalf("n=%d off=%d %s: memory outside dst was overwritten", n, off, c.what)
			}
		}
	}
	guardedColumns(t, source, alias, body)
}

// columnStep thins the lengths beyond two steps of a loop out in short runs.
func columnStep(n int) int {
	if testing.Short() && n > 140 {
		return 31
	}
	return 1
}

// aliased makes x or y or both dst in four of seven cases.
func aliased[E any](c columnCase[E], k int) columnCase[E] {
	switch k % 7 {
	case 0:
		c.x, c.what = c.dst, "x is dst"
	case 2:
		c.y, c.what = c.dst, "y is dst"
	case 4:
		c.x, c.y, c.what = c.dst, c.dst, "x and y are dst"
	case 6:
		c.y, c.what = c.x, "y is x"
	}
	return c
}

func guardedColumns[E any](t *testing.T, source func([]E), alias bool, body func(columnCase[E])) {
	t.Helper()
	var e E
	size := longest * int(unsafe.Sizeof(e))
	var tails, heads [3][]E
	for i := range tails {
		tails[i], heads[i] = elements[E](guard.Tail(t, size)), elements[E](guard.Head(t, size))
		source(tails[i])
		source(heads[i])
	}
	for n := 0; n <= longest; n += columnStep(n) {
		lo := longest - n
		at, ah := columnCase[E]{tails[0][lo:], tails[1][lo:], tails[2][lo:], "tails"},
			columnCase[E]{heads[0][:n], heads[1][:n], heads[2][:n], "heads"}
		if alias {
			at, ah = aliased(at, n), aliased(ah, n)
		}
		source(at.dst)
		source(ah.dst)
		body(at)
		body(ah)
	}
}

// randomWords fills s with words of which some are empty or full.
func randomWords(rnd *rand.Rand) func([]uint64) {
	return func(s []uint64) {
		for i := range s {
			switch s[i] = rnd.Uint64(); rnd.IntN(8) {
			case 0:
				s[i] = 0
			case 1:
				s[i] = ^uint64(0)
			}
		}
	}
}

// edges returns memory of size bytes that ends at a page without access.
func edges[E any](t *testing.T, size int) []E {
	t.Helper()
	return elements[E](guard.Tail(t, size))
}
