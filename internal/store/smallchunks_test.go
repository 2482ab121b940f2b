package store

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// TestSmallChunksHandOutEighths: no eighth is handed out twice, chunks are those that the
// eighths need, and those that empty go back; now and then the universe is full.
func TestSmallChunksHandOutEighths(t *testing.T) {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	rng, s, full := rand.New(rand.NewPCG(1, 2)), NewSmallChunks(u), false
	var live []SmallIndex
	held := map[SmallIndex]bool{}
	for step := range 20_000 {
		grows := step/5000%2 == 0
		if rng.IntN(3) == 0 != grows || len(live) == 0 {
			e, err := s.Alloc()
			if err != nil {
				require.ErrorIs(t, err, sentinel.ErrFull)
				require.Len(t, live, int(u.Size())/SmallSize)
				full = true
				continue
			}
			require.False(t, held[e])
			require.True(t, u.InUse(e.Chunk()))
			require.Equal(t, u.Pointer(e.Chunk()), PointerTo(u, e-e%8))
			held[e] = true
			live = append(live, e)
		} else {
			i := rng.IntN(len(live))
			e := live[i]
			live[i], live = live[len(live)-1], live[:len(live)-1]
			delete(held, e)
			s.Free(e)
			require.False(t, s.has(e))
		}
		require.Equal(t, len(live), s.Live())
		require.Equal(t, s.Chunks(), u.Stats().LiveChunks)
		if step%100 == 0 {
			require.NoError(t, s.Verify())
		}
	}
	require.True(t, full)
	for _, e := range live {
		s.Free(e)
	}
	require.NoError(t, s.Verify())
	require.Zero(t, s.Chunks())
	require.NoError(t, u.Close())
}

// TestSmallChunksStayDense: the lowest chunk with room is filled first.
func TestSmallChunksStayDense(t *testing.T) {
	u, err := universe.New(universe.Size(4 << 20))
	require.NoError(t, err)
	s := NewSmallChunks(u)
	var all []SmallIndex
	for range 800 {
		e, err := s.Alloc()
		require.NoError(t, err)
		all = append(all, e)
	}
	require.Equal(t, 100, s.Chunks())
	for i := 0; i < 800; i += 2 {
		s.Free(all[i])
	}
	for i := 0; i < 400; i += 2 {
		e, err := s.Alloc()
		require.NoError(t, err)
		require.Equal(t, all[i], e)
	}
	require.NoError(t, s.Verify())
	require.PanicsWithValue(t, "alloc: SmallChunks.Free: eighth 0 of chunk 60 is not handed out (freed twice?)",
		func() { s.Free(all[480]) })
	require.Panics(t, func() { s.Free(firstOf(200)) })
	for i, e := range all {
		if i%2 == 1 || i < 400 {
			s.Free(e)
		}
	}
	require.NoError(t, u.Close())
}

// TestSmallChunksAdopt: a chunk that the caller held is as one that Alloc took, whichever of its
// eighths are allocated, far from the others and among them.
func TestSmallChunksAdopt(t *testing.T) {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	first, err := u.AllocExact(universe.ChunksPerMegachunk)
	require.NoError(t, err)
	second, err := u.AllocExact(universe.ChunksPerMegachunk)
	require.NoError(t, err)
	require.Equal(t, [2]universe.ChunkIndex{0, 64}, [2]universe.ChunkIndex{first, second}) // all that there is
	for used := 1; used < 1<<eighths; used++ {
		s := NewSmallChunks(u)
		s.Adopt(second+7, uint8(used))
		require.NoError(t, s.Verify())
		var want []SmallIndex
		for i := range SmallIndex(eighths) {
			require.Equal(t, used>>i&1 != 0, s.has(firstOf(second+7)+i))
			if used>>i&1 == 0 {
				want = append(want, firstOf(second+7)+i)
			}
		}
		below := min(1, len(want)) // Adopt comes again when so many have moved the search on
		want = slices.Insert(want, below, firstOf(5))
		for i, e := range want {
			if i == below {
				s.Adopt(5, 0b1111_1110)
				require.NoError(t, s.Verify())
				require.Equal(t, 2, s.Chunks())
				require.Equal(t, 7+below+bits.OnesCount8(uint8(used)), s.Live())
			}
			got, err := s.Alloc()
			require.NoError(t, err)
			require.Equal(t, e, got)
			require.NoError(t, s.Verify())
		}
		_, err := s.Alloc()
		require.ErrorIs(t, err, sentinel.ErrFull)
		for _, c := range []universe.ChunkIndex{second + 7, 5} {
			for i := range SmallIndex(eighths) {
				require.True(t, u.InUse(c))
				s.Free(firstOf(c) + i)
				require.NoError(t, s.Verify())
			}
			require.False(t, u.InUse(c), "an empty chunk goes back")
		}
		require.Zero(t, s.Chunks()+s.Live())
		for range 2 {
			_, err := u.AllocExact(1)
			require.NoError(t, err)
		}
	}
	u.Free(first, universe.ChunksPerMegachunk)
	u.Free(second, universe.ChunksPerMegachunk)
	require.NoError(t, u.Close())
}

// TestSmallChunksAdoptRefuses: what Adopt refuses changes nothing.
func TestSmallChunksAdoptRefuses(t *testing.T) {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	s := NewSmallChunks(u)
	e, err := s.Alloc()
	require.NoError(t, err)
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	s.Adopt(c, 1)
	for want, f := range map[string]func(){
		"alloc: SmallChunks.Adopt: no eighth of chunk 1 is given": func() { s.Adopt(c, 0) },
		"alloc: SmallChunks.Adopt: chunk 9 is not in use":         func() { s.Adopt(9, 1) },
		"alloc: SmallChunks.Adopt: chunk 4000 is not in use":      func() { s.Adopt(4000, 1) },
		"alloc: SmallChunks.Adopt: chunk 0 is held already":       func() { s.Adopt(e.Chunk(), 2) },
		"alloc: SmallChunks.Adopt: chunk 1 is held already":       func() { s.Adopt(c, 2) },
	} {
		require.PanicsWithValue(t, want, f)
		require.NoError(t, s.Verify())
		require.Equal(t, [2]int{2, 2}, [2]int{s.Chunks(), s.Live()})
	}
	s.Free(e)
	s.Free(firstOf(c))
	require.NoError(t, u.Close())
}

// TestSmallChunksInvariants corrupts SmallChunks; Verify must name the invariant.
func TestSmallChunksInvariants(t *testing.T) {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	s := NewSmallChunks(u)
	var all []SmallIndex
	for range 12 {
		e, err := s.Alloc()
		require.NoError(t, err)
		all = append(all, e)
	}
	for text, c := range map[string]struct {
		name    string
		corrupt func() func()
	}{
		"not in use":       {"S1", func() func() { s.used[60] = 255; return func() { s.used[60] = 0 } }},
		"full but open":    {"S2", func() func() { s.open.SetBit(0); return func() { s.open.ClearBit(0) } }},
		"looked for above": {"S2", func() func() { s.low++; return func() { s.low-- } }},
		"one more":         {"S3", func() func() { s.used[1] |= 64; return func() { s.used[1] &^= 64 } }},
		"one chunk more":   {"S3", func() func() { s.held++; return func() { s.held-- } }},
	} {
		restore := c.corrupt()
		require.ErrorContains(t, s.Verify(), "alloc: "+c.name+":", text)
		restore()
		require.NoError(t, s.Verify(), text)
	}
	for _, e := range all {
		s.Free(e)
	}
	require.NoError(t, u.Close())
}
