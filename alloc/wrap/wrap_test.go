package wrap_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func newHeap(t testing.TB) *alloc.Heap {
	t.Helper()
	u, err := alloc.NewUniverse(alloc.Size(32 << 20))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, h.Verify())
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	})
	return h
}

func must(p unsafe.Pointer, err error) unsafe.Pointer {
	if err != nil {
		panic(err)
	}
	return p
}

func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func panicText(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}
