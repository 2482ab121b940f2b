package boids

// Plain is a flock in a Go slice.
type Plain struct {
	Birds []Bird
	grid  *grid
}

// NewPlain makes a flock of n birds.
func NewPlain(n int) *Plain {
	p := &Plain{grid: newGrid(n)}
	hatch(n, p.grid, func(b Bird) { p.Birds = append(p.Birds, b) })
	return p
}

// Step flies for a frame towards the lure, see Lure.
func (p *Plain) Step(lure complex64) error {
	g := p.grid
	g.begin()
	g.count(p.Birds)
	g.counted()
	g.put(p.Birds)
	lure = times(lure, g.side)
	for i := range p.Birds {
		p.Birds[i] = p.Birds[i].fly(g, lure)
	}
	return nil
}
