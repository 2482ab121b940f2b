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

// TestLookEndsWithoutCredit: a look ends when its credit is spent instead of waiting for more, and
// the next one goes on with the next universe.
func TestLookEndsWithoutCredit(t *testing.T) {
	before := SetScavenger(Setting{Percent: -1})
	defer SetScavenger(before)
	var all []*Universe
	for range 3 {
		u, err := New(Size(4<<20), Retain(0), PurgeAfter(time.Hour))
		require.NoError(t, err)
		defer func() { require.NoError(t, u.Close()) }()
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		u.Free(c, 1)
		u.delay = 0
		all = append(all, u)
	}
	var s scavenger
	look := func(credit time.Duration) (some bool) {
		now := time.Now()
		s.pace = pace{credit: credit, paid: now, from: now}
		return s.lookAt(all)
	}
	whole := func() (some bool) { // a look at all, though the machine may stop it for longer than its credit
		for some = look(scavengeMost); s.wait > 0; {
			some = look(scavengeMost)
		}
		return some
	}
	ready := func() (n [3]int) {
		for i, u := range all {
			n[i] = u.nReady
		}
		return n
	}
	require.True(t, whole()) // finds the granules empty
	require.Equal(t, [3]int{1, 1, 1}, ready())
	s.first = 0
	time.Sleep(scavengeTick)
	require.True(t, look(1))
	require.Positive(t, s.wait)
	require.Equal(t, [3]int{0, 1, 1}, ready())
	require.True(t, look(1))
	require.Equal(t, [3]int{0, 0, 1}, ready())
	require.False(t, whole())
	require.Equal(t, [3]int{0, 0, 0}, ready())
}

// TestLookWithoutCredit does nothing, and waits a minute at most, after which another setting may
// be in force.
func TestLookWithoutCredit(t *testing.T) {
	now := time.Now()
	s := scavenger{pace: pace{credit: -time.Hour, paid: now, from: now}}
	s.set.Store(&Setting{Percent: 1e-6})
	s.on.Store(true)
	s.look()
	require.Equal(t, scavengeWait, s.wait)
	require.True(t, s.on.Load(), "it comes again")
	s.set.Store(&Setting{Percent: -1})
	s.look()
	require.False(t, s.on.Load())
	require.Negative(t, s.pace.credit)
}
