package job

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
