package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func TestHoldOnArena(t *testing.T) {
	h := newHeap(t)
	a := alloc.NewArena(h)
	inside := plain{a}
	for _, through := range []alloc.Allocator{a, inside} {
		a.Reset(alloc.KeepAll)
		_, err := a.Alloc(100, 8)
		require.NoError(t, err)
		before := a.Mark()
		hold := alloc.HoldOn(through)
		_, err = through.Alloc(40, 8)
		require.NoError(t, err)
		hold.Renew()

		mark := a.Mark()
		_, err = a.Alloc(1<<20, 64)
		require.NoError(t, err)
		a.Rewind(mark)
		require.False(t, hold.Lost(), "what others took after it")

		p, err := a.Alloc(16, 8)
		require.NoError(t, err)
		a.FreeSized(p, 16, 8)
		require.False(t, hold.Lost(), "what others freed after it")

		a.Rewind(before)
		require.True(t, hold.Lost())
		_, err = a.Alloc(1000, 8)
		require.NoError(t, err)
		require.True(t, hold.Lost(), "the bytes are others' now")
		require.PanicsWithValue(t,
			"container: Map.Set: the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)",
			func() { hold.Check("container: Map.Set") })
	}
	a.Reset(alloc.KeepAll)
	empty := alloc.HoldOn(a)
	require.False(t, empty.Lost())
	a.Reset(0)
	require.True(t, empty.Lost())
	empty = alloc.HoldOn(a)
	a.Close()
	require.True(t, empty.Lost())
}

// TestHoldsShareAnArena: the frees of one container do not concern another.
func TestHoldsShareAnArena(t *testing.T) {
	a := alloc.NewArena(newHeap(t))
	defer a.Close()
	mine, err := a.Alloc(64, 8)
	require.NoError(t, err)
	hold := alloc.HoldOn(a)
	hold.Renew()
	others, err := a.Alloc(64, 8)
	require.NoError(t, err)
	empty := alloc.HoldOn(a)
	require.True(t, a.ResizeSized(mine, 64, 8, 32)) // not the last: it stays where it is
	hold.Freed()
	a.FreeSized(others, 64, 8)
	require.False(t, hold.Lost(), "the others' block is gone")
	require.False(t, empty.Lost(), "there was none")
	more, err := a.Alloc(64, 8)
	require.NoError(t, err)
	hold.Renew()
	a.FreeSized(more, 64, 8)
	hold.Freed()
	require.False(t, hold.Lost(), "its own block")
	below, err := a.Alloc(8, 8)
	require.NoError(t, err)
	padded, err := a.Alloc(64, 64)
	require.NoError(t, err)
	hold.Renew()
	a.FreeSized(padded, 64, 64)
	hold.Freed()
	mark := a.Mark()
	a.Rewind(mark)
	require.False(t, hold.Lost(), "nothing of it came after the mark")
	_ = below
	a.Reset(alloc.KeepAll)
	require.True(t, hold.Lost())
	require.True(t, empty.Lost())
}

func TestHoldOnOthers(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	local, arena, pages := h.NewLocal(), alloc.NewArena(h), alloc.NewPages()
	holds := map[string]alloc.Hold{
		"heap":           alloc.HoldOn(h),
		"local":          alloc.HoldOn(local),
		"wrapped":        alloc.HoldOn(plain{h}),
		"arena":          alloc.HoldOn(arena),
		"arena on arena": alloc.HoldOn(alloc.NewArena(arena)),
	}
	onPages, onUniverse := alloc.HoldOn(pages), alloc.HoldOn(u.Allocator())
	for name, hold := range holds {
		require.False(t, hold.Lost(), name)
	}
	require.NoError(t, h.Close())
	for name, hold := range holds {
		require.True(t, hold.Lost(), name)
	}
	require.False(t, onPages.Lost())
	require.NoError(t, pages.Close())
	require.True(t, onPages.Lost())
	require.NoError(t, u.Close())
	require.False(t, onUniverse.Lost(), "a universe does not close while chunks are in use")
}
