package scene_test

import (
	"testing"
	"time"

	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// TestPace: a step begins if it is expected to end in time, by the slowest of late; one that the
// system interrupted does not keep later ones waiting.
func TestPace(t *testing.T) {
	var p scene.Pace
	require.True(t, p.Fits(8192, 0)) // nothing is known
	p.Note(time.Millisecond, 0)
	require.True(t, p.Fits(8192, 0))
	p.Note(1000*time.Nanosecond, 100)
	require.True(t, p.Fits(100, 1000))
	require.False(t, p.Fits(101, 1000))
	p.Note(500*time.Nanosecond, 100) // falls slowly
	require.False(t, p.Fits(100, 899))
	require.True(t, p.Fits(100, 901))
	p.Note(time.Second, 100) // doubles at most
	require.False(t, p.Fits(100, 1799))
	require.True(t, p.Fits(100, 1801))
	for range 20 {
		p.Note(500*time.Nanosecond, 100)
	}
	require.True(t, p.Fits(100, 501))
}
