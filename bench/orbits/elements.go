package orbits

import (
	"fmt"
	"math"
)

// Constants of the solar system, in au and days.
const (
	// SunGM is the Sun's gravitational parameter, au^3/day^2: the square of
	// Gauss's constant k = 0.01720209895, by which the au was once defined.
	SunGM = 2.959122082855911e-4
	// J2000 is the Julian date of the equinox that all angles are measured from.
	J2000 = 2451545.0
	// daysPerCentury is the Julian century of planetary tables.
	daysPerCentury = 36525.0

	twoPi = 2 * math.Pi
)

// Position is a heliocentric place in the ecliptic and equinox of J2000, au.
type Position struct {
	X, Y, Z float64
}

// R is the distance from the Sun, au.
func (p Position) R() float64 { return math.Sqrt(p.X*p.X + p.Y*p.Y + p.Z*p.Z) }

// Distance is the distance between two places, au.
func (p Position) Distance(q Position) float64 {
	return Position{p.X - q.X, p.Y - q.Y, p.Z - q.Z}.R()
}

// Elements are the elements of a Kepler orbit about the Sun.
type Elements struct {
	A     float64 // semi-major axis, au; negative for a hyperbola
	E     float64 // eccentricity, from 0; below 1 with A > 0, above 1 with A < 0
	I     float64 // inclination, rad
	Node  float64 // longitude of the ascending node, rad
	Peri  float64 // argument of perihelion, rad
	M     float64 // mean anomaly at Epoch, rad
	N     float64 // mean motion, rad/day
	Epoch float64 // Julian date
}

// Check returns an error if an element of el is wrong, or nil.
func (el Elements) Check() error {
	for _, v := range [...]float64{el.A, el.E, el.I, el.Node, el.Peri, el.M, el.N, el.Epoch} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("expected finite elements, got %+v", el)
		}
	}
	switch {
	case el.E < 0 || el.E == 1:
		return fmt.Errorf("expected an eccentricity from 0 up, but not 1, got %v", el.E)
	case el.E < 1 && el.A <= 0:
		return fmt.Errorf("expected a semi-major axis above 0 for eccentricity %v, got %v", el.E, el.A)
	case el.E > 1 && el.A >= 0:
		return fmt.Errorf("expected a semi-major axis below 0 for eccentricity %v, got %v", el.E, el.A)
	case el.N <= 0:
		return fmt.Errorf("expected a mean motion above 0, got %v", el.N)
	}
	return nil
}

// MeanMotion is the mean motion of a massless body with semi-major axis a (au,
// of either sign), rad/day, by Kepler's third law.
func MeanMotion(a float64) float64 {
	a = math.Abs(a)
	return math.Sqrt(SunGM / (a * a * a))
}

// Orbit is the precomputed part of the elements that Kepler's equation reads, as a component. 32 B.
type Orbit struct {
	E     float64 // eccentricity
	N     float64 // mean motion, rad/day
	M     float64 // mean anomaly at Epoch, rad
	Epoch float64 // Julian date
}

// Frame holds the two axes of the orbit's plane, scaled by its semi-axes, au: P towards perihelion,
// Q a quarter turn on. 48 B.
type Frame struct {
	Px, Py, Pz float64
	Qx, Qy, Qz float64
}

// prepare returns the Orbit and the Frame of the elements.
func (el Elements) prepare() (Orbit, Frame) {
	sn, cn := math.Sincos(el.Node)
	sw, cw := math.Sincos(el.Peri)
	si, ci := math.Sincos(el.I)
	a := math.Abs(el.A)
	b := a * math.Sqrt(math.Abs((1-el.E)*(1+el.E)))
	return Orbit{E: el.E, N: el.N, M: el.M, Epoch: el.Epoch}, Frame{
		Px: a * (cn*cw - sn*sw*ci), Py: a * (sn*cw + cn*sw*ci), Pz: a * (sw * si),
		Qx: b * (-cn*sw - sn*cw*ci), Qy: b * (-sn*sw + cn*cw*ci), Qz: b * (cw * si),
	}
}

// direction returns the coordinates along P and Q of a body with eccentricity e and mean anomaly m:
// (cos E - e, sin E), or for a hyperbola (e - cosh F, sinh F). Most of the time is spent here:
// about 60 ns.
func direction(m, e float64) (p, q float64) {
	if e < 1 {
		sin, cos := math.Sincos(Solve(m, e))
		return cos - e, sin
	}
	f := SolveHyperbolic(m, e)
	return e - math.Cosh(f), math.Sinh(f)
}

// Every product below is rounded by a conversion before it is added: otherwise the compiler may
// fuse the two operations on some processors, in one place and not in another, and the two sides
// would differ in the last bit.

// mean returns the mean anomaly at jd, rad, not reduced.
func mean(m, n, epoch, jd float64) float64 {
	return m + float64(n*(jd-epoch))
}

// combine returns one coordinate.
func combine(p, cp, q, cq float64) float64 {
	return float64(p*cp) + float64(q*cq)
}

// at returns the place at jd.
func (o *Orbit) at(f *Frame, jd float64) Position {
	p, q := direction(mean(o.M, o.N, o.Epoch, jd), o.E)
	return Position{
		X: combine(f.Px, p, f.Qx, q),
		Y: combine(f.Py, p, f.Qy, q),
		Z: combine(f.Pz, p, f.Qz, q),
	}
}

// At returns the place at a Julian date.
func (el Elements) At(jd float64) Position {
	o, f := el.prepare()
	return o.at(&f, jd)
}

// State returns the place (au) and the velocity (au/day) at a Julian date.
func (el Elements) State(jd float64) (place, velocity Position) {
	o, f := el.prepare()
	m := mean(o.M, o.N, o.Epoch, jd)
	var dp, dq float64 // of (p, q), per day
	if o.E < 1 {
		sin, cos := math.Sincos(Solve(m, o.E))
		rate := o.N / (1 - o.E*cos)
		dp, dq = -sin*rate, cos*rate
	} else {
		h := SolveHyperbolic(m, o.E)
		rate := o.N / (o.E*math.Cosh(h) - 1)
		dp, dq = -math.Sinh(h)*rate, math.Cosh(h)*rate
	}
	return o.at(&f, jd), Position{f.Px*dp + f.Qx*dq, f.Py*dp + f.Qy*dq, f.Pz*dp + f.Qz*dq}
}
