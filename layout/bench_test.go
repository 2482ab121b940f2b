package layout_test

import (
	"fmt"
	"testing"
	"unsafe"

	"quarry/layout"
)

// BenchmarkSkew walks three columns of float64 whose starts are equal modulo
// 4 KiB, then shifted by some lines against each other. docs/decisions/0007 has
// the figures.
func BenchmarkSkew(b *testing.B) {
	const rows, page = 450, 4096
	memory := make([]float64, 4*page/8*4)
	base := unsafe.Pointer(unsafe.SliceData(memory))
	base = unsafe.Add(base, -uintptr(base)&(page-1))
	for _, skew := range []int{0, 64, 128, 256, 1024, 2048} {
		b.Run(fmt.Sprintf("skew=%d/rows=%d", skew, rows), func(b *testing.B) {
			column := func(i int) []float64 {
				return unsafe.Slice((*float64)(unsafe.Add(base, i*page+i*skew)), rows)
			}
			x, y, z := column(0), column(1), column(2)
			for b.Loop() {
				for i := range x {
					x[i] += y[i] * z[i]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}

func BenchmarkNew(b *testing.B) {
	columns := []layout.Column{
		{Name: "Entity", Size: 8, Align: 4}, {Name: "A", Size: 16, Align: 8}, {Name: "B", Size: 12, Align: 4},
	}
	rows := 0
	for b.Loop() {
		p, err := layout.New(columns, layout.Options{CacheLine: 64})
		if err != nil {
			b.Fatal(err)
		}
		rows += p.Rows
	}
	if rows != b.N*453 {
		b.Fatalf("got %d rows in %d plans", rows, b.N)
	}
}
