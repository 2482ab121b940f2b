package arrowalloc_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/arrowalloc"
)

var _ memory.Allocator = (*arrowalloc.Allocator)(nil)

// newHeap returns a heap that must be empty at the end of the test.
func newHeap(t testing.TB, options ...alloc.Option) *alloc.Heap {
	t.Helper()
	u, err := alloc.NewUniverse(options...)
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(h.Verify(), h.Close(), u.Close())) })
	return h
}

// addressOf returns the address of a slice's first byte.
func addressOf(b []byte) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))) // Safe because it is a number that nobody follows.
}

// fill gives all bytes a value.
func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// refusal returns the error that f panics with.
func refusal(t testing.TB, f func()) (err error) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		require.NotNil(t, r, "did not panic")
		var ok bool
		err, ok = r.(error)
		require.True(t, ok, "%T %v", r, r)
	}()
	f()
	return nil
}
