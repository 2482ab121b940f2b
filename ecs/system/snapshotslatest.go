package system

import (
	"fmt"
	"time"

	"quarry/ecs"
)

// The latest snapshot, for those who cannot wait for the end of a frame. The owner keeps one while
// somebody asks:
//
//	every 3      frame 1    2    3    4    5    6    7    ...   19    20
//	asks           | nil    |    | a       | a       | b
//	taken               a              b              c     no more: nobody asked in 4 * 3 frames
//
// What it costs to keep one, per frame: World.Snapshot in one of n frames, 16 us for a million
// entities; each 16 KiB that frames write is copied once between two snapshots, some 0.5 us and 16
// KiB of the universe each; and all writes pass the gates of snapshots (docs/performance.md). After
// the last request all of that ends.

// latest is what Snapshots knows of the latest snapshot; written while Snapshots.mu is held.
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
		// errors.md: `frames=...: it must be positive`, `maxAge=...: it must not be negative` |
		// `Snapshots.Every` and `Latest`. | As it says.
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
