package main

import "quarry/ecs"

var systemsQuarryWays = stageWays(quarry, buildQuarryStage)

// quarryActors is a world with the components of the systems.
type quarryActors struct {
	w        *ecs.World
	position ecs.Component[Position32]
	velocity ecs.Component[Velocity32]
	data     ecs.Component[ActorData]
	player   ecs.Component[Player]
	health   ecs.Component[Health]
	damage   ecs.Component[Damage]
	sprite   ecs.Component[Sprite]
}

func openQuarryActors(options ...ecs.Option) (quarryActors, error) {
	w, err := ecs.NewWorld(options...)
	if err != nil {
		return quarryActors{}, err
	}
	return quarryActors{
		w: w, position: ecs.Register[Position32](w), velocity: ecs.Register[Velocity32](w),
		data: ecs.Register[ActorData](w), player: ecs.Register[Player](w), health: ecs.Register[Health](w),
		damage: ecs.Register[Damage](w), sprite: ecs.Register[Sprite](w),
	}, nil
}

func (s *quarryActors) close() error { return s.w.Close() }

func (s *quarryActors) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

// archetype returns the archetype of the named components.
func (s *quarryActors) archetype(has parts) *ecs.Archetype {
	var types []ecs.Type
	for i, t := range []ecs.Type{s.position, s.velocity, s.data, s.player, s.health, s.damage, s.sprite} {
		if has>>i&1 != 0 {
			types = append(types, t)
		}
	}
	return ecs.NewArchetype(s.w, types...)
}

// row points to the components that an entity has, for writing.
func (s *quarryActors) row(e ecs.Entity) row {
	return row{
		s.position.Mut(e), s.velocity.Mut(e), s.data.Mut(e), s.player.Mut(e), s.health.Mut(e), s.damage.Mut(e),
		s.sprite.Mut(e),
	}
}

// census counts all entities.
func (s *quarryActors) census() census {
	var c census
	q := ecs.NewQuery(s.w)
	defer q.Close()
	for rows := range q.Rows() {
		for _, e := range rows.Entities() {
			c.add(s.row(e))
		}
	}
	return c
}

// quarryStage is the systems on our rows.
type quarryStage struct {
	quarryActors
	stage
	moving, stepping, steering, living, suffering, showing, drawing *ecs.Query
}

func buildQuarryStage(st stage) (trial, error) {
	w, err := openQuarryActors()
	if err != nil {
		return nil, err
	}
	s := &quarryStage{quarryActors: w, stage: st}
	position, velocity, data := ecs.Write(s.position), ecs.Write(s.velocity), ecs.Write(s.data)
	s.moving = ecs.NewQuery(s.w, position, ecs.Read(s.velocity))
	s.stepping = ecs.NewQuery(s.w, data)
	s.steering = ecs.NewQuery(s.w, velocity, ecs.Read(s.position), data)
	s.living = ecs.NewQuery(s.w, ecs.Write(s.health))
	s.suffering = ecs.NewQuery(s.w, ecs.Write(s.health), ecs.Read(s.damage))
	s.showing = ecs.NewQuery(s.w, ecs.Write(s.sprite), ecs.Read(s.player), ecs.Read(s.health))
	s.drawing = ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Read(s.sprite))
	archetypes := map[parts]*ecs.Archetype{}
	for i := range s.n {
		a := s.actor(i)
		if archetypes[a.has] == nil {
			archetypes[a.has] = s.archetype(a.has)
		}
		var e ecs.Entity
		err := ecs.Try(func() { e = archetypes[a.has].Create() })
		if err != nil {
			return nil, err
		}
		s.row(e).put(&a)
	}
	return s, nil
}

func (s *quarryStage) pass(times int) {
	for range times {
		for rows := range s.moving.Rows() {
			moveAll(s.position.Slice(rows), s.velocity.Slice(rows))
		}
		for rows := range s.stepping.Rows() {
			stepAll(s.data.Slice(rows))
		}
		if s.complex {
			s.more()
		}
	}
}

func (s *quarryStage) more() {
	for rows := range s.steering.Rows() {
		steerAll(s.velocity.Slice(rows), s.position.Slice(rows), s.data.Slice(rows))
	}
	for rows := range s.living.Rows() {
		liveAll(s.health.Slice(rows))
	}
	for rows := range s.suffering.Rows() {
		sufferAll(s.health.Slice(rows), s.damage.Slice(rows))
	}
	for rows := range s.showing.Rows() {
		showAll(s.sprite.Slice(rows), s.player.Slice(rows), s.health.Slice(rows))
	}
	for rows := range s.drawing.Rows() {
		s.frame.drawAll(s.position.Slice(rows), s.sprite.Slice(rows))
	}
}

func (s *quarryStage) check(passes int) error { return s.want(passes, s.census()) }
