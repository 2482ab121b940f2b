package mmap_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/long"
	"quarry/mmap"
)

// TestSpaceAgainstModel reserves and releases regions of random sizes, commits, dirties
// and guards some of their granules, and compares with a slow list of what is in use:
// no two share a granule, all read zero, and a range is new only where the old ones
// have no room.
func TestSpaceAgainstModel(t *testing.T) {
	for name, backing := range mmap.Backings() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 8))
			sys := &mmap.Counted{Backing: backing()}
			s := mmap.NewSpace(sys)
			var open []*mmap.Region
			live, most := 0, 0
			for range long.N(250, 700) { // the limit of live granules is met after some fifty
				if random.IntN(2) == 0 && len(open) > 0 || live > 200*g {
					i := random.IntN(len(open))
					live -= open[i].Size()
					require.NoError(t, open[i].Release())
					open = slices.Delete(open, i, i+1)
					continue
				}
				size := (1 + random.IntN(1+random.IntN(20))) * g
				before, fits := sys.Calls, fitsParked(sys, open, size)
				r := reserve(t, s, size)
				if fresh := sys.Calls > before; sys.Blocks { // old ones may have gone to the collector
					require.True(t, fits || fresh, "%d granules", size/g)
				} else {
					require.Equal(t, fits, !fresh, "%d granules", size/g)
				}
				for _, other := range open {
					apart := uintptr(r.Base()) >= uintptr(other.Base())+uintptr(other.Size()) ||
						uintptr(other.Base()) >= uintptr(r.Base())+uintptr(r.Size())
					require.True(t, apart, "two open regions share addresses")
				}
				require.Zero(t, uintptr(r.Base())%uintptr(s.Align()))
				use(t, s, r, random)
				open, live = append(open, r), live+size
				most = max(most, live)
				_, parked := s.Parked()
				if sys.Blocks {
					require.LessOrEqual(t, parked+live, 3*most, "what is parked in pieces is bounded")
				} else {
					require.Equal(t, sys.Bytes, parked+live, "no range is lost")
				}
			}
			t.Logf("at most %d MiB in use, %d MiB in %d ranges of the backing", most>>20, sys.Bytes>>20, sys.Calls)
			for _, r := range open {
				require.NoError(t, r.Release())
			}
		})
	}
}

// fitsParked reports whether some range of the backing has room beside the open
// regions: across ranges side by side, unless each is a block of its own.
func fitsParked(sys *mmap.Counted, open []*mmap.Region, size int) bool {
	used := map[uintptr]int{} // sizes by base
	for _, r := range open {
		used[uintptr(r.Base())] = r.Size()
	}
	ranges := slices.Clone(sys.Ranges)
	slices.SortFunc(ranges, func(a, b [2]uintptr) int { return int(int64(a[0]) - int64(b[0])) })
	run, at := 0, uintptr(0)
	for _, one := range ranges {
		if one[0] > at || sys.Blocks {
			run = 0
		}
		for at = max(at, one[0]); at < one[1]; { // at is behind one[0] where a region reaches in
			if n := used[at]; n > 0 {
				run, at = 0, at+uintptr(n)
				continue
			}
			if run, at = run+g, at+g; run >= size {
				return true
			}
		}
	}
	return false
}

// use commits some granules of a region, which must read zero, dirties and guards them.
func use(t *testing.T, s *mmap.Space, r *mmap.Region, random *rand.Rand) {
	t.Helper()
	for i := range r.Size() / g {
		if random.IntN(2) == 0 {
			continue
		}
		require.NoError(t, r.Commit(i*g, g))
		requireZero(t, r, i*g, page)
		requireZero(t, r, i*g+g-page, page)
		dirty(r, i*g, page)
		dirty(r, i*g+g-page, page)
		switch {
		case random.IntN(4) == 0:
			require.NoError(t, r.Decommit(i*g, g))
		case random.IntN(4) == 0 && s.Faults():
			require.NoError(t, r.Guard(i*g+page, page))
		}
	}
	require.NoError(t, r.Verify())
}

// TestParkedServesOtherSizes: regions side by side, released, are one range for a larger one; the
// rest of what is carved stays parked, and a stale access to it is distinguished from one to the
// new region.
func TestParkedServesOtherSizes(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		whole := reserve(t, s, 12*g)
		base, stale := uintptr(whole.Base()), whole.Bytes()
		require.NoError(t, whole.Release())
		parts := []*mmap.Region{reserve(t, s, 2*g), reserve(t, s, 4*g), reserve(t, s, 5*g)} // 1 is left
		require.Equal(t, []uintptr{base, base + 2*g, base + 6*g},
			[]uintptr{uintptr(parts[0].Base()), uintptr(parts[1].Base()), uintptr(parts[2].Base())})
		for _, r := range parts {
			require.NoError(t, r.Release())
		}
		fault := func(off int) *mmap.FaultError {
			t.Helper()
			var fault *mmap.FaultError
			require.ErrorAs(t, s.Guarded(func() { stale[off] = 1 }), &fault)
			return fault
		}
		f := fault(3 * g)
		require.Equal(t, mmap.FaultParked, f.State)
		require.Equal(t, []int{g, 4 * g}, []int{f.Offset, f.Size}, "the region that was there")
		large := reserve(t, s, 10*g)
		require.Equal(t, base, uintptr(large.Base()))
		f = fault(3 * g)
		require.Equal(t, mmap.FaultReserved, f.State)
		require.Same(t, large, f.Region)
		f = fault(10*g + 5)
		require.Equal(t, mmap.FaultParked, f.State)
		require.Equal(t, []int{5, 2 * g}, []int{f.Offset, f.Size})
		require.NoError(t, large.Commit(0, 10*g))
		requireZero(t, large, 0, 10*g)
		require.NoError(t, s.Guarded(func() { stale[3*g] = 1 }), "carved and committed again: nothing catches it")
		require.NoError(t, large.Release())
		ranges, bytes := s.Parked()
		require.Equal(t, []int{2, 12 * g}, []int{ranges, bytes})
	})
}

// TestGoObjectsGoToTheCollector: regions that grow, one after the other or several at
// once, do not leave a park of all smaller sizes where a region is a Go object.
func TestGoObjectsGoToTheCollector(t *testing.T) {
	s := mmap.NewSpace(mmap.Backings()["goheap"]())
	for size := g; size <= 24*g; size += g {
		r := reserve(t, s, size)
		require.NoError(t, r.Release())
		_, parked := s.Parked()
		require.LessOrEqual(t, parked, 2*size)
	}
	for n := 1; n <= 5; n++ {
		var open []*mmap.Region
		for range n {
			open = append(open, reserve(t, s, 5*n*g))
		}
		for _, r := range open {
			require.NoError(t, r.Release())
		}
		_, parked := s.Parked()
		require.LessOrEqual(t, parked, (24+n*5*n)*g)
	}
}

// TestOneReservationAtATime: what a backing finds to be left is not taken by another
// reservation meanwhile.
func TestOneReservationAtATime(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		sys := &mmap.Alone{Backing: s.Backing()}
		s = mmap.NewSpace(sys)
		each := 100
		if testing.Short() {
			each = 5 // an emulator keeps 6 MiB of its own for each GiB that is mapped, if only for a moment
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range each {
					if _, err := s.Reserve(g); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.Zero(t, sys.Meetings.Load())
	})
}

// TestStaleFaultsWhileOthersReserve: a stale access is a fault of this package at any
// moment of a release and of a reservation that takes the range again.
func TestStaleFaultsWhileOthersReserve(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		stale := r.Bytes()
		require.NoError(t, r.Release())
		var stop atomic.Bool
		var all sync.WaitGroup
		for w := range 2 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(w), 1))
				for !stop.Load() {
					r, err := s.Reserve((1 + random.IntN(4)) * g)
					if err == nil {
						err = errors.Join(r.Verify(), r.Release())
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		states := map[mmap.FaultState]int{}
		for i := range 3000 {
			var fault *mmap.FaultError
			if err := s.Guarded(func() { stale[i%4*g] = 1 }); !errors.As(err, &fault) {
				t.Errorf("touch %d: %v", i, err)
				break
			}
			states[fault.State]++
		}
		stop.Store(true)
		all.Wait()
		require.Positive(t, states[mmap.FaultParked]+states[mmap.FaultReserved])
		require.Zero(t, states[mmap.FaultReady]+states[mmap.FaultGuard])
	})
}
