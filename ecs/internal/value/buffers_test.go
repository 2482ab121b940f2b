package value_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// slowBuffers are some rows of a shape, in memory of Go, beside the elements that they should have.
type slowBuffers struct {
	t        *testing.T
	u        *universe.Universe
	b        value.Buffers
	k        value.Shape
	size     int
	memory   []uint64 // the column
	want     [][]byte
	relieved int        // calls of relieve
	relieve  func() int // what it does; nil: nothing
}

func newBuffers(t *testing.T, rows int, k value.Shape) *slowBuffers {
	return newBuffersIn(t, rows, k, 8<<20)
}

// newBuffersIn is newBuffers on a universe of so many bytes.
func newBuffersIn(t *testing.T, rows int, k value.Shape, bytes int) *slowBuffers {
	u, err := universe.New(universe.Size(bytes))
	require.NoError(t, err)
	s := &slowBuffers{
		t: t, u: u, k: k, size: (value.HeaderSize + k.Inline*k.Element + 7) &^ 7, want: make([][]byte, rows),
	}
	s.memory = make([]uint64, rows*s.size/8)
	s.b.Open(u, func() int {
		s.relieved++
		if s.relieve == nil {
			return 0
		}
		return s.relieve()
	})
	t.Cleanup(func() {
		for i := range s.want {
			s.b.Free(s.row(i))
		}
		require.NoError(t, s.b.Close())
		require.NoError(t, u.Close())
	})
	return s
}

func (s *slowBuffers) row(i int) *value.Header {
	return value.HeaderAt(unsafe.Pointer(unsafe.SliceData(s.memory)), i, uint32(s.size))
}

func (s *slowBuffers) elements(i int) []byte {
	h := s.row(i)
	return s.b.OwnerSpill().Bytes(h, &s.k, 0, h.Len())
}

func (s *slowBuffers) verify() error {
	spilled := 0
	for i := range s.want {
		h := s.row(i)
		if h.Spilled() {
			spilled++
		}
		if err := s.b.VerifyRow(h, &s.k); err != nil {
			return err
		}
	}
	return s.b.Verify(spilled)
}

func (s *slowBuffers) check() {
	s.t.Helper()
	require.NoError(s.t, s.verify())
	for i, want := range s.want {
		h := s.row(i)
		require.Equal(s.t, len(want)/s.k.Element, h.Len())
		require.True(s.t, bytes.Equal(want, s.elements(i)), "row %d", i)
		require.GreaterOrEqual(s.t, s.k.Cap(h), max(h.Len(), s.k.Inline))
		require.LessOrEqual(s.t, h.Len()*s.k.Element, s.u.Size())
	}
}

// fresh returns n elements that differ from call to call.
func (s *slowBuffers) fresh(r *rand.Rand, n int) []byte {
	e := make([]byte, n*s.k.Element)
	for i := range e {
		e[i] = byte(r.Uint32())
	}
	return e
}

// step does one operation on a row, with spill for what changes elements.
func (s *slowBuffers) step(r *rand.Rand, i int, spill *value.Spill) {
	h, want := s.row(i), s.want[i]
	size, n := s.k.Element, h.Len()
	lo := r.IntN(n + 1)
	hi := lo + r.IntN(n-lo+1)
	from := s.fresh(r, r.IntN(20))
	if r.IntN(3) == 0 {
		from = s.elements(i)[lo*size : hi*size] // elements of the buffer itself
	}
	put := slices.Clone(from)
	switch r.IntN(8) {
	case 0:
		at := r.IntN(n + 1)
		require.NoError(s.t, spill.Insert(h, &s.k, at, len(from)/s.k.Element, from))
		s.want[i] = slices.Concat(want[:at*size], put, want[at*size:])
	case 1:
		require.NoError(s.t, spill.Insert(h, &s.k, n, len(from)/s.k.Element, from))
		s.want[i] = slices.Concat(want, put)
	case 2:
		require.NoError(s.t, spill.Set(h, &s.k, len(from)/s.k.Element, from))
		s.want[i] = put
	case 3:
		spill.Cut(h, &s.k, lo, hi)
		s.want[i] = slices.Delete(slices.Clone(want), lo*size, hi*size)
	case 4:
		spill.SwapCut(h, &s.k, lo, hi)
		copy(want[lo*size:hi*size], slices.Clone(want[max(hi, n-(hi-lo))*size:]))
		s.want[i] = want[:(n-(hi-lo))*size]
	case 5:
		to := r.IntN(n + 30)
		fresh, err := spill.Resize(h, &s.k, to)
		require.NoError(s.t, err)
		require.Len(s.t, fresh, max(to-n, 0)*size)
		copy(fresh, s.fresh(r, 100))
		s.want[i] = slices.Concat(want[:min(n, to)*size], fresh)
	case 6:
		roomy, before := h.Roomy(&s.k), s.k.Cap(h)
		spill.Trim(h, &s.k)
		require.LessOrEqual(s.t, s.k.Cap(h), before)
		require.True(s.t, !roomy || s.k.Cap(h) < before || n*size <= 16, "%d of %d", s.k.Cap(h), before)
		require.Equal(s.t, n > s.k.Inline, h.Spilled() && n > s.k.Inline)
	case 7:
		room := s.k.Cap(h) + len(put)/size + r.IntN(20) + 1
		require.NoError(s.t, spill.Rebuild(h, &s.k, room, room, lo, hi, put))
		require.GreaterOrEqual(s.t, s.k.Cap(h), room)
		s.want[i] = slices.Concat(want[:lo*size], put, want[hi*size:])
	}
}

// shapes are elements of 1 to 100 bytes, with none to some inside the chunk.
var shapes = []value.Shape{
	{Element: 4, Inline: 8, Growth: growth.Doubling()},
	{Element: 5, Inline: 3, Growth: growth.Policy{}},
	{Element: 1, Inline: 0, Growth: growth.Doubling()},
	{Element: 100, Inline: 1, Growth: growth.Fixed(7)},
}

// TestBuffersAgreeWithTwin takes rows of each shape through random operations, of the owner's
// Spill and the lent one in turn.
func TestBuffersAgreeWithTwin(t *testing.T) {
	for seed, k := range shapes {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		s := newBuffers(t, 6, k)
		for step := range 3000 {
			i := r.IntN(len(s.want))
			spill := s.b.OwnerSpill()
			if step%2 == 0 {
				spill = s.b.Lent(true)
			}
			if len(s.want[i]) > 400*k.Element {
				s.b.Free(s.row(i))
				*s.row(i), s.want[i] = value.Header{}, nil
			}
			s.step(r, i, spill)
			s.check()
		}
		require.Zero(t, s.relieved, "nothing was refused")
	}
}

// TestLentBuffers: goroutines change rows of their own, while the owner changes others.
func TestLentBuffers(t *testing.T) {
	s := newBuffers(t, 6, shapes[0])
	var all sync.WaitGroup
	for i := range s.want {
		spill := s.b.Lent(true)
		if i == 0 {
			spill = s.b.OwnerSpill()
		}
		r := rand.New(rand.NewPCG(uint64(i), 2))
		all.Go(func() {
			for range 2000 {
				s.step(r, i, spill)
			}
		})
	}
	all.Wait()
	s.check()
	s.b.Trim()
	s.check()
}

// TestTakenBuffers: a buffer that no row has yet gets the elements of one of another heap.
func TestTakenBuffers(t *testing.T) {
	s, other := newBuffers(t, 1, shapes[0]), newBuffers(t, 1, shapes[0])
	r := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{0, 3, 9, 5000} {
		h := s.row(0)
		_, err := s.b.OwnerSpill().Resize(h, &s.k, n)
		require.NoError(t, err)
		s.want[0] = s.fresh(r, n)
		copy(s.elements(0), s.want[0])
		s.check()
		next, err := other.b.OwnerSpill().Take(&s.k, n)
		require.NoError(t, err)
		require.True(t, next.Spilled() && next.Len() == n && s.k.Cap(&next) > s.k.Inline)
		copy(other.b.OwnerSpill().Bytes(&next, &s.k, 0, n), s.elements(0))
		other.b.Free(other.row(0))
		*other.row(0), other.want[0] = next, slices.Clone(s.want[0])
		other.check()
	}
}

// TestBuffersAreRefused: where there is no memory a buffer stays as it was. The owner's Spill
// relieves the universe first, the lent one does not.
func TestBuffersAreRefused(t *testing.T) {
	s := newBuffers(t, 2, value.Shape{Element: 1024, Inline: 1, Growth: growth.Doubling()})
	r := rand.New(rand.NewPCG(1, 4))
	for i := range s.want {
		s.want[i] = s.fresh(r, 20)
		require.NoError(t, s.b.OwnerSpill().Set(s.row(i), &s.k, len(s.want[i])/s.k.Element, s.want[i]))
	}
	s.b.Trim()
	var hog []universe.ChunkIndex
	for c, err := s.u.AllocExact(1); err == nil; c, err = s.u.AllocExact(1) {
		hog = append(hog, c)
	}
	free := func(n int) int {
		for _, c := range hog[len(hog)-n:] {
			s.u.Free(c, 1)
		}
		hog = hog[:len(hog)-n]
		return n
	}
	h, more := s.row(0), s.fresh(r, 100)
	refused := func(spill *value.Spill) {
		_, err := spill.Resize(h, &s.k, 200)
		for _, err := range []error{err, spill.Insert(h, &s.k, 3, len(more)/s.k.Element, more),
			spill.Set(h, &s.k, len(more)/s.k.Element, more), spill.Rebuild(h, &s.k, 100, 100, 0, 0, nil)} {
			require.ErrorIs(t, err, sentinel.ErrFull)
			s.check()
		}
		_, err = spill.Take(&s.k, 200)
		require.ErrorIs(t, err, sentinel.ErrFull)
		s.check()
	}
	s.relieve = func() int { return free(64) }
	refused(s.b.Lent(true))
	require.Zero(t, s.relieved)
	s.relieve = nil
	refused(s.b.OwnerSpill())
	require.Equal(t, 5, s.relieved, "once a refusal")
	s.relieve = func() int { return free(64) }
	require.NoError(t, s.b.OwnerSpill().Insert(h, &s.k, 3, len(more)/s.k.Element, more))
	require.Equal(t, 6, s.relieved)
	s.want[0] = slices.Concat(s.want[0][:3*1024], more, s.want[0][3*1024:])
	s.check()
	free(len(hog))
}

// TestBuffersLeak: blocks that no row has are an error of Close, and the memory is given back.
func TestBuffersLeak(t *testing.T) {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	var b value.Buffers
	b.Open(u, func() int { return 0 })
	_, err = b.OwnerSpill().Take(&shapes[0], 100)
	require.NoError(t, err)
	require.Equal(t, 1, b.Live())
	require.ErrorIs(t, b.Close(), sentinel.ErrLeak)
	require.NoError(t, u.Close())
}

// TestBuffersMakeTheirHeapWhenTheyNeedIt: buffers that have not spilled take nothing from the
// universe or the collector's heap; the first block of the owner makes the heap, and a borrow by
// which buffers may grow.
func TestBuffersMakeTheirHeapWhenTheyNeedIt(t *testing.T) {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	var idle value.Buffers
	idle.Open(u, func() int { return 0 })
	require.Zero(t, idle.Trim())
	require.Zero(t, idle.Live())
	require.NoError(t, idle.Verify(0))
	nobodys := value.Header{}
	value.Corruptions["H2 outside"].Do(&nobodys, &shapes[0])
	require.ErrorContains(t, idle.VerifyRow(&nobodys, &shapes[0]), "value: H2:")
	require.NoError(t, idle.Close())
	require.Zero(t, u.Stats().LiveChunks)
	for _, lentFirst := range []bool{false, true} {
		var b value.Buffers
		b.Open(u, func() int { return 0 })
		b.Lent(false)
		require.Zero(t, b.Trim())
		var headers [2]value.Header
		lent, own := &headers[0], &headers[1]
		takeLent := func() {
			*lent, err = b.Lent(true).Take(&shapes[0], 100)
			require.NoError(t, err)
		}
		if lentFirst {
			takeLent()
		}
		*own, err = b.OwnerSpill().Take(&shapes[0], 100)
		require.NoError(t, err)
		if !lentFirst {
			takeLent()
		}
		require.Equal(t, 2, b.Live(), "in one heap")
		b.Free(lent)
		require.NoError(t, b.Verify(1))
		b.Free(own)
		require.NoError(t, b.Close())
		require.Zero(t, u.Stats().LiveChunks)
	}
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
}

// TestBuffersVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestBuffersVerifyNamesTheInvariant(t *testing.T) {
	s := newBuffers(t, 2, shapes[0])
	for i := range s.want {
		s.want[i] = s.fresh(rand.New(rand.NewPCG(1, 5)), 4+10*i)
		require.NoError(t, s.b.OwnerSpill().Set(s.row(i), &s.k, len(s.want[i])/s.k.Element, s.want[i]))
	}
	s.check()
	for name, change := range value.Corruptions {
		for i := range s.want {
			if s.row(i).Spilled() != change.Spilled {
				continue
			}
			old := *s.row(i)
			change.Do(s.row(i), &s.k)
			require.ErrorContains(t, s.verify(), "value: "+name[:2]+":", name)
			*s.row(i) = old
			s.check()
		}
	}
	leak, err := s.b.OwnerSpill().Take(&s.k, 1)
	require.NoError(t, err)
	require.ErrorContains(t, s.verify(), "value: H3:")
	s.b.Free(&leak)
	s.check()
}
