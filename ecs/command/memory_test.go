package command

import (
	"math"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestFramesAllocateNothing records and plays the same kinds of commands again and again.
func TestFramesAllocateNothing(t *testing.T) {
	if debug.On {
		t.Skip("debug builds trace who records, which allocates")
	}
	y := newYard(t)
	defer y.w.Close()
	list := y.populate(40, false)
	cb := NewBuffer(y.w)
	defer cb.Close()
	frame := func() {
		for i, e := range list {
			Put(cb, e, y.pos, position{float64(i), 0})
			Put(cb, e, y.ptr, pointer{list[0], uint32(i)})
			AddBuffer(cb, e, y.hits, hit{N: 1})
			SetBuffer(cb, e, y.hits, hit{N: 2})
		}
		e := cb.Create(y.plain)
		Set(cb, e, y.pos, position{1, 2})
		cb.Remove(list[1], y.ptr)
		w := cb.Parallel(partOf{1, 1, 7})
		w.Destroy(e)
		w.Add(list[2], y.slow)
		w.Remove(list[3], y.slow)
		if err := cb.Play(); err != nil {
			panic(err)
		}
	}
	for range 3 {
		frame()
	}
	require.Zero(t, testing.AllocsPerRun(50, frame))
	require.NoError(t, y.w.Verify())
}

// TestReserveKeepsItsWord records what was reserved, in a buffer that may take no more.
func TestReserveKeepsItsWord(t *testing.T) {
	y := newYard(t)
	defer y.w.Close()
	e := y.populate(1, false)[0]
	for _, c := range []struct{ commands, elements int }{{1, 0}, {5000, 1}, {3, 5000}, {700, 300}, {2, 40_000}} {
		cb := NewBuffer(y.w)
		require.NoError(t, cb.Reserve(c.commands, 8+16*c.elements))
		cb.limit = cb.Bytes()
		for range c.commands {
			PutBuffer(cb, e, y.hits, make([]hit, c.elements)...)
		}
		require.Equal(t, c.commands, cb.Len())
		require.ErrorIs(t, cb.Reserve(1, 2<<20), ErrSize)
		require.ErrorIs(t, cb.Reserve(1, math.MaxInt), ErrSize)
		require.ErrorIs(t, cb.Reserve(math.MaxInt, math.MaxInt), ErrSize)
		cb.Close()
	}
}

// TestReserveRefused: a Reserve that finds no room, or passes the limit, leaves the buffer, its
// records and the universe as they were.
func TestReserveRefused(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	position := ecs.Register[float64](w)
	e := ecs.NewArchetype(w, position).Create()
	for limit, want := range map[int64]error{0: alloc.ErrFull, 4 << 20: ErrLimit} {
		cb := NewBuffer(w)
		cb.limit = limit
		Set(cb, e, position, 5)
		bytes, live := cb.Bytes(), u.Stats().Live
		require.ErrorIs(t, cb.Reserve(1<<24, 8), want)
		require.Equal(t, bytes, cb.Bytes())
		require.Equal(t, live, u.Stats().Live)
		require.NoError(t, cb.Reserve(100, 8))
		require.NoError(t, cb.Play())
		require.Equal(t, 5.0, *position.Get(e))
		require.NoError(t, w.Verify())
		cb.Close()
	}
	require.NoError(t, w.Close())
	require.NoError(t, u.Close())
}

// TestPeakIsGivenBack plays a frame with very many commands, and then small ones: once these are
// eight, what the large frame took is given back. Made still answers.
func TestPeakIsGivenBack(t *testing.T) {
	y := newYard(t)
	defer y.w.Close()
	there := y.populate(40, false)
	cb := NewBuffer(y.w)
	defer cb.Close()
	frame := func(n int) (made ecs.Entity) {
		for i := range n {
			e := cb.Create(y.plain)
			Set(cb, e, y.pos, position{float64(i), 0})
			AddBuffer(cb, e, y.hits, hit{N: 1})
			made = e
		}
		w := cb.Parallel(partOf{1, 1, 7})
		for range n {
			w.Remove(there[n%40], y.ptr)
		}
		require.NoError(t, cb.Play())
		return cb.Made(made)
	}
	const peak, small = 50_000, 50
	frame(peak)
	bytes, lists := cb.Bytes(), cb.player.lists().held
	require.Greater(t, bytes, int64(4<<20))
	require.Greater(t, lists, 2<<20)
	for range recent - 1 {
		frame(small)
		require.Equal(t, bytes, cb.Bytes(), "a peak may come again")
		require.GreaterOrEqual(t, cb.player.lists().held, lists)
	}
	frame(small) // the last of eight: lists go when it has been played, pages when the next is recorded
	last := frame(small)
	require.LessOrEqual(t, cb.Bytes(), int64(64<<10))
	require.LessOrEqual(t, cb.player.lists().held, 1<<20, "what is left is 4 B for each index of the world")
	require.Equal(t, position{small - 1, 0}, *y.pos.Get(last))
	require.NoError(t, y.w.Verify())
	frame(peak)
	require.GreaterOrEqual(t, cb.Bytes(), bytes)
	require.NoError(t, y.w.Verify())
}

// TestTrim gives back the memory of a large frame, and keeps the recorded commands.
func TestTrim(t *testing.T) {
	y := newYard(t)
	defer y.w.Close()
	list := y.populate(40, false)
	cb := NewBuffer(y.w)
	defer cb.Close()
	for range 1000 {
		for i, e := range list {
			Put(cb, e, y.pos, position{float64(i), 0})
		}
	}
	require.NoError(t, cb.Play())
	require.Greater(t, cb.Bytes(), int64(1<<20))
	cb.Trim()
	require.Zero(t, cb.Bytes())
	Put(cb, list[3], y.pos, position{7, 7})
	cb.Trim()
	require.Equal(t, int64(16<<10), cb.Bytes())
	require.NoError(t, cb.Play())
	require.Equal(t, position{7, 7}, *y.pos.Get(list[3]))
	cb.Close()
	cb.Trim()
}

// TestWorldCloseNamesBuffers: a buffer that was not closed is named as what holds the chunks.
func TestWorldCloseNamesBuffers(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	cb := NewBuffer(w)
	cb.Create(ecs.NewArchetype(w))
	err = w.Close()
	require.ErrorIs(t, err, alloc.ErrInUse)
	require.ErrorContains(t, err,
		"ecs: World.Close: command buffers that are not closed hold 1 chunks, call Buffer.Close first: alloc: Universe.Close: ")
	cb.Close()
	require.NoError(t, w.Close())
}

// TestLargeAfterSmall: a command that no kept page has room for gets a page of its own, before
// them.
func TestLargeAfterSmall(t *testing.T) {
	y := newYard(t)
	defer y.w.Close()
	e := y.populate(1, false)[0]
	cb := NewBuffer(y.w)
	defer cb.Close()
	require.NoError(t, cb.Reserve(3000, 8))
	pages := len(cb.stream.pages)
	PutBuffer(cb, e, y.hits, make([]hit, 40_000)...)
	require.Len(t, cb.stream.pages, pages+1)
	require.Greater(t, cb.stream.pages[0].units, cb.stream.pages[1].units)
	require.NoError(t, cb.Play())
}
