package vectors

// Place and Speed are two float64 each, so that a column of either is a flat list of numbers.
type (
	// Place is where something is.
	Place struct{ X, Y float64 }
	// Speed is how far it goes in a step.
	Speed struct{ X, Y float64 }
)

// Move adds v to each of p. The slice expression before the loop shows the compiler that v is as
// long as p, so that the loop has no bounds check.
func Move(p []Place, v []Speed) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
	}
}

// MoveFive is a loop over five columns: three of them change.
func MoveFive(p []Place, v []Speed, a []Place, b []Speed, c []Place) {
	v, a, b, c = v[:len(p)], a[:len(p)], b[:len(p)], c[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
		a[i].X += b[i].X
		a[i].Y += b[i].Y
		c[i].X += v[i].X
		c[i].Y += v[i].Y
	}
}

const kept = 0.99 // of the energy in a step

// Decay takes from each energy a hundredth and its cost, down to zero: a loop that no kernel of
// package asm does.
func Decay(energy, cost []float64) {
	cost = cost[:len(energy)]
	for i := range energy {
		energy[i] = max(0, float64(energy[i]*kept)-cost[i])
	}
}
