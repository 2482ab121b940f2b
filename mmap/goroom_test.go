package mmap_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestNoRoomForGo: a parked range is not handed out while Go has no room to work with
// it. Go collects once, and again when some regions have been closed.
func TestNoRoomForGo(t *testing.T) {
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	onEach(t, func(t *testing.T, s *mmap.Space) {
		sys := &mmap.Tight{Backing: s.Backing()}
		s = mmap.NewSpace(sys)
		r := reserve(t, s, 4*g)
		require.Zero(t, sys.Asked, "nothing is parked")
		base := r.Base()
		require.NoError(t, r.Release())
		r = reserve(t, s, 4*g)
		require.Equal(t, base, r.Base())
		require.Equal(t, 1, sys.Asked)
		require.NoError(t, r.Release())

		sys.Short = true
		before := collections()
		other := reserve(t, s, 4*g)
		require.NotEqual(t, base, other.Base())
		require.Equal(t, before+1, collections())
		sys.Short = false
		if s.Faults() { // else the parked one went to the collector
			require.Equal(t, base, reserve(t, s, 4*g).Base())
		}
		require.NoError(t, other.Release())
	})
}

// TestVainCollections: one in vain is not repeated before an eighth of the regions are
// closed, or ten times as long has passed.
func TestVainCollections(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		before, open int
		took, ago    time.Duration
		want         bool
	}{
		{0, 0, hour, hour, false},
		{1, 1, hour, hour, false},
		{1, 0, hour, hour, true},
		{3, 2, hour, hour, true},
		{8, 7, hour, hour, false},
		{8, 6, hour, hour, true},
		{800, 701, hour, 9 * hour, false},
		{800, 699, hour, 0, true},
		{800, 900, hour, 9 * hour, false},
		{800, 900, hour, 11 * hour, true},
	} {
		require.Equal(t, c.want, mmap.Repeats(c.before, c.open, c.took, c.ago), "%+v", c)
	}
}
