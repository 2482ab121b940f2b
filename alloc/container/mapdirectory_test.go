package container

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestMapDirectoryAhead: while a map of spread hashes grows, no doubling has more than a step left
// to copy, and no call of Set copies more than a step.
func TestMapDirectoryAhead(t *testing.T) {
	m := newMap[uint64, uint64](t)
	m.step = 2
	begun, taken := 0, 0
	for i := range uint64(120_000) {
		had, depth, copied := m.next != nil, m.depth(), m.copied
		require.NoError(t, m.Set(i, i))
		switch {
		case m.depth() > depth && 1<<depth > m.step:
			require.True(t, had, "depth %d", depth)
			require.GreaterOrEqual(t, copied+m.step, uint64(1)<<depth, "depth %d", depth)
			taken++
		case m.next != nil && !had:
			begun++
			require.LessOrEqual(t, m.copied, m.step)
		case had:
			require.LessOrEqual(t, m.copied, copied+m.step)
		}
		if i%256 == 0 {
			require.NoError(t, m.Verify())
		}
	}
	require.Greater(t, taken, 4)
	require.GreaterOrEqual(t, begun, taken)
}

// TestMapDirectoryUneven: hashes that all begin alike fill one table before others have grown; the
// Set that splits it copies what is left.
func TestMapDirectoryUneven(t *testing.T) {
	m := newMap[uint64, uint64](t)
	m.step = 1
	for i := range uint64(10_000) {
		require.NoError(t, m.Set(i, i))
	}
	key := uint64(10_000)
	for left, depth := 2000, m.depth(); left > 0; key++ {
		if m.hash(key)>>60 == 0 {
			require.NoError(t, m.Set(key, key))
			left--
			require.NoError(t, m.Verify())
		}
		require.LessOrEqual(t, m.depth(), depth+9)
	}
	require.Greater(t, m.depth(), uint8(5))
}

// ahead returns a map that has a next directory.
func ahead(t *testing.T) *Map[uint64, uint64] {
	m := newMap[uint64, uint64](t)
	m.step = 1
	for i := uint64(0); m.next == nil || m.copied < 3; i++ {
		require.NoError(t, m.Set(i, i))
	}
	return m
}

// TestMapDirectoryGivenUp: whatever makes the map smaller gives up the next directory.
func TestMapDirectoryGivenUp(t *testing.T) {
	m := ahead(t)
	require.NoError(t, m.Trim())
	require.Nil(t, m.next)
	require.NoError(t, m.Verify())

	m = ahead(t)
	m.Clear()
	require.Nil(t, m.next)
	require.Zero(t, m.held())
	require.NoError(t, m.Set(1, 1))

	m = ahead(t)
	m.Close() // the heap's end finds a block that is left

	m = ahead(t)
	n := 8 * m.Len()
	require.NoError(t, m.Reserve(n))
	require.NoError(t, m.Verify())
	held := m.held()
	for i := range uint64(n) {
		require.NoError(t, m.Set(i, i))
	}
	require.NoError(t, m.Verify())
	require.InDelta(t, held, m.held(), float64(held)/50)
}

// TestMapDirectoryRefused: a next directory that is refused is requested again, at last by the
// split that needs it, which returns the error.
func TestMapDirectoryRefused(t *testing.T) {
	m := newMap[uint64, uint64](t)
	m.step = 1
	r := &sizeRefuser{Allocator: m.from}
	m.source = newSource("NewMap", r)
	i := uint64(0)
	for ; m.depth() < 3; i++ {
		require.NoError(t, m.Set(i, i))
	}
	r.size = 2 * wordBytes << m.depth()
	var err error
	for ; err == nil; i++ {
		err = m.Set(i, i)
	}
	require.ErrorIs(t, err, errRefused)
	require.Greater(t, r.refused, 1)
	require.Nil(t, m.next)
	require.NoError(t, m.Verify())
	require.Equal(t, int(i-1), m.Len())
	r.size = 0
	require.NoError(t, m.Set(i-1, i-1))
	require.Equal(t, uint8(4), m.depth())
	require.NoError(t, m.Verify())
}

// sizeRefuser refuses blocks of one size.
type sizeRefuser struct {
	alloc.Allocator
	size, refused int
}

func (r *sizeRefuser) Alloc(size, align int) (unsafe.Pointer, error) {
	if size == r.size {
		r.refused++
		return nil, errRefused
	}
	return r.Allocator.Alloc(size, align)
}

// TestMapDirectoryVerify breaks invariant 6.
func TestMapDirectoryVerify(t *testing.T) {
	m := ahead(t)
	require.NoError(t, m.Verify())
	p := (*word)(unsafe.Add(m.next, 3*wordBytes))
	*p++
	require.ErrorContains(t, m.Verify(), "invariant 6: word 1 is ")
	*p--
	was := m.copied
	m.copied = 1<<m.depth() + 1
	require.ErrorContains(t, m.Verify(), "invariant 6: ")
	m.copied = was
	require.NoError(t, m.Verify())
}

// TestMapSplitsNaNs: a table of keys that are not equal to themselves splits in halves, by no
// memory of the Go heap.
func TestMapSplitsNaNs(t *testing.T) {
	m := newMap[float64, int](t)
	for i := range 700 {
		require.NoError(t, m.Set(math.NaN(), i))
	}
	require.Equal(t, uint8(1), m.depth())
	for _, h := range []uint64{0, 1 << 63} {
		tab, n := m.table(h)
		require.InDelta(t, 350, m.meta(tab, n).live, 20)
	}
	require.NoError(t, m.Verify())
}

// TestMapGrowsOffTheHeap: growth takes nothing from the Go heap for a table that splits, of which
// there are a hundred; the scavenger, timers and commits of the universe below take some.
func TestMapGrowsOffTheHeap(t *testing.T) {
	m := newMap[uint64, uint64](t)
	for i := range uint64(50_000) {
		require.NoError(t, m.Set(i, i))
	}
	fill := func() {
		for i := range uint64(50_000) {
			if err := m.Set(i, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if testing.AllocsPerRun(1, fill) > 50 { // nothing grows
		t.Skip("checks of pointers allocate")
	}
	m.Clear()
	require.Less(t, testing.AllocsPerRun(2, func() {
		m.Clear()
		fill()
	}), 50.0)
}
