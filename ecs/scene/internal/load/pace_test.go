package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPace: a step begins if it is expected to end in time, by the slowest of late; one that the
// system interrupted does not keep later ones waiting.
func TestPace(t *testing.T) {
	var p pace
	require.True(t, p.fits(8192, 0)) // nothing is known
	p.note(time.Millisecond, 0)
	require.True(t, p.fits(8192, 0))
	p.note(1000*time.Nanosecond, 100)
	require.True(t, p.fits(100, 1000))
	require.False(t, p.fits(101, 1000))
	p.note(500*time.Nanosecond, 100) // falls slowly
	require.False(t, p.fits(100, 899))
	require.True(t, p.fits(100, 901))
	p.note(time.Second, 100) // doubles at most
	require.False(t, p.fits(100, 1799))
	require.True(t, p.fits(100, 1801))
	for range 20 {
		p.note(500*time.Nanosecond, 100)
	}
	require.True(t, p.fits(100, 501))
}
