package blob_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs/blob"
)

// Bench is the root of the benchmarks: 64 B and an array.
type Bench struct {
	Value  uint64
	Fill   [6]uint64
	Points blob.Array[float32]
}

func benchBuilder(n, floats int) *blob.Builder[Bench] {
	b := blob.NewBuilder[Bench]()
	b.Root().Value = uint64(n)
	blob.Allocate(b, &b.Root().Points, floats)
	return b
}

// BenchmarkGet reads a field of each of 10,000 blobs by their handles, in the order in which they
// were made and at random, beside a Go slice of pointers to the same structs.
func BenchmarkGet(b *testing.B) {
	const n = 10_000
	w := newWorld(b)
	s, err := blob.NewStore(w, blob.Type[Bench]())
	if err != nil {
		b.Fatal(err)
	}
	list, twins := make([]blob.Blob[Bench], n), make([]*Bench, n)
	for i := range list {
		if list[i], err = blob.Add(s, benchBuilder(i, 16)); err != nil {
			b.Fatal(err)
		}
		twins[i] = &Bench{Value: uint64(i)}
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	shuffled, pointers := make([]blob.Blob[Bench], n), make([]*Bench, n)
	for i, k := range order {
		shuffled[i], pointers[i] = list[k], twins[k]
	}
	sum := uint64(0)
	perGet := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/get") }
	for name, list := range map[string][]blob.Blob[Bench]{"blobs/in order": list, "blobs/random": shuffled} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, x := range list {
					sum += x.Get(s).Value
				}
			}
			perGet(b)
		})
	}
	for name, list := range map[string][]*Bench{"pointers/in order": twins, "pointers/random": pointers} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, x := range list {
					sum += x.Value
				}
			}
			perGet(b)
		})
	}
}

// BenchmarkAdd adds a blob of 1 KiB: one that the world has, and a new one that is released again.
func BenchmarkAdd(b *testing.B) {
	w := newWorld(b)
	s, err := blob.NewStore(w, blob.Type[Bench]())
	if err != nil {
		b.Fatal(err)
	}
	x := benchBuilder(1, 240)
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			benchBuilder(1, 240)
		}
	})
	if _, err := blob.Add(s, x); err != nil {
		b.Fatal(err)
	}
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			if _, err := blob.Add(s, x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		x.Root().Value = 2
		for b.Loop() {
			y, err := blob.Add(s, x)
			if err != nil {
				b.Fatal(err)
			}
			y.Release(s)
		}
	})
	b.Run("check", func(b *testing.B) {
		for i := range 1000 {
			if _, err := blob.Add(s, benchBuilder(i+10, 240)); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			if err := s.Check(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
