package main

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
)

// row is a workload on an allocator.
type row struct {
	workload, allocator string
	ours                bool
	samples             []sample // one per round
	second              sample   // of the second method, where there is one
	null                string   // the allocator whose time is that of the harness
	wrong               string   // the first wrong answer of any round
	mid                 sample   // medians of the samples, one field at a time
	harness             float64  // ns/op of the null allocator; 0 if it did not run
	verdicts            []verdict
}

// lessHarness is ns/op less the null allocator's. The null allocator does some work itself, so an
// allocator's cost is between this and ns/op.
func (r *row) lessHarness() (float64, bool) {
	return r.mid.NsPerOp - r.harness, r.harness > 0 && r.mid.NsPerOp > 0
}

// noteHarness gives every row the time of the null allocator of its harness.
func noteHarness(rows []*row) {
	null := map[[2]string]float64{}
	for _, r := range rows {
		if r.allocator == r.null {
			null[[2]string{r.workload, r.null}] = r.mid.NsPerOp
		}
	}
	for _, r := range rows {
		r.harness = null[[2]string{r.workload, r.null}]
	}
}

// newRow is the row of a workload on an allocator, without figures.
func newRow(name string, a *allocator) *row {
	r := &row{workload: name, allocator: a.name, ours: a.ours, null: "null"}
	if a.peer != nil {
		r.null = peerNull
	}
	return r
}

// add takes what a child found.
func (r *row) add(sp spec, s sample) {
	if !sp.Second {
		r.samples = append(r.samples, s)
		return
	}
	if r.second.More == nil {
		r.second.More = map[string]float64{}
	}
	maps.Copy(r.second.More, s.More)
	if r.second.Wrong == "" {
		r.second.Wrong = s.Wrong
	}
}

// median returns the middle of a list, or the lower of the two in the middle.
func median[T cmp.Ordered](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)-1)/2]
}

// settle works out the medians.
func (r *row) settle() {
	for _, s := range append(slices.Clone(r.samples), r.second) {
		if r.wrong == "" {
			r.wrong = s.Wrong
		}
	}
	floats := func(f func(*sample) float64) float64 { return median(each(r.samples, f)) }
	counts := func(f func(*sample) int64) int64 { return median(each(r.samples, f)) }
	r.mid = sample{
		NsPerOp:       floats(func(s *sample) float64 { return s.NsPerOp }),
		P50:           floats(func(s *sample) float64 { return s.P50 }),
		P99:           floats(func(s *sample) float64 { return s.P99 }),
		P999:          floats(func(s *sample) float64 { return s.P999 }),
		SampledBy:     int(counts(func(s *sample) int64 { return int64(s.SampledBy) })),
		Ops:           int(counts(func(s *sample) int64 { return int64(s.Ops) })),
		PeakRSS:       counts(func(s *sample) int64 { return s.PeakRSS }),
		EndRSS:        counts(func(s *sample) int64 { return s.EndRSS }),
		CommittedPeak: counts(func(s *sample) int64 { return s.CommittedPeak }),
		CommittedEnd:  counts(func(s *sample) int64 { return s.CommittedEnd }),
		MinorFaults:   counts(func(s *sample) int64 { return s.MinorFaults }),
		MajorFaults:   counts(func(s *sample) int64 { return s.MajorFaults }),
		GoAllocs:      counts(func(s *sample) int64 { return s.GoAllocs }),
		More:          maps.Clone(r.second.More),
	}
	if r.mid.More == nil {
		r.mid.More = map[string]float64{}
	}
	for name := range r.samples[0].More { // the same names in all rounds, but for refused
		r.mid.More[name] = floats(func(s *sample) float64 { return s.More[name] })
	}
}

func each[T any](list []sample, f func(*sample) T) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// figure returns a figure of the medians by its name in JSON.
func (r *row) figure(name string) (float64, bool) {
	if name == nsPerOp {
		return r.mid.NsPerOp, r.mid.NsPerOp > 0
	}
	v, ok := r.mid.More[name]
	return v, ok
}

// largePeak is the peak of live bytes above which a trace counts for the mean of utilisation: below
// it, pages and rounding dominate.
const largePeak = 4 << 20

// means makes one row per allocator of the traces: the geometric mean of ns/op over the traces of
// REFERENCE.csv, if all are there, and of utilisation over traces with a large peak, with the worst
// of them. Other figures cannot be averaged and are left out.
func means(rows []*row, ref *reference) []*row {
	var out []*row
	for _, name := range replayers(rows) {
		var mean *row
		var ns []float64
		used := map[string][]float64{}
		for _, r := range rows {
			trace, ok := strings.CutPrefix(r.workload, tracesName+"/")
			if !ok || r.allocator != name {
				continue
			}
			mean = &row{workload: tracesName, allocator: name, ours: r.ours, null: r.null}
			if !ref.has(trace) {
				continue
			}
			ns = append(ns, r.mid.NsPerOp)
			for _, figure := range []string{utilisation, leanUtilisation} {
				if v, ok := r.mid.More[figure]; ok && r.mid.More["peak_live_bytes"] > largePeak {
					used[figure] = append(used[figure], v)
				}
			}
		}
		mean.mid = sample{
			PeakRSS: -1, EndRSS: -1, CommittedPeak: -1, CommittedEnd: -1, GoAllocs: -1, More: map[string]float64{},
		}
		if len(ns) > 0 && len(ns) == len(ref.traces) {
			mean.mid.NsPerOp = geomean(ns)
		}
		for figure, list := range used {
			mean.mid.More[figure] = geomean(list)
			mean.mid.More["worst_"+figure] = slices.Min(list)
		}
		if mean.mid.NsPerOp > 0 || len(used) > 0 {
			out = append(out, mean)
		}
	}
	return out
}

// replayers are the names of the allocators that replayed traces, in the order of the rows.
func replayers(rows []*row) (list []string) {
	for _, r := range rows {
		if family(r.workload) == tracesName && !slices.Contains(list, r.allocator) {
			list = append(list, r.allocator)
		}
	}
	return list
}

// compare gives the mean rows of ours the ratio of their time to that of two allocators of C, each
// less its harness: to_glibc and to_mimalloc.
func compare(rows []*row) {
	for _, peer := range []string{"glibc", "mimalloc"} {
		i := slices.IndexFunc(rows, func(r *row) bool { return r.workload == tracesName && r.allocator == peer })
		if i < 0 {
			continue
		}
		theirs, ok := rows[i].lessHarness()
		if !ok || theirs <= 0 {
			continue
		}
		for _, r := range rows {
			if net, ok := r.lessHarness(); ok && r.ours && r.workload == tracesName {
				r.mid.More["to_"+peer] = net / theirs
			}
		}
	}
}

// printJSON prints an array with one object per row. Unknown byte counts are left out.
func printJSON(w io.Writer, rows []*row) error {
	all := []map[string]any{}
	for _, r := range rows {
		m := &r.mid
		o := map[string]any{
			"workload": r.workload, "allocator": r.allocator, "right": r.wrong == "", nsPerOp: m.NsPerOp,
		}
		for name, v := range m.More {
			o[name] = v
		}
		if r.wrong != "" {
			o["wrong"] = r.wrong
		}
		if net, ok := r.lessHarness(); ok {
			o["less_null_ns"] = net
		}
		if m.Ops > 0 {
			o["ops"], o["rounds"] = m.Ops, len(r.samples)
			if m.SampledBy > 0 {
				o["p50_ns"], o["p99_ns"], o["p999_ns"], o["sampled_by"] = m.P50, m.P99, m.P999, m.SampledBy
			}
			if m.GoAllocs >= 0 {
				o["go_allocs"] = m.GoAllocs
			}
			if m.MinorFaults >= 0 {
				o["minor_faults"], o["major_faults"] = m.MinorFaults, m.MajorFaults
			}
		}
		for name, v := range map[string]int64{
			"peak_rss": m.PeakRSS, "end_rss": m.EndRSS,
			"committed_peak": m.CommittedPeak, "committed_end": m.CommittedEnd,
		} {
			if v >= 0 {
				o[name] = v
			}
		}
		for _, v := range r.verdicts {
			v.into(o)
		}
		all = append(all, o)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}
