package alloc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestScavengerStaysOutOfBubbles: what a bubble of testing/synctest commits begins no looks in it,
// which would hold the bubble up: their credit, paid until a date of the real clock, would last
// from the bubble's year 2000 until then. The next commit outside begins them.
func TestScavengerStaysOutOfBubbles(t *testing.T) {
	scavenging(t, alloc.Scavenger{})
	commit := func(t *testing.T) {
		u := newUniverse(t, alloc.Size(4<<20))
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		t.Cleanup(func() { u.Free(c, 1) })
	}
	commit(t)
	alloc.LookNow() // pays its credit until now
	alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	require.Eventually(t, func() bool { return !alloc.ScavengerDue() }, time.Minute, 10*time.Millisecond)
	synctest.Test(t, func(t *testing.T) {
		alloc.SetScavenger(alloc.Scavenger{})
		commit(t)
		require.False(t, alloc.ScavengerDue())
		time.Sleep(3 * alloc.ScavengeTick)
	})
	require.False(t, alloc.ScavengerDue())
	commit(t)
	require.True(t, alloc.ScavengerDue())
}
