package mmap_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// operation is one public call, with the state it starts from.
type operation struct {
	prepare func(r *mmap.Region) error
	call    func(r *mmap.Region) error
}

func commitAll(spans ...[2]int) func(r *mmap.Region) error {
	return func(r *mmap.Region) (err error) {
		for _, s := range spans {
			err = errors.Join(err, r.Commit(s[0]*g, s[1]*g))
			if err == nil {
				dirty(r, s[0]*g, s[1]*g)
			}
		}
		return err
	}
}

var operations = map[string]operation{
	"Commit": {
		commitAll([2]int{0, 1}),
		func(r *mmap.Region) error { return r.Commit(g, 4*g) },
	},
	"Commit again": { // over granules that were ready before
		func(r *mmap.Region) error {
			return errors.Join(commitAll([2]int{0, 6})(r), r.Decommit(g, g), r.Decommit(3*g, 2*g))
		},
		func(r *mmap.Region) error { return r.Commit(3*g, 2*g) },
	},
	"Decommit": {
		commitAll([2]int{0, 6}),
		func(r *mmap.Region) error { return r.Decommit(g, 4*g) },
	},
	"Release": {
		commitAll([2]int{0, 1}, [2]int{2, 2}, [2]int{5, 1}),
		(*mmap.Region).Release,
	},
}

const sweepGranules = 6

func states(r *mmap.Region) (all [sweepGranules]bool) {
	for i := range all {
		all[i] = r.Ready(i)
	}
	return all
}

// TestEveryStepFails makes step k of each operation fail, for every k, alone,
// with the step after it and with all after it, on every backing.
func TestEveryStepFails(t *testing.T) {
	for name, system := range mmap.Systems() {
		for what, op := range operations {
			for _, burst := range []int{1, 2, 1000} {
				t.Run(fmt.Sprintf("%s/%s/burst=%v", name, what, burst), func(t *testing.T) {
					failed := 0
					for k := 1; failStep(t, &mmap.Flaky{System: system(), Burst: burst}, op, k); k++ {
						failed = k
					}
					want := map[string]int{"Commit": 1, "Commit again": 1, "Decommit": 1, "Release": 3}[what]
					if name == "pages" { // deny and drop per run; the Go heap drops at Commit
						want = map[string]int{"Commit": 1, "Commit again": 1, "Decommit": 2, "Release": 6}[what]
					} else if what == "Commit again" {
						want = 2
					}
					require.Equal(t, want, failed, "steps of one call")
				})
			}
		}
	}
}

// failStep reports whether the operation has a step k; if so it was refused and
// the checks of a refusal hold.
func failStep(t *testing.T, f *mmap.Flaky, op operation, k int) bool {
	t.Helper()
	s := mmap.NewSpace(f)
	r := reserve(t, s, sweepGranules*g)
	base := r.Base()
	require.NoError(t, op.prepare(r))
	before, committed, runs := states(r), r.Committed(), s.Runs()

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
	if f.Burst == 1 || refused.Op == "Commit" {
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.Equal(t, before, states(r))
		require.Equal(t, []int{committed, runs}, []int{r.Committed(), s.Runs()})
	} else {
		require.ErrorIs(t, err, mmap.ErrAccess)
		require.Less(t, r.Committed(), committed)
	}

	// What is ready can be written; what is reserved has no access unless taking
	// it away was refused too, can be committed, and reads zero even if a stray
	// write got through.
	denied := f.Burst == 1 || f.Burst == 2 && refused.Op != "Commit"
	for i, ready := range states(r) {
		if !ready {
			if s.Faults() {
				for _, off := range []int{0, g - 1} {
					fault := faultAt(func() { r.Bytes()[i*g+off] = 1 })
					require.True(t, fault != 0 || !denied, "stray write to reserved granule %d", i)
				}
			}
			require.NoError(t, r.Commit(i*g, g))
			requireZero(t, r, i*g, g)
		}
		dirty(r, i*g, g)
	}
	require.NoError(t, r.Decommit(0, sweepGranules*g))
	require.NoError(t, r.Release())
	again := reserve(t, s, sweepGranules*g)
	require.Equal(t, base, again.Base(), "the range is not lost")
	require.NoError(t, again.Commit(0, sweepGranules*g))
	requireZero(t, again, 0, sweepGranules*g)
	require.Equal(t, 1, f.Live)
	return true
}

func TestReserveFails(t *testing.T) {
	for name, system := range mmap.Systems() {
		f := &mmap.Flaky{System: system(), At: 1, Burst: 1}
		s := mmap.NewSpace(f)
		r, err := s.Reserve(g)
		require.Nil(t, r, name)
		require.ErrorIs(t, err, mmap.ErrFlaky)
		regions, _ := s.Parked()
		require.Equal(t, []int{0, 0}, []int{regions, f.Live})
		require.NoError(t, reserve(t, s, g).Release())
	}
}

// TestOrderOfSteps pins what makes a failure harmless: access goes first and
// comes last.
func TestOrderOfSteps(t *testing.T) {
	f := &mmap.Flaky{System: mmap.Systems()["goheap"]()}
	s := mmap.NewSpace(f)
	r := reserve(t, s, 2*g)
	require.NoError(t, r.Commit(0, 2*g))
	require.NoError(t, r.Decommit(0, g))
	require.NoError(t, r.Commit(0, g))
	require.NoError(t, r.Release())
	require.Equal(t, []string{"reserve", "allow", "deny", "drop", "allow", "deny"}, f.Trace)
	if pages, ok := mmap.Systems()["pages"]; ok {
		f = &mmap.Flaky{System: pages()}
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
	for name, system := range mmap.Systems() {
		t.Run(name, func(t *testing.T) {
			s := mmap.NewSpace(mmap.Frugal{System: system(), Limit: 3})
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
