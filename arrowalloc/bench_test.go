//go:build unix

package arrowalloc_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/arrowalloc"
)

// What a program of arrow's does, n values at a time: on GoAllocator, where releasing frees nothing
// and the collector does, and on a heap. docs/memory.md has figures.

// job is what is measured; it releases all that it makes.
type job struct {
	name string
	run  func(mem memory.Allocator, n int)
}

var jobs = []job{
	{"build int64", func(mem memory.Allocator, n int) { numbers(mem, n).Release() }},
	{"build string", func(mem memory.Allocator, n int) {
		b := array.NewStringBuilder(mem)
		for i := range n {
			b.Append(words[i%len(words)])
		}
		b.NewArray().Release()
		b.Release()
	}},
	{"build 1,000 records of 1,000 int64", func(mem memory.Allocator, n int) {
		for range 1000 {
			numbers(mem, n/1000).Release()
		}
	}},
}

var words = strings.Fields(
	"a word is what stands between two spaces and most of them are short but incomprehensibilities are not")

// numbers returns an array of n values, which the builder was not told before.
func numbers(mem memory.Allocator, n int) *array.Int64 {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	for i := range n {
		b.Append(int64(i))
	}
	return b.NewInt64Array()
}

// BenchmarkJobs runs each job on both allocators in turn and reports what each takes, the median of
// all runs: ms, and ms of CPU of the whole process, collector and system calls included, with a
// collection of what the job has left. ratio and cpu-ratio are medians of pairs, the heap's by
// GoAllocator's; collector is its share of the CPU time of collector and program, in %.
func BenchmarkJobs(b *testing.B) {
	for _, n := range []int{100_000, 2_000_000} {
		for _, job := range jobs {
			b.Run(fmt.Sprintf("%s/%d", job.name, n), func(b *testing.B) {
				mine := arrowalloc.New(newHeap(b))
				var took, busy [2][]float64
				var collector, all [2]float64
				for b.Loop() {
					for i, mem := range []memory.Allocator{memory.NewGoAllocator(), mine} {
						c, a := cpu()
						before := used(b)
						began := time.Now()
						job.run(mem, n)
						took[i] = append(took[i], time.Since(began).Seconds()*1e3)
						runtime.GC() // so that a side pays for its own garbage, and CPU times are current
						busy[i] = append(busy[i], used(b)-before)
						c2, a2 := cpu()
						collector[i] += c2 - c
						all[i] += a2 - a
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(took[0]), "go-ms")
				b.ReportMetric(median(took[1]), "quarry-ms")
				b.ReportMetric(median(ratios(took)), "ratio")
				b.ReportMetric(median(busy[0]), "go-cpu-ms")
				b.ReportMetric(median(busy[1]), "quarry-cpu-ms")
				b.ReportMetric(median(ratios(busy)), "cpu-ratio")
				b.ReportMetric(100*collector[0]/all[0], "go-collector-%")
				b.ReportMetric(100*collector[1]/all[1], "quarry-collector-%")
				mine.AssertSize(b, 0)
			})
		}
	}
}

// BenchmarkResident runs one job again and again on one allocator while 32 arrays of its kind stay
// live, and reports the highest resident memory that it saw above that of the start. One side a
// process: -bench Resident/go, then -bench Resident/quarry.
func BenchmarkResident(b *testing.B) {
	for _, side := range []string{"go", "quarry"} {
		b.Run(side, func(b *testing.B) {
			var mem memory.Allocator = memory.NewGoAllocator()
			if side == "quarry" {
				mem = arrowalloc.New(newHeap(b))
			}
			const n, live = 250_000, 32
			start, peak := resident(b), 0.0
			var ring [live]*array.Int64
			c, a := cpu()
			round := 0
			for b.Loop() {
				at := &ring[round%live]
				if *at != nil {
					(*at).Release()
				}
				*at = numbers(mem, n)
				if round++; round%8 == 0 {
					peak = max(peak, resident(b))
				}
			}
			runtime.GC()
			c2, a2 := cpu()
			b.ReportMetric(peak-start, "peak-MB")
			b.ReportMetric(100*(c2-c)/(a2-a), "collector-%")
			b.ReportMetric(float64(live*n*8)/1e6, "live-MB")
			for _, r := range ring {
				if r != nil {
					r.Release()
				}
			}
		})
	}
}

// ratios returns those of each pair.
func ratios(pairs [2][]float64) []float64 {
	list := make([]float64, len(pairs[0]))
	for i := range list {
		list[i] = pairs[1][i] / pairs[0][i]
	}
	return list
}

// used returns the CPU time that the process has used, in ms.
func used(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

// cpu returns the seconds of CPU that the collector and that collector and program have taken.
func cpu() (collector, all float64) {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64(), s[0].Value.Float64() + s[1].Value.Float64()
}

// resident returns the resident memory of the process in MB, 0 where the system does not say.
func resident(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(b, err)
	return float64(pages) * float64(os.Getpagesize()) / 1e6
}

// median returns the middle of the values.
func median(values []float64) float64 {
	values = append([]float64{}, values...)
	sort.Float64s(values)
	return values[len(values)/2]
}
