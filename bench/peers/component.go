package main

// The components of all workloads: two float64 each, as in go-ecs-benchmarks.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
	C1       struct{ X, Y float64 }
	C2       struct{ X, Y float64 }
	C3       struct{ X, Y float64 }
	C4       struct{ X, Y float64 }
	C5       struct{ X, Y float64 }
	C6       struct{ X, Y float64 }
	C7       struct{ X, Y float64 }
	C8       struct{ X, Y float64 }
	C9       struct{ X, Y float64 }
	C10      struct{ X, Y float64 }
	C11      struct{ X, Y float64 }
	C12      struct{ X, Y float64 }
)

// extras is the number of types other than Position and Velocity.
const extras = 12

// worldCapacity is the initial capacity of the peers' worlds, as in go-ecs-benchmarks;
// smallCapacity replaces it in worlds with very many small archetypes.
const (
	worldCapacity = 1024
	smallCapacity = 4
)

// velocityOf gives entity i its velocity: small whole numbers, so that sums are
// exact.
func velocityOf(i int) Velocity { return Velocity{float64(i%7 + 1), float64(i%5 - 2)} }

// placeOf is the position of entity i before anything moves, in workloads that need it not to be
// zero.
func placeOf(i int) Position { return Position{float64(i % 1000), 1} }

// tally sums up the positions of a world.
type tally struct {
	count int
	x, y  float64
}

func (t *tally) add(p *Position) {
	t.count++
	t.x += p.X
	t.y += p.Y
}

// moved is the tally of n entities that began at zero and moved by that many steps.
func moved(n, steps int) tally {
	t := tally{count: n}
	for i := range n {
		v := velocityOf(i)
		t.x += v.X * float64(steps)
		t.y += v.Y * float64(steps)
	}
	return t
}

// placed is the tally of n entities at their first places.
func placed(n int) tally {
	t := tally{}
	for i := range n {
		p := placeOf(i)
		t.add(&p)
	}
	return t
}

func (t tally) want(w tally) error {
	if t != w {
		return wrong("got %d entities with sums %v and %v, want %d, %v and %v", t.count, t.x, t.y, w.count, w.x, w.y)
	}
	return nil
}

// wantCount compares a number of entities with the expected one.
func wantCount(what string, got, want int) error {
	if got != want {
		return wrong("got %d %s, want %d", got, what, want)
	}
	return nil
}

// archetypeRows is the number of entities in each of very many archetypes.
const archetypeRows = 3

// Bits of the mask of the types that an archetype has; the lower bits stand for the extras.
const (
	velocityBit = 1 << (extras + iota)
	positionBit
	maxArchetypes = 1<<(extras+iota) - 1
)

// archetypeMask returns a set of types for archetype i that no other archetype has and that is not
// empty.
func archetypeMask(i int) int { return i + 1 }
