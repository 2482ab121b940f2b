package main

import "github.com/mlange-42/ark/ecs"

var systemsArkWays = append(stageWays(ark, buildArkStage), stageWays(arkTables, buildArkTableStage)...)

// arkActors is a world of ark with the components of the systems.
type arkActors struct {
	endless
	w   *ecs.World
	ids []ecs.ID // in the order of parts
	all *ecs.Map7[Position32, Velocity32, ActorData, Player, Health, Damage, Sprite]
}

func openArkActors() arkActors {
	w := ecs.NewWorld(worldCapacity)
	return arkActors{
		w: w, all: ecs.NewMap7[Position32, Velocity32, ActorData, Player, Health, Damage, Sprite](w),
		ids: []ecs.ID{
			ecs.ComponentID[Position32](w), ecs.ComponentID[Velocity32](w), ecs.ComponentID[ActorData](w),
			ecs.ComponentID[Player](w), ecs.ComponentID[Health](w), ecs.ComponentID[Damage](w),
			ecs.ComponentID[Sprite](w),
		},
	}
}

// types returns the IDs of the named components.
func (s *arkActors) types(has parts) []ecs.ID {
	var list []ecs.ID
	for i, id := range s.ids {
		if has>>i&1 != 0 {
			list = append(list, id)
		}
	}
	return list
}

// row points to the components that an entity has.
func (s *arkActors) row(e ecs.Entity) (r row) {
	r.position, r.velocity, r.data, r.player, r.health, r.damage, r.sprite = s.all.Get(e)
	return r
}

// census counts all entities.
func (s *arkActors) census() census {
	var c census
	for q := ecs.NewFilter0(s.w).Query(); q.Next(); {
		c.add(s.row(q.Entity()))
	}
	return c
}

// arkStage is the systems on ark, entity by entity.
type arkStage struct {
	arkActors
	stage
	moving    *ecs.Filter2[Position32, Velocity32]
	stepping  *ecs.Filter1[ActorData]
	steering  *ecs.Filter3[Velocity32, Position32, ActorData]
	living    *ecs.Filter1[Health]
	suffering *ecs.Filter2[Health, Damage]
	showing   *ecs.Filter3[Sprite, Player, Health]
	drawing   *ecs.Filter2[Position32, Sprite]
}

func newArkStage(st stage) *arkStage {
	s := &arkStage{arkActors: openArkActors(), stage: st}
	s.moving, s.stepping = s.moving.New(s.w), s.stepping.New(s.w)
	s.steering, s.living = s.steering.New(s.w), s.living.New(s.w)
	s.suffering, s.showing, s.drawing = s.suffering.New(s.w), s.showing.New(s.w), s.drawing.New(s.w)
	u, types := s.w.Unsafe(), map[parts][]ecs.ID{}
	for i := range s.n {
		a := s.actor(i)
		if types[a.has] == nil {
			types[a.has] = s.types(a.has)
		}
		s.row(u.NewEntity(types[a.has]...)).put(&a)
	}
	return s
}

func buildArkStage(st stage) (trial, error) { return newArkStage(st), nil }

func (s *arkStage) pass(times int) {
	for range times {
		for q := s.moving.Query(); q.Next(); {
			p, v := q.Get()
			p.move(v)
		}
		for q := s.stepping.Query(); q.Next(); {
			d := q.Get()
			d.count()
			d.Numgy = d.RNG.next()
		}
		if s.complex {
			s.more()
		}
	}
}

func (s *arkStage) more() {
	for q := s.steering.Query(); q.Next(); {
		v, p, d := q.Get()
		v.steer(p, d)
	}
	for q := s.living.Query(); q.Next(); {
		q.Get().live()
	}
	for q := s.suffering.Query(); q.Next(); {
		h, d := q.Get()
		h.suffer(d)
	}
	for q := s.showing.Query(); q.Next(); {
		c, p, h := q.Get()
		c.show(p, h)
	}
	for q := s.drawing.Query(); q.Next(); {
		p, c := q.Get()
		s.frame.draw(p, c)
	}
}

func (s *arkStage) check(passes int) error { return s.want(passes, s.census()) }

// arkTableStage is the same by the columns of each table.
type arkTableStage struct{ *arkStage }

func buildArkTableStage(st stage) (trial, error) { return arkTableStage{newArkStage(st)}, nil }

func (s arkTableStage) pass(times int) {
	for range times {
		for q := s.moving.Query(); q.NextTable(); {
			moveAll(q.GetColumns())
		}
		for q := s.stepping.Query(); q.NextTable(); {
			stepAll(q.GetColumns())
		}
		if s.complex {
			s.more()
		}
	}
}

func (s arkTableStage) more() {
	for q := s.steering.Query(); q.NextTable(); {
		steerAll(q.GetColumns())
	}
	for q := s.living.Query(); q.NextTable(); {
		liveAll(q.GetColumns())
	}
	for q := s.suffering.Query(); q.NextTable(); {
		sufferAll(q.GetColumns())
	}
	for q := s.showing.Query(); q.NextTable(); {
		showAll(q.GetColumns())
	}
	for q := s.drawing.Query(); q.NextTable(); {
		s.frame.drawAll(q.GetColumns())
	}
}
