// Orbits breaks a moon of a sun into a thousand pieces, which fly off at equal speed in many
// directions. Equal speed means equal energy, so all orbits have the same major axis and take the
// same time (Kepler's third law): after a year every piece is back where it began. A leapfrog
// integrator moves the pieces, with kernels of package asm over whole columns.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"os"
	"time"

	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"
	"quarry/layout"
)

// Position is the position of a piece. The sun is at (0, 0), and its mass makes a year 2 pi at
// distance 1.
type Position struct{ X, Y float64 }

// Velocity is the velocity of a piece.
type Velocity struct{ X, Y float64 }

// Pull is what the sun adds to a velocity in a time of 1.
type Pull struct{ X, Y float64 }

const (
	pieces = 1000
	steps  = 4000 // in a year
	side   = 400  // pixels of the picture
	scale  = 130  // pixels for a distance of 1
	sun    = 170  // pixels to its left
)

// flat returns a column as numbers, X and Y alternating, for the kernels.
func flat[T any](column []T) []float64 { return layout.Flat[float64](column) }

type sky struct {
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	pull     ecs.Component[Pull]
	picture  *image.NRGBA
}

func main() {
	name := flag.String("o", "orbits.png", "file to draw to")
	flag.Parse()
	if err := run(os.Stdout, *name); err != nil {
		log.Fatal(err)
	}
}

// run lets a year pass, prints the results and draws the paths of the pieces.
func run(out io.Writer, name string) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	systems := system.New(w)
	defer func() { err = errors.Join(err, systems.Close()) }()
	k := &sky{ecs.Register[Position](w), ecs.Register[Velocity](w), ecs.Register[Pull](w),
		image.NewNRGBA(image.Rect(0, 0, side, side))}
	systems.Add("leap", system.Make(k.leap))
	systems.Presentation().Add("trace", system.Make(k.trace))
	kind := ecs.NewArchetype(w, k.position, k.velocity, k.pull)
	for i := range pieces {
		t := float64(2*i+1-pieces) / (2 * pieces) // tangent of half the angle between way and circle
		e := kind.Create()
		k.position.Set(e, Position{1, 0})
		k.velocity.Set(e, Velocity{2 * t / (1 + float64(t*t)), (1 - float64(t*t)) / (1 + float64(t*t))})
	}
	year := 2 * math.Pi * float64(time.Second)
	all := ecs.NewQuery(w, ecs.Read(k.position), ecs.Read(k.velocity))
	fmt.Fprintln(out, "year   energy of a piece   mean distance from the start")
	for eighth := range 8 {
		for range steps / 8 {
			if err := systems.Step(time.Duration(year / steps)); err != nil {
				return err
			}
		}
		energy, distance := k.measure(all)
		fmt.Fprintf(out, "%d/8  %18.9f   %28.6f\n", eighth+1, energy, distance)
	}
	var file bytes.Buffer
	return errors.Join(png.Encode(&file, k.picture), os.WriteFile(name, file.Bytes(), 0o644))
}

// leap moves the pieces: half a step, then the sun's pull, then half a step.
func (k *sky) leap(s *system.State) func() {
	all := s.For(s.Query(ecs.Write(k.position), ecs.Write(k.velocity), ecs.Write(k.pull)))
	dt := 0.0
	body := func(c *job.Ctx, rows ecs.Rows) {
		p, v, a := k.position.Slice(rows), k.velocity.Slice(rows), k.pull.Slice(rows)
		asm.Axpy(flat(p), dt/2, flat(v))
		for i, p := range p {
			r := math.Sqrt(float64(p.X*p.X) + float64(p.Y*p.Y))
			a[i] = Pull{-p.X / (r * r * r), -p.Y / (r * r * r)}
		}
		asm.Axpy(flat(v), dt, flat(a))
		asm.Axpy(flat(p), dt/2, flat(v))
	}
	return func() {
		dt = s.Time().Seconds()
		all.Parallel(body)
	}
}

// trace draws the path of every 40th piece, and all pieces eight times a year.
func (k *sky) trace(s *system.State) func() {
	all := s.Query(ecs.Read(k.position))
	return func() {
		n, front := 0, s.Time().Frame%(steps/8) == 0
		for rows := range all.Rows() {
			for _, p := range k.position.Slice(rows) {
				x, y := sun+int(p.X*scale), side/2+int(p.Y*scale)
				if front {
					k.picture.Set(x, y, color.NRGBA{0, 160, 60, 255})
				} else if n%40 == 20 {
					k.picture.Set(x, y, color.NRGBA{uint8(n * 255 / pieces), 100, 200, 255})
				}
				n++
			}
		}
	}
}

// measure returns the mean energy of the pieces and their mean distance from the start.
func (k *sky) measure(all *ecs.Query) (energy, distance float64) {
	for rows := range all.Rows() {
		v := flat(k.velocity.Slice(rows))
		energy += asm.Dot(v, v) / 2
		for _, p := range k.position.Slice(rows) {
			energy -= 1 / math.Hypot(p.X, p.Y)
			distance += math.Hypot(p.X-1, p.Y)
		}
	}
	return energy / pieces, distance / pieces
}
