package mmap_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestDiscard: what is discarded reads zero and is not resident, the pages around it stay as they
// were, and all can be written again, on small pages and in huge ones.
func TestDiscard(t *testing.T) {
	for name, backing := range mmap.Backings() {
		t.Run(name, func(t *testing.T) {
			s := mmap.NewSpace(backing())
			r := reserve(t, s, 3*g)
			require.NoError(t, r.Commit(0, 3*g))
			if s.Guards() == mmap.GuardNone {
				require.ErrorIs(t, r.Discard(0, page), mmap.ErrUnsupported)
				require.NoError(t, r.Release())
				return
			}
			if runtime.GOOS == "windows" {
				require.ErrorIs(t, r.Discard(0, page), mmap.ErrUnsupported)
				return
			}
			for _, part := range [][2]int{{page, page}, {g - 3*page, 5 * page}, {2 * g, g}} {
				off, n := part[0], part[1]
				// The system may gather pages around a gap in a huge one at any moment, and then
				// the gap is there again, of zeros: rarely, so not each time.
				for tries := 5; ; tries-- {
					dirty(r, 0, 3*g)
					before, err := r.Resident()
					require.NoError(t, r.Discard(off, n))
					if err != nil {
						break
					}
					after, err := r.Resident()
					require.NoError(t, err)
					if after == before-n {
						break
					}
					require.Positive(t, tries, "%d B are resident, %d before %d were discarded", after, before, n)
				}
				requireZero(t, r, off, n)
				for i := 0; i < 3*g; i += 512 {
					require.True(t, i >= off && i < off+n || r.Bytes()[i] == 0xA5, "byte %d beside %v", i, part)
				}
				dirty(r, off, n)
				require.NoError(t, r.Verify())
			}
			require.Equal(t, 3*g, r.Committed())
			require.NoError(t, r.Release())
		})
	}
}

func panicText(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}

// TestDiscardRefuses: what is reserved, guarded, locked, or no range of pages.
func TestDiscardRefuses(t *testing.T) {
	if mmap.Guards() == mmap.GuardNone {
		t.Skip("Go memory cannot be given back in parts")
	}
	r, err := mmap.Reserve(4 * g)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Release()) }()
	require.NoError(t, r.Commit(0, 2*g))
	require.NoError(t, r.Guard(page, page))
	for want, f := range map[string]func(){
		"off=1 is not a multiple of":        func() { _ = r.Discard(1, page) },
		"n=0 is not a positive multiple of": func() { _ = r.Discard(0, 0) },
		"is reserved":                       func() { _ = r.Discard(2*g-page, 2*page) },
		"is guarded":                        func() { _ = r.Discard(0, 2*page) },
	} {
		require.Contains(t, panicText(f), want)
	}
	require.NoError(t, r.Discard(2*page, page))
	if r.Lock(g, g) == nil {
		require.Contains(t, panicText(func() { _ = r.Discard(g, page) }), "is locked")
		require.NoError(t, r.Unlock(g, g))
	}
}
