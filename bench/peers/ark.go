package main

import "github.com/mlange-42/ark/ecs"

// Entrants of ark.
const (
	ark          = "ark"
	arkTables    = "ark tables"
	arkCached    = "ark tables, registered"
	arkBatch     = "ark batch"
	arkUnchecked = "ark unchecked"
	arkSmall     = "ark, small capacity"
	arkBudget    = "ark batch, budget"
)

var arkWays = []way{
	{"query2comp", ark, buildArkQuery(arkPlain, false)},
	{"query2comp", arkTables, buildArkTables(arkPlain, false)},
	{"query2comp", arkCached, buildArkTables(arkPlain, true)},
	{"query32arch", ark, buildArkQuery(arkSpread(5, 0), true)},
	{"query32arch", arkTables, buildArkTables(arkSpread(5, 0), false)},
	{"query32arch", arkCached, buildArkTables(arkSpread(5, 0), true)},
	{"query256arch", ark, buildArkQuery(arkSpread(0, 8), true)},
	{"query256arch", arkTables, buildArkTables(arkSpread(0, 8), false)},
	{"query256arch", arkCached, buildArkTables(arkSpread(0, 8), true)},
	{"random", ark, buildArkRandom},
	{"random", arkUnchecked, buildArkRandomUnchecked},
	{"create2comp", ark, buildArkCreate},
	{"create2comp-batch", arkBatch, buildArkCreateBatch},
	{"create2comp_alloc", ark, buildArkAlloc(false)},
	{"create2comp_alloc", arkBatch, buildArkAlloc(true)},
	{"create10comp", ark, buildArkCreate10},
	{"create10comp-batch", arkBatch, buildArkCreate10Batch},
	{"delete2comp", ark, buildArkDelete},
	{"delete2comp-batch", arkBatch, buildArkDeleteBatch},
	{"delete10comp", ark, buildArkDelete10},
	{"delete10comp-batch", arkBatch, buildArkDelete10Batch},
	{"add_remove", ark, buildArkAddRemove(0, inOrder)},
	{"add_remove-shuffled", ark, buildArkAddRemove(0, shuffled)},
	{"add_remove_large", ark, buildArkAddRemove(10, inOrder)},
	{"add_remove-batch", arkBatch, buildArkAddRemoveBatch(0, inOrder)},
	{"add_remove-batch-shuffled", arkBatch, buildArkAddRemoveBatch(0, shuffled)},
	{"add_remove_large-batch", arkBatch, buildArkAddRemoveBatch(10, inOrder)},
	{"create-worst", ark, buildArkWorst},
	{"new_world", ark, buildArkNewWorld},
	{"memory", ark, buildArkMemory},
	{"memory", arkBatch, buildArkMemoryBatch},
	{"archetypes", ark, buildArkArchetypes(worldCapacity)},
	{"archetypes", arkSmall, buildArkArchetypes(smallCapacity)},
}

// arkWorld is a world of ark with the fields that all workloads need.
type arkWorld struct {
	endless
	w        *ecs.World
	position ecs.ID
	velocity ecs.ID
	extra    []ecs.ID // C1 to C12
	places   *ecs.Map[Position]
	speeds   *ecs.Map[Velocity]
	movers   *ecs.Map2[Position, Velocity]
	moving   *ecs.Filter2[Position, Velocity]
}

func openArk() arkWorld { return openArkWith(worldCapacity) }

func openArkWith(capacity int) arkWorld {
	w := ecs.NewWorld(capacity)
	return arkWorld{
		w: w, position: ecs.ComponentID[Position](w), velocity: ecs.ComponentID[Velocity](w),
		extra: []ecs.ID{
			ecs.ComponentID[C1](w), ecs.ComponentID[C2](w), ecs.ComponentID[C3](w), ecs.ComponentID[C4](w),
			ecs.ComponentID[C5](w), ecs.ComponentID[C6](w), ecs.ComponentID[C7](w), ecs.ComponentID[C8](w),
			ecs.ComponentID[C9](w), ecs.ComponentID[C10](w), ecs.ComponentID[C11](w), ecs.ComponentID[C12](w),
		},
		places: ecs.NewMap[Position](w), speeds: ecs.NewMap[Velocity](w),
		movers: ecs.NewMap2[Position, Velocity](w), moving: ecs.NewFilter2[Position, Velocity](w),
	}
}

// with returns the given types and the extras whose bits are set in mask.
func (s *arkWorld) with(mask int, ids ...ecs.ID) []ecs.ID {
	for i, id := range s.extra {
		if mask>>i&1 != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// tally sums up the entities with a Position that have a Velocity, or do not.
func (s *arkWorld) tally(velocity bool) tally {
	f := ecs.NewFilter1[Position](s.w)
	if velocity {
		f = f.With(ecs.C[Velocity]())
	} else {
		f = f.Without(ecs.C[Velocity]())
	}
	var t tally
	for q := f.Query(); q.Next(); {
		t.add(q.Get())
	}
	return t
}

// arkQuery moves everything that has Position and Velocity, entity by entity.
type arkQuery struct {
	arkWorld
	n int
}

func newArkQuery(n int, fill func(*arkWorld, int), register bool) *arkQuery {
	s := &arkQuery{openArk(), n}
	if register {
		s.moving = s.moving.Register()
	}
	fill(&s.arkWorld, n)
	return s
}

func buildArkQuery(fill func(*arkWorld, int), register bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return newArkQuery(n, fill, register), nil }
}

// arkPlain makes 10n entities that do not match, and n that do.
func arkPlain(s *arkWorld, n int) {
	ecs.NewMap1[Position](s.w).NewBatchFn(10*n, nil)
	arkMovers(s, n)
}

// arkMovers makes n entities that match.
func arkMovers(s *arkWorld, n int) {
	i := 0
	s.movers.NewBatchFn(n, func(_ ecs.Entity, _ *Position, v *Velocity) {
		*v = velocityOf(i)
		i++
	})
}

// arkSpread is quarrySpread for ark.
func arkSpread(bits, noise int) func(*arkWorld, int) {
	return func(s *arkWorld, n int) {
		u := s.w.Unsafe()
		if noise > 0 {
			for i := range 4 * n {
				u.NewEntity(s.with(i&(1<<noise-1), s.position)...)
			}
		}
		for i := range n {
			e := u.NewEntity(s.with(i&(1<<bits-1), s.position, s.velocity)...)
			*s.speeds.Get(e) = velocityOf(i)
		}
	}
}

func (s *arkQuery) pass(times int) {
	f := s.moving
	for range times {
		q := f.Query()
		for q.Next() {
			p, v := q.Get()
			p.X += v.X
			p.Y += v.Y
		}
	}
}

func (s *arkQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// arkTable is arkQuery by the columns of each table.
type arkTable struct{ *arkQuery }

func buildArkTables(fill func(*arkWorld, int), register bool) func(int) (trial, error) {
	return func(n int) (trial, error) { return arkTable{newArkQuery(n, fill, register)}, nil }
}

func (s arkTable) pass(times int) {
	f := s.moving
	for range times {
		q := f.Query()
		for q.NextTable() {
			p, v := q.GetColumns()
			v = v[:len(p)]
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
}

// arkRandom looks entities up in shuffled order.
type arkRandom struct {
	arkWorld
	list []ecs.Entity
	sum  float64
}

func newArkRandom(n int) *arkRandom { return newArkSample(n, n) }

// newArkSample looks up k entities of n.
func newArkSample(n, k int) *arkRandom {
	s := &arkRandom{arkWorld: openArk(), list: make([]ecs.Entity, 0, k)}
	for isIn := range sample(n, k) {
		p := Position{}
		if isIn {
			p = placeOf(len(s.list))
		}
		if e := s.places.NewEntity(&p); isIn {
			s.list = append(s.list, e)
		}
	}
	shuffle(s.list)
	return s
}

func (s *arkRandom) handled() int { return len(s.list) }

func buildArkRandom(n int) (trial, error) { return newArkRandom(n), nil }

func (s *arkRandom) pass(times int) {
	sum, places := 0.0, s.places
	for range times {
		for _, e := range s.list {
			sum += places.Get(e).X
		}
	}
	s.sum += sum
}

func (s *arkRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }

// arkRandomUnchecked is arkRandom without the check that an entity is alive.
type arkRandomUnchecked struct{ *arkRandom }

func buildArkRandomUnchecked(n int) (trial, error) { return arkRandomUnchecked{newArkRandom(n)}, nil }

func (s arkRandomUnchecked) pass(times int) {
	sum, places := 0.0, s.places
	for range times {
		for _, e := range s.list {
			sum += places.GetUnchecked(e).X
		}
	}
	s.sum += sum
}
