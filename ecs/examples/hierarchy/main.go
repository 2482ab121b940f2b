// Hierarchy is an orrery: turning wheels that carry other wheels. After all wheels have turned, the
// position of each in the room follows from its place on its carrier, level by level, parents
// first. Mars gets copies of the Earth's moon and of everything that the moon carries.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"time"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// Local is the place of a wheel on its carrier, and how far it has turned there.
type Local struct{ X, Y, Turns float64 }

// Spin is how far a wheel turns in a second.
type Spin struct{ Turns float64 }

// Global is the position of a wheel in the room, with the cosine and sine of its angle.
type Global struct{ X, Y, Cos, Sin float64 }

// carry returns the position of a wheel with place l on a wheel at g.
func (g Global) carry(l Local) Global {
	sin, cos := math.Sincos(2 * math.Pi * l.Turns)
	return Global{
		g.X + g.Cos*l.X - g.Sin*l.Y, g.Y + g.Sin*l.X + g.Cos*l.Y,
		g.Cos*cos - g.Sin*sin, g.Sin*cos + g.Cos*sin,
	}
}

type orrery struct {
	links  *hierarchy.Hierarchy
	local  ecs.Component[Local]
	spin   ecs.Component[Spin]
	global ecs.Component[Global]
}

func main() {
	if err := run(os.Stdout, 100); err != nil {
		log.Fatal(err)
	}
}

// run turns the orrery for a number of hundredths of a second and prints it.
func run(out io.Writer, frames int) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	systems := system.New(w)
	defer func() { err = errors.Join(err, systems.Close()) }()
	o := &orrery{hierarchy.New(w), ecs.Register[Local](w), ecs.Register[Spin](w), ecs.Register[Global](w)}
	systems.Add("turn", system.Make(o.turn))
	systems.LateSimulation().Add("place", system.Make(o.place))

	sun, err := o.build(w)
	if err != nil {
		return err
	}
	for range frames {
		if err := systems.Step(time.Second / 100); err != nil {
			return err
		}
	}
	o.print(out, w, sun)
	return nil
}

// build makes the wheels and returns the wheel that carries all others.
func (o *orrery) build(w *ecs.World) (ecs.Entity, error) {
	kind := ecs.NewArchetype(w, o.local, o.spin, o.global)
	wheel := func(name string, l Local, turns float64) ecs.Entity {
		e := kind.Create()
		o.local.Set(e, l)
		o.spin.Set(e, Spin{turns})
		w.SetName(e, name)
		return e
	}
	sun := wheel("sun", Local{}, 1./8)
	earth := wheel("earth", Local{X: 10}, 1.5)
	mars := wheel("mars", Local{X: 20}, 1./8)
	moon, lander := wheel("moon", Local{X: 2}, 0), wheel("lander", Local{X: 1}, 0)
	link := o.links.SetParent
	err := errors.Join(link(lander, moon), link(moon, earth), link(earth, sun), link(mars, sun))
	if err != nil {
		return sun, err
	}
	batch, err := o.links.Instantiate(moon, 2) // two moons, then their two landers
	if err != nil {
		return sun, err
	}
	copies := batch.Entities(nil)
	for i, name := range []string{"phobos", "deimos", "lander", "lander"} {
		w.SetName(copies[i], name)
	}
	o.local.Set(copies[0], Local{X: 3})
	o.local.Set(copies[1], Local{Y: 4})
	return sun, errors.Join(link(copies[0], mars), link(copies[1], mars))
}

func (o *orrery) turn(s *system.State) func() {
	wheels := s.For(s.Query(ecs.Write(o.local), ecs.Read(o.spin)))
	dt := 0.0
	body := func(c *job.Ctx, rows ecs.Rows) {
		local, spin := o.local.Slice(rows), o.spin.Slice(rows)
		for i := range rows.Each() {
			local[i].Turns += spin[i].Turns * dt
		}
	}
	return func() {
		dt = s.Time().Seconds()
		wheels.Parallel(body)
	}
}

// place computes the positions of the wheels in the room, one level of the hierarchy at a time.
func (o *orrery) place(s *system.State) func() {
	s.Uses(ecs.Read(o.local), ecs.Write(o.global)) // for look-ups: conflicting jobs are completed first
	room, locals, carriers, globals := Global{Cos: 1}, []*Local{}, []*Global{}, []*Global{}
	return func() {
		for wheels, parents := range o.links.ByDepth() {
			locals = o.local.GetList(locals[:0], wheels)
			carriers = o.global.GetList(carriers[:0], parents)
			globals = o.global.MutList(globals[:0], wheels)
			for i, g := range globals {
				if l := locals[i]; g != nil && l != nil {
					*g = cmp.Or(carriers[i], &room).carry(*l) // a root has no carrier
				}
			}
		}
	}
}

// print lists a wheel and everything it carries.
func (o *orrery) print(out io.Writer, w *ecs.World, e ecs.Entity) {
	g := o.global.Get(e)
	fmt.Fprintf(out, "%*s%-8s (%.3f, %.3f)\n", 2*o.links.Depth(e), "", w.Name(e), g.X, g.Y)
	for child := range o.links.Children(e) {
		o.print(out, w, child)
	}
}
