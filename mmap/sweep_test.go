package mmap_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// operation is one public call, with the state it starts from and the steps of a
// call that succeeds, by Guards of the backing; what is not listed is not
// offered there.
type operation struct {
	prepare func(r *mmap.Region) error
	call    func(r *mmap.Region) error
	steps   map[mmap.GuardKind]int
}

// Abbreviations for the table.
const (
	none   = mmap.GuardNone
	access = mmap.GuardAccess
	mark   = mmap.GuardMark
)

type steps = map[mmap.GuardKind]int

func commitAll(ranges ...[2]int) func(r *mmap.Region) error {
	return func(r *mmap.Region) (err error) {
		for _, s := range ranges {
			err = errors.Join(err, r.Commit(s[0]*g, s[1]*g))
			if err == nil {
				dirty(r, s[0]*g, s[1]*g)
			}
		}
		return err
	}
}

// guardSome is a guard inside granule 0 and one across the border of 2 and 3.
func guardSome(r *mmap.Region) error {
	err := commitAll([2]int{0, 6})(r)
	return errors.Join(err, r.Guard(3*page, 2*page), r.Guard(3*g-3*page, 6*page))
}

var page = mmap.PageSize()

// onLinux is a table for what only Linux offers.
func onLinux(n int) steps {
	if runtime.GOOS != "linux" {
		return nil
	}
	return steps{access: n, mark: n}
}

// onFine is a table for what only systems with pages of two sizes offer.
func onFine(n int) steps {
	if runtime.GOOS != "linux" {
		return nil
	}
	s := mmap.NewSpace(mmap.Backings()["pages"]()) // of its own: the process parks nothing
	r, err := s.Reserve(g)
	if err == nil {
		err = errors.Join(r.Fine(0, true), r.Release(), s.Unmap())
	}
	if err != nil {
		return nil
	}
	return onLinux(n)
}

// fineSome makes the granules 1 to 3 fine.
func fineSome(r *mmap.Region) error {
	return errors.Join(r.Fine(g, true), r.Fine(2*g, true), r.Fine(3*g, true))
}

var operations = map[string]operation{
	"Commit": {
		commitAll([2]int{0, 1}),
		func(r *mmap.Region) error { return r.Commit(g, 4*g) },
		steps{none: 1, access: 1, mark: 1},
	},
	"Resident": { // two runs of ready granules
		func(r *mmap.Region) error { return errors.Join(commitAll([2]int{0, 2}, [2]int{3, 1})(r)) },
		func(r *mmap.Region) error { _, err := r.Resident(); return err },
		onLinux(2),
	},
	"Commit again": { // over granules that were ready before
		func(r *mmap.Region) error {
			return errors.Join(commitAll([2]int{0, 6})(r), r.Decommit(g, g), r.Decommit(3*g, 2*g))
		},
		func(r *mmap.Region) error { return r.Commit(3*g, 2*g) },
		steps{none: 2, access: 1, mark: 1},
	},
	"Commit after guards": {
		func(r *mmap.Region) error { return errors.Join(guardSome(r), r.Decommit(g, 4*g)) },
		func(r *mmap.Region) error { return r.Commit(g, 4*g) },
		steps{access: 1, mark: 3},
	},
	"Decommit": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Decommit(g, 4*g) },
		steps{none: 1, access: 2, mark: 2},
	},
	"Decommit guards": {
		guardSome,
		func(r *mmap.Region) error { return r.Decommit(0, 5*g) },
		steps{access: 2, mark: 2},
	},
	"Release": {
		commitAll([2]int{0, 1}, [2]int{2, 2}, [2]int{5, 1}),
		(*mmap.Region).Release,
		steps{none: 3, access: 6, mark: 6},
	},
	"Release guards": {guardSome, (*mmap.Region).Release, steps{access: 2, mark: 2}},
	"Release locks and hints": {
		func(r *mmap.Region) error {
			return errors.Join(guardSome(r), r.Lock(g, g), r.Lock(4*g, 2*g),
				r.Hint(mmap.NoDump, true), r.Hint(mmap.WipeOnFork, true))
		},
		(*mmap.Region).Release,
		onLinux(6),
	},
	"Guard": {
		guardSome,
		func(r *mmap.Region) error { return r.Guard(g+3*page, g+5*page) },
		steps{access: 2, mark: 1},
	},
	"Unguard": {
		guardSome,
		func(r *mmap.Region) error { return r.Unguard(3*g-page, 2*page) },
		steps{access: 2, mark: 2},
	},
	"Lock": {
		guardSome,
		func(r *mmap.Region) error { return r.Lock(4*g, 2*g) },
		onLinux(1),
	},
	"Unlock": {
		func(r *mmap.Region) error { return errors.Join(guardSome(r), r.Lock(4*g, 2*g)) },
		func(r *mmap.Region) error { return r.Unlock(4*g, g) },
		onLinux(1),
	},
	"Prefault": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Prefault(g, 4*g) },
		steps{none: 1, access: 1, mark: 1},
	},
	"Discard": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Discard(g+page, 2*g) },
		onLinux(1),
	},
	"Hint": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Hint(mmap.NoDump, true) },
		onLinux(1),
	},
	"Fine": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Fine(g, true) },
		onFine(1),
	},
	"Fine off": {
		func(r *mmap.Region) error { return errors.Join(commitAll([2]int{0, 6})(r), fineSome(r)) },
		func(r *mmap.Region) error { return r.Fine(2*g, false) },
		onFine(1),
	},
	"Release fine": {
		func(r *mmap.Region) error { return errors.Join(r.Commit(0, g), fineSome(r)) },
		(*mmap.Region).Release,
		onFine(5),
	},
	"Hint of small pages": {
		fineSome,
		func(r *mmap.Region) error { return r.Hint(mmap.SmallPages, true) },
		onFine(4),
	},
	"MapFile": {
		commitAll([2]int{0, 1}),
		func(r *mmap.Region) error { return r.MapFile(g, 4*g, numbered(), g) },
		onUnix(1),
	},
	"MapFile again": { // over granules that were ready before
		func(r *mmap.Region) error { return errors.Join(commitAll([2]int{0, 6})(r), r.Decommit(g, 3*g)) },
		func(r *mmap.Region) error { return r.MapFile(g, 2*g, numbered(), 0) },
		onUnix(1),
	},
	"Decommit of a file": { // and of pages beside it
		mapSome,
		func(r *mmap.Region) error { return r.Decommit(0, 5*g) },
		onUnix(5),
	},
	"Release of a file": {mapSome, (*mmap.Region).Release, onUnix(6)},
	"Advise": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Advise(g, 4*g, mmap.Cold) },
		onLinux(1),
	},
}

const sweepGranules = 6

// mapSome maps files over the granules 1 and 2, and 4.
func mapSome(r *mmap.Region) error {
	err := commitAll([2]int{0, 1}, [2]int{3, 1}, [2]int{5, 1})(r)
	return errors.Join(err, r.MapFile(g, 2*g, numbered(), 2*g), r.MapFile(4*g, g, numbered(), 0))
}

// onUnix is a table for what only systems offer that map files at a place.
func onUnix(n int) steps {
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		return steps{access: n, mark: n}
	}
	return nil
}

// condition is all that a region reports of itself.
type condition struct {
	ready, locked, fine      [sweepGranules]bool
	guards                   [][2]int
	hints                    mmap.Hint
	committed, runs, guarded int
}

func examine(s *mmap.Space, r *mmap.Region) (c condition) {
	for i := range sweepGranules {
		c.ready[i], c.locked[i], c.fine[i] = r.Ready(i), r.Locked(i), r.IsFine(i)
	}
	c.guards, c.hints = r.GuardRuns(), r.Hints()
	c.committed, c.guarded = r.Committed(), r.GuardedSize()
	c.runs = s.Runs() - r.FiledRuns() // a refusal may have renewed granules, or left some to renew
	return c
}

// TestEveryStepFails makes step k of each operation fail, for every k, alone,
// with the step after it and with all after it, on every backing.
func TestEveryStepFails(t *testing.T) {
	eachOperation(t, func(t *testing.T, backing func() mmap.Backing, op operation, want int) {
		for _, burst := range []int{1, 2, 1000} {
			failed := 0
			for k := 1; failStep(t, &mmap.Flaky{Backing: backing(), At: k, Burst: burst}, op); k++ {
				failed = k
			}
			require.Equal(t, want, failed, "steps of one call, burst=%d", burst)
		}
	})
}

// TestTwoStepsFail makes step k and a step of the way back fail, for every k and
// each of the six steps after it; in short mode every third of these, since each reservation
// maps 1 GiB to see whether it is there, of which an emulator keeps 6 MiB of notes.
func TestTwoStepsFail(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 3
	}
	eachOperation(t, func(t *testing.T, backing func() mmap.Backing, op operation, want int) {
		for k := 1; k <= want; k++ {
			for also := k + 2; also <= k+7; also += stride {
				require.True(t, failStep(t, &mmap.Flaky{Backing: backing(), At: k, Burst: 1, Also: also}, op))
			}
		}
	})
}

func eachOperation(t *testing.T, test func(t *testing.T, backing func() mmap.Backing, op operation, want int)) {
	for name, backing := range mmap.Backings() {
		kind := mmap.NewSpace(backing()).Guards()
		for what, op := range operations {
			if want, offered := op.steps[kind]; offered {
				t.Run(name+"/"+what, func(t *testing.T) { test(t, backing, op, want) })
			}
		}
	}
}

// failStep reports whether the operation has a step f.At; if so it was refused
// and the checks of a refusal hold.
func failStep(t *testing.T, f *mmap.Flaky, op operation) bool {
	t.Helper()
	k := f.At
	f.At = 0
	s := mmap.NewSpace(f)
	r := reserve(t, s, sweepGranules*g)
	base := r.Base()
	require.NoError(t, op.prepare(r))
	before := examine(s, r)

	f.Steps, f.At = 0, k
	err := op.call(r)
	reached := f.Steps >= k
	f.At = 0
	require.NoError(t, r.Verify())
	if !reached {
		require.NoError(t, err)
		return false
	}
	var refused *mmap.Error
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, mmap.ErrFlaky)
	require.NotErrorIs(t, err, mmap.ErrAddressSpace)
	require.Equal(t, base, r.Base())
	after := examine(s, r)
	if errors.Is(err, mmap.ErrAccess) {
		require.Greater(t, len(f.Fails), 1, "the way back was refused too")
		require.True(t, after.committed < before.committed || after.guarded > before.guarded ||
			after.locked != before.locked)
	} else {
		require.ErrorIs(t, err, mmap.ErrMemory)
		if refused.Op == "Release" || refused.Op == "Hint" { // locks, small pages and hints go first
			after.locked, after.hints, after.fine = before.locked, before.hints, before.fine
			after.runs = before.runs
		}
		require.Equal(t, before, after)
	}
	recoverFrom(t, f, s, r)
	require.NoError(t, r.Release())
	again := reserve(t, s, sweepGranules*g)
	require.Equal(t, base, again.Base(), "the range is not lost")
	require.NoError(t, again.Commit(0, sweepGranules*g))
	requireZero(t, again, 0, sweepGranules*g)
	require.Equal(t, 1, f.Live)
	require.NoError(t, again.Release())
	require.NoError(t, s.Unmap())
	return true
}

// recoverFrom uses a region after a refusal: what is ready can be written; what
// is guarded or reserved has no access unless taking it away was refused too,
// can be made ready, and reads zero even if a stray write got through.
func recoverFrom(t *testing.T, f *mmap.Flaky, s *mmap.Space, r *mmap.Region) {
	t.Helper()
	stray := func(off int, denied bool) {
		if s.Faults() {
			fault := faultAt(func() { r.Bytes()[off] = 1 })
			require.True(t, fault != 0 || !denied, "stray write at offset %d", off)
		}
	}
	denied := !slices.Contains(f.Fails[1:], "deny")
	for i := range sweepGranules {
		if r.Locked(i) {
			require.NoError(t, r.Unlock(i*g, g))
		}
	}
	for _, guard := range r.GuardRuns() {
		for off := guard[0]; off < guard[0]+guard[1]; off += page {
			stray(off, len(f.Fails) == 1)
			stray(off+page-1, len(f.Fails) == 1)
		}
		require.NoError(t, r.Unguard(guard[0], guard[1]))
		requireZero(t, r, guard[0], guard[1])
	}
	for i := range sweepGranules {
		if !r.Ready(i) {
			stray(i*g, denied)
			stray(i*g+g-1, denied)
			require.NoError(t, r.Commit(i*g, g))
			requireZero(t, r, i*g, g)
		}
		dirty(r, i*g, g)
	}
	require.NoError(t, r.Decommit(0, sweepGranules*g))
}

func TestReserveFails(t *testing.T) {
	for name, backing := range mmap.Backings() {
		f := &mmap.Flaky{Backing: backing(), At: 1, Burst: 1}
		s := mmap.NewSpace(f)
		r, err := s.Reserve(g)
		require.Nil(t, r, name)
		require.ErrorIs(t, err, mmap.ErrFlaky)
		regions, _ := s.Parked()
		require.Equal(t, []int{0, 0}, []int{regions, f.Live})
		require.NoError(t, reserve(t, s, g).Release())
	}
}

// TestReserveUpToFails makes any run of steps fail: either a region comes, of one
// of the halvings, or nothing is left behind.
func TestReserveUpToFails(t *testing.T) {
	for at := 1; at <= 9; at++ {
		for burst := 1; burst <= 9; burst++ {
			f := &mmap.Flaky{Backing: mmap.Backings()["goheap"](), At: at, Burst: burst}
			s := mmap.NewSpace(f)
			r, err := s.ReserveUpTo(8*g, g)
			failed := len(f.Fails)
			require.Equal(t, failed > 0, at == 1)
			if err != nil {
				require.ErrorIs(t, err, mmap.ErrFlaky)
				require.GreaterOrEqual(t, failed, 4) // 8, 4, 2, 1
				require.Zero(t, f.Live)
				continue
			}
			require.Equal(t, 8*g>>failed, r.Size())
			require.Equal(t, []int{8 * g, 1}, []int{r.Asked(), f.Live})
			require.Equal(t, failed == 0, r.Refusal() == nil)
			require.NoError(t, r.Verify())
			require.NoError(t, r.Release())
		}
	}
	// 8, room for 4 and 4, room for 2 and 2.
	f := &mmap.Flaky{Backing: mmap.Backings()["goheap"](), At: 1, Burst: 1, Also: 3}
	r, err := mmap.NewSpace(f).ReserveUpTo(8*g, g)
	require.NoError(t, err)
	require.Equal(t, 2*g, r.Size())
	require.Equal(t, []string{"reserve", "room", "reserve", "room", "reserve"}, f.Trace)
	require.Equal(t, []string{"reserve", "reserve"}, f.Fails)
}

// TestOrderOfSteps pins what makes a failure harmless: access goes first and
// comes last.
func TestOrderOfSteps(t *testing.T) {
	f := &mmap.Flaky{Backing: mmap.Backings()["goheap"]()}
	s := mmap.NewSpace(f)
	r := reserve(t, s, 2*g)
	require.NoError(t, r.Commit(0, 2*g))
	require.NoError(t, r.Decommit(0, g))
	require.NoError(t, r.Commit(0, g))
	require.NoError(t, r.Release())
	require.Equal(t, []string{"reserve", "allow", "deny", "drop", "allow", "deny"}, f.Trace)
	if pages, ok := mmap.Backings()["pages"]; ok {
		f = &mmap.Flaky{Backing: pages()}
		r = reserve(t, mmap.NewSpace(f), 2*g)
		require.NoError(t, r.Commit(0, g))
		require.NoError(t, r.Decommit(0, g))
		require.NoError(t, r.Release())
		require.Equal(t, []string{"reserve", "allow", "deny", "drop"}, f.Trace)
	}
}

// TestMappings: ready ranges that touch no other stop at the limit, with an
// error; growing one goes on.
func TestMappings(t *testing.T) {
	for name, backing := range mmap.Backings() {
		t.Run(name, func(t *testing.T) {
			s := mmap.NewSpace(mmap.Frugal{Backing: backing(), Limit: 3})
			r, other := reserve(t, s, 8*g), reserve(t, s, 3*g)
			require.NoError(t, r.Commit(0, g))
			require.NoError(t, r.Commit(2*g, g))
			require.NoError(t, other.Commit(0, 3*g))
			for _, err := range []error{r.Commit(4*g, g), other.Decommit(g, g)} {
				require.ErrorIs(t, err, mmap.ErrMemory)
				require.ErrorContains(t, err, "too many separate ready ranges")
				require.Equal(t, 3, s.Runs())
			}
			require.Equal(t, []int{2 * g, 3 * g}, []int{r.Committed(), other.Committed()})
			require.NoError(t, r.Commit(g, g)) // joins two
			require.NoError(t, r.Commit(4*g, g))
			require.NoError(t, r.Release())
			require.NoError(t, other.Decommit(g, g))
			require.NoError(t, other.Release())
			require.Zero(t, s.Runs())
		})
	}
}
