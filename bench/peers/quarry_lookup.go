package main

// manyAtOnce is the number of entities per call of GetList: few enough that the pointers stay in
// the first-level cache.
const manyAtOnce = 1024

// quarryGetMany looks entities up by lists. It adds the values up in two sums: with one sum, each
// addition would wait for the one before. The peers' loops hide that wait behind their next
// look-up.
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
	sum, odd, position := 0.0, 0.0, s.position
	for range times {
		for rest := s.list; len(rest) > 0; {
			k := min(manyAtOnce, len(rest))
			s.found = position.GetList(s.found[:0], rest[:k])
			found := s.found
			for ; len(found) > 1; found = found[2:] {
				sum, odd = sum+found[0].X, odd+found[1].X
			}
			for _, p := range found {
				sum += p.X
			}
			rest = rest[k:]
		}
	}
	s.sum += sum + odd
}
