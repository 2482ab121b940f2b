package job

import "quarry/ecs/internal/query"

// Yields makes workers call f between claims.
func Yields(f func()) Option { return func(s *Scheduler) { s.yield = f } }

// Parked returns how many workers are parked.
func (s *Scheduler) Parked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked
}

// GrainOf is grainOf.
func GrainOf(rows int) int { return grainOf(rows) }

// Flying returns the names of the jobs in flight, in the order of scheduling.
func (s *Scheduler) Flying() (names []string) {
	for _, j := range s.flights {
		names = append(names, j.name)
	}
	return names
}

// A Claim is a flight whose parts several goroutines claim.
type Claim struct{ f flight }

// NewClaim makes a flight of a number of parts, which are claimed one by one.
func NewClaim(parts int) *Claim {
	return &Claim{flight{mode: parallel, batch: 1, parts: make([]query.RowRange, parts)}}
}

// Claim is flight.claim, for one of n workers.
func (c *Claim) Claim(n int) (lo, hi int) { return c.f.claim(n) }

// Reset makes all parts free again.
func (c *Claim) Reset() { c.f.next.Store(0) }
