package main

// manyAtOnce is how many entities a call of GetMany is given: few enough that
// the pointers stay in the first-level cache.
const manyAtOnce = 1024

// quarryGetMany looks entities up by lists.
type quarryGetMany struct {
	*quarryRandom
	found []*Position
}

func buildQuarryMany(n int) (trial, error) {
	s, err := newQuarryRandom(n)
	return newQuarryGetMany(s), err
}

func newQuarryGetMany(s *quarryRandom) *quarryGetMany {
	return &quarryGetMany{s, make([]*Position, 0, manyAtOnce)}
}

func (s *quarryGetMany) pass(times int) {
	sum, position := 0.0, s.position
	for range times {
		for rest := s.list; len(rest) > 0; {
			k := min(manyAtOnce, len(rest))
			s.found = position.GetMany(s.found[:0], rest[:k])
			for _, p := range s.found {
				sum += p.X
			}
			rest = rest[k:]
		}
	}
	s.sum += sum
}
