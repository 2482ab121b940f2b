// Transform is two windmills: rotors turn on towers, and blades on rotors. Only what turns, and
// what is below it, gets a new matrix; towers never do. The picture has a mark where each part is.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/transform"
)

// Mark is how a part is drawn.
type Mark struct{ Letter byte }

// Spin is how far a part turns in a frame, in radians.
type Spin struct{ Angle float32 }

// Picture in characters, of which two are as wide as one is high.
const (
	width  = 64
	height = 22
)

type mills struct {
	w     *ecs.World
	links *hierarchy.Hierarchy
	t     *transform.Transforms
	mark  ecs.Component[Mark]
	spin  ecs.Component[Spin]
	turns *ecs.Query
	drawn *ecs.Query
}

func main() {
	if err := run(os.Stdout, 5); err != nil {
		log.Fatal(err)
	}
}

// run turns the mills for some frames and draws them.
func run(out io.Writer, frames int) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	links := hierarchy.New(w)
	m := &mills{w: w, links: links, t: transform.New(links), mark: ecs.Register[Mark](w), spin: ecs.Register[Spin](w)}
	m.turns = ecs.NewQuery(w, ecs.Read(m.spin))
	m.drawn = ecs.NewQuery(w, ecs.Read(m.mark), ecs.Read(m.t.MatrixType()))
	if err := m.build(transform.At(14, 0, 0), math.Pi/32); err != nil {
		return err
	}
	if err := m.build(transform.At(42, 0, 0).ScaleBy(1.5), -math.Pi/20); err != nil {
		return err
	}
	parts := m.t.Update()
	moved := 0
	for range frames {
		moved = m.frame()
	}
	fmt.Fprintf(out, "%d parts, of which %d move in a frame\n", parts, moved)
	_, err = out.Write(m.draw())
	return err
}

// build makes a mill: a tower, a rotor at its top, and four blades.
func (m *mills) build(at transform.Local, spin float32) error {
	var failed error
	part := func(letter byte, l transform.Local, below ecs.Entity, more ...ecs.Type) ecs.Entity {
		e := ecs.NewArchetype(m.w, append(more, m.mark, m.t.LocalType(), m.t.MatrixType())...).Create()
		m.mark.Set(e, Mark{letter})
		m.t.LocalType().Set(e, l)
		failed = errors.Join(failed, m.links.SetParent(e, below))
		return e
	}
	tower := part('#', at, ecs.Null)
	for y := range 9 {
		part('#', transform.At(0, float32(y), 0), tower)
	}
	rotor := part('O', transform.At(0, 9, 0), tower, m.spin)
	m.spin.Set(rotor, Spin{spin})
	for i := range 4 {
		blade := rotor
		for k := range 5 { // each piece lies on the one before
			l := transform.At(1, 0, 0)
			if k == 0 {
				l = transform.At(0, 0, 0).RotateZ(float32(i) * math.Pi / 2)
			}
			blade = part("o+xx*"[k], l, blade)
		}
	}
	return failed
}

// frame turns the rotors and returns how many parts have moved.
func (m *mills) frame() int {
	for _, e := range m.turns.Entities(nil) {
		l := m.t.LocalType().Mut(e)
		*l = l.RotateZ(m.spin.Get(e).Angle)
	}
	return m.t.Update()
}

// draw returns the picture.
func (m *mills) draw() []byte {
	picture := bytes.Repeat(append(bytes.Repeat([]byte{' '}, width), '\n'), height)
	for rows := range m.drawn.Rows() {
		marks, matrices := m.mark.Slice(rows), m.t.MatrixType().Slice(rows)
		for i := range rows.Each() {
			p := matrices[i].Matrix.Position()
			x, y := int(math.Round(float64(p.X))), height-1-int(math.Round(float64(p.Y)))
			if x >= 0 && x < width && y >= 0 && y < height {
				picture[y*(width+1)+x] = marks[i].Letter
			}
		}
	}
	var trimmed []byte
	for line := range bytes.Lines(picture) {
		trimmed = append(append(trimmed, bytes.TrimRight(line, " \n")...), '\n')
	}
	return trimmed
}
