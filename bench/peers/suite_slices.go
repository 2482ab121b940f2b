package main

import (
	"quarry/asm"
	"quarry/layout"
)

// The roof of the workloads of ecs_bench_suite.
var suiteSliceWays = []way{
	{insert, goSlices, func(n int) (trial, error) { return &suiteBirths{n: n}, nil }},
	{iteration, goSlices, func(n int) (trial, error) { return newSuiteColumns(n), nil }},
	{iteration, slicesKernel, func(n int) (trial, error) { return suiteFlat{newSuiteColumns(n)}, nil }},
	{fragments, goSlices, func(n int) (trial, error) { return newSuiteFragments(n), nil }},
	{schedule, goSlices, func(n int) (trial, error) { return newSuiteSets(n), nil }},
	{heavy, goSlices, func(n int) (trial, error) { return newSuiteHeavy(n), nil }},
}

// suiteBirths makes four slices and fills them.
type suiteBirths struct {
	endless
	n int
	t []Transform
	p []Position3
	r []Rotation3
	v []Velocity3
}

func (s *suiteBirths) once() {
	s.t, s.p = make([]Transform, s.n), make([]Position3, s.n)
	s.r, s.v = make([]Rotation3, s.n), make([]Velocity3, s.n)
	for i := range s.t {
		s.t[i], s.p[i], s.r[i], s.v[i] = identity, unitPlace, unitTurn, unitSpeed
	}
}

func (s *suiteBirths) restore() error { return nil }

func (s *suiteBirths) check(int) error {
	var c checksum
	for i := range s.t {
		c.addBirth(1, &s.t[i], s.p[i], s.r[i], s.v[i])
	}
	return c.want(born(s.n))
}

// suiteColumns are two slices for simple_iter.
type suiteColumns struct {
	endless
	p []Position3
	v []Velocity3
}

func newSuiteColumns(n int) *suiteColumns {
	s := &suiteColumns{p: make([]Position3, n), v: make([]Velocity3, n)}
	for i := range s.v {
		s.v[i] = speedOf(i % speeds)
	}
	return s
}

// step is the loop of simple_iter over columns.
func step(p []Position3, v []Velocity3) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
		p[i].Z += v[i].Z
	}
}

func (s *suiteColumns) pass(times int) {
	for range times {
		step(s.p, s.v)
	}
}

func (s *suiteColumns) check(passes int) error {
	var c checksum
	for _, p := range s.p {
		c.addPlace(1, p)
	}
	return c.want(iterated(len(s.p), passes))
}

// suiteFlat does the same with the vector kernel.
type suiteFlat struct{ *suiteColumns }

func (s suiteFlat) pass(times int) {
	for range times {
		asm.Add(layout.Flat[float32](s.p), layout.Flat[float32](s.v))
	}
}

// suiteFragments has a slice for each letter.
type suiteFragments struct {
	endless
	lists   [letters][]Datum
	n, from int
}

func newSuiteFragments(n int) *suiteFragments {
	s := &suiteFragments{n: n}
	for class := range s.lists {
		s.lists[class] = make([]Datum, max(0, classSize(n, letters, class)))
	}
	s.reset()
	return s
}

func (s *suiteFragments) reset() {
	for class, list := range s.lists {
		for i := range list {
			list[i] = datumOf(class)
		}
	}
}

// double is the loop of fragmented_iter over one column.
func double(list []Datum) {
	for i := range list {
		list[i].V *= 2
	}
}

func (s *suiteFragments) pass(times int) {
	for range times {
		for class := range s.lists {
			double(s.lists[class])
		}
	}
}

func (s *suiteFragments) sum() (c checksum) {
	for _, list := range s.lists {
		for _, d := range list {
			c.add(1, d.V)
		}
	}
	return c
}

func (s *suiteFragments) check(passes int) error {
	err := checkDoubled(s, s.n, passes, s.from)
	s.from = passes
	return err
}

// suiteSets has the columns of the archetypes of schedule; the columns of A and B are in one piece.
type suiteSets struct {
	endless
	a  []A
	b  []B
	cd struct {
		c []C
		d []D
	}
	ce struct {
		c []C
		e []E
	}
}

func newSuiteSets(n int) *suiteSets {
	s := &suiteSets{a: make([]A, n), b: make([]B, n)}
	for i := range n {
		s.a[i], s.b[i] = A{1}, B{2}
	}
	for range classSize(n, sets, 2) {
		s.cd.c, s.cd.d = append(s.cd.c, C{3}), append(s.cd.d, D{4})
	}
	for range classSize(n, sets, 3) {
		s.ce.c, s.ce.e = append(s.ce.c, C{3}), append(s.ce.e, E{5})
	}
	return s
}

// The three systems of schedule over columns.
func swapAB(a []A, b []B) {
	b = b[:len(a)]
	for i := range a {
		a[i].V, b[i].V = b[i].V, a[i].V
	}
}

func swapCD(c []C, d []D) {
	d = d[:len(c)]
	for i := range c {
		c[i].V, d[i].V = d[i].V, c[i].V
	}
}

func swapCE(c []C, e []E) {
	e = e[:len(c)]
	for i := range c {
		c[i].V, e[i].V = e[i].V, c[i].V
	}
}

func (s *suiteSets) pass(times int) {
	for range times {
		swapAB(s.a, s.b)
		swapCD(s.cd.c, s.cd.d)
		swapCE(s.ce.c, s.ce.e)
	}
}

func (s *suiteSets) check(passes int) error {
	var sums setSums
	for i := range s.a {
		sums.ab.add(1, s.a[i].V, s.b[i].V)
	}
	for i := range s.cd.c {
		sums.cd.add(1, s.cd.c[i].V, s.cd.d[i].V)
	}
	for i := range s.ce.c {
		sums.ce.add(1, s.ce.c[i].V, s.ce.e[i].V)
	}
	return sums.want(scheduled(len(s.a), passes))
}

// suiteHeavy has two slices for heavy_compute.
type suiteHeavy struct {
	endless
	m    []Transform
	p    []Position3
	twin computed
}

func newSuiteHeavy(n int) *suiteHeavy {
	s := &suiteHeavy{m: make([]Transform, n), p: make([]Position3, n), twin: newComputed(n)}
	for i := range s.m {
		s.m[i], s.p[i] = rotation(), startOf(i%starts)
	}
	return s
}

func (s *suiteHeavy) pass(times int) {
	for range times {
		for i := range s.m {
			compute(&s.m[i], &s.p[i])
		}
	}
}

func (s *suiteHeavy) check(passes int) error {
	var c checksum
	for _, p := range s.p {
		c.addPlace(1, p)
	}
	return c.want(s.twin.after(passes))
}
