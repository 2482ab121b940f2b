package alloc_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/lint"
)

func TestNil(t *testing.T) {
	h := newHeap(t)
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	defer func() { require.NoError(t, u.Close()) }()
	lint.CheckNil(t, slices.Concat(nilMakers(h, u), nilBlocks(t, h), nilRows())...)
}

// nilMakers are the calls that make something, and those that make values in an allocator.
func nilMakers(h *alloc.Heap, u *alloc.Universe) []lint.NilCall {
	return []lint.NilCall{
		lint.NilPanics("NewUniverse", "alloc: NewUniverse: an option is nil", func() { alloc.NewUniverse(nil) }),
		lint.NilPanics("NewPages", "alloc: NewPages: an option is nil", func() { alloc.NewPages(nil) }),
		lint.NilPanics("NewHeap: universe", "alloc: NewHeap: the universe is nil", func() { alloc.NewHeap(nil) }),
		lint.NilPanics("NewHeap: option", "alloc: NewHeap: an option is nil", func() { alloc.NewHeap(u, nil) }),
		lint.NilPanics("NewTable: universe", "alloc: NewTable: the universe is nil",
			func() { alloc.NewTable(nil, alloc.Col[int]()) }),
		lint.NilPanics("NewTable: option", "alloc: NewTable: an option is nil",
			func() { alloc.NewTable(u, alloc.Col[int](), nil) }),
		lint.NilPanics("NewArena: allocator", "alloc: NewArena: the allocator is nil", func() { alloc.NewArena(nil) }),
		lint.NilPanics("HoldOn", "alloc: HoldOn: the allocator is nil", func() { alloc.HoldOn(nil) }),
		lint.NilPanics("NewBlocks", "alloc: NewBlocks: the allocator is nil", func() { alloc.NewBlocks(nil) }),
		lint.NilPanics("MakeBlock", "alloc: MakeBlock: the blocks are nil or the zero value; ", func() { alloc.MakeBlock[int](nil, 1) }),
		lint.NilPanics("BlockOf", "alloc: BlockOf: the blocks are nil or the zero value; ",
			func() { alloc.BlockOf[int](nil, alloc.BlockRef{}) }),
		lint.NilPanics("NewPool: allocator", "alloc: NewPool: the allocator is nil",
			func() { alloc.NewPool[int](nil) }),
		lint.NilPanics("NewStack", "alloc: NewStack: the allocator is nil", func() { alloc.NewStack(nil, 64) }),
		lint.NilPanics("NewTemp", "alloc: NewTemp: the arena is nil", func() { alloc.NewTemp[int](nil) }),
		lint.NilPanics("New", "alloc: New: the allocator is nil", func() { alloc.New[int](nil) }),
		lint.NilPanics("Free: allocator", "alloc: Free: the allocator is nil", func() { alloc.Free(nil, new(int)) }),
		lint.NilReturns("Free: value", func(t *testing.T) {
			alloc.Free[int](h, nil)
			require.NoError(t, h.Verify())
		}),
		lint.NilPanics("MakeSlice", "alloc: MakeSlice: the allocator is nil",
			func() { alloc.MakeSlice[int](nil, 1, 1) }),
		lint.NilPanics("MakeSlice: of nothing", "alloc: MakeSlice: the allocator is nil",
			func() { alloc.MakeSlice[int](nil, 0, 0) }),
		lint.NilPanics("FreeSlice", "alloc: FreeSlice: the allocator is nil",
			func() { alloc.FreeSlice(nil, make([]int, 1)) }),
		lint.NilReturns("FreeSlice: of nothing", func(t *testing.T) {
			alloc.FreeSlice[int](nil, nil)
			require.NoError(t, h.Verify())
		}),
		lint.NilPanics("Append", "alloc: Append: the allocator is nil", func() { alloc.Append(nil, nil, 1) }),
		lint.NilReturns("Append: within the room", func(t *testing.T) {
			s, err := alloc.Append(nil, make([]int, 0, 1), 7)
			require.NoError(t, err)
			require.Equal(t, []int{7}, s)
		}),
		lint.NilPanics("WithRealloc", "alloc: WithRealloc: the allocator is nil", func() { alloc.WithRealloc(nil) }),
		lint.NilPanics("AllocZeroed", "alloc: AllocZeroed: the allocator is nil",
			func() { alloc.AllocZeroed(nil, 1, 1) }),
		lint.NilPanics("Realloc: allocator", "alloc: Realloc: the allocator is nil",
			func() { alloc.Realloc(nil, nil, 1, 1, 1) }),
		lint.NilPanics("ReallocZeroed: allocator", "alloc: ReallocZeroed: the allocator is nil",
			func() { alloc.ReallocZeroed(nil, nil, 1, 1, 1) }),
		lint.NilReturns("Realloc: block", func(t *testing.T) {
			h.FreeSized(must(alloc.Realloc(h, nil, 0, 8, 32)), 32, 8)
		}),
		lint.NilReturns("ReallocZeroed: block", func(t *testing.T) {
			h.FreeSized(must(alloc.ReallocZeroed(h, nil, 0, 8, 32)), 32, 8)
		}),
		lint.NilReturns("FreesInOrder", func(t *testing.T) { require.False(t, alloc.FreesInOrder(nil)) }),
		lint.NilPanics("CheckEveryFailure", "alloc: CheckEveryFailure: the function is nil",
			func() { _ = alloc.CheckEveryFailure(nil) }),
		lint.NilReturns("InjectFailures", func(t *testing.T) { // none are injected
			u, err := alloc.NewUniverse(alloc.Size(2<<20), alloc.InjectFailures(nil))
			require.NoError(t, err)
			first, err := u.AllocExact(1)
			require.NoError(t, err)
			u.Free(first, 1)
			require.NoError(t, u.Close())
		}),
		lint.NilReturns("Universe.IndexOf", func(t *testing.T) {
			_, ok := u.IndexOf(nil)
			require.False(t, ok)
		}),
	}
}

// nilBlocks are the calls that take the address of a block.
func nilBlocks(t *testing.T, h *alloc.Heap) []lint.NilCall {
	l, pages := h.NewLocal(), alloc.NewPages()
	stack, err := alloc.NewStack(h, 64)
	require.NoError(t, err)
	pool, err := alloc.NewPool[int64](h)
	require.NoError(t, err)
	t.Cleanup(func() {
		l.Close()
		require.NoError(t, pages.Close())
		require.NoError(t, stack.Close())
		require.NoError(t, pool.Close())
	})
	calls := []lint.NilCall{
		lint.NilPanics("Heap.Resize", "alloc: Heap.Resize: ", func() { h.Resize(nil, 16) }),
		lint.NilPanics("Heap.Usable", "alloc: Heap.Usable: ", func() { h.Usable(nil) }),
		lint.NilReturns("Heap.Owns", func(t *testing.T) { require.False(t, h.Owns(nil)) }),
		lint.NilReturns("Heap.Free", func(t *testing.T) {
			h.Free(nil)
			require.NoError(t, h.Verify())
		}),
		lint.NilReturns("Heap.Realloc", func(t *testing.T) { // a block is made
			p := must(h.Realloc(nil, 32, 0))
			require.GreaterOrEqual(t, h.Usable(p), 32)
			h.Free(p)
		}),
		lint.NilPanics("Local.Resize", "alloc: Local.Resize: ", func() { l.Resize(nil, 16) }),
		lint.NilPanics("Local.Usable", "alloc: Local.Usable: ", func() { l.Usable(nil) }),
		lint.NilReturns("Local.Free", func(t *testing.T) {
			l.Free(nil)
			require.NoError(t, h.Verify())
		}),
		lint.NilReturns("Local.Realloc", func(t *testing.T) {
			p := must(l.Realloc(nil, 32, 0))
			require.GreaterOrEqual(t, l.Usable(p), 32)
			l.Free(p)
		}),
		lint.NilReturns("Pool.Free", func(t *testing.T) {
			pool.Free(nil)
			require.NoError(t, pool.Verify())
		}),
		lint.NilPanics("Pool.Ref", "alloc: Pool.Ref: ", func() { pool.Ref(nil) }),
	}
	for _, a := range []struct {
		name string
		alloc.Allocator
	}{{"Heap", h}, {"Local", l}, {"Pages", pages}, {"Arena", alloc.NewArena(h)}, {"Stack", stack}, {"Pool", pool}} {
		calls = append(calls,
			lint.NilPanics(a.name+".ResizeSized", "alloc: "+a.name+".ResizeSized: ",
				func() { a.ResizeSized(nil, 8, 8, 8) }),
			lint.NilReturns(a.name+".FreeSized", func(t *testing.T) {
				before := h.Stats().LiveBlocks
				a.FreeSized(nil, 8, 8)
				require.Equal(t, before, h.Stats().LiveBlocks)
			}))
	}
	for name, r := range map[string]alloc.Reallocator{"Heap": h, "Local": l, "Pages": pages} {
		makes := func(call string, realloc func(unsafe.Pointer, int, int, int) (unsafe.Pointer, error)) lint.NilCall {
			return lint.NilReturns(name+"."+call, func(t *testing.T) { // a block is made
				p := must(realloc(nil, 0, 8, 32))
				require.NotNil(t, p)
				r.FreeSized(p, 32, 8)
			})
		}
		calls = append(calls, makes("ReallocSized", r.ReallocSized), makes("ReallocZeroed", r.ReallocZeroed))
	}
	return calls
}

// nilRows are the calls about records of tables.
func nilRows() []lint.NilCall {
	return []lint.NilCall{
		lint.NilPanics("Create", "alloc: Create: the table is nil", func() { alloc.Create(nil, alloc.Handle{}, 1) }),
		lint.NilPanics("Get", "alloc: Get: the table is nil", func() { alloc.Get[int](nil, alloc.Handle{}) }),
		lint.NilPanics("ColumnOf", "alloc: ColumnOf: the table is nil", func() { alloc.ColumnOf[int](nil, 0) }),
	}
}

// TestUnmade: nil and the zero values of Heap, Local and Blocks panic by name.
func TestUnmade(t *testing.T) {
	p, ref := unsafe.Pointer(new(int64)), alloc.BlockRef{Slot: 0, Generation: 1}
	check := func(name, text string, call func()) {
		t.Helper()
		require.PanicsWithValue(t, "alloc: "+name+text, call)
	}
	for _, h := range []*alloc.Heap{nil, {}} {
		for name, call := range map[string]func(){
			"Heap.Alloc": func() { _, _ = h.Alloc(8, 0) }, "Heap.AllocZeroed": func() { _, _ = h.AllocZeroed(8, 0) },
			"Heap.Free": func() { h.Free(nil) }, "Heap.FreeSized": func() { h.FreeSized(p, 8, 0) },
			"Heap.Realloc": func() { _, _ = h.Realloc(nil, 8, 0) }, "Heap.Resize": func() { h.Resize(p, 8) },
			"Heap.Usable": func() { h.Usable(p) }, "Heap.Owns": func() { h.Owns(p) }, "Heap.Stats": func() { h.Stats() },
			"Heap.Trim": func() { _ = h.Trim() }, "Heap.Verify": func() { _ = h.Verify() },
			"Heap.Close": func() { _ = h.Close() }, "Heap.NewLocal": func() { h.NewLocal() },
			"Heap.Universe": func() { h.Universe() },
		} {
			check(name, ": the heap is nil or the zero value; NewHeap makes one", call)
		}
		for _, size := range []int{9 << 10, 48 << 10, 2 << 20} {
			check("Heap.Alloc", ": the heap is nil or the zero value; NewHeap makes one",
				func() { _, _ = h.Alloc(size, 0) })
		}
	}
	for _, l := range []*alloc.Local{nil, {}} {
		for name, call := range map[string]func(){
			"Local.Alloc": func() { _, _ = l.Alloc(8, 0) }, "Local.AllocZeroed": func() { _, _ = l.AllocZeroed(8, 0) },
			"Local.Free": func() { l.Free(nil) }, "Local.FreeSized": func() { l.FreeSized(p, 8, 0) },
			"Local.Realloc": func() { _, _ = l.Realloc(nil, 8, 0) }, "Local.Resize": func() { l.Resize(p, 8) },
			"Local.Usable": func() { l.Usable(p) }, "Local.Trim": func() { l.Trim() },
			"Local.Close": func() { l.Close() }, "Local.Heap": func() { l.Heap() },
		} {
			check(name, ": the Local is nil or the zero value; Heap.NewLocal makes one", call)
		}
		check("Local.Alloc", ": the Local is nil or the zero value; Heap.NewLocal makes one",
			func() { _, _ = l.Alloc(48<<10, 0) })
	}
	for _, b := range []*alloc.Blocks{nil, {}} {
		for name, call := range map[string]func(){
			"Blocks.Alloc": func() { _, _ = b.Alloc(8, 0) }, "Blocks.Put": func() { _, _ = b.Put(nil) },
			"Blocks.Bytes": func() { b.Bytes(ref) }, "Blocks.BytesMany": func() { b.BytesMany(nil, nil) },
			"Blocks.Free": func() { b.Free(ref) }, "Blocks.FreeMany": func() { b.FreeMany(nil) },
			"Blocks.Resize": func() { _, _ = b.Resize(ref, 8) }, "Blocks.Len": func() { b.Len() },
			"Blocks.Size": func() { b.Size() }, "Blocks.Trim": func() { b.Trim() },
			"Blocks.Verify": func() { _ = b.Verify() }, "Blocks.Close": func() { _ = b.Close() },
			"Blocks.All": func() {
				for range b.All() {
				}
			},
			"MakeBlock": func() { _, _, _ = alloc.MakeBlock[int](b, 1) },
			"BlockOf":   func() { alloc.BlockOf[int](b, ref) },
		} {
			check(name, ": the blocks are nil or the zero value; NewBlocks makes them", call)
		}
	}
}
