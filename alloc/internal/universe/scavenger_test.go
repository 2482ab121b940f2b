package universe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPaceOfTheScavenger works without end on a clock of the test's: it gets its percent, and a
// tenth of a second at once after a long rest.
func TestPaceOfTheScavenger(t *testing.T) {
	var p pace
	start := time.Unix(1000, 0)
	now, worked := start, time.Duration(0)
	p.begin(now)
	for range 20_000 {
		now = now.Add(50 * time.Microsecond)
		worked += 50 * time.Microsecond
		if wait := p.spend(now, 1); wait > 0 {
			now = now.Add(wait)
			p.begin(now)
		}
	}
	share := float64(worked-100*time.Millisecond) / float64(now.Sub(start))
	require.InDelta(t, 0.01, share, 0.001)
	now = now.Add(time.Hour)
	p.begin(now)
	require.Zero(t, p.spend(now.Add(99*time.Millisecond), 1))
	require.Positive(t, p.spend(now.Add(102*time.Millisecond), 1))
}
