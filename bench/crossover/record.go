package main

// The components of a record. The wide one has six others, which no loop reads.
type (
	position struct{ X, Y float64 }
	velocity struct{ X, Y float64 }
	extra    struct{ X, Y float64 }
)

type slim struct {
	Position position
	Velocity velocity
}

type wide struct {
	Position position
	Velocity velocity
	Extra    [6]extra
}

// speedOf gives record i its velocity: small whole numbers, so that all sums are exact.
func speedOf(i int) velocity { return velocity{float64(i%7 + 1), float64(i%5 - 2)} }

func (p *position) move(v velocity) {
	p.X += v.X
	p.Y += v.Y
}
