package main

import (
	"quarry/alloc"
	"quarry/ecs"
)

var systemsQuarryLifeWays = []way{
	{"systems-create", quarry, buildQuarryBirth(movingParts, false, false)},
	{"systems-create", quarryBatch, buildQuarryBirth(movingParts, true, false)},
	{"systems-create", quarryWarm, buildQuarryBirth(movingParts, true, true)},
	{"systems-create-empty", quarry, buildQuarryBirth(0, false, false)},
	{"systems-create-empty", quarryBatch, buildQuarryBirth(0, true, false)},
	{"systems-create-empty", quarryWarm, buildQuarryBirth(0, true, true)},
	{"systems-destroy", quarry, buildQuarryDeath(quarryOne)},
	{"systems-destroy", quarryList, buildQuarryDeath(quarryByList)},
	{"systems-destroy", quarryBatch, buildQuarryDeath(quarryByQuery)},
	{"systems-remove-add", quarry, buildQuarrySwap(quarryOne)},
	{"systems-remove-add", quarryList, buildQuarrySwap(quarryByList)},
	{"systems-remove-add", quarryBatch, buildQuarrySwap(quarryByQuery)},
}

// quarryMeans is how a call names entities.
type quarryMeans int

const (
	quarryOne quarryMeans = iota
	quarryByList
	quarryByQuery
)

// quarryBirth makes entities in a fresh world each time.
type quarryBirth struct {
	quarryActors
	a      *ecs.Archetype
	has    parts
	n      int
	batch  bool
	unset  ecs.CreateOption
	err    error
	shared *alloc.Universe // source of the worlds' chunks, or nil
}

func buildQuarryBirth(has parts, batch, shared bool) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &quarryBirth{has: has, n: n, batch: batch}
		if shared {
			u, err := alloc.NewUniverse()
			if err != nil {
				return nil, err
			}
			s.shared = u
		}
		return s, s.open()
	}
}

func (s *quarryBirth) open() (err error) {
	var options []ecs.Option
	if s.shared != nil {
		options = append(options, ecs.WithUniverse(s.shared))
	}
	if s.quarryActors, err = openQuarryActors(options...); err == nil {
		s.a, s.unset = s.archetype(s.has), ecs.Uninitialized(s.position, s.velocity)
	}
	return err
}

func (s *quarryBirth) once() {
	switch {
	case s.batch && s.has == 0:
		_, s.err = s.a.CreateN(s.n)
	case s.batch:
		s.err = s.all()
	case s.has == 0:
		for range s.n {
			s.a.Create()
		}
	default:
		for range s.n {
			s.velocity.Set(s.a.Create(), fresh.velocity)
		}
	}
}

// all makes all entities at once and writes every value.
func (s *quarryBirth) all() error {
	b, err := s.a.CreateN(s.n, s.unset)
	if err != nil {
		return err
	}
	for rows := range b.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		clear(p)
		for i := range v {
			v[i] = fresh.velocity
		}
	}
	return nil
}

func (s *quarryBirth) restore() error {
	if err := s.w.Close(); err != nil {
		return err
	}
	return s.open()
}

func (s *quarryBirth) check(int) error {
	if s.err != nil {
		return s.err
	}
	a := fresh
	a.has = s.has
	return s.census().want(alike(s.n, a.row()))
}

func (s *quarryBirth) close() error {
	err := s.w.Close()
	if err == nil && s.shared != nil {
		err = s.shared.Close()
	}
	return err
}

// quarryCrowd is a world of entities with a list of them.
type quarryCrowd struct {
	quarryActors
	list []ecs.Entity
	n    int
}

// newQuarryCrowd makes entities one by one, with the values of at.
func newQuarryCrowd(n int, at func(i, n int) actor) (*quarryCrowd, error) {
	w, err := openQuarryActors()
	if err != nil {
		return nil, err
	}
	s := &quarryCrowd{quarryActors: w, list: make([]ecs.Entity, n), n: n}
	minimal, full := s.archetype(movingParts), s.archetype(movingParts|hasData)
	for i := range s.list {
		a := at(i, n)
		if a.has&hasData != 0 {
			s.list[i] = full.Create()
			s.data.Set(s.list[i], a.data)
		} else {
			s.list[i] = minimal.Create()
		}
		s.position.Set(s.list[i], a.position)
		s.velocity.Set(s.list[i], a.velocity)
	}
	return s, nil
}

// quarryDeath destroys all entities of a fresh world.
type quarryDeath struct {
	*quarryCrowd
	by quarryMeans
	q  *ecs.Query
}

func buildQuarryDeath(by quarryMeans) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &quarryDeath{by: by, quarryCrowd: &quarryCrowd{n: n}}
		return s, s.open()
	}
}

func (s *quarryDeath) open() (err error) {
	if s.quarryCrowd, err = newQuarryCrowd(s.n, minimalAt); err == nil {
		s.q = ecs.NewQuery(s.w, ecs.With(s.position))
	}
	return err
}

func (s *quarryDeath) once() {
	switch s.by {
	case quarryOne:
		for _, e := range s.list {
			s.w.Destroy(e)
		}
	case quarryByList:
		s.w.DestroyList(s.list)
	case quarryByQuery:
		s.w.DestroyQuery(s.q)
	}
}

func (s *quarryDeath) restore() error {
	if err := s.w.Close(); err != nil {
		return err
	}
	return s.open()
}

func (s *quarryDeath) check(int) error {
	for _, e := range s.list {
		if s.w.Alive(e) {
			return wrong("%v is alive", e)
		}
	}
	return s.census().want(census{})
}

// quarrySwap takes Position from every entity and gives it back.
type quarrySwap struct {
	*quarryCrowd
	by          quarryMeans
	remove, add *ecs.Change
	with, lack  *ecs.Query
	err         error
}

func buildQuarrySwap(by quarryMeans) func(int) (trial, error) {
	return func(n int) (trial, error) {
		c, err := newQuarryCrowd(n, minimalAt)
		if err != nil {
			return nil, err
		}
		return &quarrySwap{
			quarryCrowd: c, by: by,
			remove: ecs.NewChange(c.w, ecs.Remove(c.position)), add: ecs.NewChange(c.w, ecs.Add(c.position)),
			with: ecs.NewQuery(c.w, ecs.With(c.position)), lack: ecs.NewQuery(c.w, ecs.Without(c.position)),
		}, nil
	}
}

func (s *quarrySwap) pass(times int) {
	for range times {
		switch s.by {
		case quarryOne:
			for _, e := range s.list {
				s.position.Remove(e)
				s.position.Add(e, Position32{})
			}
		case quarryByList:
			s.note(s.remove.ApplyList(s.list))
			s.note(s.add.ApplyList(s.list))
		case quarryByQuery:
			s.note(s.remove.ApplyQuery(s.with))
			s.note(s.add.ApplyQuery(s.lack))
		}
	}
}

// note keeps the first error, or an error for a batch without all entities.
func (s *quarrySwap) note(b ecs.Batch, err error) {
	if err == nil {
		err = wantCount("entities changed", b.Len(), s.n)
	}
	if s.err == nil {
		s.err = err
	}
}

func (s *quarrySwap) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.census().want(alike(s.n, fresh.row()))
}
