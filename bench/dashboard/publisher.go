package dashboard

import (
	"sync/atomic"
	"time"
)

// publisher gives states of a bank to readers, as system.Snapshots does: a reader that requests a
// state during a frame gets that at its end, one for all of them. The owner retires it at the start
// or the end of a later frame, when the last of them has released it.
type publisher struct {
	of    bank
	frame atomic.Int64       // that comes next: states that are published from now on are of before it, or later
	begun atomic.Int64       // that comes next once the frame under way has ended: no state is of before a later one
	asked chan chan *release // with room for all readers: each waits for its request
	ended chan state         // the same: each has one state at a time
}

// release is a state with the number of its readers.
type release struct {
	state
	users atomic.Int32
	to    chan<- state
}

func newPublisher(b bank) *publisher {
	return &publisher{of: b, asked: make(chan chan *release, readers), ended: make(chan state, readers)}
}

// take waits for the end of a frame and returns the state. Any goroutine may call it.
func (p *publisher) take() *release {
	c := make(chan *release, 1)
	p.asked <- c
	return <-c
}

// done is called when a reader has read the state.
func (r *release) done() {
	if r.users.Add(-1) == 0 {
		r.to <- r.state
	}
}

// retire retires what was read. The owner calls it at the start of a frame: what it then writes is
// of no state that is over.
func (p *publisher) retire() {
	for len(p.ended) > 0 {
		p.of.retire(<-p.ended)
	}
}

// publish retires states that were read, publishes the present one on request, and returns the time
// that this took: 0 without a request. The owner calls it at the end of each frame.
func (p *publisher) publish() time.Duration {
	p.retire()
	n := len(p.asked)
	if n == 0 {
		return 0
	}
	start := time.Now()
	r := &release{state: p.of.publish(), to: p.ended}
	took := max(1, time.Since(start))
	r.users.Store(int32(n))
	for range n {
		<-p.asked <- r // there is room: each reader has a channel of its own
	}
	return took
}
