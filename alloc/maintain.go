package alloc

import (
	"fmt"
	"sync"
	"time"
)

// Maintain returns memory to the system that has been empty for the time that
// PurgeAfter set (1 s), Retain notwithstanding, and returns the bytes given back.
// now is the caller's clock, which tests may drive; empty means: empty at this
// call and at one that long before, and not in use in between. Call it now and
// then, in a quiet moment, or let MaintainEvery do it. An error wraps the
// system's; what was not given back stays usable.
func (u *Universe) Maintain(now time.Time) (returned int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		panic("alloc: Universe.Maintain: the universe is closed")
	}
	return u.maintain(now, 0)
}

// maintain gives back what has been empty for the delay, but for the first keep
// granules of that. mu is held.
func (u *Universe) maintain(now time.Time, keep int) (returned int, err error) {
	for g := range u.ready {
		if !u.isNoted(g) {
			continue
		}
		since := u.since[g].Load()
		if since == 0 {
			if since = now.UnixNano(); since == 0 {
				since = 1 // 0 stands for none
			}
			u.since[g].CompareAndSwap(0, since)
		}
		if now.UnixNano()-since < int64(u.delay) {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		n, e := u.giveBack(g)
		returned += n
		if e != nil {
			err = fmt.Errorf("alloc: Universe.Maintain: %w", e)
		}
	}
	return returned, err
}

// MaintainEvery starts a goroutine that calls Maintain at that interval until
// stop is called or the universe is closed; stop waits for it to end. What
// the system refuses to take is tried again next time. It panics when d is not
// above zero, and when there is such a goroutine already.
func (u *Universe) MaintainEvery(d time.Duration) (stop func()) {
	if d <= 0 {
		panic(fmt.Sprintf("alloc: Universe.MaintainEvery: d=%v is not above zero", d))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		panic("alloc: Universe.MaintainEvery: the universe is closed")
	}
	u.keeper.begin(d, func(now time.Time) {
		u.mu.Lock()
		defer u.mu.Unlock()
		if !u.closed {
			_, _ = u.maintain(now, 0)
		}
	})
	return u.keeper.end
}

// keeper is a goroutine that works at intervals.
type keeper struct {
	mu   sync.Mutex
	stop chan struct{} // nil: there is none
	done chan struct{} // closed when the goroutine has ended
}

func (k *keeper) begin(d time.Duration, work func(now time.Time)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil {
		panic("alloc: Universe.MaintainEvery: it is running already")
	}
	stop, done := make(chan struct{}), make(chan struct{})
	k.stop, k.done = stop, done
	go func() {
		defer close(done)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				work(now)
			}
		}
	}()
}

// end stops the goroutine, if there is one, and waits for it.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil {
		close(k.stop)
		<-k.done
		k.stop = nil
	}
}
