package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/internal/clock"
)

func TestNowNeverGoesBack(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for last, i := clock.Now(), 0; i < 10_000; i++ {
				now := clock.Now()
				if now < last {
					t.Errorf("%v, then %v", last, now)
				}
				last = now
			}
		})
	}
	all.Wait()
	require.Zero(t, testing.AllocsPerRun(100, func() { clock.Now() }))
}

// TestNowIsFine: the clock moves while it is read. That of time.Now of Windows, read 10,000 times,
// moves once or not at all.
func TestNowIsFine(t *testing.T) {
	moved := 0
	for last, i := clock.Now(), 0; i < 10_000; i++ {
		now := clock.Now()
		if now != last {
			moved++
		}
		last = now
	}
	require.Greater(t, moved, 100)
}

// TestNowAgrees: a duration by time.Now is between those by Now of a shorter stretch inside it and
// of a longer one around it, within a tick of time.Now. A machine whose ticks come late gets
// another try.
func TestNowAgrees(t *testing.T) {
	const tick = 16 * time.Millisecond
	for range 50 {
		around := clock.Now()
		began := time.Now()
		inside := clock.Now()
		time.Sleep(5 * tick)
		inside = clock.Now() - inside
		took := time.Since(began)
		around = clock.Now() - around
		if inside <= took+tick && took <= around+tick {
			return
		}
		t.Logf("%v took %v, and that took %v", inside, took, around)
	}
	t.Fatal("the two clocks never agreed")
}
