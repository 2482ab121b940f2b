package mmap_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/guard"
	"quarry/mmap"
)

// onGuards runs a test on every backing of this build that has guards.
func onGuards(t *testing.T, test func(t *testing.T, s *mmap.Space)) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		if s.Guards() == mmap.GuardNone {
			t.Skip("Go objects cannot be guarded: TestGuardNone")
		}
		test(t, s)
	})
}

// TestGuard: guarded pages fault at their first and last byte, their neighbours
// do not, and reads zero follows from Unguard.
func TestGuard(t *testing.T) {
	onGuards(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(g, 3*g))
		dirty(r, g, 3*g)
		lo, n := 2*g-2*page, 5*page // across a border of granules
		require.NoError(t, r.Guard(lo, n))
		require.NoError(t, r.Verify())
		require.Equal(t, n, r.GuardedSize())
		require.Equal(t, 3*g, r.Committed(), "a guard is in ready memory")
		base, b := uintptr(r.Base()), r.Bytes()
		for _, off := range []int{lo, lo + page - 1, lo + page, 2*g - 1, 2 * g, lo + n - 1} {
			require.Equal(t, guard.Fault(base+uintptr(off)), faultAt(func() { b[off] = 1 }), "write at %d", off)
			require.Equal(t, guard.Fault(base+uintptr(off)), faultAt(func() { sink = b[off] }), "read at %d", off)
		}
		require.Zero(t, faultAt(func() { b[lo-1]++; b[lo+n]++ }), "neighbours")
		require.Equal(t, base+uintptr(lo), faultAt(func() { clear(b[lo-100 : lo+n]) }), "an overrun")

		require.NoError(t, r.Unguard(lo+page, page)) // a hole
		require.Equal(t, [][2]int{{lo, page}, {lo + 2*page, 3 * page}}, r.GuardRuns())
		requireZero(t, r, lo+page, page)
		require.NotZero(t, faultAt(func() { b[lo+page-1] = 1 }))
		require.NotZero(t, faultAt(func() { b[lo+2*page] = 1 }))
		require.NoError(t, r.Unguard(lo, page))
		require.NoError(t, r.Unguard(lo+2*page, 3*page))
		requireZero(t, r, lo, page)
		requireZero(t, r, lo+2*page, 3*page)
		require.Zero(t, r.GuardedSize())
		require.Equal(t, 1, s.Runs())
		require.Equal(t, byte(0xA5), b[g], "the rest keeps its contents")
		require.NoError(t, r.Release())
		require.Zero(t, r.GuardedSize())
		require.Zero(t, s.Runs())
	})
}

var sink byte

// TestGuardsEnd: after Decommit, and after Release and Reserve, no guard is left.
func TestGuardsEnd(t *testing.T) {
	onGuards(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 3*g)
		base := r.Base()
		for range 3 {
			require.NoError(t, r.Commit(0, 3*g))
			require.NoError(t, r.Guard(page, 2*page))
			require.NoError(t, r.Guard(2*g-page, 2*page))
			require.NoError(t, r.Decommit(0, 2*g))
			require.Equal(t, [][2]int{{2 * g, page}}, r.GuardRuns(), "those of the granule that is ready")
			require.NotZero(t, faultAt(func() { r.Bytes()[2*g] = 1 }))
			require.NoError(t, r.Commit(0, 2*g))
			requireZero(t, r, 0, 2*g)
			dirty(r, 0, 2*g)
			require.NoError(t, r.Guard(0, g)) // a whole granule
			require.NoError(t, r.Release())
			r = reserve(t, s, 3*g)
			require.Equal(t, base, r.Base())
			require.Zero(t, r.GuardedSize())
			require.NoError(t, r.Commit(0, 3*g))
			requireZero(t, r, 0, 3*g)
			require.NoError(t, r.Decommit(0, 3*g))
		}
		require.NoError(t, r.Release())
	})
}

// TestGuardNone: the contract is checked first, then the backing refuses.
func TestGuardNone(t *testing.T) {
	s := mmap.NewSpace(mmap.Backings()["goheap"]())
	require.Equal(t, "none", s.Guards().String())
	r := reserve(t, s, 2*g)
	require.NoError(t, r.Commit(0, g))
	r.Bytes()[page] = 7
	for name, err := range map[string]error{
		"Guard":  r.Guard(page, page),
		"Lock":   r.Lock(0, g),
		"Hint":   r.Hint(mmap.NoDump, true),
		"Advise": r.Advise(0, g, mmap.Cold),
		"Fine":   r.Fine(0, true),
	} {
		require.ErrorIs(t, err, mmap.ErrUnsupported, name)
		require.ErrorIs(t, err, errors.ErrUnsupported, name)
		require.NotErrorIs(t, err, mmap.ErrMemory, name)
		require.ErrorContains(t, err, "mmap: "+name+": ")
	}
	require.Equal(t, byte(7), r.Bytes()[page])
	require.Equal(t, []int{0, 1}, []int{r.GuardedSize(), s.Runs()})
	require.False(t, r.Locked(0))
	require.Zero(t, r.Hints())
	require.NoError(t, r.Decommit(0, g))
	require.NoError(t, r.Release())
}

func TestGuardContract(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(g, 2*g))
		guarded := s.Guards() != mmap.GuardNone
		for name, one := range map[string]struct {
			call   func(off, n int) error
			off, n int
			text   string
			when   bool
		}{
			"misaligned offset":   {r.Guard, g + 1, page, "mmap: Guard: off=2097153 is not a multiple of", true},
			"misaligned size":     {r.Unguard, g, page + 1, "is not a positive multiple of", true},
			"nothing":             {r.Prefault, g, 0, "mmap: Prefault: n=0 is not", true},
			"behind the end":      {r.Guard, 4*g - page, 2 * page, "ends behind the region, whose size is 8388608", true},
			"reserved":            {r.Guard, 3*g - page, 2 * page, "granule 3, at offset 6291456, is reserved", true},
			"reserved at first":   {r.Prefault, g - page, 2 * page, "granule 0, at offset 0, is reserved", true},
			"not guarded":         {r.Unguard, g, page, "the page at offset 2097152 is not guarded", true},
			"guarded in part":     {r.Unguard, g + 2*page, 2 * page, "is not guarded", guarded},
			"guarded":             {r.Guard, g + page, 2 * page, "is already guarded", guarded},
			"prefault of a guard": {r.Prefault, g, g, "is guarded", guarded},
			"lock of a guard":     {r.Lock, g, g, "is guarded", guarded},
			"lock of reserved":    {r.Lock, 2 * g, 2 * g, "granule 3, at offset 6291456, is reserved", true},
			"unlock":              {r.Unlock, g, g, "granule 1, at offset 2097152, is not locked", true},
		} {
			if !one.when {
				continue
			}
			if guarded && name != "not guarded" {
				require.NoError(t, r.Guard(g+2*page, page))
			}
			requirePanic(t, name, one.text, func() { _ = one.call(one.off, one.n) })
			require.NoError(t, r.Verify())
			if r.GuardedSize() > 0 {
				require.NoError(t, r.Unguard(g+2*page, page))
			}
		}
		requirePanic(t, "hint", "mmap: Hint: Hint(3) is not one of", func() { _ = r.Hint(3, true) })
		requirePanic(t, "hint", "mmap: Hint: Hint(8) is not one of", func() { _ = r.Hint(8, true) })
		requirePanic(t, "fine", "mmap: Fine: off=4096 is not a multiple of 2097152", func() { _ = r.Fine(4096, true) })
		requirePanic(t, "fine", "mmap: Fine: off=8388608 n=2097152 ends behind", func() { _ = r.Fine(4*g, true) })
		requirePanic(t, "advice", "mmap: Advise: advice 9 is not one of", func() { _ = r.Advise(g, g, 9) })
		require.NoError(t, r.Release())
		for name, use := range map[string]func(){
			"Guard":    func() { _ = r.Guard(0, page) },
			"Unguard":  func() { _ = r.Unguard(0, page) },
			"Prefault": func() { _ = r.Prefault(0, page) },
			"Lock":     func() { _ = r.Lock(0, g) },
			"Unlock":   func() { _ = r.Unlock(0, g) },
			"Hint":     func() { _ = r.Hint(mmap.NoDump, true) },
			"Name":     func() { r.Name("late") },
			"Advise":   func() { _ = r.Advise(0, page, mmap.Cold) },
			"Fine":     func() { _ = r.Fine(0, true) },
		} {
			requirePanic(t, name, "mmap: "+name+": the region has been released", use)
		}
	})
}

// TestGuardBudget: where a guard is a mapping it counts against the same budget
// as ready ranges; where it is a mark it is free.
func TestGuardBudget(t *testing.T) {
	for name, backing := range mmap.Backings() {
		t.Run(name, func(t *testing.T) {
			s := mmap.NewSpace(mmap.Frugal{Backing: backing(), Limit: 4})
			if s.Guards() == mmap.GuardNone {
				t.Skip("Go objects cannot be guarded: TestGuardNone")
			}
			r := reserve(t, s, 4*g)
			require.NoError(t, r.Commit(0, 2*g)) // 1 run
			for i := range 3 {
				require.NoError(t, r.Guard((1+4*i)*page, 3*page))
			}
			if s.Guards() == mmap.GuardMark {
				require.NoError(t, r.Guard(g, page))
				require.Equal(t, 1, s.Runs())
				require.NoError(t, r.Release())
				return
			}
			before := r.GuardRuns()
			for _, err := range []error{r.Guard(g, page), r.Unguard(2*page, page), r.Commit(3*g, g), r.Lock(g, g)} {
				require.ErrorIs(t, err, mmap.ErrMemory)
				require.ErrorContains(t, err, "too many separate ready ranges")
				require.Equal(t, before, r.GuardRuns())
				require.Equal(t, 4, s.Runs())
				require.NoError(t, r.Verify())
			}
			require.NoError(t, r.Guard(4*page, page)) // joins two
			require.Equal(t, 3, s.Runs())
			require.NoError(t, r.Guard(g, page))
			require.NoError(t, r.Decommit(0, g)) // its guards end
			require.Equal(t, 2, s.Runs())
			require.NoError(t, r.Release())
			require.Zero(t, s.Runs())
		})
	}
}

func TestGuardKind(t *testing.T) {
	require.Equal(t, mmap.Real, mmap.Guards() != mmap.GuardNone)
	require.Equal(t, "none access mark GuardKind(9)",
		mmap.GuardNone.String()+" "+mmap.GuardAccess.String()+" "+mmap.GuardMark.String()+" "+
			mmap.GuardKind(9).String())
}
