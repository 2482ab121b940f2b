package undo

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// kind is what an edit does to a thing.
type kind uint8

const (
	move    kind = iota // to X, Y
	create              // at X, Y, with a name, or without
	destroy             //
	rename              //
	light               // gives it a light of strength X, or takes it
	path                // adds a point to its path
	mark                // gives it a mark with value N, or takes it
	kinds
)

// edit is one change of a thing. Numbers of things are never used again.
type edit struct {
	what kind
	n    int // of the thing
	x, y float32
	name string
}

// perStep is the number of edits of each kind in a step.
var perStep = [kinds]int{move: 4, create: 2, destroy: 2, rename: 1, light: 1, path: 1, mark: 1}

// author makes up edits.
type author struct {
	random *rand.Rand
	next   int   // number of the next thing
	alive  []int // numbers of things
	named  int   // one thing of so many has a name; negative: none ever has
	steps  int
}

func newAuthor(named int) *author {
	return &author{random: rand.New(rand.NewPCG(3, 7)), named: named}
}

// begin returns the edits that make a scene of n things.
func (a *author) begin(n int) (edits []edit) {
	for range n {
		edits = append(edits, a.create())
	}
	for _, e := range edits[:n:n] {
		switch a.random.IntN(8) {
		case 0:
			edits = append(edits, edit{what: light, n: e.n, x: 1})
		case 1:
			for i := range 1 + a.random.IntN(12) {
				edits = append(edits, edit{what: path, n: e.n, x: float32(i)})
			}
		case 2:
			edits = append(edits, edit{what: mark, n: e.n})
		}
	}
	return edits
}

// step returns the edits of a step, which are about things near each other in age.
func (a *author) step() (edits []edit) {
	a.steps++
	around := a.random.IntN(len(a.alive))
	for what, n := range perStep {
		if a.named < 0 && kind(what) == rename {
			continue
		}
		for range n {
			if kind(what) == create {
				edits = append(edits, a.create())
				continue
			}
			at := (around + a.random.IntN(64)) % len(a.alive)
			e := edit{what: kind(what), n: a.alive[at], x: a.random.Float32(), y: a.random.Float32()}
			switch e.what {
			case rename:
				e.name = fmt.Sprintf("thing %d, named in step %d", e.n, a.steps)
			case destroy:
				a.alive = slices.Delete(a.alive, at, at+1)
			}
			edits = append(edits, e)
		}
	}
	return edits
}

func (a *author) create() edit {
	e := edit{what: create, n: a.next, x: a.random.Float32(), y: a.random.Float32()}
	if a.named > 0 && a.next%a.named == 0 {
		e.name = fmt.Sprintf("thing %d", a.next)
	}
	a.alive = append(a.alive, a.next)
	a.next++
	return e
}

// thing is all values of a thing. Its path is never written.
type thing struct {
	n     int
	x, y  float32
	light float32 // 0: none
	path  []float32
	mark  int // 0: none
	name  string
}
