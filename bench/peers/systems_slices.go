package main

import "iter"

// The systems for whole columns, as slices, tables and chunks have them. All columns of a call are
// as long as the first.

func moveAll(p []Position32, v []Velocity32) {
	v = v[:len(p)]
	for i := range p {
		p[i].move(&v[i])
	}
}

func stepAll(d []ActorData) {
	for i := range d {
		d[i].count()
		d[i].Numgy = d[i].RNG.next()
	}
}

func steerAll(v []Velocity32, p []Position32, d []ActorData) {
	p, d = p[:len(v)], d[:len(v)]
	for i := range v {
		v[i].steer(&p[i], &d[i])
	}
}

func liveAll(h []Health) {
	for i := range h {
		h[i].live()
	}
}

func sufferAll(h []Health, d []Damage) {
	d = d[:len(h)]
	for i := range h {
		h[i].suffer(&d[i])
	}
}

func showAll(s []Sprite, p []Player, h []Health) {
	p, h = p[:len(s)], h[:len(s)]
	for i := range s {
		s[i].show(&p[i], &h[i])
	}
}

func (f frame) drawAll(p []Position32, s []Sprite) {
	s = s[:len(p)]
	for i := range p {
		f.draw(&p[i], &s[i])
	}
}

var systemsSliceWays = stageWays(goSlices, buildSliceStage)

// troupe is all actors of one kind: a slice for each of their components.
type troupe struct {
	has      parts
	position []Position32
	velocity []Velocity32
	data     []ActorData
	player   []Player
	health   []Health
	damage   []Damage
	sprite   []Sprite
}

// sliceStage is the systems on plain slices, sorted by kind as a programmer who knows the kinds
// would.
type sliceStage struct {
	endless
	stage
	kinds []*troupe
}

func buildSliceStage(st stage) (trial, error) {
	s := &sliceStage{stage: st}
	of := map[parts]*troupe{}
	for i := range s.n {
		a := s.actor(i)
		k := of[a.has]
		if k == nil {
			k = &troupe{has: a.has}
			of[a.has] = k
			s.kinds = append(s.kinds, k)
		}
		k.join(&a)
	}
	return s, nil
}

func (k *troupe) join(a *actor) {
	k.position = enter(k.position, a.position, a.has, hasPosition)
	k.velocity = enter(k.velocity, a.velocity, a.has, hasVelocity)
	k.data = enter(k.data, a.data, a.has, hasData)
	k.player = enter(k.player, a.player, a.has, hasPlayer)
	k.health = enter(k.health, a.health, a.has, hasHealth)
	k.damage = enter(k.damage, a.damage, a.has, hasDamage)
	k.sprite = enter(k.sprite, a.sprite, a.has, hasSprite)
}

func enter[T any](list []T, v T, has, part parts) []T {
	if has&part == 0 {
		return nil
	}
	return append(list, v)
}

func (s *sliceStage) pass(times int) {
	for range times {
		for k := range s.with(hasPosition | hasVelocity) {
			moveAll(k.position, k.velocity)
		}
		for k := range s.with(hasData) {
			stepAll(k.data)
		}
		if s.complex {
			s.more()
		}
	}
}

func (s *sliceStage) more() {
	for k := range s.with(hasPosition | hasVelocity | hasData) {
		steerAll(k.velocity, k.position, k.data)
	}
	for k := range s.with(hasHealth) {
		liveAll(k.health)
	}
	for k := range s.with(hasHealth | hasDamage) {
		sufferAll(k.health, k.damage)
	}
	for k := range s.with(hasSprite | hasPlayer | hasHealth) {
		showAll(k.sprite, k.player, k.health)
	}
	for k := range s.with(hasPosition | hasSprite) {
		s.frame.drawAll(k.position, k.sprite)
	}
}

// with yields the kinds that have the given components.
func (s *sliceStage) with(p parts) iter.Seq[*troupe] {
	return func(yield func(*troupe) bool) {
		for _, k := range s.kinds {
			if k.has&p == p && !yield(k) {
				return
			}
		}
	}
}

func (s *sliceStage) check(passes int) error {
	var c census
	for _, k := range s.kinds {
		for i := range max(len(k.position), len(k.velocity), len(k.data), len(k.player)) {
			c.add(row{
				at(k.position, i), at(k.velocity, i), at(k.data, i), at(k.player, i), at(k.health, i), at(k.damage, i),
				at(k.sprite, i),
			})
		}
	}
	return s.want(passes, c)
}

// at points to an element, or is nil for a missing column.
func at[T any](list []T, i int) *T {
	if list == nil {
		return nil
	}
	return &list[i]
}
