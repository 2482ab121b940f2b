package alloc_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestShardsTakeDifferentLines allocates singles for several shards in turn:
// each gets its megachunk in a line of eight of its own.
func TestShardsTakeDifferentLines(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20))
	lines := map[int]int{}
	var live []alloc.ChunkIndex
	for shard := range 4 {
		for range 100 { // more than one megachunk has
			c, err := u.AllocAs(shard)
			require.NoError(t, err)
			live = append(live, c)
			line := int(c) / 64 / 8
			if owner, ok := lines[line]; ok {
				require.Equal(t, owner, shard, "chunk %d", c)
			}
			lines[line] = shard
			require.NoError(t, u.Verify())
		}
	}
	require.Len(t, lines, 4)
	for _, c := range live {
		u.Free(c, 1)
	}
}

// TestLeasesHideNothing has one shard lease the only line there is: others still
// get every chunk.
func TestLeasesHideNothing(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	var live []alloc.ChunkIndex
	for i := range 256 {
		c, err := u.AllocAs(i % 5)
		require.NoError(t, err, "chunk %d", i)
		live = append(live, c)
		require.NoError(t, u.Verify())
	}
	_, err := u.AllocAs(3)
	require.ErrorIs(t, err, alloc.ErrFull)
	for _, c := range live {
		u.Free(c, 1)
	}
}

// TestHomesMoveUnderEachOther has goroutines of two shards take and give singles
// in a universe that is nearly full, so that homes move all the time.
func TestHomesMoveUnderEachOther(t *testing.T) {
	u := newUniverse(t, alloc.Size(16<<20), alloc.Retain(0))
	for range 15 {
		_, err := u.AllocExact(64)
		require.NoError(t, err)
	}
	for c := range alloc.ChunkIndex(15 * 64) {
		if c%16 == 5 {
			u.Free(c, 1) // four holes a megachunk
		}
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for range 300 {
				var mine []alloc.ChunkIndex
				for range 12 {
					c, err := u.AllocAs(g % 2)
					if err != nil {
						t.Errorf("goroutine %d: %v", g, err)
						return
					}
					mine = append(mine, c)
				}
				for _, c := range mine {
					u.Free(c, 1)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, u.Verify())
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
}

func TestAllocZeroed(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	for range 3 {
		c, n, err := u.AllocZeroed(10)
		require.NoError(t, err)
		require.Equal(t, 10, n)
		b := u.Bytes(c, n)
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("byte %d: got %#x want 0", i, b[i])
			}
			b[i] = 0xFF
		}
		u.Free(c, n)
	}
	require.PanicsWithValue(t, "alloc: Universe.AllocZeroed: n=0 is not in 1..64",
		func() { _, _, _ = u.AllocZeroed(0) })
}

func TestExtend(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	c, err := u.AllocExact(10)
	require.NoError(t, err)
	require.True(t, u.Extend(c, 10, 20))
	d, err := u.AllocExact(4)
	require.NoError(t, err)
	require.Equal(t, c+30, d)
	require.False(t, u.Extend(c, 30, 1), "the next one is in use")
	require.False(t, u.Extend(d, 4, 31), "it would leave the megachunk")
	require.True(t, u.Extend(d, 4, 30))
	require.PanicsWithValue(t,
		"alloc: Universe.Extend: [64, 64+1) is not a run in use of one megachunk, or more=1 is not in 1..64",
		func() { u.Extend(64, 1, 1) })
	require.PanicsWithValue(t,
		"alloc: Universe.Extend: [0, 0+10) is not a run in use of one megachunk, or more=0 is not in 1..64",
		func() { u.Extend(c, 10, 0) })
	u.Free(c, 64)
}

func ExampleUniverse_Occupancy() {
	u, err := alloc.NewUniverse(alloc.Size(128 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int{64, 20, 40, 64, 10} {
		if _, err := u.AllocExact(n); err != nil {
			fmt.Println(err)
		}
	}
	u.Free(64, 20)
	fmt.Print(u.Occupancy())
	for first, n := range u.Runs() {
		fmt.Printf("[%d, %d) ", first, int(first)+n)
		u.Free(first, n)
	}
	fmt.Println(u.Close())
	// Output:
	// 178 of 8192 chunks in use, 4 of 128 MiB committed
	//      0 #7#2............................................................
	// [0, 64) [84, 124) [128, 192) [192, 202) <nil>
}
