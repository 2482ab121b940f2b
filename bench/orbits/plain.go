package orbits

// Plain is the plain Go side: one slice on the Go heap per field, the fastest form in plain Go, and
// the planets in an array.
type Plain struct {
	e, n, m, epoch         []float64
	px, py, pz, qx, qy, qz []float64
	x, y, z                []float64
	planets                [planetCount]Position
}

// NewPlain prepares the bodies.
func NewPlain(bodies []Elements) (*Plain, error) {
	s := &Plain{}
	for _, field := range s.fields() {
		*field = make([]float64, len(bodies))
	}
	for i, el := range bodies {
		o, f := el.prepare()
		s.e[i], s.n[i], s.m[i], s.epoch[i] = o.E, o.N, o.M, o.Epoch
		s.px[i], s.py[i], s.pz[i] = f.Px, f.Py, f.Pz
		s.qx[i], s.qy[i], s.qz[i] = f.Qx, f.Qy, f.Qz
	}
	return s, nil
}

func (s *Plain) fields() [13]*[]float64 {
	return [...]*[]float64{
		&s.e, &s.n, &s.m, &s.epoch,
		&s.px, &s.py, &s.pz, &s.qx, &s.qy, &s.qz,
		&s.x, &s.y, &s.z,
	}
}

// Step moves everything to a Julian date.
func (s *Plain) Step(jd float64) {
	for i, e := range s.e {
		p, q := direction(mean(s.m[i], s.n[i], s.epoch[i], jd), e)
		s.x[i] = combine(s.px[i], p, s.qx[i], q)
		s.y[i] = combine(s.py[i], p, s.qy[i], q)
		s.z[i] = combine(s.pz[i], p, s.qz[i], q)
	}
	for i := range planets {
		s.planets[i] = planets[i].ElementsAt(jd).At(jd)
	}
}

// Bodies appends the places of all bodies to dst, in the order given.
func (s *Plain) Bodies(dst []Position) []Position {
	for i := range s.x {
		dst = append(dst, Position{s.x[i], s.y[i], s.z[i]})
	}
	return dst
}

// Planets returns the places of the planets.
func (s *Plain) Planets() [planetCount]Position { return s.planets }

// Committed is the memory held outside the Go heap, in bytes: none.
func (s *Plain) Committed() int64 { return 0 }

// Close does nothing: the collector frees everything.
func (s *Plain) Close() error { return nil }
