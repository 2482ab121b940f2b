package life_test

import (
	"testing"

	"quarry/bench/life"
)

// BenchmarkAcorn runs acorn to its end, about 2.6 million cells stepped.
func BenchmarkAcorn(b *testing.B) {
	for name, open := range sides {
		b.Run("side="+name, func(b *testing.B) {
			cells := 0
			for b.Loop() {
				s, err := open(life.Acorn())
				if err != nil {
					b.Fatal(err)
				}
				for range 5206 {
					cells += s.Population()
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
				if s.Population() != 633 {
					b.Fatalf("population at 5206: got %d want 633", s.Population())
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(cells), "ns/cell")
		})
	}
}
