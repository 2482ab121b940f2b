package main

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The spread of single steps.
//
// Reading the clock costs more than a step of a fast allocator, so a sample is the mean of batch
// steps. batch is the least power of two, up to 64, for which the steps take eight times as long as
// one reading, as long as a pass still has about eight samples. The cost of a reading is measured
// first and subtracted from each sample. Samples are taken in passes of their own; ns/op comes from
// passes without samples.

// perNs is the number of units of the histogram in a nanosecond.
const perNs = 100

const maxBatch = 64

// sampler gathers times of steps. All methods do nothing on nil, so that one loop serves passes
// with samples and without.
type sampler struct {
	h     *hdrhistogram.Histogram // in 1/100 ns per step, three figures
	clock time.Duration           // what a reading costs
	batch int                     // steps per sample
	n     int                     // steps since the last sample
	from  time.Time               // when the current sample began
}

// newSampler makes a sampler for passes of steps steps that take about nsPerStep each.
func newSampler(nsPerStep float64, clock time.Duration, steps int) *sampler {
	batch := 1
	for batch < min(maxBatch, steps/8) && float64(batch)*nsPerStep < 8*float64(clock.Nanoseconds()) {
		batch *= 2
	}
	return &sampler{h: newHistogram(), clock: clock, batch: batch}
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(time.Minute)*perNs, 3) }

// begin starts a sample: time before it does not count.
func (s *sampler) begin() {
	if s != nil {
		s.n, s.from = 0, time.Now()
	}
}

// step notes one more step. It is small enough to be inlined.
func (s *sampler) step() {
	if s != nil {
		s.note()
	}
}

func (s *sampler) note() {
	if s.n++; s.n < s.batch {
		return
	}
	s.record(time.Since(s.from))
	s.begin()
}

// record adds a sample of batch steps.
func (s *sampler) record(took time.Duration) {
	units := int64(max(took-s.clock, 0)) * perNs / int64(s.batch)
	// A step of more than a minute counts as one of a minute.
	_ = s.h.RecordValue(min(max(units, 1), s.h.HighestTrackableValue()))
}

// fork returns a sampler for another goroutine, join adds its samples.
func (s *sampler) fork() *sampler {
	if s == nil {
		return nil
	}
	return &sampler{h: newHistogram(), clock: s.clock, batch: s.batch}
}

func (s *sampler) join(other *sampler) {
	if s != nil {
		s.h.Merge(other.h)
	}
}

// quantile returns nanoseconds per step; q is in 0..1. Of n samples in rising order it is number q
// n, rounded to the nearest, counted from 1.
func (s *sampler) quantile(q float64) float64 {
	return float64(s.h.ValueAtQuantile(q*100)) / perNs
}

// clockCost is the median time between two readings of the clock.
func clockCost() time.Duration {
	var list [1001]time.Duration
	for i := range list {
		from := time.Now()
		list[i] = time.Since(from)
	}
	slices.Sort(list[:])
	return list[len(list)/2]
}
