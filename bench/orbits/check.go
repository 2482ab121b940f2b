package orbits

import (
	"fmt"
	"math"
)

// AnswerDate is the Julian date of the planets' known places: 2025-11-21, 0 h.
const AnswerDate = 2461000.5

// Places of the planets at AnswerDate from the same table, computed by a program that shares
// nothing with this one, to 9 decimals.
var planetAnswers = [planetCount]Position{
	{0.146444418, 0.272467086, 0.008835197},
	{-0.613895016, -0.379699191, 0.030206238},
	{0.515274837, 0.842932571, -0.000049534},
	{-0.250537120, -1.455261928, -0.024353427},
	{-1.393599113, 5.003661311, 0.010379069},
	{9.520988707, 0.041822297, -0.379629336},
	{10.015658654, 16.720137083, -0.067753826},
	{29.872637583, 0.384455945, -0.696323279},
}

const (
	planetTolerance = 2e-9 // au in each coordinate: the answers are rounded to 1e-9
	bodyTolerance   = 1e-9 // au for each au of distance, and at least 1e-9 au
	checkedBodies   = 1000 // most bodies that are compared with the slow twin
)

// checkPlanets compares the places of the planets at AnswerDate with the answers.
func checkPlanets(got [planetCount]Position) error {
	for i, want := range planetAnswers {
		g := got[i]
		off := max(math.Abs(g.X-want.X), math.Abs(g.Y-want.Y), math.Abs(g.Z-want.Z))
		if !(off <= planetTolerance) {
			return fmt.Errorf("%s at %.1f: at %v, want %v: %.2g au off", planets[i].Name, AnswerDate, g, want, off)
		}
	}
	return nil
}

// checkStride is the distance between two checked bodies if there are n.
func checkStride(n int) int { return (n + checkedBodies - 1) / checkedBodies }

// checkBodies compares up to checkedBodies of the places at jd, spread evenly, with the slow twin
// of the whole computation.
func checkBodies(bodies []Elements, got []Position, jd float64) error {
	if len(got) != len(bodies) {
		return fmt.Errorf("%d places, want %d", len(got), len(bodies))
	}
	for i := 0; i < len(bodies); i += checkStride(len(bodies)) {
		want := bodies[i].AtSlow(jd)
		if off := got[i].Distance(want); !(off <= bodyTolerance*max(1, want.R())) {
			return fmt.Errorf("body %d at %.1f: at %v, want %v: %.2g au off", i, jd, got[i], want, off)
		}
	}
	return nil
}

// checkSame compares the two sides bit for bit.
func checkSame(plain, ours []Position) error {
	if len(plain) != len(ours) {
		return fmt.Errorf("%d places, the plain side has %d", len(ours), len(plain))
	}
	for i, want := range plain {
		if got := ours[i]; bitsOf(got) != bitsOf(want) {
			return fmt.Errorf("body %d: at %v, the plain side has it at %v", i, got, want)
		}
	}
	return nil
}

func bitsOf(p Position) [3]uint64 {
	return [3]uint64{math.Float64bits(p.X), math.Float64bits(p.Y), math.Float64bits(p.Z)}
}
