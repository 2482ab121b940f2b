// Spawner runs five fountains that make drops from a prefab, each at its own rate. Every drop lives
// for a second. Creation and destruction are commands: a drop exists from the beginning of a
// frame's simulation, and is destroyed at the end of one. The number of drops can be calculated: a
// fountain that makes a drop in every k-th frame of a hundredth of a second has 100/k drops in the
// air, so all five have 100 + 50 + 25 + 20 + 10 = 205.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// Position is the position of a drop or a fountain, in metres.
type Position struct{ X, Y float64 }

// Velocity is the velocity of a drop, in metres a second.
type Velocity struct{ X, Y float64 }

// Life is the time that a drop has left.
type Life struct{ Left time.Duration }

// Fountain makes copies of a prefab.
type Fountain struct {
	Drop        ecs.Entity
	Every, Wait time.Duration
	Made        int
}

const frame = time.Second / 100

func main() {
	if err := run(os.Stdout, 5); err != nil {
		log.Fatal(err)
	}
}

// run lets the fountains run and prints a line every second.
func run(out io.Writer, seconds int) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	systems := system.New(w)
	defer func() { err = errors.Join(err, systems.Close()) }()
	systems.Initialization().Add("spawn", system.Make(spawn))
	systems.Add("move", system.Make(move))
	systems.Add("expire", system.Make(expire))

	position, fountain := ecs.Register[Position](w), ecs.Register[Fountain](w)
	drop := newDrop(w)
	for i, k := range []time.Duration{1, 2, 4, 5, 10} {
		e := ecs.NewArchetype(w, position, fountain).Create()
		position.Set(e, Position{X: float64(i)})
		fountain.Set(e, Fountain{Drop: drop, Every: k * frame, Wait: k * frame})
	}
	drops := ecs.NewQuery(w, ecs.With(ecs.Register[Life](w))) // queries leave out the prefab
	fountains := ecs.NewQuery(w, ecs.Read(fountain))
	for second := range seconds {
		for range time.Second / frame {
			if err := systems.Step(frame); err != nil {
				return err
			}
		}
		made := 0
		for _, f := range fountain.Values(fountains, nil) {
			made += f.Made
		}
		fmt.Fprintf(out, "%d s: %4d made, %d in the air\n", second+1, made, drops.Count())
	}
	return nil
}

// newDrop makes the prefab, an entity that queries see only through its copies.
func newDrop(w *ecs.World) ecs.Entity {
	velocity, life := ecs.Register[Velocity](w), ecs.Register[Life](w)
	drop := ecs.NewArchetype(w, ecs.Register[ecs.Prefab](w), ecs.Register[Position](w), velocity, life).Create()
	velocity.Set(drop, Velocity{X: 1, Y: 5})
	life.Set(drop, Life{time.Second})
	return drop
}

// spawn makes drops at the fountains, for the simulation of the same frame.
func spawn(s *system.State) func() {
	position, fountain := ecs.Register[Position](s.World()), ecs.Register[Fountain](s.World())
	fountains := s.Query(ecs.Write(fountain), ecs.Read(position))
	return func() {
		out := s.Commands(s.Systems().BeginSimulation())
		for rows := range fountains.Rows() {
			at, f := position.Slice(rows), fountain.Slice(rows)
			for i := range rows.Each() {
				for f[i].Wait -= s.Time().Delta; f[i].Wait <= 0; f[i].Wait += f[i].Every {
					command.Set(out, out.Instantiate(f[i].Drop), position, at[i])
					f[i].Made++
				}
			}
		}
	}
}

// move lets drops fly and fall.
func move(s *system.State) func() {
	position, velocity := ecs.Register[Position](s.World()), ecs.Register[Velocity](s.World())
	drops := s.For(s.Query(ecs.Write(position), ecs.Write(velocity)))
	dt := 0.0
	body := func(c *job.Ctx, rows ecs.Rows) {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range rows.Each() {
			v[i].Y -= 9.81 * dt
			p[i].X += v[i].X * dt
			p[i].Y += v[i].Y * dt
		}
	}
	return func() {
		dt = s.Time().Seconds()
		drops.Parallel(body)
	}
}

// expire destroys the drops whose second is over, at the end of the simulation. It shares no type
// with move, so the jobs of both run side by side.
func expire(s *system.State) func() {
	life := ecs.Register[Life](s.World())
	drops := s.For(s.Query(ecs.Write(life)))
	var dt time.Duration
	var commands *command.Buffer
	body := func(c *job.Ctx, rows ecs.Rows) {
		out, left, ids := commands.Parallel(c), life.Slice(rows), rows.Entities()
		for i := range rows.Each() {
			if left[i].Left -= dt; left[i].Left < 0 {
				out.Destroy(ids[i])
			}
		}
	}
	return func() {
		dt, commands = s.Time().Delta, s.Commands(s.Systems().EndSimulation())
		drops.Parallel(body)
	}
}
