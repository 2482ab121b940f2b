package main

import (
	"errors"
	"math"
)

// The workloads of ecs_bench_suite (Rust), with its sizes and its components of float32. All
// entrants work in one goroutine: our worlds can be shared for reading only, and ark and arche have
// no sharing. serialize is left out: neither ours nor the peers turn a world into bytes.
//
// An entity's components and values are decided by its class, its number modulo the number of
// classes, so that a plain Go twin computes one row for each class and counts it once per entity of
// the class.
const (
	insert    = "simple_insert"
	iteration = "simple_iter"
	fragments = "fragmented_iter"
	schedule  = "schedule"
	heavy     = "heavy_compute"
	exchange  = "add_remove-suite"
)

var suiteWorkloads = []workload{
	{name: insert, what: "a fresh world made and filled with Transform, Position, Rotation, Velocity", sizes: []int{
		10_000,
	}},
	{name: iteration, what: "position += velocity, in float32", sizes: []int{10_000}},
	{name: fragments, what: "data *= 2, entities spread over 26 archetypes", sizes: []int{letters * 20}},
	{name: schedule, what: "A and B swapped in four archetypes, C and D in one, C and E in one", sizes: []int{40_000}},
	{name: heavy, what: "a 4x4 matrix inverted 100 times, position = matrix x position", sizes: []int{1000}},
	{name: exchange, what: "B added to all that have A, and removed", sizes: []int{10_000}},
}

// Components of ecs_bench_suite.
type (
	Transform [16]float32 // by columns
	Position3 struct{ X, Y, Z float32 }
	Rotation3 struct{ X, Y, Z float32 }
	Velocity3 struct{ X, Y, Z float32 }
	Datum     struct{ V float32 }

	A struct{ V float32 }
	B struct{ V float32 }
	C struct{ V float32 }
	D struct{ V float32 }
	E struct{ V float32 }
	F struct{ V float32 }
	G struct{ V float32 }
	H struct{ V float32 }
	I struct{ V float32 }
	J struct{ V float32 }
	K struct{ V float32 }
	L struct{ V float32 }
	M struct{ V float32 }
	N struct{ V float32 }
	O struct{ V float32 }
	P struct{ V float32 }
	Q struct{ V float32 }
	R struct{ V float32 }
	S struct{ V float32 }
	T struct{ V float32 }
	U struct{ V float32 }
	V struct{ V float32 }
	W struct{ V float32 }
	X struct{ V float32 }
	Y struct{ V float32 }
	Z struct{ V float32 }
)

// letters is the number of types A to Z.
const letters = 26

// Initial values of entities.
var (
	identity  = Transform{0: 1, 5: 1, 10: 1, 15: 1}
	unitPlace = Position3{X: 1}
	unitTurn  = Rotation3{X: 1}
	unitSpeed = Velocity3{X: 1}
)

// speeds and starts are the numbers of different velocities and places.
const (
	speeds = 7
	starts = 5
)

func speedOf(class int) Velocity3 { return Velocity3{float32(class + 1), float32(class - 2), 1} }

func startOf(class int) Position3 { return Position3{float32(class + 1), 1, float32(-class)} }

func datumOf(class int) Datum { return Datum{float32(class + 1)} }

// sets is the number of archetypes in schedule: A and B, and these with C, with C and D, and with C
// and E.
const sets = 4

// classSize is how many of n entities belong to a class.
func classSize(n, classes, class int) int { return (n - class + classes - 1) / classes }

// checksum covers all entities, in any order.
type checksum struct {
	count int
	sum   uint64
}

// add takes in that many entities with these values.
func (c *checksum) add(entities int, values ...float32) {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(len(values))
	for _, v := range values {
		h = (h ^ uint64(math.Float32bits(v))) * odd
		h ^= h >> 32
	}
	c.count += entities
	c.sum += uint64(entities) * h
}

func (c *checksum) addPlace(entities int, p Position3) { c.add(entities, p.X, p.Y, p.Z) }

// addBirth takes in an entity of simple_insert.
func (c *checksum) addBirth(entities int, t *Transform, p Position3, r Rotation3, v Velocity3) {
	c.add(entities, t[:]...)
	c.add(entities, p.X, p.Y, p.Z, r.X, r.Y, r.Z, v.X, v.Y, v.Z)
}

func (c checksum) want(w checksum) error {
	if c != w {
		return wrong("got %d with checksum %#x, want %d with %#x", c.count, c.sum, w.count, w.sum)
	}
	return nil
}

// born is the twin of simple_insert.
func born(n int) (c checksum) {
	c.addBirth(n, &identity, unitPlace, unitTurn, unitSpeed)
	return c
}

// iterated is the twin of simple_iter. It adds step by step, because float32 rounds after many
// steps.
func iterated(n, passes int) (c checksum) {
	for class := range min(n, speeds) {
		var p Position3
		v := speedOf(class)
		for range passes {
			p.X += v.X
			p.Y += v.Y
			p.Z += v.Z
		}
		c.addPlace(classSize(n, speeds, class), p)
	}
	return c
}

// doubled is the twin of fragmented_iter.
func doubled(n, passes int) (c checksum) {
	for class := range min(n, letters) {
		v := float32(math.Ldexp(float64(datumOf(class).V), passes))
		c.add(classSize(n, letters, class), v)
	}
	return c
}

// fragmented is an entrant on fragmented_iter. After 128 passes each Datum is infinite, so the
// check makes one more pass from the initial values.
type fragmented interface {
	pass(times int)
	sum() checksum
	reset() // gives each Datum its first value
}

// checkDoubled checks an entrant that was reset after its first from passes, and resets it.
func checkDoubled(t fragmented, n, passes, from int) error {
	defer t.reset()
	if err := t.sum().want(doubled(n, passes-from)); err != nil {
		return err
	}
	t.reset()
	t.pass(1)
	return t.sum().want(doubled(n, 1))
}

// setSums has checksums of A and B in all entities of schedule, of C and D, and of C and E.
type setSums struct{ ab, cd, ce checksum }

// scheduled is the twin of schedule.
func scheduled(n, passes int) (s setSums) {
	ab, cd, ce := [2]float32{1, 2}, [2]float32{3, 4}, [2]float32{3, 5}
	first, second := passes%2, 1-passes%2
	s.ab.add(n, ab[first], ab[second])
	s.cd.add(classSize(n, sets, 2), cd[first], cd[second])
	s.ce.add(classSize(n, sets, 3), ce[first], ce[second])
	return s
}

func (s setSums) want(w setSums) error {
	return errors.Join(s.ab.want(w.ab), s.cd.want(w.cd), s.ce.want(w.ce))
}

// inversions is how many times heavy_compute inverts each matrix.
const inversions = 100

// rotation turns about the x axis, like the initial matrix of heavy_compute.
func rotation() Transform {
	sin, cos := math.Sincos(1.2)
	s, c := float32(sin), float32(cos)
	return Transform{1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 0, 0, 1}
}

// compute is what heavy_compute does to an entity, the same code for all entrants. It is not
// inlined, so that it rounds the same everywhere, even on CPUs that multiply and add in one step.
//
//go:noinline
func compute(m *Transform, p *Position3) {
	for range inversions {
		m.invert()
	}
	*p = m.turned(*p)
}

// computed is the twin of heavy_compute: all entities have the same matrix.
type computed struct {
	n, passes int
	m         Transform
	p         [starts]Position3
}

func newComputed(n int) computed {
	t := computed{n: n, m: rotation()}
	for class := range t.p {
		t.p[class] = startOf(class)
	}
	return t
}

// after is the checksum after that many passes in all, which never goes down.
func (t *computed) after(passes int) (c checksum) {
	for ; t.passes < passes; t.passes++ {
		m := t.m
		for class := range t.p {
			m = t.m
			compute(&m, &t.p[class])
		}
		t.m = m
	}
	for class := range min(t.n, starts) {
		c.addPlace(classSize(t.n, starts, class), t.p[class])
	}
	return c
}
