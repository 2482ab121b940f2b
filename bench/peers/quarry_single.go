package main

import "quarry/ecs"

var quarrySingleWays = []way{
	{"random-write", quarry, buildQuarryWrite},
	{"random-write", quarryMutMany, buildQuarryMutMany},
	{"random-write", quarryDirect, buildQuarryDirectMut},
	{"random2comp", quarryDirect, buildQuarryPairDirect},
	{"random2comp", quarry, func(n int) (trial, error) { return newQuarryPair(n) }},
	{"random2comp", quarryMany, buildQuarryPairMany},
	{"create2comp-set", quarry, buildQuarryMake},
	{"create2comp-set", quarryBundle, buildQuarryMakeBundle},
	{"create2comp-set-batch", quarryBatch, buildQuarryMakeN},
	{"add_remove_eight-shuffled", quarry, buildQuarryAddRemove(8, shuffled)},
	{"add_remove_eight-shuffled", quarryList, buildQuarryApplyList(8, shuffled)},
	{"add_remove_eight-shuffled", quarrySparse, buildQuarryAddRemoveSparse(8)},
	{"add_remove_eight-shuffled", quarrySparseList, buildQuarryApplyListSparse(8)},
	{"world2types", quarry, buildQuarryTwoTypes},
	{"disable_enable", quarry, buildQuarryToggle},
	{"prefab4comp", quarry, buildQuarryPrefab},
	{"prefab4comp-batch", quarryBatch, buildQuarryPrefabN},
	{"query256spread", quarry, buildQuarryQuery(quarrySpread(8, 0))},
	{"query256spread", quarryKernel, buildQuarryKernel(quarrySpread(8, 0))},
	{"query256spread", quarryCursor, buildQuarryFlatCursor},
	{"query5comp", quarry, func(n int) (trial, error) { return newQuarryFive(n) }},
	{"query5comp-kernel", quarryKernel, buildQuarryFiveKernel},
	{"query2comp-threads", quarry, buildQuarryQuery((*quarryWorld).fill)},
	{"query2comp-threads", quarryJobs, buildQuarryJobs},
}

// quarryWrite changes Positions in shuffled order.
type quarryWrite struct{ *quarryRandom }

func buildQuarryWrite(n int) (trial, error) {
	s, err := newQuarryRandom(n)
	return quarryWrite{s}, err
}

//go:noinline
func (s quarryWrite) pass(times int) {
	position := s.position
	for range times {
		for _, e := range s.list {
			if p := position.Mut(e); p != nil {
				p.X++
			}
		}
	}
}

func (s quarryWrite) check(passes int) error {
	return s.tally(false).want(written(len(s.list), passes))
}

// quarryWriteMany does the same by lists.
type quarryWriteMany struct {
	quarryWrite
	found []*Position
}

func buildQuarryMutMany(n int) (trial, error) {
	s, err := newQuarryRandom(n)
	return &quarryWriteMany{quarryWrite{s}, make([]*Position, 0, manyAtOnce)}, err
}

//go:noinline
func (s *quarryWriteMany) pass(times int) {
	position := s.position
	for range times {
		for rest := s.list; len(rest) > 0; {
			k := min(manyAtOnce, len(rest))
			s.found = position.MutList(s.found[:0], rest[:k])
			for _, p := range s.found {
				if p != nil {
					p.X++
				}
			}
			rest = rest[k:]
		}
	}
}

// quarryPair reads two components of entities in shuffled order.
type quarryPair struct {
	quarryWorld
	list []ecs.Entity
	sum  float64
}

func newQuarryPair(n int) (*quarryPair, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryPair{quarryWorld: w, list: make([]ecs.Entity, 0, n)}
	batch, err := s.movers().CreateN(n)
	if err != nil {
		return nil, err
	}
	for rows := range batch.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		for i, e := range rows.Entities() {
			p[i], v[i] = placeOf(len(s.list)), velocityOf(len(s.list))
			s.list = append(s.list, e)
		}
	}
	shuffle(s.list)
	return s, nil
}

//go:noinline
func (s *quarryPair) pass(times int) {
	sum, position, velocity := 0.0, s.position, s.velocity
	for range times {
		for _, e := range s.list {
			sum += position.Get(e).X + velocity.Get(e).Y
		}
	}
	s.sum += sum
}

func (s *quarryPair) check(passes int) error { return wantPairSum(s.sum, len(s.list), passes) }

// quarryPairMany does the same by lists.
type quarryPairMany struct {
	*quarryPair
	places []*Position
	speeds []*Velocity
}

func buildQuarryPairMany(n int) (trial, error) {
	s, err := newQuarryPair(n)
	return &quarryPairMany{s, make([]*Position, 0, manyAtOnce), make([]*Velocity, 0, manyAtOnce)}, err
}

//go:noinline
func (s *quarryPairMany) pass(times int) {
	sum, position, velocity := 0.0, s.position, s.velocity
	for range times {
		for rest := s.list; len(rest) > 0; {
			k := min(manyAtOnce, len(rest))
			s.places = position.GetList(s.places[:0], rest[:k])
			s.speeds = velocity.GetList(s.speeds[:0], rest[:k])
			speeds := s.speeds[:len(s.places)]
			for i, p := range s.places {
				sum += p.X + speeds[i].Y
			}
			rest = rest[k:]
		}
	}
	s.sum += sum
}

// quarryToggle disables and enables a component, in shuffled order.
type quarryToggle struct{ *quarryEnable }

func buildQuarryToggle(n int) (trial, error) {
	s, err := newQuarryEnable(n)
	if err != nil {
		return nil, err
	}
	shuffle(s.list)
	return quarryToggle{s}, nil
}

func (s quarryToggle) pass(times int) {
	for range times {
		s.off()
		s.back()
	}
}

//go:noinline
func (s quarryToggle) off() {
	c := s.c
	for _, e := range s.list {
		c.Disable(e)
	}
}

//go:noinline
func (s quarryToggle) back() {
	c := s.c
	for _, e := range s.list {
		c.Enable(e)
	}
}

// check repeats each half of a pass once.
func (s quarryToggle) check(int) error {
	return checkToggled(s.on.Count, s.off, s.back, len(s.list))
}

// checkToggled checks a trial in which all n are enabled, and each half of a pass.
func checkToggled(count func() int, off, back func(), n int) error {
	if err := wantCount("enabled entities", count(), n); err != nil {
		return err
	}
	off()
	if err := wantCount("enabled entities", count(), 0); err != nil {
		return err
	}
	back()
	return wantCount("enabled entities", count(), n)
}
