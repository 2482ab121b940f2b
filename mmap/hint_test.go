package mmap_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestPrefault: contents stay, on every backing, over more than one step.
func TestPrefault(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		const granules = 33 // 66 MiB: a step is 64
		r := reserve(t, s, granules*g)
		require.NoError(t, r.Commit(0, granules*g))
		b := r.Bytes()
		for i := range granules {
			b[i*g], b[(i+1)*g-1] = byte(i+1), byte(i+1)
		}
		require.NoError(t, r.Prefault(page, page))
		require.NoError(t, r.Prefault(0, granules*g))
		for i := range granules {
			require.Equal(t, []byte{byte(i + 1), byte(i + 1)}, []byte{b[i*g], b[(i+1)*g-1]})
			clear(b[i*g : i*g+1])
			clear(b[(i+1)*g-1 : (i+1)*g])
		}
		requireZero(t, r, 0, granules*g)
		require.NoError(t, r.Verify())
		require.NoError(t, r.Release())
	})
}

// TestReserveUpTo: what is refused is halved, down to least, and the region reports it.
func TestReserveUpTo(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r, err := s.ReserveUpTo(3*g-1, g)
		require.NoError(t, err)
		require.Equal(t, []int{3 * g, 3 * g}, []int{r.Size(), r.Asked()})
		require.NoError(t, r.Refusal())
		require.NoError(t, r.Release())
		require.Equal(t, 3*g, r.Asked(), "it stays")

		for name, limit := range map[string]int{"some": 41 * g, "least": 2 * g, "none": g} {
			capped := mmap.NewSpace(mmap.Capped{Backing: mmap.Backings()["goheap"](), Limit: limit})
			r, err := capped.ReserveUpTo(80*g, 2*g) // 80, 40, 20 needs 80, 10 needs 40 of 41
			if name == "none" {
				require.Nil(t, r)
				require.ErrorIs(t, err, mmap.ErrFlaky)
				require.ErrorContains(t, err, "mmap: Reserve: 4194304 bytes of address space: ")
				continue
			}
			require.NoError(t, err)
			want := map[string]int{"some": 10 * g, "least": 2 * g}[name]
			require.Equal(t, []int{want, 80 * g}, []int{r.Size(), r.Asked()}, name)
			var refused *mmap.Error
			require.ErrorAs(t, r.Refusal(), &refused)
			require.Greater(t, refused.Size, want)
			require.ErrorIs(t, r.Refusal(), mmap.ErrFlaky)
			require.NoError(t, r.Release())
		}
		for _, bad := range [][2]int{{g, 0}, {g, -1}, {g, g + 1}, {0, 0}, {-1, -1}} {
			requirePanic(t, "sizes", "mmap: ReserveUpTo: least=", func() { _, _ = s.ReserveUpTo(bad[0], bad[1]) })
		}
		_, err = s.ReserveUpTo(math.MaxInt, math.MaxInt)
		require.Error(t, err)
	})
	r, err := mmap.ReserveUpTo(g, 1)
	require.NoError(t, err)
	require.NoError(t, r.Release())
}

// TestReserveUpToEverySize: whatever the limit, the result is the largest of the
// halvings that it permits with three times as much to spare, or least.
func TestReserveUpToEverySize(t *testing.T) {
	for limit := 1; limit <= 24; limit++ {
		for _, least := range []int{1, 2, 3, 7, 13, 20} {
			s := mmap.NewSpace(mmap.Capped{Backing: mmap.Backings()["goheap"](), Limit: limit * g})
			want := 0
			for try := 20 * g; want == 0 && try > least*g; try /= 2 {
				if up := (try + g - 1) / g * g; up <= limit*g && (try == 20*g || 4*up <= limit*g) {
					want = up
				}
			}
			if want == 0 && least <= limit {
				want = least * g
			}
			r, err := s.ReserveUpTo(20*g, least*g)
			if want == 0 {
				require.ErrorIs(t, err, mmap.ErrFlaky, "limit=%d least=%d", limit, least)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, r.Size(), "limit=%d least=%d", limit, least)
			require.Equal(t, want == 20*g, r.Refusal() == nil)
		}
	}
}

// TestReserveUpToSharesWhatIsParked: a region that is less than was wanted takes no more
// than a quarter of what is left, that which is parked counted in.
func TestReserveUpToSharesWhatIsParked(t *testing.T) {
	s := mmap.NewSpace(mmap.Capped{Backing: mmap.Backings()["goheap"](), Limit: 41 * g})
	whole := reserve(t, s, 40*g)
	base := whole.Base()
	require.NoError(t, whole.Release())
	r, err := s.ReserveUpTo(80*g, 2*g) // 40 needs 120 beside those parked, 20 needs 40
	require.NoError(t, err)
	require.Equal(t, 20*g, r.Size())
	require.Equal(t, base, r.Base())
	require.NoError(t, r.Release())
}

// TestHints: a hint is on until it is switched off or the region ends.
func TestHints(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 2*g)
		require.NoError(t, r.Commit(0, g))
		for h, name := range map[mmap.Hint]string{
			mmap.NoDump: "NoDump", mmap.WipeOnFork: "WipeOnFork", mmap.SmallPages: "SmallPages",
		} {
			require.Equal(t, name, h.String())
			err := r.Hint(h, true)
			if err != nil {
				require.ErrorIs(t, err, mmap.ErrUnsupported)
				require.Zero(t, r.Hints())
				require.True(t, runtime.GOOS != "linux" || !s.Faults() || h == mmap.SmallPages, err)
				continue
			}
			require.Equal(t, h, r.Hints())
			require.NoError(t, r.Hint(h, true)) // again
			require.NoError(t, r.Hint(h, false))
			require.NoError(t, r.Hint(h, false))
			require.Zero(t, r.Hints())
		}
		for _, a := range []mmap.Advice{mmap.Collapse, mmap.WillNeed, mmap.Cold, mmap.PageOut} {
			r.Bytes()[page] = 3
			if err := r.Advise(0, g, a); err != nil {
				require.True(t, errors.Is(err, mmap.ErrUnsupported) || errors.Is(err, mmap.ErrMemory), err)
			}
			require.Equal(t, byte(3), r.Bytes()[page], "advice changes no contents")
		}
		r.Name("hints")
		require.NoError(t, r.Verify())
		require.NoError(t, r.Release())
	})
}

// TestNameEnds: a parked range has no name.
func TestNameEnds(t *testing.T) {
	for _, backing := range mmap.Backings() {
		f := &mmap.Flaky{Backing: backing()}
		s := mmap.NewSpace(f)
		r := reserve(t, s, g)
		require.NoError(t, r.Release())
		require.Empty(t, f.Names)
		r = reserve(t, s, g)
		r.Name("first\n")
		r.Name("second")
		require.NoError(t, r.Release())
		require.Equal(t, []string{"first_", "second", ""}, f.Names)
	}
}

func TestLabel(t *testing.T) {
	require.Equal(t, "quarry: 16 GiB_a__b_", mmap.Label("quarry: 16 GiB\na[]b$"))
	require.Equal(t, strings.Repeat("x", 79), mmap.Label(strings.Repeat("x", 200)))
	require.Equal(t, "", mmap.Label(""))
	require.Equal(t, "____", mmap.Label("\x00\x7f\\`"))
}

// TestLock: a locked granule stays until Unlock, and Release unlocks.
func TestLock(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(0, 3*g))
		dirty(r, 0, 3*g)
		err := r.Lock(g, 2*g)
		if err != nil {
			require.ErrorIs(t, err, mmap.ErrMemory)
			require.ErrorContains(t, err, "lock less")
			t.Skip("this process may not lock 4 MiB: ", err)
		}
		require.Equal(t, 2, s.Runs(), "a locked range is a mapping of its own")
		requirePanic(t, "decommit", "granule 1, at offset 2097152, is locked", func() { _ = r.Decommit(0, 2*g) })
		requirePanic(t, "again", "granule 2, at offset 4194304, is locked", func() { _ = r.Lock(2*g, g) })
		requirePanic(t, "guard", "granule 1, at offset 2097152, is locked", func() { _ = r.Guard(g-page, 2*page) })
		require.NoError(t, r.Verify())
		require.NoError(t, r.Decommit(0, g))
		require.NoError(t, r.Unlock(g, g))
		require.Equal(t, byte(0xA5), r.Bytes()[g])
		require.NoError(t, r.Decommit(g, g))
		require.NoError(t, r.Commit(0, 2*g))
		requireZero(t, r, 0, 2*g)
		require.NoError(t, r.Release())
		require.Zero(t, s.Runs())
	})
}
