package main

import (
	"quarry/asm"
	"quarry/layout"
)

// Entrants without a library: the roof.
const (
	goSlices     = "slices"
	slicesKernel = "slices kernel"
	goBoxes      = "boxes" // an object for each entity
)

var sliceWays = []way{
	{"query2comp", goSlices, func(n int) (trial, error) { return newColumns(n), nil }},
	{"query2comp-kernel", slicesKernel, func(n int) (trial, error) { return flatColumns{newColumns(n)}, nil }},
}

// columns are two plain slices.
type columns struct {
	endless
	p []Position
	v []Velocity
}

func newColumns(n int) *columns {
	s := &columns{p: make([]Position, n), v: make([]Velocity, n)}
	for i := range s.v {
		s.v[i] = velocityOf(i)
	}
	return s
}

func (s *columns) pass(times int) {
	for range times {
		p, v := s.p, s.v
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
}

func (s *columns) check(passes int) error {
	var t tally
	for i := range s.p {
		t.add(&s.p[i])
	}
	return t.want(moved(len(s.p), passes))
}

// flatColumns moves columns with the vector kernel.
type flatColumns struct{ *columns }

func (s flatColumns) pass(times int) {
	for range times {
		asm.Add(layout.Flat[float64](s.p), layout.Flat[float64](s.v))
	}
}
