package alloc

import "time"

// ScavengeTick is the time between two looks of the scavenger.
const ScavengeTick = scavengeTick

// LookNow is a look of the scavenger out of turn, unless it is off or looking.
func LookNow() {
	s := &theScavenger
	if s.setting().Percent < 0 || !s.working.TryLock() {
		return
	}
	defer s.working.Unlock()
	s.pace.begin(time.Now())
	s.lookAt(universes.All())
}

// AnyReady reports whether a universe has memory.
func AnyReady() bool { return anyReady(universes.All()) }

// ScavengerDue reports whether the scavenger will look again.
func ScavengerDue() bool { return theScavenger.due.Load() != 0 }

// AllocZeroed1 is AllocZeroed of one chunk.
func (u *Universe) AllocZeroed1() (ChunkIndex, error) {
	c, _, err := u.AllocZeroed(1)
	return c, err
}

// Refuse makes the pages of u refuse every call from now on, or none.
func (u *Universe) Refuse(p *FailingPages, all bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p.all = all
}

// Pace is the credit of the scavenger.
type Pace struct{ pace }

func (p *Pace) Begin(now time.Time) { p.begin(now) }

func (p *Pace) Spend(now time.Time, percent float64) time.Duration { return p.spend(now, percent) }
