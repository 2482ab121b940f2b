package main

import (
	"time"

	"quarry/alloc"
	"quarry/ecs"
)

// quarryLife is a world in which entities are created and destroyed.
type quarryLife struct {
	quarryWorld
	a          *ecs.Archetype
	q          *ecs.Query
	list       []ecs.Entity
	n          int
	components int // two, or C1 to C10
}

// newQuarryLife warms the world up: it creates n entities, writes every value, and destroys them.
// The entities have two components, or C1 to C10.
func newQuarryLife(n, components int) (*quarryLife, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryLife{quarryWorld: w, list: make([]ecs.Entity, 0, n), n: n, components: components}
	if components == 2 {
		s.a = s.movers()
	} else {
		s.a = ecs.NewArchetype(s.w, s.with(1<<components-1)...)
	}
	s.q = ecs.NewQuery(s.w, ecs.With(s.first(components)))
	if err := s.fillAll(components); err != nil {
		return nil, err
	}
	return s, s.restore()
}

// first is the type that the query requires.
func (s *quarryLife) first(components int) ecs.Type {
	if components == 2 {
		return s.position
	}
	return s.extra[0]
}

// fillAll makes n entities and writes their first component.
func (s *quarryLife) fillAll(components int) error {
	batch, err := s.a.CreateN(s.n)
	if err != nil || components != 2 {
		return err
	}
	for rows := range batch.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		for i := range p {
			p[i], v[i] = Position{1, 1}, Velocity{1, 1}
		}
	}
	return nil
}

// restore destroys all entities.
func (s *quarryLife) restore() error {
	s.list = s.list[:0]
	for rows := range s.q.Rows() {
		s.list = append(s.list, rows.Entities()...)
	}
	for _, e := range s.list {
		s.w.Destroy(e)
	}
	s.list = s.list[:0]
	return wantCount("entities", s.w.Stats().Alive, 0)
}

// checkMade wants n entities; entities of two components stand at zero.
func (s *quarryLife) checkMade() error {
	if s.components == 2 {
		return s.tally(true).want(tally{count: s.n})
	}
	return wantCount("entities", s.q.Count(), s.n)
}

// quarryCreate makes entities one by one.
type quarryCreate struct{ *quarryLife }

func buildQuarryCreate(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryLife(n, components)
		return quarryCreate{s}, err
	}
}

func (s quarryCreate) once() {
	list, a := s.list, s.a
	for range s.n {
		list = append(list, a.Create())
	}
	s.list = list
}

// check wants n entities and a list of them.
func (s quarryCreate) check(int) error {
	for _, e := range s.list {
		if !s.w.Alive(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.checkMade()
}

// quarryCreateN makes all entities at once.
type quarryCreateN struct {
	*quarryLife
	err error
}

func buildQuarryCreateN(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryLife(n, components)
		return &quarryCreateN{s, nil}, err
	}
}

func (s *quarryCreateN) once() { _, s.err = s.a.CreateN(s.n) }

func (s *quarryCreateN) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.checkMade()
}

// quarryAlloc makes entities in a fresh world each time.
type quarryAlloc struct {
	quarryWorld
	a      *ecs.Archetype
	n      int
	batch  bool
	err    error
	shared *alloc.Universe // source of the worlds' chunks, or nil
}

func buildQuarryAlloc(n int) (trial, error) {
	s := &quarryAlloc{n: n}
	return s, s.open()
}

func buildQuarryAllocN(n int) (trial, error) {
	s := &quarryAlloc{n: n, batch: true}
	return s, s.open()
}

// buildQuarryAllocShared uses one universe for all worlds, so that memory is as warm as the peers'
// memory from the Go heap.
func buildQuarryAllocShared(n int) (trial, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	s := &quarryAlloc{n: n, batch: true, shared: u}
	return s, s.open()
}

func (s *quarryAlloc) open() (err error) {
	var options []ecs.Option
	if s.shared != nil {
		options = append(options, ecs.WithUniverse(s.shared))
	}
	if s.quarryWorld, err = openQuarry(options...); err == nil {
		s.a = s.movers()
	}
	return err
}

func (s *quarryAlloc) once() {
	if s.batch {
		_, s.err = s.a.CreateN(s.n)
		return
	}
	for range s.n {
		s.a.Create()
	}
}

func (s *quarryAlloc) restore() error {
	if err := s.w.Close(); err != nil {
		return err
	}
	return s.open()
}

func (s *quarryAlloc) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.tally(true).want(tally{count: s.n})
}

func (s *quarryAlloc) close() error {
	err := s.w.Close()
	if err == nil && s.shared != nil {
		err = s.shared.Close()
	}
	return err
}

// quarryDelete destroys entities one by one.
type quarryDelete struct{ *quarryLife }

func buildQuarryDelete(components int) func(int) (trial, error) {
	return func(n int) (trial, error) { return newQuarryDelete(n, components) }
}

func newQuarryDelete(n, components int) (quarryDelete, error) {
	s, err := newQuarryLife(n, components)
	if err != nil {
		return quarryDelete{}, err
	}
	d := quarryDelete{s}
	return d, d.restore()
}

func (s quarryDelete) once() {
	for _, e := range s.list {
		s.w.Destroy(e)
	}
}

func (s quarryDelete) restore() error {
	batch, err := s.a.CreateN(s.n)
	if err != nil {
		return err
	}
	s.list = s.list[:0]
	for rows := range batch.Rows() {
		s.list = append(s.list, rows.Entities()...)
	}
	return nil
}

func (s quarryDelete) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return wantCount("entities", s.w.Stats().Alive, 0)
}

// quarryWorst times every single create in a fresh world.
type quarryWorst struct {
	quarryWorld
	a *ecs.Archetype
	n int
}

func buildQuarryWorst(n int) (trial, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	return &quarryWorst{w, w.movers(), n}, nil
}

func (s *quarryWorst) steps(into []uint32) {
	for i := range into {
		start := time.Now()
		s.a.Create()
		into[i] = nanos(start)
	}
}

func (s *quarryWorst) check(int) error { return s.tally(true).want(tally{count: s.n}) }
