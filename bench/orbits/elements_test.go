package orbits_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/bench/orbits"
)

func degrees(d float64) float64 { return d * math.Pi / 180 }

// The whole computation against its twin, for ellipses and hyperbolas.
func TestAtTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		el := orbits.Elements{
			A: 0.3 + 40*rng.Float64(), E: rng.Float64(), I: math.Pi * rng.Float64(),
			Node: 7 * rng.Float64(), Peri: 7 * rng.Float64(), M: 7 * rng.Float64(), Epoch: 2460000.5,
		}
		if rng.IntN(4) == 0 {
			el.A, el.E = -el.A, 1+3*rng.Float64()
		}
		el.N = orbits.MeanMotion(el.A)
		jd := 2460000.5 + 4000*rng.Float64()
		got, want := el.At(jd), el.AtSlow(jd)
		// Near perihelion of a long orbit a rounding of M moves a body far.
		bound := 1e-13 * max(1, want.R()) / min(1, math.Abs(1-el.E))
		if off := got.Distance(want); !(off <= bound) {
			t.Fatalf("%+v at %v: got %v want %v: off %.2g, bound %.2g", el, jd, got, want, off, bound)
		}
	}
}

// Energy and angular momentum, which the equations do not mention: vis-viva
// v^2 = GM (2/r - 1/a) and |r x v|^2 = GM a (1 - e^2).
func TestStateConserves(t *testing.T) {
	for _, el := range []orbits.Elements{
		{A: 2.7, E: 0.08, I: 0.2, Node: 1, Peri: 2, M: 3},
		{A: 1.2, E: 0.9, I: 2, Node: 4, Peri: 1, M: 0.1},
		{A: -1.27, E: 1.2, I: 2.1, Node: 0.4, Peri: 4.2, M: 0.9},
	} {
		el.N, el.Epoch = orbits.MeanMotion(el.A), 2460000.5
		for day := range 500 {
			p, v := el.State(2460000.5 + float64(day))
			square := v.X*v.X + v.Y*v.Y + v.Z*v.Z
			if want := orbits.SunGM * (2/p.R() - 1/el.A); math.Abs(square-want) > 1e-12*want {
				t.Fatalf("%+v day %d: v^2 got %v want %v", el, day, square, want)
			}
			x, y, z := p.Y*v.Z-p.Z*v.Y, p.Z*v.X-p.X*v.Z, p.X*v.Y-p.Y*v.X
			momentum := x*x + y*y + z*z
			if want := orbits.SunGM * el.A * (1 - el.E*el.E); math.Abs(momentum-want) > 1e-12*want {
				t.Fatalf("%+v day %d: |r x v|^2 got %v want %v", el, day, momentum, want)
			}
		}
	}
}

// 28 bodies with elements and states from JPL Horizons, one of them hyperbolic.
func TestHorizonsStates(t *testing.T) {
	rows := table(t, "orbits/adam_core/elements_sun_ec.csv")
	if len(rows) != 28 {
		t.Fatalf("got %d bodies want 28", len(rows))
	}
	hyperbolic := 0
	for _, row := range rows {
		at := func(name string) float64 { return number(t, row[name]) }
		epoch := at("mjd_tdb") + 2400000.5
		el := orbits.Elements{
			A: at("a"), E: at("e"), I: degrees(at("incl")), Node: degrees(at("Omega")), Peri: degrees(at("w")),
			M: degrees(at("M")), N: degrees(at("n")), Epoch: epoch,
		}
		if el.E > 1 {
			hyperbolic++
		}
		p, v := el.State(epoch)
		if want := (orbits.Position{X: at("x"), Y: at("y"), Z: at("z")}); p.Distance(want) > 1e-12 {
			t.Errorf("%s: got %v want %v", row["targetname"], p, want)
		}
		if want := (orbits.Position{X: at("vx"), Y: at("vy"), Z: at("vz")}); v.Distance(want) > 1e-12 {
			t.Errorf("%s: velocity got %v want %v", row["targetname"], v, want)
		}
		if got := el.At(epoch); got != p {
			t.Errorf("%s: At got %v want %v", row["targetname"], got, p)
		}
	}
	if hyperbolic != 1 {
		t.Errorf("got %d hyperbolas want 1", hyperbolic)
	}
}

func TestElementsCheck(t *testing.T) {
	good := orbits.Elements{A: 2.7, E: 0.1, N: 0.004, Epoch: 2460000.5}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*orbits.Elements){
		"finite elements":            func(el *orbits.Elements) { el.M = math.NaN() },
		"finite elements, got":       func(el *orbits.Elements) { el.A = math.Inf(1) },
		"from 0 up, but not 1":       func(el *orbits.Elements) { el.E = 1 },
		"from 0 up, but not 1, got":  func(el *orbits.Elements) { el.E = -0.1 },
		"above 0 for eccentricity":   func(el *orbits.Elements) { el.A = -2.7 },
		"below 0 for eccentricity":   func(el *orbits.Elements) { el.E = 1.5 },
		"expected a mean motion":     func(el *orbits.Elements) { el.N = 0 },
		"above 0 for eccentricity 0": func(el *orbits.Elements) { el.A = 0 },
	} {
		el := good
		change(&el)
		if err := el.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v want %q", err, want)
		}
	}
}
