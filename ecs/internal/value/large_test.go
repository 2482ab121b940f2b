package value_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/long"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// TestTheLongestBuffer has all bytes of its universe; one with more is refused by the limit's name,
// and growth stops there.
func TestTheLongestBuffer(t *testing.T) {
	s := newBuffers(t, 1, value.Shape{Element: 3, Inline: 2, Growth: growth.Doubling()})
	h, most := s.row(0), s.u.Size()/3
	for need := 1 << 19; need < most; need = s.k.Cap(h) + 1 {
		fresh, err := s.b.OwnerSpill().Resize(h, &s.k, need)
		require.NoError(t, err)
		copy(fresh, s.fresh(rand.New(rand.NewPCG(1, uint64(need))), need)) // all but few
		s.want[0] = slices.Clone(s.elements(0))
		s.check()
	}
	require.Equal(t, most, s.k.Cap(h), "doubling stops at the limit")
	for _, need := range []int{most + 1, value.MaxLen, value.MaxLen + 1, math.MaxInt} {
		text := "value: a buffer of more than 8388608 bytes"
		if need > value.MaxLen {
			text = "value: a buffer of more than 4294967295 elements"
		}
		_, err := s.b.OwnerSpill().Resize(h, &s.k, need)
		require.EqualError(t, err, text)
		_, err = s.b.Lent(true).Take(&s.k, need)
		require.EqualError(t, err, text)
	}
	require.Zero(t, s.relieved, "what no memory would do for frees none")
	s.check()
}

// largeStep does one operation on a row with some MiB of elements.
func (s *slowBuffers) largeStep(r *rand.Rand, i int, spill *value.Spill, noise []byte) {
	h, want, size := s.row(i), s.want[i], s.k.Element
	n := h.Len()
	lo := r.IntN(n + 1)
	hi := lo + r.IntN(n-lo+1)
	if n*size > 3<<20 && r.IntN(2) == 0 {
		lo, hi = 0, n-r.IntN(1<<19/size)
		spill.Cut(h, &s.k, lo, hi)
		s.want[i] = slices.Delete(want, lo*size, hi*size)
		return
	}
	from := noise[:r.IntN(1<<20/size)*size]
	if r.IntN(2) == 0 {
		from = s.elements(i)[lo*size : hi*size]
	}
	put := slices.Clone(from)
	switch r.IntN(6) {
	case 0:
		require.NoError(s.t, spill.Insert(h, &s.k, lo, len(from)/size, from))
		s.want[i] = slices.Concat(want[:lo*size], put, want[lo*size:])
	case 1:
		require.NoError(s.t, spill.Insert(h, &s.k, n, len(from)/size, from))
		s.want[i] = slices.Concat(want, put)
	case 2:
		require.NoError(s.t, spill.Set(h, &s.k, len(from)/size, from))
		s.want[i] = put
	case 3:
		hi = min(hi, lo+1000)
		spill.SwapCut(h, &s.k, lo, hi)
		tail := max(hi, n-(hi-lo))
		copy(want[lo*size:hi*size], slices.Clone(want[tail*size:]))
		s.want[i] = want[:(n-(hi-lo))*size]
	case 4:
		before := s.k.Cap(h)
		spill.Trim(h, &s.k)
		require.LessOrEqual(s.t, s.k.Cap(h), before)
		require.Less(s.t, s.k.Cap(h)*size-n*size, max(universe.ChunkSize+size, n*size/2+16), "%d of %d", n, s.k.Cap(h))
	case 5:
		room := s.k.Cap(h) + len(put)/size + 1 + r.IntN(1<<20/size)
		require.NoError(s.t, spill.Rebuild(h, &s.k, room, room, lo, hi, put))
		require.GreaterOrEqual(s.t, s.k.Cap(h), room)
		s.want[i] = slices.Concat(want[:lo*size], put, want[hi*size:])
	}
}

// TestLargeBuffersAgreeWithTwin takes rows across 1 MiB, up and down, in a universe in which spans
// have no share, with other chunks in their way.
func TestLargeBuffersAgreeWithTwin(t *testing.T) {
	steps := long.N(50, 300) // each row grows above 1 MiB and back several times
	if testing.Short() {
		steps = 40
	}
	for seed, k := range []value.Shape{
		{Element: 8, Inline: 2, Growth: growth.Doubling()},
		{Element: 3, Inline: 0, Growth: growth.Policy{}},
		{Element: 100_000, Inline: 0, Growth: growth.Fixed(3)},
	} {
		r := rand.New(rand.NewPCG(uint64(seed), 6))
		s := newBuffersIn(t, 3, k, 60<<20)
		noise := s.fresh(r, 1<<20/k.Element)
		var hog []universe.ChunkIndex
		large := 0
		for step := range steps {
			i := r.IntN(len(s.want))
			spill := s.b.OwnerSpill()
			if step%2 == 0 {
				spill = s.b.Lent(true)
			}
			s.largeStep(r, i, spill, noise)
			s.check()
			if len(s.want[i]) > 1<<20 {
				large++
			}
			if len(hog) > 8 {
				s.u.Free(hog[0], 1)
				hog = hog[1:]
			}
			c, err := s.u.AllocExact(1) // which may lie behind a block
			require.NoError(t, err)
			hog = append(hog, c)
			require.NoError(t, s.u.Verify())
		}
		require.Greater(t, large, steps/10)
		for _, c := range hog {
			s.u.Free(c, 1)
		}
	}
}

// TestLargeBuffersGrowInPlace: while the chunks behind it are free a large buffer stays where it
// is; when they are not it moves; and it shrinks in place.
func TestLargeBuffersGrowInPlace(t *testing.T) {
	s := newBuffersIn(t, 2, value.Shape{Element: 1, Growth: growth.Policy{}}, 32<<20)
	r := rand.New(rand.NewPCG(1, 7))
	h, spill := s.row(0), s.b.OwnerSpill()
	set := func(i, n int) {
		s.want[i] = s.fresh(r, n)
		require.NoError(t, spill.Set(s.row(i), &s.k, n, s.want[i]))
	}
	set(0, 1<<20+1)
	at := spill.Elements(h)
	for range 6 {
		more := s.fresh(r, 1<<20)
		require.NoError(t, spill.Insert(h, &s.k, h.Len(), len(more), more))
		s.want[0] = append(s.want[0], more...)
		require.Equal(t, at, spill.Elements(h))
		s.check()
	}
	half := s.elements(0)[:h.Len()/2] // of the buffer that moves
	set(1, 2<<20)
	require.Equal(t, unsafe.Add(at, s.k.Cap(h)), spill.Elements(s.row(1)))
	require.NoError(t, spill.Insert(h, &s.k, 5, len(half), half))
	require.NotEqual(t, at, spill.Elements(h))
	s.want[0] = slices.Concat(s.want[0][:5], s.want[0][:len(half)], s.want[0][5:])
	s.check()
	at = spill.Elements(h)
	spill.Cut(h, &s.k, 3<<20, h.Len())
	s.want[0] = s.want[0][:3<<20]
	spill.Trim(h, &s.k)
	require.Equal(t, at, spill.Elements(h))
	require.Equal(t, 3<<20, s.k.Cap(h))
	s.check()
	// A block that is nearly empty moves by its elements only.
	_, err := spill.Resize(h, &s.k, 100)
	require.NoError(t, err)
	s.want[0] = s.want[0][:100]
	require.NoError(t, spill.Rebuild(h, &s.k, 4<<20, 4<<20, 100, 100, nil))
	require.Equal(t, 4<<20, s.k.Cap(h))
	s.check()
	spill.Trim(h, &s.k)
	require.Equal(t, 112, s.k.Cap(h), "a slot again")
	s.check()
}

// TestLargeBuffersAreRefused: what the universe has no room for in a row changes nothing; a buffer
// that is mostly empty still grows where it is.
func TestLargeBuffersAreRefused(t *testing.T) {
	s := newBuffersIn(t, 2, value.Shape{Element: 16, Growth: growth.Doubling()}, 8<<20)
	r := rand.New(rand.NewPCG(1, 8))
	fill := func(i, bytes int) {
		s.want[i] = s.fresh(r, bytes/16)
		require.NoError(t, s.b.OwnerSpill().Set(s.row(i), &s.k, bytes/16, s.want[i]))
	}
	fill(0, 3<<20)
	fill(1, 2<<20)
	s.check()
	h, more := s.row(0), s.fresh(r, 4<<20/16)
	for _, spill := range []*value.Spill{s.b.OwnerSpill(), s.b.Lent(true)} {
		_, err := spill.Resize(h, &s.k, 7<<20/16)
		_, taken := spill.Take(&s.k, 4<<20/16)
		for _, err := range []error{err, taken,
			// Twice 3 MiB are not behind each other.
			spill.Insert(h, &s.k, 3, len(more)/16, more), spill.Insert(h, &s.k, 3, h.Len(), s.elements(0)),
			spill.Set(h, &s.k, len(more)/16, more), spill.Rebuild(h, &s.k, 5<<20/16, 5<<20/16, 7, 9, nil)} {
			require.ErrorIs(t, err, sentinel.ErrFull)
			require.Contains(t, err.Error(), "no free chunks in a row for it in the universe")
			s.check()
		}
	}
	require.Equal(t, 6, s.relieved, "once a refusal")
	last := s.row(1)
	s.want[1] = s.want[1][:160]
	_, err := s.b.OwnerSpill().Resize(last, &s.k, 10)
	require.NoError(t, err)
	at := s.b.OwnerSpill().Elements(last)
	require.NoError(t, s.b.OwnerSpill().Rebuild(last, &s.k, 5<<20/16, 5<<20/16, 10, 10, nil))
	require.Equal(t, at, s.b.OwnerSpill().Elements(last))
	require.Equal(t, 5<<20/16, s.k.Cap(last))
	s.check()
	s.b.OwnerSpill().Cut(last, &s.k, 0, 10)
	s.want[1] = nil
	s.b.OwnerSpill().Trim(last, &s.k)
	require.False(t, last.Spilled())
	require.NoError(t, s.b.OwnerSpill().Insert(h, &s.k, 3, len(more)/16, more), "there is room now")
	s.want[0] = slices.Concat(s.want[0][:48], more, s.want[0][48:])
	s.check()
}

// TestMove agrees with copy for each overlap of two spans of some steps, and Clear with clear.
func TestMove(t *testing.T) {
	const step = 256 << 10
	r := rand.New(rand.NewPCG(1, 9))
	noise := make([]byte, 4*step)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, n := range []int{0, 1, step - 1, step, step + 1, 2*step + 77, 3 * step} {
		for _, from := range []int{0, 1, 1000, step} {
			for _, to := range []int{0, 1, 999, 1001, step - 1, step} {
				got, want := slices.Clone(noise), slices.Clone(noise)
				require.Equal(t, copy(want[to:to+n], want[from:]), value.Move(got[to:to+n], got[from:]))
				require.True(t, bytes.Equal(want, got), "%d bytes from %d to %d", n, from, to)
			}
		}
		require.Equal(t, n, value.Move(make([]byte, 4*step), noise[:n]))
		got := slices.Clone(noise)
		value.Clear(got[:n])
		require.Equal(t, make([]byte, n), got[:n])
		require.True(t, bytes.Equal(noise[n:], got[n:]))
	}
}
