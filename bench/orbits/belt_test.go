package orbits_test

import (
	"math"
	"reflect"
	"testing"

	"quarry/bench/orbits"
)

func TestBelt(t *testing.T) {
	const n = 50_000
	belt := orbits.Belt(n, 7)
	if len(belt) != n {
		t.Fatalf("got %d bodies want %d", len(belt), n)
	}
	if !reflect.DeepEqual(belt, orbits.Belt(n, 7)) || reflect.DeepEqual(belt, orbits.Belt(n, 8)) {
		t.Error("the same seed must give the same belt, and another seed another")
	}
	groups := map[int]int{}
	for _, el := range belt {
		if err := el.Check(); err != nil {
			t.Fatal(err)
		}
		if want := orbits.MeanMotion(el.A); el.N != want || el.E > 0.4 || el.I > degrees(40) || el.A*(1-el.E) < 1.4999 {
			t.Fatalf("%+v: want mean motion %v, e at most 0.4, i at most 40 degrees, perihelion from 1.5 au", el, want)
		}
		groups[orbits.GroupOf(el)]++
	}
	for g := 3; g < 9; g++ { // Hungarias to Trojans
		if groups[g] < n/250 {
			t.Errorf("group %d: got %d bodies want %d or more", g, groups[g], n/250)
		}
	}
	for _, centre := range []float64{2.502, 2.825, 2.958, 3.279} {
		gap := near(belt, centre)
		if beside := max(near(belt, centre-0.05), near(belt, centre+0.05)); 4*gap > beside {
			t.Errorf("gap at %v: got %d bodies, %d beside it", centre, gap, beside)
		}
	}
}

// near counts the bodies within 0.01 au of a semi-major axis.
func near(bodies []orbits.Elements, centre float64) (n int) {
	for _, el := range bodies {
		if math.Abs(el.A-centre) < 0.01 {
			n++
		}
	}
	return n
}

// Trojans stay in two camps before and behind Jupiter.
func TestBeltTrojans(t *testing.T) {
	ahead, behind := camps(t, orbits.Belt(20_000, 3), 2460000.5)
	if ahead < 100 || behind < 50 || ahead <= behind {
		t.Errorf("got %d ahead and %d behind want both camps, the first larger", ahead, behind)
	}
}

// camps counts the Trojans (5.05 <= a < 5.35) that are 20 to 120 degrees ahead
// of Jupiter in longitude, and behind; there must be none elsewhere.
func camps(t *testing.T, bodies []orbits.Elements, jd float64) (ahead, behind int) {
	t.Helper()
	planet := orbits.Planets()[4]
	jove := planet.ElementsAt(jd).At(jd)
	for _, el := range bodies {
		if el.A < 5.05 || el.A >= 5.35 {
			continue
		}
		p := el.At(jd)
		off := math.Remainder(math.Atan2(p.Y, p.X)-math.Atan2(jove.Y, jove.X), 2*math.Pi) * 180 / math.Pi
		switch {
		case off > 20 && off < 120:
			ahead++
		case off < -20 && off > -120:
			behind++
		default:
			t.Errorf("a Trojan is %.1f degrees ahead of Jupiter", off)
		}
	}
	return ahead, behind
}
