package main

// stage is what entrants on the systems have in common: the entities, the picture, and the twin
// that has the expected results.
type stage struct {
	n       int
	mixed   bool // not all entities have all components
	complex bool // all seven systems, not two
	frame   frame
	twin    *twin
}

// actor makes entity i as it is before the first update.
func (s *stage) actor(i int) actor { return actorAt(i, s.n, s.mixed) }

// stageWays returns an entrant's ways for all workloads of systems.
func stageWays(entrant string, build func(stage) (trial, error)) []way {
	list := []way{}
	for _, w := range stageWorkloads {
		list = append(list, way{w.name, entrant, func(n int) (trial, error) {
			s := stage{n: n, mixed: w.mixed, complex: w.complex}
			if s.complex {
				s.frame = newFrame()
			}
			return build(s)
		}})
	}
	return list
}

var stageWorkloads = []struct {
	name           string
	mixed, complex bool
}{
	{"systems-update", false, false},
	{"systems-update-mixed", true, false},
	{"systems-complex", false, true},
	{"systems-complex-mixed", true, true},
}

// want compares an entrant's state after that many updates with the twin. The twin is made here and
// not earlier, so that it is not part of what an entrant holds.
func (s *stage) want(passes int, got census) error {
	if s.twin == nil {
		s.twin = newTwin(s)
	}
	s.twin.update(passes, s.complex)
	var want census
	for i := range s.twin.actors {
		want.add(s.twin.actors[i].row())
	}
	if err := got.want(want); err != nil || !s.complex {
		return err
	}
	return s.twin.wantFrame(s.frame)
}

// twin is the same game in the plainest way: a list of actors, each of which does everything in
// turn.
type twin struct {
	actors []actor
	frame  frame
	passes int
}

func newTwin(s *stage) *twin {
	t := &twin{actors: make([]actor, s.n), frame: newFrame()}
	for i := range t.actors {
		t.actors[i] = s.actor(i)
	}
	return t
}

// update brings the twin to the state after that many updates in all.
func (t *twin) update(passes int, complex bool) {
	for ; t.passes < passes; t.passes++ {
		for i := range t.actors {
			t.actors[i].update(t.frame, complex)
		}
	}
}

// update is one update of one actor. It depends on no other actor, so the systems may run one after
// the other within it.
func (a *actor) update(f frame, complex bool) {
	has := func(p parts) bool { return a.has&p == p }
	if has(hasPosition | hasVelocity) {
		a.position.move(&a.velocity)
	}
	if has(hasData) {
		a.data.count()
		a.data.Numgy = a.data.RNG.next()
	}
	if !complex {
		return
	}
	if has(hasPosition | hasVelocity | hasData) {
		a.velocity.steer(&a.position, &a.data)
	}
	if has(hasHealth) {
		a.health.live()
	}
	if has(hasHealth | hasDamage) {
		a.health.suffer(&a.damage)
	}
	if has(hasSprite | hasPlayer | hasHealth) {
		a.sprite.show(&a.player, &a.health)
	}
	if has(hasPosition | hasSprite) {
		f.draw(&a.position, &a.sprite)
	}
}

// wantFrame compares pictures. The same places must have been drawn at any time. Where several
// sprites stand now, the picture shows the last one, which depends on the order of rows: it must be
// one of them.
func (t *twin) wantFrame(f frame) error {
	standing := make([]uint64, len(f)) // a bit for each character, which differ modulo 64
	for i := range t.actors {
		a := &t.actors[i]
		if k, inside := place(&a.position); inside && a.has&(hasPosition|hasSprite) == hasPosition|hasSprite {
			standing[k] |= 1 << (a.sprite.Character % 64)
		}
	}
	for k, c := range f {
		if (c != 0) != (t.frame[k] != 0) || standing[k] != 0 && standing[k]>>(c%64)&1 == 0 {
			return wrong("got %q at %d, %d of the picture, want %q or another that stands there", c,
				k%frameWidth, k/frameWidth, t.frame[k])
		}
	}
	return nil
}
