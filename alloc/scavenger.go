package alloc

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"quarry/alloc/internal/ledger"
)

// The scavenger gives memory back by itself, as Universe.Maintain does when it is called. It looks
// at every universe of the process twice a second, from a timer's goroutine that is there only
// while it looks:
//
//	commit of a granule -> wake -> look ... look ... look -> no universe has memory: ends
//	                              0.5 s    0.5 s
//
// It works on one granule at a time and gives up the universe's lock after each, so that a commit
// waits for a granule at most. How long it may work is a credit in time: the credit grows by
// Percent of the time that passes, up to a hundred milliseconds, and work spends it.
//
// wake and the end are a handshake: the scavenger first says that it has ended and then looks
// whether a universe has memory; a commit first counts its granule and then looks whether the
// scavenger has ended.

const (
	scavengeTick  = 500 * time.Millisecond // time between two looks
	scavengeMost  = 100 * time.Millisecond // of work at once, after a time without any
	scavengeLost  = 20 * scavengeTick      // a look that is late by this is never coming
	scavengeShare = 1                      // percent of a core by default
)

// Scavenger says how much work the scavenger does, which returns idle memory to the system while
// the program runs. The zero value is the default.
type Scavenger struct {
	// Percent is the share of one core that the scavenger may take on average; 0 means 1, and below
	// 0 there is no scavenger. After ten quiet seconds it may take 100 ms at once.
	Percent float64
	// Target is how many bytes the process may keep committed off the heap, however idle they are:
	// the scavenger rests at or below it. 0 means that it never rests.
	Target int64
}

// SetScavenger sets how the scavenger of the process works and returns the previous setting. By
// default the scavenger does in all universes what [Universe.Maintain] does: memory that nobody has
// used for the time of [PurgeAfter] returns to the system, except [Retain] bytes of each universe.
// A very long PurgeAfter keeps it away from one universe. Memory that the scavenger gave back is
// taken again like any other: its first touch costs a page fault.
//
// SetScavenger panics when Percent is above 100 or not a number, and for a Target below 0. A look
// costs about 10 us for each universe, twice a second.
func SetScavenger(s Scavenger) (before Scavenger) {
	if s.Percent > 100 || math.IsNaN(s.Percent) || s.Target < 0 {
		panic(fmt.Sprintf("alloc: SetScavenger: Percent=%v Target=%d: want none below 0 as a target, and at most 100 percent", s.Percent, s.Target))
	}
	if s.Percent == 0 {
		s.Percent = scavengeShare
	}
	before = theScavenger.setting()
	theScavenger.set.Store(&s)
	theScavenger.wake(time.Now())
	return before
}

// theScavenger is the scavenger of the process.
var theScavenger scavenger

// scavenger is the state of the scavenger.
type scavenger struct {
	set   atomic.Pointer[Scavenger] // nil: the default
	due   atomic.Int64              // when the next look is due, in ns of the clock; 0: nothing to do
	given atomic.Int64              // bytes returned so far

	working sync.Mutex // held over a look
	pace    pace       // under working
}

func (s *scavenger) setting() Scavenger {
	if set := s.set.Load(); set != nil {
		return *set
	}
	return Scavenger{Percent: scavengeShare}
}

// wake begins the looks unless they are under way. It is called after each commit. A look that is
// late by scavengeLost was started in a bubble of testing/synctest that has ended.
func (s *scavenger) wake(now time.Time) {
	due := s.due.Load()
	if due > now.Add(-scavengeLost).UnixNano() || s.setting().Percent < 0 {
		return
	}
	if s.due.CompareAndSwap(due, now.Add(scavengeTick).UnixNano()) {
		time.AfterFunc(scavengeTick, s.look)
	}
}

// look gives back what is idle in each universe, and sees to it that it is called again while a
// universe has memory.
func (s *scavenger) look() {
	if !s.working.TryLock() {
		return // the machine slept during a look, which wake then took for lost
	}
	defer s.working.Unlock()
	s.pace.begin(time.Now())
	some := s.lookAt(universes.All())
	next := time.Now().Add(scavengeTick)
	if !some || s.setting().Percent < 0 {
		s.due.Store(0)
		if s.setting().Percent < 0 || !anyReady(universes.All()) || !s.due.CompareAndSwap(0, next.UnixNano()) {
			return
		}
	}
	s.due.Store(next.UnixNano())
	time.AfterFunc(scavengeTick, s.look)
}

// lookAt reports whether one of the universes has memory.
func (s *scavenger) lookAt(all []*Universe) (some bool) {
	for _, u := range all {
		if s.setting().Percent < 0 {
			return false
		}
		returned, ready := u.scavenge(time.Now(), s)
		s.given.Add(int64(returned))
		some = some || ready
		s.rest()
	}
	return some
}

func anyReady(all []*Universe) bool {
	for _, u := range all {
		u.mu.Lock()
		ready := u.nReady > 0 && !u.closed
		u.mu.Unlock()
		if ready {
			return true
		}
	}
	return false
}

// rest waits until the credit allows more work, and reports whether there should be more. A nil
// scavenger, which stands for a call by the user, does not wait.
func (s *scavenger) rest() bool {
	if s == nil {
		return true
	}
	set, now := s.setting(), time.Now()
	wait := s.pace.spend(now, set.Percent)
	s.due.Store(now.Add(wait).UnixNano()) // so that wake does not take it for lost
	if wait > 0 {
		time.Sleep(wait)
		s.pace.begin(time.Now())
	}
	return set.Percent >= 0 && ledger.Process.Used() > set.Target
}

// pace is a credit of time to work.
type pace struct {
	credit time.Duration // what may be worked now
	paid   time.Time     // until when the credit has been paid; zero: never
	from   time.Time     // until when the work has been counted
}

// begin notes that work begins.
func (p *pace) begin(now time.Time) { p.from = now }

// spend counts the work since begin, or since the last spend, and returns how long to wait until
// there is credit again.
func (p *pace) spend(now time.Time, percent float64) (wait time.Duration) {
	if p.paid.IsZero() {
		p.credit, p.paid = scavengeMost, p.from
	}
	share := percent / 100
	p.credit = min(scavengeMost, p.credit+time.Duration(float64(now.Sub(p.paid))*share))
	p.credit -= now.Sub(p.from)
	p.paid, p.from = now, now
	if p.credit >= 0 || share <= 0 {
		return 0
	}
	return time.Duration(float64(-p.credit) / share)
}

// scavenge is Maintain for the scavenger, which leaves the retained memory. It does nothing at or
// below the target. ready reports whether the universe has memory.
func (u *Universe) scavenge(now time.Time, s *scavenger) (returned int, ready bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || u.nReady == 0 {
		return 0, false
	}
	if ledger.Process.Used() > s.setting().Target {
		returned, _ = u.trim("Maintain", now, max(u.delay, scavengeTick), u.retain, s)
	}
	return returned, !u.closed && u.nReady > 0
}

// pass lets others have mu between two granules, and the scavenger rest. It reports whether to go
// on. mu is held before and after.
func (u *Universe) pass(s *scavenger) bool {
	u.mu.Unlock()
	more := s.rest()
	u.mu.Lock()
	return more && !u.closed
}
