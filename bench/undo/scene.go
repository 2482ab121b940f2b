package undo

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// Components of things. Path is a buffer of float32, Mark a sparse value.
type (
	Number struct{ N int }
	Place  struct{ X, Y float32 }
	Light  struct{ Strength float32 }
	Mark   struct{ N int }
)

// scene is the scene in a world, and its states.
type scene struct {
	closed bool
	world  *ecs.World
	number ecs.Component[Number]
	place  ecs.Component[Place]
	light  ecs.Component[Light]
	path   ecs.Buffer[float32]
	mark   ecs.Sparse[Mark]
	plain  *ecs.Archetype
	all    *ecs.Query
	ids    []ecs.Entity // by number: an entity keeps its id when it comes back
	states []*ecs.Snapshot
}

func newScene() (*scene, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	s := &scene{
		world: w, number: ecs.Register[Number](w), place: ecs.Register[Place](w), light: ecs.Register[Light](w),
		path: ecs.RegisterBuffer[float32](w), mark: ecs.RegisterSparse[Mark](w),
	}
	s.plain = ecs.NewArchetype(w, s.number, s.place)
	s.all = ecs.NewQuery(w, ecs.Read(s.number), ecs.Read(s.place), ecs.Optional(ecs.Read(s.light)),
		ecs.Optional(ecs.Read(s.path)))
	return s, nil
}

// apply makes edits. The caller saves the state after a step.
func (s *scene) apply(edits []edit) {
	for _, e := range edits {
		for len(s.ids) <= e.n {
			s.ids = append(s.ids, ecs.Null)
		}
		id := s.ids[e.n]
		if e.what != create && !s.world.Alive(id) { // destroyed in the same step
			continue
		}
		switch e.what {
		case move:
			s.place.Set(id, Place{e.x, e.y})
		case create:
			id = s.plain.Create()
			s.ids[e.n] = id
			s.number.Set(id, Number{e.n})
			s.place.Set(id, Place{e.x, e.y})
			s.world.SetName(id, e.name)
		case destroy:
			s.world.Destroy(id)
		case rename:
			s.world.SetName(id, e.name)
		case light:
			if !s.light.Remove(id) {
				s.light.Add(id, Light{1 + e.x})
			}
		case path:
			s.path.Add(id)
			s.path.Append(id, e.x)
		case mark:
			if !s.mark.Remove(id) {
				s.mark.Add(id, Mark{1 + e.n})
			}
		}
	}
}

// save keeps the state.
func (s *scene) save() { s.states = append(s.states, s.world.Snapshot()) }

// to goes to a state.
func (s *scene) to(state int) error { return s.world.Restore(s.states[state]) }

// kept returns the bytes that the states have outside the Go heap.
func (s *scene) kept() (n int) {
	for _, state := range s.states {
		n += state.Kept()
	}
	return n
}

// digest returns the digest of the scene, the same on both sides.
func (s *scene) digest() (sum uint64) {
	for rows := range s.all.Rows() {
		number, place, light := s.number.Slice(rows), s.place.Slice(rows), s.light.Slice(rows)
		for i, id := range rows.Entities() {
			t := thing{n: number[i].N, x: place[i].X, y: place[i].Y, name: s.world.Name(id)}
			if light != nil {
				t.light = light[i].Strength
			}
			if s.path.In(rows) {
				t.path = s.path.At(rows, i).Slice()
			}
			if m := s.mark.Get(id); m != nil {
				t.mark = m.N
			}
			sum += t.digest()
		}
	}
	return sum
}

// close closes all states, the oldest first as an editor would, and the world.
func (s *scene) close() error {
	if s.closed {
		return nil
	}
	for _, state := range s.states {
		state.Close()
	}
	s.closed = true
	return errors.Join(s.world.Verify(), s.world.Close())
}
