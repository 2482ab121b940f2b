package orbits_test

import (
	"math"
	"strings"
	"testing"

	"quarry/bench/orbits"
)

// The table as typed in against the shared file, if there is one.
func TestPlanetTable(t *testing.T) {
	rows := table(t, "orbits/planets_jpl_table1.csv")
	planets := orbits.Planets()
	if len(rows) != len(planets) {
		t.Fatalf("got %d planets want %d", len(planets), len(rows))
	}
	for i, row := range rows {
		p := planets[i]
		for name, got := range map[string][2]float64{
			"a": p.A, "e": p.E, "I": p.I, "L": p.L, "lon_peri": p.Peri, "lon_node": p.Node,
		} {
			if want := [2]float64{number(t, row[name]), number(t, row[name+"_dot"])}; got != want {
				t.Errorf("%s %s: got %v want %v", p.Name, name, got, want)
			}
		}
		if name := strings.ToLower(p.Name); name != row["planet"] && row["planet"] != "emb" {
			t.Errorf("row %d: got %s want %s", i, name, row["planet"])
		}
	}
}

// Places from the analytical theory VSOP87 (version A: ecliptic and equinox of J2000; P. Bretagnon
// and G. Francou, Astronomy and Astrophysics 202, 1988; its published check values), which has
// nothing in common with the table. The bound is the table's own error, au.
func TestPlanetsAgainstVSOP87(t *testing.T) {
	for jd, want := range map[float64][8]orbits.Position{
		2451545.0: { // 2000-01-01
			{X: -0.1300934115, Y: -0.4472876716, Z: -0.0245983802},
			{X: -0.7183022797, Y: -0.0326546017, Z: 0.0410142975},
			{X: -0.1771591440, Y: 0.9672192891, Z: -0.0000009536},
			{X: 1.3907159264, Y: -0.0134157043, Z: -0.0344677967},
			{X: 4.0011740268, Y: 2.9385810077, Z: -0.1017837501},
			{X: 6.4064068573, Y: 6.5699929449, Z: -0.3690768029},
			{X: 14.4318934159, Y: -13.7343162527, Z: -0.2381421963},
			{X: 16.8121116576, Y: -24.9916630908, Z: 0.1272190171},
		},
		2415020.0: { // 1899-12-31
			{X: -0.3897246931, Y: -0.1502242199, Z: 0.0236199373},
			{X: 0.6971428331, Y: -0.2033631151, Z: -0.0430201136},
			{X: -0.1883097013, Y: 0.9650388428, Z: 0.0002152687},
			{X: 0.4284332474, Y: -1.3552354250, Z: -0.0389650205},
			{X: -3.0191224350, Y: -4.4582563705, Z: 0.0858641900},
			{X: -0.3695973750, Y: -10.0582398188, Z: 0.1916854382},
			{X: -6.4810833337, Y: -17.8526893406, Z: 0.0177935238},
			{X: 1.5164557467, Y: 29.8254538901, Z: -0.6491400216},
		},
	} {
		bound := [8]float64{1e-4, 1e-4, 2e-4, 6e-4, 8e-3, 3e-2, 2e-2, 2e-2}
		for i, p := range orbits.Planets() {
			got := p.ElementsAt(jd).At(jd)
			if off := got.Distance(want[i]); off > bound[i] {
				t.Errorf("%s at %v: got %v want %v: %.2g au off, bound %.2g", p.Name, jd, got, want[i], off, bound[i])
			}
		}
	}
}

// Kepler's third law: the table's periods and axes must match, with the planet's own mass (in Suns)
// added to the Sun's. The table's rates are fitted over 250 years, so they are not quite the mean
// motions.
func TestPlanetPeriods(t *testing.T) {
	mass := [8]float64{1.66e-7, 2.45e-6, 3.04e-6, 3.23e-7, 9.548e-4, 2.859e-4, 4.37e-5, 5.15e-5}
	for i, p := range orbits.Planets() {
		got := p.ElementsAt(orbits.J2000).N
		want := orbits.MeanMotion(p.A[0]) * math.Sqrt(1+mass[i])
		if math.Abs(got/want-1) > 3e-3 {
			t.Errorf("%s: mean motion got %v want %v", p.Name, got, want)
		}
	}
}
