// Boids simulates a flock (after Craig Reynolds): each bird matches the flight of the birds near
// it, stays with them and keeps its distance. To find neighbours it uses a grid whose cells are
// entities, each with a buffer of the birds in it. Jobs do all the work; what a job reads and
// writes decides which jobs it waits for. So the flock is the same, to the bit, for any number of
// workers.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

const (
	side   = 512                // of the world, in pixels
	reach  = 16                 // how far a bird sees, and the side of a cell
	grid   = 32                 // cells in a row
	middle = side/2 + side/2*1i // every bird is drawn to it
)

// Bird is the position of a bird and the distance it flies in a second. It is the component of
// birds and the element of the cells' buffers, whose copies stay while the birds fly on.
type Bird struct{ P, V complex64 } // X and Y

// flock is the state that the systems share.
type flock struct {
	bird  ecs.Component[Bird]
	seen  ecs.Buffer[Bird]
	cells []ecs.Entity // row by row
}

func main() {
	name := flag.String("o", "boids.png", "file to draw to")
	flag.Parse()
	hash, err := run(*name, 600)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("2000 birds after 600 frames, hash of their world %016x: %s\n", hash, *name)
}

// run lets birds fly, draws them to a file and returns the hash of their world.
func run(name string, frames int, options ...job.Option) (hash uint64, err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	systems := system.New(w, system.Jobs(options...))
	defer func() { err = errors.Join(err, systems.Close()) }()
	f := &flock{bird: ecs.Register[Bird](w), seen: ecs.RegisterBuffer[Bird](w)}
	systems.Add("look", system.Make(f.look))
	systems.Add("fly", system.Make(f.fly), system.After("look"))
	birds, cells := ecs.NewArchetype(w, f.bird), ecs.NewArchetype(w, f.seen)
	for range grid * grid {
		f.cells = append(f.cells, cells.Create())
	}
	random := rand.New(rand.NewPCG(1, 2)).Float32
	for range 2000 {
		p := complex(side*random(), side*random())
		f.bird.Set(birds.Create(), Bird{p, times(p-middle, 0.5) * 1i})
	}
	for range frames {
		if err := systems.Step(time.Second / 50); err != nil {
			return 0, err
		}
	}
	return w.Hash(), draw(name, f.bird.Values(ecs.NewQuery(w, ecs.Read(f.bird)), nil))
}

// look puts every bird into its cell. Filling runs on one worker, which may write the buffer of any
// entity.
func (f *flock) look(s *system.State) func() {
	empty := s.For(s.Query(ecs.Write(f.seen)))
	fill := s.For(s.Query(ecs.Read(f.bird))).Uses(ecs.Write(f.seen))
	wipe := func(c *job.Ctx, rows ecs.Rows) {
		for i := range rows.Each() {
			f.seen.At(rows, i).Clear()
		}
	}
	put := job.Each1(f.bird, func(c *job.Ctx, _ int, b *Bird) {
		cell, _ := f.seen.Lookup(c.Accessor()).Mut(f.cell(b.P, 0, 0))
		cell.Append(*b)
	})
	return func() { empty.Parallel(wipe); fill.Schedule(put) }
}

// fly turns each bird by the birds in the nine cells around it, and moves it.
func (f *flock) fly(s *system.State) func() {
	fly := s.For(s.Query(ecs.Write(f.bird))).Uses(ecs.Read(f.seen))
	dt := float32(0)
	body := func(c *job.Ctx, rows ecs.Rows) {
		birds, cells := f.bird.Slice(rows), f.seen.Lookup(c.Accessor())
		for i, b := range birds {
			n, along, apart := float32(1), complex64(0), times(middle-b.P, 0.3)
			for k := range 9 {
				cell, _ := cells.Get(f.cell(b.P, k%3-1, k/3-1))
				for _, other := range cell.Slice() {
					d := other.P - b.P
					if r := size(d); r > 0 && r < reach {
						n, along, apart = n+1, along+other.V-b.V+d+d, apart-times(d, 50/(r*r))
					}
				}
			}
			b.V += times(times(along, 1/n)+apart, dt)
			b.V = times(b.V, min(max(size(b.V), 60), 120)/size(b.V)) // pixels a second
			b.P += times(b.V, dt)
			birds[i] = b
		}
	}
	return func() { dt = float32(s.Time().Seconds()); fly.Parallel(body) }
}

// cell returns the cell that is some columns and rows away from a place. The grid wraps around.
func (f *flock) cell(p complex64, columns, rows int) ecs.Entity {
	return f.cells[(int(imag(p)/reach)+rows)&(grid-1)*grid+(int(real(p)/reach)+columns)&(grid-1)]
}

// draw draws each bird with a tail, coloured by its direction.
func draw(name string, birds []Bird) error {
	picture := image.NewNRGBA(image.Rect(0, 0, side, side))
	for _, b := range birds {
		back := times(b.V, -1/size(b.V))
		x, y := int(100*real(back)), int(100*imag(back))
		for k := range 7 {
			p := b.P + times(back, float32(k))
			picture.Set(int(real(p)), int(imag(p)), color.NRGBA{uint8(128 + x), uint8(128 + y), uint8(128 - x), 255})
		}
	}
	var file bytes.Buffer
	return errors.Join(png.Encode(&file, picture), os.WriteFile(name, file.Bytes(), 0o644))
}

// times and size round each product: float32(x*y) is the same on every machine, x*y+z is not.
func times(v complex64, s float32) complex64 { return complex(float32(real(v)*s), float32(imag(v)*s)) }
func size(v complex64) float32 {
	return float32(math.Sqrt(float64(float32(real(v)*real(v)) + float32(imag(v)*imag(v)))))
}
