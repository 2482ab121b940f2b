package mmap_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/internal/long"
	"quarry/mmap"
)

const g = mmap.Granule

// onEach runs a test on every backing of this build.
func onEach(t *testing.T, test func(t *testing.T, s *mmap.Space)) {
	for name, backing := range mmap.Backings() {
		t.Run(name, func(t *testing.T) { test(t, mmap.NewSpace(backing())) })
	}
}

func reserve(t *testing.T, s *mmap.Space, size int) *mmap.Region {
	t.Helper()
	r, err := s.Reserve(size)
	require.NoError(t, err)
	require.NoError(t, r.Verify())
	return r
}

// dirty writes every page of [off, off+n); requireZero reads all of it.
func dirty(r *mmap.Region, off, n int) {
	for i := off; i < off+n; i += 512 {
		r.Bytes()[i] = 0xA5
	}
}

func requireZero(t *testing.T, r *mmap.Region, off, n int) {
	t.Helper()
	// Safe because off and n are whole granules of ready memory, aligned to 64 KiB.
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&r.Bytes()[off])), n/8)
	for i, w := range words {
		if w != 0 {
			t.Fatalf("word at offset %d: got %#x want 0", off+8*i, w)
		}
	}
}

func TestReserve(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		for size, want := range map[int]int{1: g, g - 1: g, g: g, g + 1: 2 * g, 7 * g: 7 * g} {
			r := reserve(t, s, size)
			require.Equal(t, want, r.Size())
			require.Zero(t, uintptr(r.Base())%uintptr(s.Align()))
			require.Zero(t, r.Committed())
			require.NoError(t, r.Release())
		}
		require.GreaterOrEqual(t, s.Align(), 64<<10)
		require.PanicsWithValue(t, "mmap: Reserve: size=0 is not positive", func() { _, _ = s.Reserve(0) })
		require.PanicsWithValue(t, "mmap: Reserve: size=-7 is not positive", func() { _, _ = s.Reserve(-7) })
		want := mmap.ErrMemory
		if s.Faults() {
			want = mmap.ErrAddressSpace
		}
		// The last is refused by the system, the others before, since addresses would overflow.
		for _, size := range []int{math.MaxInt, math.MaxInt - 2*g + 1, math.MaxInt - 3*g} {
			r, err := s.Reserve(size)
			require.Nil(t, r)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "mmap: Reserve: ")
			require.ErrorContains(t, err, "lower the size")
		}
	})
}

func TestReal(t *testing.T) {
	r, err := mmap.Reserve(g)
	require.NoError(t, err)
	if mmap.Real {
		require.Zero(t, uintptr(r.Base())%g)
	}
	_, bytes := mmap.Parked()
	require.NoError(t, r.Release())
	ranges, bytesAfter := mmap.Parked()
	require.Equal(t, bytes+g, bytesAfter)
	require.Positive(t, ranges)
	require.Positive(t, mmap.PageSize())
	require.Zero(t, mmap.PageSize()&(mmap.PageSize()-1))
	require.Zero(t, mmap.HugePageSize()&(mmap.HugePageSize()-1))
}

func TestZeroAfterCommit(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		for range 3 {
			require.NoError(t, r.Commit(g, 2*g))
			require.Equal(t, 2*g, r.Committed())
			requireZero(t, r, g, 2*g)
			dirty(r, g, 2*g)
			require.NoError(t, r.Decommit(g, g))
			require.Equal(t, g, r.Committed())
			require.NoError(t, r.Commit(0, 2*g))
			requireZero(t, r, 0, 2*g)
			require.Equal(t, byte(0xA5), r.Bytes()[2*g], "the neighbour keeps its contents")
			dirty(r, 0, 2*g)
			require.NoError(t, r.Decommit(0, 3*g))
			require.NoError(t, r.Verify())
		}
		require.Zero(t, r.Committed())
		require.Zero(t, s.Runs())
		require.NoError(t, r.Release())
	})
}

func TestParked(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 3*g)
		base := r.Base()
		require.NoError(t, r.Commit(0, g))
		require.NoError(t, r.Commit(2*g, g))
		dirty(r, 0, g)
		dirty(r, 2*g, g)
		require.Equal(t, 2, s.Runs())
		require.NoError(t, r.Release())
		require.NoError(t, r.Verify())
		require.Zero(t, s.Runs())
		regions, bytes := s.Parked()
		require.Equal(t, []int{1, 3 * g}, []int{regions, bytes})

		again := reserve(t, s, 3*g-1)
		require.Equal(t, base, again.Base())
		regions, bytes = s.Parked()
		require.Equal(t, []int{0, 0}, []int{regions, bytes})
		other := reserve(t, s, 2*g)
		require.NotEqual(t, base, other.Base(), "an open region keeps its range")
		require.NoError(t, again.Commit(0, 3*g))
		requireZero(t, again, 0, 3*g)
		require.NoError(t, again.Release())
		require.NoError(t, other.Release())
	})
}

func TestBrokenContract(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(g, 2*g))
		type call func(off, n int) error
		for name, one := range map[string]struct {
			call   call
			off, n int
			text   string
		}{
			"misaligned offset": {r.Commit, 4096, g, "off=4096 is not a multiple of 2097152"},
			"negative offset":   {r.Commit, -g, g, "off=-2097152 is not"},
			"misaligned size":   {r.Decommit, g, g + 1, "n=2097153 is not"},
			"nothing":           {r.Commit, 0, 0, "n=0 is not"},
			"negative size":     {r.Decommit, g, -g, "n=-2097152 is not"},
			"behind the end":    {r.Commit, 3 * g, 2 * g, "ends behind the region, whose size is 8388608"},
			"far behind":        {r.Commit, 5 * g, g, "ends behind"},
			"overflow":          {r.Commit, 3 * g, math.MaxInt &^ (g - 1), "ends behind"},
			"ready":             {r.Commit, 0, 2 * g, "granule 1, at offset 2097152, is already ready"},
			"reserved":          {r.Decommit, 2 * g, 2 * g, "granule 3, at offset 6291456, is already reserved"},
		} {
			requirePanic(t, name, one.text, func() { _ = one.call(one.off, one.n) })
			require.NoError(t, r.Verify())
			require.Equal(t, 2*g, r.Committed())
		}
		require.NoError(t, r.Release())
		for name, use := range map[string]func(){
			"Base":     func() { r.Base() },
			"Commit":   func() { _ = r.Commit(0, g) },
			"Decommit": func() { _ = r.Decommit(0, g) },
			"Release":  func() { _ = r.Release() },
		} {
			requirePanic(t, name, "mmap: "+name+": the region has been released", use)
		}
		require.Equal(t, []int{0, 0}, []int{r.Size(), r.Committed()})
	})
}

func requirePanic(t *testing.T, name, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got, _ := recover().(string)
		require.True(t, strings.HasPrefix(got, "mmap: "), "%s: got panic %q", name, got)
		require.Contains(t, got, text, name)
	}()
	f()
}

// TestConcurrent lets goroutines work on granules of their own in one region.
func TestConcurrent(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		const workers, rounds = 4, 20
		r := reserve(t, s, workers*g)
		var wait sync.WaitGroup
		for w := range workers {
			wait.Go(func() {
				for range rounds {
					err := r.Commit(w*g, g)
					b := r.Bytes()[w*g : (w+1)*g]
					sum := b[0] + b[g-1]
					b[0], b[g-1] = 1, 1
					err = errors.Join(err, r.Decommit(w*g, g), r.Verify())
					if err != nil || sum != 0 {
						t.Errorf("worker %d: got %v, sum %d want nil, 0", w, err, sum)
						return
					}
				}
			})
		}
		wait.Wait()
		require.Zero(t, r.Committed())
		require.NoError(t, r.Release())
	})
}

// TestAgainstModel makes random transitions on random ranges and compares with
// one bool per granule and with the contents that it wrote.
func TestAgainstModel(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		const granules = 70 // more than one word of bits
		random := rand.New(rand.NewPCG(1, 2))
		model := make(slowSet, granules)
		r := reserve(t, s, granules*g)
		for range long.N(250, 600) { // each granule changes several times
			lo := random.IntN(granules)
			state := model[lo]
			hi := lo + 1
			for hi < granules && model[hi] == state && random.IntN(4) > 0 {
				hi++
			}
			if state {
				require.NoError(t, r.Decommit(lo*g, (hi-lo)*g))
			} else {
				require.NoError(t, r.Commit(lo*g, (hi-lo)*g))
				for i := lo; i < hi; i++ {
					first, last := &r.Bytes()[i*g], &r.Bytes()[(i+1)*g-1]
					require.Zero(t, *first|*last)
					*first, *last = byte(i+1), byte(i+1)
				}
			}
			model.fill(lo, hi, !state)
			ready := 0
			for i, on := range model {
				require.Equal(t, on, r.Ready(i))
				if on {
					ready += g
					require.Equal(t, byte(i+1), r.Bytes()[i*g])
					require.Equal(t, byte(i+1), r.Bytes()[(i+1)*g-1])
				}
			}
			require.Equal(t, ready, r.Committed())
			require.Equal(t, len(model.runsIn(0, granules)), s.Runs())
			require.NoError(t, r.Verify())
		}
		require.NoError(t, r.Release())
	})
}

// TestVerify corrupts each invariant: Verify must name it.
func TestVerify(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		for name, corrupt := range mmap.Corruptions {
			r := reserve(t, s, 4*g)
			require.NoError(t, r.Commit(0, g))
			corrupt(r)
			err := r.Verify()
			require.Error(t, err, name)
			require.Contains(t, err.Error(), "mmap: "+strings.Fields(name)[0]+": ", name)
		}
	})
}
