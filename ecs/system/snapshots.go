package system

import (
	"context"
	"errors"
	"slices"
	"sync"

	"quarry/ecs"
)

// Snapshots for other goroutines: an HTTP handler asks, and the owner takes a snapshot at the end
// of its frame. All that ask during a frame get the same one. It is closed at the start or at the
// end of a later frame, when the last of them has released it. A snapshot that is released before
// the next frame starts costs that frame no copies:
//
//	frame 7        frame 8        frame 9        frame 10
//	  ask, ask       | read          | release      |
//	         taken --+   read        release        closed at its start
//
// Who cannot wait asks for the latest that there is. While somebody does, the owner takes one every
// few frames and keeps it until it takes the next (snapshotslatest.go).

// errors.md: `ErrClosed` | Snapshots were asked for after `Systems.Close`, or by a goroutine that
// was waiting then. | There is no frame any more that could take one.

// ErrClosed is returned to goroutines that ask for a snapshot of systems that are closed.
var ErrClosed = errors.New("system: the systems are closed")

// Snapshots hands out snapshots of the world of Systems to other goroutines. All methods may be
// called by any goroutine.
type Snapshots struct {
	w       *ecs.World
	mu      sync.Mutex
	waiting []chan *Published // who asked since the last frame
	ended   []*ecs.Snapshot   // released by all, for the owner to close
	closed  bool
	latest  latest
}

// Published is a snapshot for those who asked for it. Release it when it has been read: until then
// frames keep what they overwrite. Others may have the same one, so Close, Renew and Fork, which
// belong to the world's owner, are not among its methods.
type Published struct {
	*ecs.Snapshot
	ownersOnly
	of       *Snapshots
	shared   *shared
	released bool // written while of.mu is held
}

// ownersOnly makes the methods of a snapshot that belong to the owner ambiguous, so that a call by
// a reader does not compile.
type ownersOnly struct{}

func (ownersOnly) Close() {}
func (ownersOnly) Renew() {}
func (ownersOnly) Fork()  {}

var _ interface {
	Close()
	Renew()
	Fork()
} = Published{}.ownersOnly

// shared is what those who have one snapshot share.
type shared struct{ users int } // that have not released it; written while Snapshots.mu is held

// Snapshots returns what hands out snapshots of the world to other goroutines. The first call makes
// it; it belongs to the owner. Systems.Close refuses those who wait, but not those who read: wait
// for them (http.Server.Shutdown) before World.Close, which panics while they read.
func (s *Systems) Snapshots() *Snapshots {
	s.check("Systems.Snapshots")
	if s.snapshots == nil {
		s.snapshots = &Snapshots{w: s.w, latest: latest{every: 1}}
	}
	return s.snapshots
}

// Take waits for the end of the frame that is under way, or of the next, and returns a snapshot of
// the world at that moment. The error is that of the context or ErrClosed. A frame at the end of
// which somebody waits takes as long as World.Snapshot more.
func (p *Snapshots) Take(ctx context.Context) (*Published, error) {
	p.check("Snapshots.Take")
	if ctx == nil {
		// errors.md: `the snapshots are nil or the zero value`, `the context is nil` | `Take`,
		// `Latest` or `Every` of no Snapshots, or `Take` without a context. | Take them from
		// `Systems.Snapshots`; `context.Background()` waits for ever.
		panic("system: Snapshots.Take: the context is nil")
	}
	c := make(chan *Published, 1)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.waiting = append(p.waiting, c)
	p.mu.Unlock()
	select {
	case s, ok := <-c:
		if !ok {
			return nil, ErrClosed
		}
		return s, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	if at := slices.Index(p.waiting, c); at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	select {
	case s, ok := <-c: // it came at the same time
		if ok {
			s.Release()
		}
	default:
	}
	return nil, ctx.Err()
}

// Release says that the goroutine reads the snapshot no more. A second call does nothing, and
// neither does that of nil, which came with an error.
func (s *Published) Release() {
	if s == nil {
		return
	}
	p := s.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.released {
		return
	}
	s.released = true
	p.release(s.Snapshot, s.shared)
}

// release takes one from the users of a snapshot, while p.mu is held.
func (p *Snapshots) release(s *ecs.Snapshot, of *shared) {
	if of.users--; of.users == 0 {
		p.ended = append(p.ended, s)
	}
}

// retire closes the snapshots that are released, before a frame writes what they have. It belongs
// to the owner, outside of loops.
func (p *Snapshots) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeEnded()
}

// closeEnded closes the snapshots that are released, while p.mu is held.
func (p *Snapshots) closeEnded() {
	for _, s := range p.ended {
		s.Close()
	}
	clear(p.ended)
	p.ended = p.ended[:0]
}

// publish takes a snapshot, if somebody waits for one or the latest is due, and closes those that
// are released. It belongs to the owner, outside of loops, at the end of a frame.
func (p *Snapshots) publish(frame Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keeps, due := p.pass(frame)
	if due || keeps && len(p.waiting) > 0 {
		p.dropLatest()
	}
	p.closeEnded()
	if len(p.waiting) == 0 && !due {
		return
	}
	s, of := p.w.Snapshot(), &shared{users: len(p.waiting)}
	if keeps {
		p.keepLatest(s, of)
	}
	for _, c := range p.waiting {
		c <- &Published{Snapshot: s, of: p, shared: of} // there is room: each has a channel of its own
	}
	p.waiting = p.waiting[:0]
}

// end refuses those who wait and all further ones, and closes what is released. Snapshots that are
// being read stay until the world is closed.
func (p *Snapshots) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.waiting {
		close(c)
	}
	p.waiting = nil
	p.dropLatest()
	if !p.w.Closed() {
		p.closeEnded()
	}
}
