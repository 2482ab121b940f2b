package boids

import (
	"math"
	"math/rand/v2"
)

// Bird is the position of a bird and the distance it flies in a second.
type Bird struct{ P, V complex64 } // X and Y

const (
	reach    = 16           // how far a bird sees, and the side of a cell
	perCell  = 2            // birds for each cell, on average
	dt       = 1.0 / 64     // seconds a frame
	slowest  = 60           // distance a second
	fastest  = 120          // likewise
	lureStep = math.Pi / 90 // radians that the lure moves in a frame
)

// Lure returns the input of a frame: the place, in parts of the plane's side, to which all birds
// are drawn. It goes round in a circle.
func Lure(frame int) complex64 {
	sin, cos := math.Sincos(float64(frame) * lureStep)
	return complex(float32(0.5+0.25*cos), float32(0.5+0.25*sin))
}

// hatch calls put with n birds at random places, which fly in random directions.
func hatch(n int, g *grid, put func(Bird)) {
	random := rand.New(rand.NewPCG(1, 2)).Float32
	for range n {
		p := complex(g.side*random(), g.side*random())
		sin, cos := math.Sincos(float64(2 * math.Pi * random()))
		put(Bird{p, times(complex(float32(cos), float32(sin)), slowest)})
	}
}

// fly returns the bird a frame later. lure is a place on the plane.
func (b Bird) fly(g *grid, lure complex64) Bird {
	n, along, apart := float32(1), complex64(0), times(lure-b.P, 0.3)
	column, row := g.place(b.P)
	for k := range 9 {
		for _, other := range g.birds(column+k%3-1, row+k/3-1) {
			d := other.P - b.P
			if r := size(d); r > 0 && r < reach {
				n, along, apart = n+1, along+other.V-b.V+d+d, apart-times(d, 50/(r*r))
			}
		}
	}
	b.V += times(times(along, 1/n)+apart, dt)
	b.V = times(b.V, min(max(size(b.V), slowest), fastest)/size(b.V))
	b.P += times(b.V, dt)
	return b
}

// times and size round each product: float32(x*y) is the same on every machine, x*y+z is not.
func times(v complex64, s float32) complex64 {
	return complex(float32(real(v)*s), float32(imag(v)*s))
}

func size(v complex64) float32 {
	return float32(math.Sqrt(float64(float32(real(v)*real(v)) + float32(imag(v)*imag(v)))))
}
