// Life is Conway's Game of Life on an unbounded plane. Each live cell is an entity. A generation is
// a frame of three systems: one counts neighbours into a resource, one records deaths, one records
// births. The world does not change while they look; the commands they record are played at a
// command point, at the end of the frame's simulation.
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

// Cell is the position of a live cell. It is the only component.
type Cell struct{ X, Y int32 }

// Crowd is the resource that the systems share.
type Crowd struct {
	Weight map[Cell]int // 2 for each live neighbour, plus 1 if the place itself is alive
	Places []Cell       // the keys of Weight in the order of adding, which a Go map does not keep
}

// add adds to the weight of a place.
func (c *Crowd) add(at Cell, weight int) {
	if c.Weight[at] == 0 {
		c.Places = append(c.Places, at)
	}
	c.Weight[at] += weight
}

// The R-pentomino: five cells that come to rest after 1,103 generations.
var pentomino = []Cell{{1, 0}, {2, 0}, {0, 1}, {1, 1}, {1, 2}}

func main() {
	if err := run(os.Stdout, pentomino, 10, 100, 1000, 1103); err != nil {
		log.Fatal(err)
	}
}

// run lets cells live and prints their number at some generations.
func run(out io.Writer, cells []Cell, generations ...uint64) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	systems := system.New(w)
	defer func() { err = errors.Join(err, systems.Close()) }()

	system.SetResource(systems, &Crowd{Weight: map[Cell]int{}})
	systems.Add("count", system.Make(count))
	systems.Add("deaths", system.Make(deaths), system.After("count"))
	systems.Add("births", system.Make(births), system.After("count"))

	cell := ecs.Register[Cell](w)
	kind := ecs.NewArchetype(w, cell)
	for _, at := range cells {
		var e ecs.Entity
		err := ecs.Try(func() { e = kind.Create() })
		if err != nil {
			return err
		}
		cell.Set(e, at)
	}
	for _, generation := range generations {
		for systems.Time().Frame < generation {
			if err := systems.Step(time.Second / 10); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "generation %4d: %3d cells\n", generation, kind.Len())
	}
	return nil
}

// count adds each live cell to the weight of the places around it.
func count(s *system.State) func() {
	crowd := system.Resource[Crowd](s)
	cell := ecs.Register[Cell](s.World())
	cells := s.Query(ecs.Read(cell))
	return func() {
		clear(crowd.Weight)
		crowd.Places = crowd.Places[:0]
		for rows := range cells.Rows() {
			for _, c := range cell.Slice(rows) {
				crowd.add(c, 1)
				for i := range int32(9) {
					if i != 4 { // itself
						crowd.add(Cell{c.X + i%3 - 1, c.Y + i/3 - 1}, 2)
					}
				}
			}
		}
	}
}

// deaths ends the cells without two or three neighbours. Each call of the body records through a
// writer of its own, on whichever goroutine it runs.
func deaths(s *system.State) func() {
	crowd := system.ReadResource[Crowd](s)
	cell := ecs.Register[Cell](s.World())
	cells := s.For(s.Query(ecs.Read(cell)))
	var commands *command.Buffer
	body := func(c *job.Ctx, rows ecs.Rows) {
		out, ids := commands.Parallel(c), rows.Entities()
		for i, at := range cell.Slice(rows) {
			if n := crowd.Weight[at]; n != 2*2+1 && n != 2*3+1 {
				out.Destroy(ids[i])
			}
		}
	}
	return func() {
		commands = s.Commands(s.Systems().EndSimulation())
		cells.Parallel(body)
	}
}

// births makes a cell in each empty place with three neighbours.
func births(s *system.State) func() {
	crowd := system.ReadResource[Crowd](s)
	cell := ecs.Register[Cell](s.World())
	kind := ecs.NewArchetype(s.World(), cell)
	return func() {
		commands := s.Commands(s.Systems().EndSimulation())
		for _, at := range crowd.Places {
			if crowd.Weight[at] == 2*3 {
				command.Set(commands, commands.Create(kind), cell, at)
			}
		}
	}
}
