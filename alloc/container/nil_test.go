package container_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/container"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	set, buffer, pool := container.NewBitset(h), container.NewBuffer(h), container.NewBufferPool(h, 0)
	none := ": the allocator is nil"
	lint.CheckNil(t,
		lint.NilPanics("NewMap", "container: NewMap"+none, func() { container.NewMap[int, int](nil) }),
		lint.NilPanics("NewList", "container: NewList"+none, func() { container.NewList[int](nil) }),
		lint.NilPanics("NewQueue", "container: NewQueue"+none, func() { container.NewQueue[int](nil) }),
		lint.NilPanics("NewPriorityQueue", "container: NewPriorityQueue"+none,
			func() { container.NewPriorityQueue[int, int](nil) }),
		lint.NilPanics("NewBitset", "container: NewBitset"+none, func() { container.NewBitset(nil) }),
		lint.NilPanics("NewText", "container: NewText"+none, func() { container.NewText(nil) }),
		lint.NilPanics("NewBuffer", "container: NewBuffer"+none, func() { container.NewBuffer(nil) }),
		lint.NilPanics("NewBufferPool", "container: NewBufferPool"+none, func() { container.NewBufferPool(nil, 1) }),
		lint.NilPanics("Bitset.And", "container: Bitset.And: the other set is nil", func() { set.And(nil) }),
		lint.NilPanics("Bitset.AndNot", "container: Bitset.AndNot: the other set is nil", func() { set.AndNot(nil) }),
		lint.NilPanics("Bitset.Or", "container: Bitset.Or: the other set is nil", func() { set.Or(nil) }),
		lint.NilPanics("Buffer.ReadFrom", "container: Buffer.ReadFrom: the reader is nil",
			func() { buffer.ReadFrom(nil) }),
		lint.NilPanics("Buffer.WriteTo", "container: Buffer.WriteTo: the writer is nil",
			func() { buffer.WriteTo(nil) }),
		lint.NilPanics("BufferPool.Put", "container: BufferPool.Put: the buffer is not of this pool",
			func() { pool.Put(nil) }),
	)
	require.NoError(t, pool.Close())
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
}
