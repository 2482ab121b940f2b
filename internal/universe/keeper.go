package universe

import (
	"fmt"
	"sync"
	"time"
)

// MaintainEvery is Universe.MaintainEvery of package alloc.
func (u *Universe) MaintainEvery(d time.Duration) (stop func()) {
	if d <= 0 {
		panic(fmt.Sprintf("alloc: Universe.MaintainEvery: d=%v is not above zero", d))
	}
	u.mu.Lock()
	closed := u.closed
	u.mu.Unlock() // begin may wait for stop, stop for a round, and a round needs the lock
	if closed {
		panic("alloc: Universe.MaintainEvery: the universe is closed")
	}
	return u.keeper.begin(d, func(now time.Time) {
		u.mu.Lock()
		defer u.mu.Unlock()
		if !u.closed {
			_, _ = u.trim("Maintain", now, u.delay, 0, nil)
		}
	})
}

// keeper runs a goroutine that works at intervals.
type keeper struct {
	mu   sync.Mutex
	stop chan struct{} // nil: there is none
	done chan struct{} // closed when the goroutine has ended
}

// begin starts the goroutine and returns a function that stops this goroutine, never a later one.
func (k *keeper) begin(d time.Duration, work func(now time.Time)) (stop func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil {
		panic("alloc: Universe.MaintainEvery: it is running already")
	}
	quit, done := make(chan struct{}), make(chan struct{})
	k.stop, k.done = quit, done
	go func() {
		defer close(done)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				work(now)
			}
		}
	}()
	return func() { k.end(done) }
}

// end stops the goroutine that closes done, or any goroutine when done is nil, and waits for it to
// end.
func (k *keeper) end(done chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil && (done == nil || done == k.done) {
		close(k.stop)
		<-k.done
		k.stop = nil
	}
}
