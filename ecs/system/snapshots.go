package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
// few frames and keeps it until it takes the next:
//
//	every 3      frame 1    2    3    4    5    6    7    ...   19    20
//	asks           | nil    |    | a       | a       | b
//	taken               a              b              c     no more: nobody asked in 4 * 3 frames
//
// What it costs to keep one, per frame: World.Snapshot in one of n frames, 16 us for a million
// entities; each 16 KiB that frames write is copied once between two snapshots, some 0.5 us and 16
// KiB of the universe each; and all writes pass the write barrier of snapshots
// (docs/performance.md). After the last request all of that ends.

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

// latest is the state of the latest snapshot; written while Snapshots.mu is held.
type latest struct {
	every   int           // frames between two of them
	now     Time          // the frame that ended last
	asked   uint64        // frame that had ended when somebody asked last
	wanted  bool          // somebody asked within the last idlePeriods periods
	s       *ecs.Snapshot // the latest, or nil
	of      *shared       // its users, of which the owner is one
	frame   uint64        // at whose end it was taken
	elapsed time.Duration // then
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

// Take waits for the end of the frame that is under way, or of the next, and returns a snapshot of
// the world at that moment. The error is that of the context or ErrClosed. A frame at the end of
// which somebody waits takes as long as World.Snapshot more.
func (p *Snapshots) Take(ctx context.Context) (*Published, error) {
	p.check("Snapshots.Take")
	if ctx == nil {
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

// Release ends the goroutine's use of the snapshot. A second call does nothing, and neither does
// that of nil, which came with an error.
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

// idlePeriods is for how many times n frames the owner goes on taking a snapshot every n frames
// after somebody asked for the latest.
const idlePeriods = 4

// Latest returns the newest snapshot that was taken if the world is at most maxAge ahead of it, and
// nil otherwise; it never waits. Age counts as Time.Elapsed does, up to the end of the last frame:
// 0 asks for the state at that moment. Release what you get.
//
// A request makes the owner take a snapshot at the end of this frame or the next, and one every n
// frames from then on (see Every), until nobody has asked for 4 * n frames. So the first request
// mostly gets nil; who needs a snapshot then calls Take. While one is kept, each frame copies what
// it overwrites: 16 KiB at a time, each once between two snapshots, some 0.5 us each. A snapshot
// taken for Take serves too. After Systems.Close, Latest returns nil.
func (p *Snapshots) Latest(maxAge time.Duration) *Published {
	p.check("Snapshots.Latest")
	if maxAge < 0 {
		panic(fmt.Sprintf("system: Snapshots.Latest: maxAge=%v: it must not be negative", maxAge))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	l := &p.latest
	l.wanted, l.asked = true, l.now.Frame
	if l.s == nil || l.now.Elapsed-l.elapsed > maxAge || l.s.Err() != nil {
		return nil
	}
	l.of.users++
	return &Published{Snapshot: l.s, of: p, shared: l.of}
}

// Every sets how many frames pass between two snapshots that are taken for Latest: 1 by default.
// With more, frames copy less and the latest is older. It panics unless frames is positive.
func (p *Snapshots) Every(frames int) {
	p.check("Snapshots.Every")
	if frames < 1 {
		panic(fmt.Sprintf("system: Snapshots.Every: frames=%d: it must be positive", frames))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest.every = frames
}

// check panics if the snapshots did not come from Systems.Snapshots.
func (p *Snapshots) check(op string) {
	if p == nil || p.w == nil {
		panic("system: " + op + ": the snapshots are nil or the zero value; they come from Systems.Snapshots")
	}
}

// pass notes that a frame has ended. It returns whether the owner keeps the latest snapshot, and
// whether the next one is due. If nobody asked lately, the latest is given up.
func (p *Snapshots) pass(frame Time) (keeps, due bool) {
	l := &p.latest
	l.now = frame
	if l.wanted && frame.Frame-l.asked > uint64(idlePeriods*l.every) {
		l.wanted = false
		p.dropLatest()
	}
	return l.wanted, l.wanted && (l.s == nil || frame.Frame-l.frame >= uint64(l.every))
}

// keepLatest makes a snapshot the latest.
func (p *Snapshots) keepLatest(s *ecs.Snapshot, of *shared) {
	of.users++
	l := &p.latest
	l.s, l.of, l.frame, l.elapsed = s, of, l.now.Frame, l.now.Elapsed
}

// dropLatest gives the latest up; those who have it keep it.
func (p *Snapshots) dropLatest() {
	l := &p.latest
	if l.s != nil {
		p.release(l.s, l.of)
		l.s, l.of = nil, nil
	}
}
