package main

import ecs "github.com/akmonengine/volt"

// volt is the entrant of akmonengine/volt. It has no calls for many entities and
// hands out no columns, so there is one way to use it.
const volt = "volt"

var voltWays = []way{
	{"query2comp", volt, buildVoltQuery(voltPlain)},
	{"query32arch", volt, buildVoltQuery(voltSpread(5, 0))},
	{"query256arch", volt, buildVoltQuery(voltSpread(0, 8))},
	{"random", volt, buildVoltRandom},
	{"create2comp", volt, buildVoltCreate(2)},
	{"create2comp_alloc", volt, buildVoltAlloc},
	{"create10comp", volt, buildVoltCreate(10)},
	{"delete2comp", volt, buildVoltDelete(2)},
	{"delete10comp", volt, buildVoltDelete(10)},
	{"add_remove", volt, buildVoltAddRemove(0, inOrder)},
	{"add_remove-shuffled", volt, buildVoltAddRemove(0, shuffled)},
	{"add_remove_large", volt, buildVoltAddRemove(10, inOrder)},
	{"create-worst", volt, buildVoltWorst},
	{"new_world", volt, buildVoltNewWorld},
	{"memory", volt, buildVoltMemory},
	{"archetypes", volt, buildVoltArchetypes},
}

// The numbers by which volt knows the components; C1 is voltExtra, C12 is 11 more.
const (
	voltPosition ecs.ComponentId = iota
	voltVelocity
	voltExtra
)

func (Position) GetComponentId() ecs.ComponentId { return voltPosition }
func (Velocity) GetComponentId() ecs.ComponentId { return voltVelocity }
func (C1) GetComponentId() ecs.ComponentId       { return voltExtra }
func (C2) GetComponentId() ecs.ComponentId       { return voltExtra + 1 }
func (C3) GetComponentId() ecs.ComponentId       { return voltExtra + 2 }
func (C4) GetComponentId() ecs.ComponentId       { return voltExtra + 3 }
func (C5) GetComponentId() ecs.ComponentId       { return voltExtra + 4 }
func (C6) GetComponentId() ecs.ComponentId       { return voltExtra + 5 }
func (C7) GetComponentId() ecs.ComponentId       { return voltExtra + 6 }
func (C8) GetComponentId() ecs.ComponentId       { return voltExtra + 7 }
func (C9) GetComponentId() ecs.ComponentId       { return voltExtra + 8 }
func (C10) GetComponentId() ecs.ComponentId      { return voltExtra + 9 }
func (C11) GetComponentId() ecs.ComponentId      { return voltExtra + 10 }
func (C12) GetComponentId() ecs.ComponentId      { return voltExtra + 11 }

// voltWorld is a world of volt with the fields that all workloads need.
type voltWorld struct {
	endless
	w      *ecs.World
	places ecs.Query1[Position]
	moving ecs.Query2[Position, Velocity]
}

func openVolt() voltWorld { return openVoltWith(worldCapacity) }

func openVoltWith(capacity int) voltWorld {
	w := ecs.CreateWorld(capacity)
	registerVolt[Position](w)
	registerVolt[Velocity](w)
	registerVolt[C1](w)
	registerVolt[C2](w)
	registerVolt[C3](w)
	registerVolt[C4](w)
	registerVolt[C5](w)
	registerVolt[C6](w)
	registerVolt[C7](w)
	registerVolt[C8](w)
	registerVolt[C9](w)
	registerVolt[C10](w)
	registerVolt[C11](w)
	registerVolt[C12](w)
	return voltWorld{
		w:      w,
		places: ecs.CreateQuery1[Position](w, ecs.QueryConfiguration{}),
		moving: ecs.CreateQuery2[Position, Velocity](w, ecs.QueryConfiguration{}),
	}
}

func registerVolt[T ecs.ComponentInterface](w *ecs.World) {
	ecs.RegisterComponent[T](w, &ecs.ComponentConfig[T]{})
}

// create makes an entity of the given types and the extras whose bits are set in mask, all zero.
func (s *voltWorld) create(mask int, ids ...ecs.ComponentId) (ecs.EntityId, error) {
	var types []ecs.ComponentIdConf
	for _, id := range ids {
		types = append(types, ecs.ComponentIdConf{ComponentId: id})
	}
	for i := range extras {
		if mask>>i&1 != 0 {
			types = append(types, ecs.ComponentIdConf{ComponentId: voltExtra + ecs.ComponentId(i)})
		}
	}
	e := s.w.CreateEntity()
	return e, s.w.AddComponents(e, types...)
}

// tally sums up the entities with a Position that have a Velocity, or do not. volt's queries cannot
// exclude a component.
func (s *voltWorld) tally(velocity bool) tally {
	var t tally
	for r := range s.places.Foreach(nil) {
		if s.w.HasComponents(r.EntityId, voltVelocity) == velocity {
			t.add(r.A)
		}
	}
	return t
}

// voltQuery moves everything that has Position and Velocity.
type voltQuery struct {
	voltWorld
	n int
}

func buildVoltQuery(fill func(*voltWorld, int) error) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s := &voltQuery{openVolt(), n}
		return s, fill(&s.voltWorld, n)
	}
}

// voltPlain makes 10n entities that do not match, and n that do.
func voltPlain(s *voltWorld, n int) error {
	for range 10 * n {
		if err := ecs.AddComponent(s.w, s.w.CreateEntity(), Position{}); err != nil {
			return err
		}
	}
	for i := range n {
		if _, err := ecs.CreateEntityWithComponents2(s.w, Position{}, velocityOf(i)); err != nil {
			return err
		}
	}
	return nil
}

// voltSpread is quarrySpread for volt.
func voltSpread(bits, noise int) func(*voltWorld, int) error {
	return func(s *voltWorld, n int) error {
		if noise > 0 {
			for i := range 4 * n {
				if _, err := s.create(i&(1<<noise-1), voltPosition); err != nil {
					return err
				}
			}
		}
		for i := range n {
			e, err := s.create(i&(1<<bits-1), voltPosition, voltVelocity)
			if err != nil {
				return err
			}
			*ecs.GetComponent[Velocity](s.w, e) = velocityOf(i)
		}
		return nil
	}
}

func (s *voltQuery) pass(times int) {
	q := &s.moving
	for range times {
		for r := range q.Foreach(nil) {
			p, v := r.A, r.B
			p.X += v.X
			p.Y += v.Y
		}
	}
}

func (s *voltQuery) check(passes int) error { return s.tally(true).want(moved(s.n, passes)) }

// voltRandom looks entities up in shuffled order.
type voltRandom struct {
	voltWorld
	list []ecs.EntityId
	sum  float64
}

func buildVoltRandom(n int) (trial, error) {
	s := &voltRandom{voltWorld: openVolt(), list: make([]ecs.EntityId, n)}
	for i := range s.list {
		s.list[i] = s.w.CreateEntity()
		if err := ecs.AddComponent(s.w, s.list[i], placeOf(i)); err != nil {
			return nil, err
		}
	}
	shuffle(s.list)
	return s, nil
}

func (s *voltRandom) pass(times int) {
	sum, w := 0.0, s.w
	for range times {
		for _, e := range s.list {
			sum += ecs.GetComponent[Position](w, e).X
		}
	}
	s.sum += sum
}

func (s *voltRandom) check(passes int) error { return wantSum(s.sum, len(s.list), passes) }
