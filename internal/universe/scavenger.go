package universe

import (
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/universe/ledger"
)

// The scavenger gives memory back by itself, as Universe.Maintain does when it is called. It looks
// at every universe of the process twice a second, from a timer's goroutine that is there only
// while it looks:
//
//	commit of a granule -> wake -> look ... look ......... look -> no universe has memory: ends
//	                              0.5 s    until it has credit
//
// It works on one granule at a time and gives up the universe's lock after each, so that a commit
// waits for a granule at most. How long it may work is a credit in time: the credit grows by
// percent of the time that passes, up to a hundred milliseconds, and work spends it. A look whose
// credit is spent ends, and the next one begins with the next universe: no goroutine waits, which a
// test that counts them would take for one that was forgotten.
//
// wake and the end are a handshake: the scavenger first records that it has ended and then looks
// whether a universe has memory; a commit first counts its granule and then looks whether the
// scavenger has ended.
//
// It begins only outside of bubbles of testing/synctest. A bubble has its own time and waits for
// its goroutines: a look there would hold it up, count its credit by two clocks, and never come
// once the bubble has ended.

const (
	scavengeTick   = 500 * time.Millisecond // time between two looks
	scavengeMost   = 100 * time.Millisecond // of work at once, after a time without any
	scavengeWait   = time.Minute            // for credit, at most: then another setting may be in force
	DefaultPercent = 1                      // of a core
)

// Setting is how much work the scavenger does.
type Setting struct {
	Percent float64 // share of a core; below 0: there is no scavenger
	Target  int64   // bytes committed at which the scavenger rests
}

// SetScavenger puts a setting in force and returns the one before.
func SetScavenger(set Setting) (before Setting) {
	before = TheScavenger.setting()
	TheScavenger.set.Store(&set)
	TheScavenger.wake(time.Now())
	return before
}

// TheScavenger is the scavenger of the process.
var TheScavenger scavenger

// scavenger is the state of the scavenger.
type scavenger struct {
	set   atomic.Pointer[Setting] // nil: the default
	on    atomic.Bool             // a look is due or under way
	Given atomic.Int64            // bytes returned so far

	working sync.Mutex    // held over a look; those below are under it
	pace    pace          // of work
	first   int           // universe that the next look begins with
	wait    time.Duration // until there may be credit again; 0: there is
}

func (s *scavenger) setting() Setting {
	if set := s.set.Load(); set != nil {
		return *set
	}
	return Setting{Percent: DefaultPercent}
}

// wake begins the looks unless they are under way. It is called after each commit.
func (s *scavenger) wake(now time.Time) {
	if s.on.Load() || s.setting().Percent < 0 || inBubble(now) {
		return
	}
	if s.on.CompareAndSwap(false, true) {
		time.AfterFunc(scavengeTick, s.look)
	}
}

// inBubble reports whether a result of time.Now is of a bubble's time, which alone has no reading
// of the monotonic clock: Round takes that away, if there is one.
func inBubble(now time.Time) bool { return now == now.Round(0) }

// look gives back the idle memory of each universe, and sees to it that it is called again while a
// universe has memory.
func (s *scavenger) look() {
	s.working.Lock()
	defer s.working.Unlock()
	s.pace.begin(time.Now())
	some := true
	if s.more(); s.wait == 0 {
		some = s.lookAt(universes.All())
	}
	if !some || s.setting().Percent < 0 {
		s.on.Store(false)
		if s.setting().Percent < 0 || !anyReady(universes.All()) || !s.on.CompareAndSwap(false, true) {
			return
		}
	}
	time.AfterFunc(max(scavengeTick, s.wait), s.look)
}

// lookAt reports whether one of the universes has memory, as far as there was credit.
func (s *scavenger) lookAt(all []*Universe) (some bool) {
	from := s.first
	for i := range all {
		if s.setting().Percent < 0 {
			return false
		}
		s.first = (from + i + 1) % len(all)
		returned, ready := all[(from+i)%len(all)].scavenge(time.Now(), s)
		s.Given.Add(int64(returned))
		some = some || ready
		if s.more(); s.wait > 0 {
			return true
		}
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

// more reports whether a look should go on, and counts its work. A nil scavenger, which stands for
// a call by the user, goes on.
func (s *scavenger) more() bool {
	if s == nil {
		return true
	}
	set := s.setting()
	s.wait = s.pace.spend(time.Now(), set.Percent)
	return s.wait == 0 && set.Percent >= 0 && ledger.Process.Used() > set.Target
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
	share := max(percent, 0) / 100
	p.credit = min(scavengeMost, p.credit+time.Duration(float64(now.Sub(p.paid))*share))
	p.credit -= now.Sub(p.from)
	p.paid, p.from = now, now
	if p.credit >= 0 || share <= 0 {
		return 0
	}
	return time.Duration(min(float64(-p.credit)/share, float64(scavengeWait)))
}

// scavenge is Maintain for the scavenger, which leaves the retained memory. It does nothing at or
// below the target. ready reports whether the universe has memory.
func (u *Universe) scavenge(now time.Time, s *scavenger) (returned int, ready bool) {
	if ledger.Process.Used() > s.setting().Target {
		u.releaseKept()
	}
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

// pass lets others have mu between two granules. It reports whether to go on. mu is held before and
// after.
func (u *Universe) pass(s *scavenger) bool {
	u.mu.Unlock()
	more := s.more()
	u.mu.Lock()
	return more && !u.closed
}
