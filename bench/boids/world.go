package boids

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// World is a flock of entities in a world of their own.
type World struct {
	world *ecs.World
	bird  ecs.Component[Bird]
	look  *ecs.Query
	fly   *ecs.Query
	grid  *grid
}

// NewWorld makes a flock of n birds. Close gives its memory back.
func NewWorld(n int) (*World, error) {
	world, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("boids: NewWorld: %w", err)
	}
	w := &World{world: world, bird: ecs.Register[Bird](world), grid: newGrid(n)}
	w.look, w.fly = ecs.NewQuery(world, ecs.Read(w.bird)), ecs.NewQuery(world, ecs.Write(w.bird))
	var birds []Bird
	hatch(n, w.grid, func(b Bird) { birds = append(birds, b) })
	batch, err := ecs.NewArchetype(world, w.bird).CreateN(n, ecs.Uninitialized(w.bird))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("boids: NewWorld: %w", err), world.Close())
	}
	for rows := range batch.Rows() {
		birds = birds[copy(w.bird.Slice(rows), birds):]
	}
	return w, nil
}

// Step flies for a frame towards the lure, see Lure.
func (w *World) Step(lure complex64) error {
	g := w.grid
	g.begin()
	for rows := range w.look.Rows() {
		g.count(w.bird.Slice(rows))
	}
	g.counted()
	for rows := range w.look.Rows() {
		g.put(w.bird.Slice(rows))
	}
	lure = times(lure, g.side)
	for rows := range w.fly.Rows() {
		birds := w.bird.Slice(rows)
		for i := range birds {
			birds[i] = birds[i].fly(g, lure)
		}
	}
	return nil
}

// ECS returns the world of the birds, of which snapshots can be taken between two steps.
func (w *World) ECS() *ecs.World { return w.world }

// Birds appends all birds to dst, in the order in which they were made.
func (w *World) Birds(dst []Bird) []Bird { return w.bird.Values(w.look, dst) }

// Close destroys the world and gives its memory back.
func (w *World) Close() error { return w.world.Close() }
