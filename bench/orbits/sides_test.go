package orbits_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"quarry/bench/orbits"
	"quarry/ecs/image"
)

var sides = map[string]func([]orbits.Elements) (orbits.Sky, error){
	"plain": func(b []orbits.Elements) (orbits.Sky, error) { return orbits.NewPlain(b) },
	"world": func(b []orbits.Elements) (orbits.Sky, error) { return orbits.NewWorld(b) },
	"file":  filed,
}

// filed returns a world that was opened from the file of another.
func filed(b []orbits.Elements) (orbits.Sky, error) {
	w, err := orbits.NewWorld(b)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "orbits")
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "sky.world")
	if err := errors.Join(image.SaveFile(w.ECS(), path), w.Close()); err != nil {
		return nil, err
	}
	return orbits.OpenWorld(path)
}

// eachSide runs body for both sides.
func eachSide(t *testing.T, body func(t *testing.T, open func([]orbits.Elements) orbits.Sky)) {
	for name, open := range sides {
		t.Run(name, func(t *testing.T) {
			body(t, func(bodies []orbits.Elements) orbits.Sky {
				s, err := open(bodies)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
		})
	}
}

func TestPlanetsAtAnswerDate(t *testing.T) {
	eachSide(t, func(t *testing.T, open func([]orbits.Elements) orbits.Sky) {
		s := open(nil)
		s.Step(2451545)
		if err := orbits.CheckPlanets(s.Planets()); err == nil {
			t.Error("at J2000: got no error want the planets elsewhere")
		}
		s.Step(orbits.AnswerDate)
		if err := orbits.CheckPlanets(s.Planets()); err != nil {
			t.Error(err)
		}
	})
}

// Every body of a small mixed belt, in every row, against the slow twin, and the two sides against
// each other.
func TestSidesAgree(t *testing.T) {
	bodies := orbits.Belt(2000, 5)
	bodies[17] = orbits.Elements{A: -1.3, E: 1.2, I: 2, Node: 1, Peri: 2, M: 0.5, Epoch: 2458000.5}
	bodies[17].N = orbits.MeanMotion(bodies[17].A)
	for _, jd := range []float64{2440000.5, 2460000.5, 2461000.5, 2470000.25} {
		var first []orbits.Position
		eachSide(t, func(t *testing.T, open func([]orbits.Elements) orbits.Sky) {
			s := open(bodies)
			s.Step(jd)
			got := s.Bodies(nil)
			if len(got) != len(bodies) {
				t.Fatalf("got %d places want %d", len(got), len(bodies))
			}
			for i, el := range bodies {
				if want := el.AtSlow(jd); got[i].Distance(want) > 1e-11*max(1, want.R()) {
					t.Fatalf("body %d at %v: got %v want %v", i, jd, got[i], want)
				}
			}
			if first == nil {
				first = got
			} else if err := orbits.CheckSame(first, got); err != nil {
				t.Error(err)
			}
		})
	}
}

// 59,929 asteroids at two dates against places from another program.
func TestAsteroids(t *testing.T) {
	bodies := sbdb(t)
	if len(bodies) != 59_929 {
		t.Fatalf("got %d asteroids want 59929", len(bodies))
	}
	eachSide(t, func(t *testing.T, open func([]orbits.Elements) orbits.Sky) {
		s := open(bodies)
		for _, c := range []struct {
			jd   float64
			file string
			mean [4]float64 // x, y, z, distance
		}{
			{2460000.5, "orbits/expected_sbdb_60k_jd2460000.5_f64x3.bin",
				[4]float64{-0.0966375936065663, 0.0315132232124429, 0.0062946176461942, 2.6899414729988274}},
			{2461000.5, "orbits/expected_sbdb_60k_jd2461000.5_f64x3.bin",
				[4]float64{-0.2110057429751634, 0.0339715836467639, 0.0016035443655227, 2.6973631771694766}},
		} {
			s.Step(c.jd)
			got, want := s.Bodies(nil), places(t, c.file)
			if len(got) != len(want) {
				t.Fatalf("got %d places want %d", len(got), len(want))
			}
			worst := 0.0
			var sum [4]float64
			for i := range got {
				worst = max(worst, math.Abs(got[i].X-want[i].X), math.Abs(got[i].Y-want[i].Y),
					math.Abs(got[i].Z-want[i].Z))
				for k, v := range [4]float64{got[i].X, got[i].Y, got[i].Z, got[i].R()} {
					sum[k] += v
				}
			}
			t.Logf("JD %.1f: %d places, the worst %.2g au off", c.jd, len(got), worst)
			if !(worst <= 1e-9) {
				t.Errorf("JD %.1f: the worst place is %v au off want at most 1e-9", c.jd, worst)
			}
			for k := range sum {
				if mean := sum[k] / float64(len(got)); !(math.Abs(mean-c.mean[k]) <= 1e-12) {
					t.Errorf("JD %.1f: control mean %d: got %v want %v", c.jd, k, mean, c.mean[k])
				}
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	bodies := orbits.Belt(50_000, 1)
	for name, open := range sides {
		b.Run("side="+name+"/bodies=50000", func(b *testing.B) {
			s, err := open(bodies)
			if err != nil {
				b.Fatal(err)
			}
			jd := 2460000.5
			for b.Loop() {
				jd++
				s.Step(jd)
			}
			if err := orbits.CheckBodies(bodies, s.Bodies(nil), jd); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bodies)), "ns/body")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
