package main

import "github.com/mlange-42/arche/ecs"

var systemsArcheWays = stageWays(arche, buildArcheStage)

// archeActors is a world of arche with the components of the systems.
type archeActors struct {
	endless
	w                                                        *ecs.World
	position, velocity, data, player, health, damage, sprite ecs.ID
}

func openArcheActors() archeActors {
	world := ecs.NewWorld(worldCapacity)
	w := &world
	return archeActors{
		w: w, position: ecs.ComponentID[Position32](w), velocity: ecs.ComponentID[Velocity32](w),
		data: ecs.ComponentID[ActorData](w), player: ecs.ComponentID[Player](w), health: ecs.ComponentID[Health](w),
		damage: ecs.ComponentID[Damage](w), sprite: ecs.ComponentID[Sprite](w),
	}
}

// types returns the IDs of the named components.
func (s *archeActors) types(has parts) []ecs.ID {
	var list []ecs.ID
	for i, id := range []ecs.ID{s.position, s.velocity, s.data, s.player, s.health, s.damage, s.sprite} {
		if has>>i&1 != 0 {
			list = append(list, id)
		}
	}
	return list
}

// row points to the components that an entity has. Safe because each ID belongs to the type.
func (s *archeActors) row(e ecs.Entity) row {
	return row{
		(*Position32)(s.w.Get(e, s.position)), (*Velocity32)(s.w.Get(e, s.velocity)), (*ActorData)(s.w.Get(e, s.data)),
		(*Player)(s.w.Get(e, s.player)), (*Health)(s.w.Get(e, s.health)), (*Damage)(s.w.Get(e, s.damage)),
		(*Sprite)(s.w.Get(e, s.sprite)),
	}
}

// census counts all entities.
func (s *archeActors) census() census {
	var c census
	for q := s.w.Query(ecs.All()); q.Next(); {
		c.add(s.row(q.Entity()))
	}
	return c
}

// archeStage is the systems on arche. Safe because each ID belongs to the type.
type archeStage struct {
	archeActors
	stage
	moving, stepping, steering, living, suffering, showing, drawing ecs.Mask
}

func buildArcheStage(st stage) (trial, error) {
	s := &archeStage{archeActors: openArcheActors(), stage: st}
	s.moving, s.stepping = ecs.All(s.position, s.velocity), ecs.All(s.data)
	s.steering, s.living = ecs.All(s.velocity, s.position, s.data), ecs.All(s.health)
	s.suffering, s.showing = ecs.All(s.health, s.damage), ecs.All(s.sprite, s.player, s.health)
	s.drawing = ecs.All(s.position, s.sprite)
	types := map[parts][]ecs.ID{}
	for i := range s.n {
		a := s.actor(i)
		if types[a.has] == nil {
			types[a.has] = s.types(a.has)
		}
		s.row(s.w.NewEntity(types[a.has]...)).put(&a)
	}
	return s, nil
}

func (s *archeStage) pass(times int) {
	w, position, velocity, data := s.w, s.position, s.velocity, s.data
	for range times {
		for q := w.Query(&s.moving); q.Next(); {
			(*Position32)(q.Get(position)).move((*Velocity32)(q.Get(velocity)))
		}
		for q := w.Query(&s.stepping); q.Next(); {
			d := (*ActorData)(q.Get(data))
			d.count()
			d.Numgy = d.RNG.next()
		}
		if s.complex {
			s.more()
		}
	}
}

func (s *archeStage) more() {
	w, position, health, sprite := s.w, s.position, s.health, s.sprite
	for q := w.Query(&s.steering); q.Next(); {
		v, p, d := (*Velocity32)(q.Get(s.velocity)), (*Position32)(q.Get(position)), (*ActorData)(q.Get(s.data))
		v.steer(p, d)
	}
	for q := w.Query(&s.living); q.Next(); {
		(*Health)(q.Get(health)).live()
	}
	for q := w.Query(&s.suffering); q.Next(); {
		(*Health)(q.Get(health)).suffer((*Damage)(q.Get(s.damage)))
	}
	for q := w.Query(&s.showing); q.Next(); {
		(*Sprite)(q.Get(sprite)).show((*Player)(q.Get(s.player)), (*Health)(q.Get(health)))
	}
	for q := w.Query(&s.drawing); q.Next(); {
		s.frame.draw((*Position32)(q.Get(position)), (*Sprite)(q.Get(sprite)))
	}
}

func (s *archeStage) check(passes int) error { return s.want(passes, s.census()) }
