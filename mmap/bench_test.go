//go:build linux

package mmap_test

import (
	"strings"
	"testing"
	"time"

	"quarry/mmap"
)

// BenchmarkFault is the first touch of each page of 64 MiB, or Prefault of it,
// per MiB. Commit and Decommit are outside.
func BenchmarkFault(b *testing.B) {
	const mib = 64
	for _, pages := range []struct{ name, huge string }{
		{"4k", "off"}, {"2m", ""}, {"4k/by=Prefault", "off"}, {"2m/by=Prefault", ""},
	} {
		b.Run("pages="+pages.name, func(b *testing.B) {
			prefault := strings.HasSuffix(pages.name, "Prefault")
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
				if prefault {
					if err := r.Prefault(0, mib<<20); err != nil {
						b.Fatal(err)
					}
					continue
				}
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
	for name, backing := range mmap.Backings() {
		b.Run("backing="+name, func(b *testing.B) {
			r, err := mmap.NewSpace(backing()).Reserve(3 * g)
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

// BenchmarkGuard is one guard of one page and its end, between pages in use.
func BenchmarkGuard(b *testing.B) {
	for name, backing := range mmap.Backings() {
		if mmap.NewSpace(backing()).Guards() == mmap.GuardNone {
			continue
		}
		b.Run("guards="+name, func(b *testing.B) {
			const n = 1024
			r, err := mmap.NewSpace(backing()).Reserve(8 * g)
			if err != nil || r.Commit(0, 8*g) != nil {
				b.Fatal("refused: ", err)
			}
			_ = r.Hint(mmap.SmallPages, true)
			dirty(r, 0, 8*g)
			var set, end time.Duration
			for b.Loop() {
				start := time.Now()
				for i := range n {
					if err := r.Guard((2*i+1)*page, page); err != nil {
						b.Fatal(err)
					}
				}
				set += time.Since(start)
				start = time.Now()
				for i := range n {
					if err := r.Unguard((2*i+1)*page, page); err != nil {
						b.Fatal(err)
					}
				}
				end += time.Since(start)
			}
			b.ReportMetric(float64(set.Nanoseconds())/float64(b.N)/n, "ns/Guard")
			b.ReportMetric(float64(end.Nanoseconds())/float64(b.N)/n, "ns/Unguard")
			b.ReportMetric(0, "ns/op")
			if err := r.Release(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkGuarded is a guarded call, without and with a fault in it.
func BenchmarkGuarded(b *testing.B) {
	s := pagesSpace()
	r, err := s.Reserve(g)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("fault=no", func(b *testing.B) {
		for b.Loop() {
			if s.Guarded(func() {}) != nil {
				b.Fatal("a fault")
			}
		}
	})
	b.Run("fault=yes", func(b *testing.B) {
		for b.Loop() {
			if s.Guarded(func() { r.Bytes()[8] = 1 }) == nil {
				b.Fatal("no fault")
			}
		}
	})
	if err := r.Release(); err != nil {
		b.Fatal(err)
	}
}
