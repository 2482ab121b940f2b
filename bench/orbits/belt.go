package orbits

import (
	"math"
	"math/rand/v2"
)

// BeltEpoch is the epoch of the bodies that Belt makes: 2023-02-25, 0 h.
const BeltEpoch = 2460000.5

// zone is a part of the belt between two semi-major axes, au.
type zone struct {
	lo, hi float64
	share  float64 // of all bodies; relative weights
	e, i   float64 // modes of eccentricity and inclination (degrees) of a Rayleigh distribution
}

// Zones with about the shares of the first 60,000 numbered asteroids. Trojans and Hildas come after
// them, because their places depend on Jupiter's.
var zones = [...]zone{
	{1.78, 2.00, 0.010, 0.05, 18},
	{2.06, 2.50, 0.390, 0.11, 4.5},
	{2.50, 2.82, 0.310, 0.10, 7},
	{2.82, 3.28, 0.263, 0.09, 8},
	{3.28, 3.70, 0.005, 0.06, 9},
}

const (
	hildaShare  = 0.008 // about twice the true share, to be visible in a picture
	trojanShare = 0.014
	nearest     = 1.5  // au: no perihelion is nearer, or Mars would soon clear the body away
	hildaA      = 3.97 // au: three orbits per two of Jupiter's
	trojanA     = 5.2044
)

// gap is a Kirkwood gap: orbits in resonance with Jupiter, which has emptied them.
type gap struct {
	centre, width float64 // au
}

var gaps = [...]gap{
	{2.065, 0.020}, // 4:1
	{2.502, 0.018}, // 3:1
	{2.825, 0.014}, // 5:2
	{2.958, 0.010}, // 7:3
	{3.279, 0.030}, // 2:1
}

// Belt makes up n bodies that are spread like the asteroids between Mars and Jupiter: the zones of
// the main belt with Kirkwood gaps, Hungarias, Hildas in their triangle, and Trojans 60 degrees
// before and behind Jupiter. The same n and seed give the same bodies.
func Belt(n int, seed uint64) []Elements {
	rng := rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))
	jove := planets[jupiter].ElementsAt(BeltEpoch)
	longitude := jove.Node + jove.Peri + jove.M
	bodies := make([]Elements, n)
	for k := range bodies {
		var el Elements
		switch u := rng.Float64(); {
		case u < trojanShare:
			el = trojan(rng, longitude)
		case u < trojanShare+hildaShare:
			el = hilda(rng, longitude)
		default:
			el = mainBelt(rng)
		}
		el.N = MeanMotion(el.A)
		el.Epoch = BeltEpoch
		bodies[k] = el
	}
	return bodies
}

func mainBelt(rng *rand.Rand) Elements {
	total := 0.0
	for _, z := range zones {
		total += z.share
	}
	u := rng.Float64() * total
	z := zones[len(zones)-1]
	for _, c := range zones {
		if u < c.share {
			z = c
			break
		}
		u -= c.share
	}
	a := between(rng, z.lo, z.hi)
	for rng.Float64() < emptied(a) {
		a = between(rng, z.lo, z.hi)
	}
	el := spread(rng, z.e, z.i)
	el.A, el.E = a, min(el.E, 1-nearest/a)
	el.M = between(rng, 0, twoPi)
	return el
}

// emptied is the probability that a gap has taken the orbit with semi-major axis a.
func emptied(a float64) (p float64) {
	for _, g := range gaps {
		d := (a - g.centre) / g.width
		p = max(p, 0.98*math.Exp(-d*d*d*d))
	}
	return p
}

// trojan stays about 60 degrees before or behind Jupiter, at mean longitude
// jove (rad).
func trojan(rng *rand.Rand, jove float64) Elements {
	el := spread(rng, 0.05, 10)
	el.A = trojanA + 0.06*rng.NormFloat64()
	ahead := radians(60 + 11*rng.NormFloat64())
	if rng.Float64() > 0.6 { // the camp ahead is the larger one
		ahead = -ahead
	}
	el.M = jove + ahead - el.Node - el.Peri
	return el
}

// hilda keeps 3 L(Jupiter) - 2 L - (longitude of perihelion) near 0, so that it
// comes to aphelion 60 degrees before, 60 behind or opposite Jupiter.
func hilda(rng *rand.Rand, jove float64) Elements {
	el := spread(rng, 0.13, 6)
	el.E = max(el.E, 0.08)
	el.A = hildaA + 0.015*rng.NormFloat64()
	peri := el.Node + el.Peri
	longitude := (3*jove-peri)/2 + radians(8*rng.NormFloat64())
	if rng.Uint64()&1 == 0 {
		longitude += math.Pi
	}
	el.M = longitude - peri
	return el
}

// spread draws the angles of an orbit, and an eccentricity and an inclination
// about the given modes, the latter in degrees.
func spread(rng *rand.Rand, e, i float64) Elements {
	return Elements{
		E:    min(rayleigh(rng, e), 0.4),
		I:    radians(min(rayleigh(rng, i), 40)),
		Node: between(rng, 0, twoPi),
		Peri: between(rng, 0, twoPi),
	}
}

func rayleigh(rng *rand.Rand, mode float64) float64 {
	return mode * math.Sqrt(-2*math.Log(1-rng.Float64()))
}

func between(rng *rand.Rand, lo, hi float64) float64 {
	return lo + (hi-lo)*rng.Float64()
}
