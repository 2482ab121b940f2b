package churn

import (
	"fmt"
	"time"

	"quarry/bench/child"
	"quarry/bench/workload"
)

// Numbers of records: the default of Run, those of a short run and a very short one, the fewest and
// the most.
const (
	Records      = 4_000_000
	UsualRecords = 1_000_000
	QuickRecords = 200_000
	leastRecords = 1_000
	mostRecords  = 64_000_000
)

// childTime bounds how long one way may take.
const childTime = 10 * time.Minute

// known has the checksums of the built-in sizes.
var known = map[int]uint64{
	Records: 0x5c709e2ad1500d2b, UsualRecords: 0x0343c9b5baa6c56f, QuickRecords: 0x0422b2627d05788a,
}

// Options is the settings of Run.
type Options struct {
	Records int    // live at a time; 0: Records
	PNG     string // where the figure goes; "": nowhere
}

// requestsFor is how many requests are timed: five for every two records, at least a million.
func requestsFor(records int) int { return max(1_000_000, records*5/2) }

// checkRecords refuses too few records and too many.
func checkRecords(n int) error {
	if n < leastRecords || n > mostRecords {
		return fmt.Errorf("churn: %d records, expected %d to %d", n, leastRecords, mostRecords)
	}
	return nil
}

// Run runs each way in a process of its own, one after the other; the calling program must pass the
// arguments child.Flag and a text on to Serve. plain is objects, with slots as its Other; ours is
// quarry with the collector set by alloc.GCFor, and its Lines hold the table of all ways. A wrong
// answer is noted in the side; an error means bad options or a process that could not answer.
// progress may be nil.
//
// Figures: gc_percent, gc_cycles, p50_batch_ns, p999_batch_ns, slowest_batch_ns,
// peak_resident, steady_resident (bytes).
func Run(opts Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	if opts.Records == 0 {
		opts.Records = Records
	}
	if err := checkRecords(opts.Records); err != nil {
		return plain, ours, err
	}
	requests := requestsFor(opts.Records)
	var list []sample
	for i, w := range ways {
		if progress != nil {
			progress(i, len(ways))
		}
		m, err := child.Start[spec, sample](spec{w.name, opts.Records, requests}, childTime)
		if err != nil {
			return plain, ours, fmt.Errorf("churn: %s: %w", w.name, err)
		}
		list = append(list, m)
	}
	if progress != nil {
		progress(len(ways), len(ways))
	}
	compare(list, opts.Records)
	plain, ours = list[0].side(requests), list[2].side(requests)
	slots := list[1].side(requests)
	plain.Other, plain.OtherName = &slots, "slots"
	if wrong := list[3].Wrong; wrong != "" {
		ours.Fail(ways[3].name + ": " + wrong)
	}
	ours.Lines = append(ours.Lines, table(list, opts.Records, requests))
	if opts.PNG != "" {
		if err := writePicture(opts.PNG, list, opts.Records); err != nil {
			return plain, ours, err
		}
		ours.Picture = opts.PNG
	}
	return plain, ours, nil
}

// compare marks the samples whose checksum is not the known one or, where none is known, not the
// first one's.
func compare(list []sample, records int) {
	want, ok := known[records]
	from := "the known answer"
	if !ok {
		want, from = list[0].Answer.Sum, ways[0].name
	}
	for i := range list {
		if m := &list[i]; m.Wrong == "" && m.Answer.Sum != want {
			m.Wrong = fmt.Sprintf("the checksum is %016x, %s has %016x", m.Answer.Sum, from, want)
		}
	}
}

// side turns a sample into a side.
func (m *sample) side(requests int) workload.Side {
	s := workload.Side{OK: true, Time: time.Duration(m.Wall), Ops: requests, Committed: m.OffHeap, Heap: m.Heap}
	s.Figures = map[string]float64{
		"gc_percent": m.share(), "gc_cycles": float64(m.Cycles),
		"p50_batch_ns": float64(m.P50), "p999_batch_ns": float64(m.P999), "slowest_batch_ns": float64(m.Slowest),
		"peak_resident": float64(m.Peak), "steady_resident": float64(m.Steady),
	}
	s.Detail = fmt.Sprintf("%d records found, checksum %016x, %d live at the end",
		m.Answer.Found, m.Answer.Sum, m.Answer.Live)
	if m.Wrong != "" {
		s.Fail(m.Wrong)
	}
	return s
}
