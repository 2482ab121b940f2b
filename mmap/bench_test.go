//go:build linux

package mmap_test

import (
	"testing"

	"quarry/mmap"
)

// BenchmarkFault is the first touch of each page of 64 MiB, per MiB. Commit and
// Decommit are outside.
func BenchmarkFault(b *testing.B) {
	const mib = 64
	for _, pages := range []struct{ name, huge string }{{"4k", "off"}, {"2m", ""}} {
		b.Run("pages="+pages.name, func(b *testing.B) {
			b.Setenv("QUARRY_HUGEPAGES", pages.huge)
			r, err := pagesSpace().Reserve(mib << 20)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				if r.Committed() > 0 {
					if err := r.Decommit(0, mib<<20); err != nil {
						b.Fatal(err)
					}
				}
				if err := r.Commit(0, mib<<20); err != nil {
					b.Fatal(err)
				}
				bytes := r.Bytes()
				b.StartTimer()
				for i := 0; i < len(bytes); i += 4096 {
					bytes[i] = 1
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/mib, "ns/MiB")
			if err := r.Release(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCommit is one Commit and one Decommit of a granule that nobody
// touches, between granules that stay reserved.
func BenchmarkCommit(b *testing.B) {
	for name, system := range mmap.Systems() {
		b.Run("backing="+name, func(b *testing.B) {
			r, err := mmap.NewSpace(system()).Reserve(3 * g)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r.Commit(g, g) != nil || r.Decommit(g, g) != nil {
					b.Fatal("refused")
				}
			}
			if err := r.Release(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
