package orbits

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/image"
)

// A body is an entity with three columns and its number, 116 B a row with its id:
//
//	Entity 8 | Orbit 32 | Frame 48 | Position 24 | Row 4
//
// A planet is an entity with its line of the table in place of an orbit:
//
//	Entity 8 | Secular 96 | Position 24 | Row 4

// Row is the component that holds the number of a body in its catalogue, or of a planet in the
// table, counted from 0.
type Row uint32

// World is the ECS side: bodies and planets are entities in a world of their own.
type World struct {
	world    *ecs.World
	orbit    ecs.Component[Orbit]
	frame    ecs.Component[Frame]
	secular  ecs.Component[Secular]
	position ecs.Component[Position]
	row      ecs.Component[Row]
	bodies   *ecs.Query // for Step: entities with an orbit
	planets  *ecs.Query // for Step: entities with a line of the table
	placed   *ecs.Query // places of bodies by row
	shining  *ecs.Query // places of planets by row
}

// NewWorld makes an ECS world with the bodies and the planets, one CreateN
// each. Close gives its memory back.
func NewWorld(bodies []Elements) (*World, error) {
	world, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("orbits: NewWorld: %w", err)
	}
	w := new(World)
	w.register(world)
	if err := errors.Join(w.addBodies(bodies), w.addPlanets()); err != nil {
		return nil, errors.Join(fmt.Errorf("orbits: NewWorld: %w", err), world.Close())
	}
	return w, nil
}

// OpenWorld opens the file of a world, with its bodies and planets. Close gives the memory back.
func OpenWorld(path string) (*World, error) {
	w := new(World)
	if _, err := image.Open(path, w.register); err != nil {
		return nil, fmt.Errorf("orbits: OpenWorld: %w", err)
	}
	return w, nil
}

// register registers the types of a new world, and makes the queries.
func (w *World) register(world *ecs.World) {
	*w = World{
		world:    world,
		orbit:    ecs.Register[Orbit](world),
		frame:    ecs.Register[Frame](world),
		secular:  ecs.Register[Secular](world),
		position: ecs.Register[Position](world),
		row:      ecs.Register[Row](world),
	}
	w.bodies = ecs.NewQuery(world, ecs.Write(w.position), ecs.Read(w.orbit), ecs.Read(w.frame))
	w.planets = ecs.NewQuery(world, ecs.Write(w.position), ecs.Read(w.secular))
	w.placed = ecs.NewQuery(world, ecs.Read(w.position), ecs.Read(w.row), ecs.With(w.orbit))
	w.shining = ecs.NewQuery(world, ecs.Read(w.position), ecs.Read(w.row), ecs.With(w.secular))
}

func (w *World) addBodies(bodies []Elements) error {
	kind := ecs.NewArchetype(w.world, w.orbit, w.frame, w.position, w.row)
	batch, err := kind.CreateN(len(bodies), ecs.Uninitialized(w.orbit, w.frame, w.position, w.row))
	if err != nil {
		return err
	}
	next := 0
	for rows := range batch.Rows() {
		orbits, frames, numbers := w.orbit.Slice(rows), w.frame.Slice(rows), w.row.Slice(rows)
		clear(w.position.Slice(rows))
		for i := range orbits {
			orbits[i], frames[i] = bodies[next].prepare()
			numbers[i] = Row(next)
			next++
		}
	}
	return nil
}

func (w *World) addPlanets() error {
	kind := ecs.NewArchetype(w.world, w.secular, w.position, w.row)
	batch, err := kind.CreateN(len(planets), ecs.Uninitialized(w.secular, w.row))
	if err != nil {
		return err
	}
	next := 0
	for rows := range batch.Rows() {
		lines, numbers := w.secular.Slice(rows), w.row.Slice(rows)
		for i := range lines {
			lines[i], numbers[i] = planets[next].Secular, Row(next)
			next++
		}
	}
	return nil
}

// Step moves everything to a Julian date: it solves Kepler's equation for every row.
func (w *World) Step(jd float64) {
	for rows := range w.bodies.Rows() {
		places, orbits, frames := w.position.Slice(rows), w.orbit.Slice(rows), w.frame.Slice(rows)
		for i := range places {
			places[i] = orbits[i].at(&frames[i], jd)
		}
	}
	for rows := range w.planets.Rows() {
		places, lines := w.position.Slice(rows), w.secular.Slice(rows)
		for i := range places {
			places[i] = lines[i].ElementsAt(jd).At(jd)
		}
	}
}

// Bodies appends the places of all bodies to dst, in the order given to NewWorld.
func (w *World) Bodies(dst []Position) []Position {
	start := len(dst)
	dst = append(dst, make([]Position, w.placed.Count())...)
	w.gather(w.placed, dst[start:])
	return dst
}

// Planets returns the places of the planets.
func (w *World) Planets() (places [planetCount]Position) {
	w.gather(w.shining, places[:])
	return places
}

// gather puts each place at the index of its row number.
func (w *World) gather(q *ecs.Query, dst []Position) {
	for rows := range q.Rows() {
		places, numbers := w.position.Slice(rows), w.row.Slice(rows)
		for i, n := range numbers {
			dst[n] = places[i]
		}
	}
}

// ECS returns the world of the bodies and planets, which can be saved between two steps.
func (w *World) ECS() *ecs.World { return w.world }

// Committed is the memory held outside the Go heap, in bytes.
func (w *World) Committed() int64 { return int64(w.world.Universe().Stats().Committed) }

// Close destroys the world and gives its memory back.
func (w *World) Close() error { return w.world.Close() }
