package main

import "quarry/ecs"

// quarryMake makes entities with two values, one by one.
type quarryMake struct{ *quarryLife }

func buildQuarryMake(n int) (trial, error) {
	s, err := newQuarryLife(n, 2)
	return quarryMake{s}, err
}

//go:noinline
func (s quarryMake) once() {
	list, a, position, velocity := s.list, s.a, s.position, s.velocity
	for i := range s.n {
		e := a.Create()
		position.Set(e, placeOf(i))
		velocity.Set(e, velocityOf(i))
		list = append(list, e)
	}
	s.list = list
}

func (s quarryMake) check(int) error {
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.values().want(valued(s.n))
}

// values sums up all entities with Position and Velocity.
func (s *quarryWorld) values() (sum valuesSum) {
	for rows := range ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Read(s.velocity)).Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		for i := range p {
			sum.add(&p[i], &v[i])
		}
	}
	return sum
}

// moverValues are the values of a bundle.
type moverValues struct {
	Position Position
	Velocity Velocity
}

// quarryMakeBundle does the same by a bundle.
type quarryMakeBundle struct {
	quarryMake
	bundle *ecs.Bundle[moverValues]
}

func buildQuarryMakeBundle(n int) (trial, error) {
	s, err := newQuarryLife(n, 2)
	if err != nil {
		return nil, err
	}
	return quarryMakeBundle{quarryMake{s}, ecs.NewBundle[moverValues](s.w)}, nil
}

//go:noinline
func (s quarryMakeBundle) once() {
	list, bundle := s.list, s.bundle
	for i := range s.n {
		list = append(list, bundle.Create(moverValues{placeOf(i), velocityOf(i)}))
	}
	s.list = list
}

// quarryMakeN makes all entities at once and fills their columns.
type quarryMakeN struct {
	*quarryLife
	err error
}

func buildQuarryMakeN(n int) (trial, error) {
	s, err := newQuarryLife(n, 2)
	return &quarryMakeN{s, nil}, err
}

//go:noinline
func (s *quarryMakeN) once() {
	position, velocity := s.position, s.velocity
	var batch ecs.Batch
	batch, s.err = s.a.CreateN(s.n, ecs.Uninitialized(position, velocity))
	i := 0
	for rows := range batch.Rows() {
		p, v := position.Slice(rows), velocity.Slice(rows)
		v = v[:len(p)]
		for k := range p {
			p[k], v[k] = placeOf(i), velocityOf(i)
			i++
		}
	}
}

func (s *quarryMakeN) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.values().want(valued(s.n))
}

// quarryPrefab makes copies of an entity of four components.
type quarryPrefab struct {
	quarryWorld
	c1     ecs.Component[C1]
	c2     ecs.Component[C2]
	prefab ecs.Entity
	copies *ecs.Query
	list   []ecs.Entity
	n      int
	err    error
}

func newQuarryPrefab(n int) (*quarryPrefab, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryPrefab{quarryWorld: w, n: n, list: make([]ecs.Entity, 0, n)}
	s.c1, s.c2 = s.extra[0].(ecs.Component[C1]), s.extra[1].(ecs.Component[C2])
	s.prefab = ecs.NewArchetype(s.w, s.position, s.velocity, s.c1, s.c2, ecs.Register[ecs.Prefab](s.w)).Create()
	s.position.Set(s.prefab, patternValues.Position)
	s.velocity.Set(s.prefab, patternValues.Velocity)
	s.c1.Set(s.prefab, patternValues.C1)
	s.c2.Set(s.prefab, patternValues.C2)
	s.copies = ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Read(s.velocity), ecs.Read(s.c1), ecs.Read(s.c2))
	if _, err := s.w.InstantiateN(s.prefab, n); err != nil {
		return nil, err
	}
	return s, s.restore()
}

func buildQuarryPrefab(n int) (trial, error) { return newQuarryPrefab(n) }

//go:noinline
func (s *quarryPrefab) once() {
	list, w, prefab := s.list, s.w, s.prefab
	for range s.n {
		list = append(list, w.Instantiate(prefab))
	}
	s.list = list
}

func (s *quarryPrefab) restore() error {
	s.w.DestroyQuery(s.copies)
	s.list = s.list[:0]
	return wantCount("entities", s.w.Stats().Alive, 1)
}

func (s *quarryPrefab) check(int) error {
	for _, e := range s.list {
		if !s.w.Alive(e) {
			return wrong("%v is not alive", e)
		}
	}
	if err := wantCount("entities in the list", len(s.list), s.n); err != nil {
		return err
	}
	return s.checkCopies()
}

func (s *quarryPrefab) checkCopies() error {
	var sum valuesSum
	for rows := range s.copies.Rows() {
		p, v, a, b := s.position.Slice(rows), s.velocity.Slice(rows), s.c1.Slice(rows), s.c2.Slice(rows)
		for i := range p {
			sum.add(&p[i], &v[i])
			sum.addExtra(&a[i], &b[i])
		}
	}
	return sum.want(copied(s.n))
}

// quarryPrefabN makes all copies at once.
type quarryPrefabN struct{ *quarryPrefab }

func buildQuarryPrefabN(n int) (trial, error) {
	s, err := newQuarryPrefab(n)
	return quarryPrefabN{s}, err
}

func (s quarryPrefabN) once() { _, s.err = s.w.InstantiateN(s.prefab, s.n) }

func (s quarryPrefabN) check(int) error {
	if s.err != nil {
		return s.err
	}
	return s.checkCopies()
}
