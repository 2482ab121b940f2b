package main

import (
	"encoding/json"
	"io"
)

// entry is an entrant on a workload at one n, as -json prints it. Fields that the workload does not
// have are null, and so are all figures of an entrant that was wrong or left out.
type entry struct {
	Workload string `json:"workload"`
	N        int    `json:"n"`
	Library  string `json:"library"`
	Entrant  string `json:"entrant"`

	NsPerEntity    *float64 `json:"ns_per_entity"`
	BytesPerEntity *float64 `json:"bytes_per_entity"`
	Allocs         *float64 `json:"allocs"` // on the Go heap, per pass
	P99            *float64 `json:"p99_ns"` // of a pass over all n; of a step if steps are timed

	BestPeer   *string  `json:"best_peer"` // this and the next fields: only for ours
	Ratio      *float64 `json:"ratio"`     // of figures: the median over the rounds
	Floor      *float64 `json:"floor"`
	Goal       *float64 `json:"goal"`
	HoldsFloor *bool    `json:"holds_floor"`
	HoldsGoal  *bool    `json:"holds_goal"`
	FloorOf    *string  `json:"floor_of"` // what the floor is a multiple of; null: it has the figure's unit
	FloorRatio *float64 `json:"floor_ratio"`
	GoalOf     *string  `json:"goal_of"`
	GoalRatio  *float64 `json:"goal_ratio"`

	Figure  *float64 `json:"figure"` // the median of the rounds
	Unit    string   `json:"unit"`   // of figure, min and max
	Min     *float64 `json:"min"`    // of the rounds
	Max     *float64 `json:"max"`
	Rounds  int      `json:"rounds"`
	Right   bool     `json:"right"`
	Wrong   string   `json:"wrong,omitempty"`
	LeftOut string   `json:"left_out,omitempty"`

	Passes  int      `json:"passes_per_sample,omitempty"`
	GoBytes *float64 `json:"go_bytes,omitempty"`   // taken from the Go heap in a pass
	P9999   *float64 `json:"p9999_ns,omitempty"`   // of a step
	Peak    *float64 `json:"peak_bytes,omitempty"` // resident
	Rest    *float64 `json:"rest_bytes,omitempty"`
	*CollectorEntry
}

// unit is the unit of a workload's figures.
func (w *workload) unit() string {
	switch {
	case w.child:
		return "bytes"
	case w.garbage:
		return "ms of processor time"
	case w.each:
		return "ns, slowest step"
	}
	return "ns/entity"
}

// entry returns an entrant's entry.
func (r *result) entry(c *contender) entry {
	o := entry{
		Workload: r.w.name, N: r.n, Library: c.way.library(), Entrant: c.way.entrant,
		Unit: r.w.unit(), Rounds: len(c.rounds), Right: c.wrong == "", Wrong: c.wrong, LeftOut: c.out,
	}
	if c.idle() || len(c.rounds) == 0 {
		return o
	}
	mid := median(c.rounds)
	o.Figure, o.Min, o.Max = &mid, new(quantile(c.rounds, 0)), new(quantile(c.rounds, 1))
	o.BytesPerEntity = new(r.bytesPerEntity(c))
	switch {
	case r.w.child:
		o.Peak, o.Rest = &mid, new(median(c.samples))
	case r.w.garbage:
		o.Peak, o.CollectorEntry = new(c.collected(peak)), c.collectorEntry()
	default:
		o.Allocs, o.GoBytes, o.P99, o.Passes = &c.allocs, &c.bytes, new(r.p99(c)), c.times
		o.NsPerEntity = &mid
	}
	if r.w.each {
		o.NsPerEntity, o.P9999 = new(median(c.means)), new(median(c.tails))
	}
	if ratio, peer, ok := r.ratio(c); ok {
		o.Ratio, o.BestPeer = &ratio, &peer
	}
	for i := range r.verdicts {
		if v := &r.verdicts[i]; v.whose == c.way.entrant {
			o.Floor, o.HoldsFloor, o.FloorOf, o.FloorRatio = v.floor.forJSON()
			o.Goal, o.HoldsGoal, o.GoalOf, o.GoalRatio = v.goal.forJSON()
		}
	}
	return o
}

// forJSON returns the bound, whether it holds, the entrant that it is a multiple of, and the ratio
// to that entrant.
func (j judged) forJSON() (bound *float64, holds *bool, of *string, ratio *float64) {
	if j.factor != 0 {
		bound = &j.factor
	}
	if j.known {
		holds = &j.holds
	}
	if j.whose != "" {
		of, ratio = &j.whose, &j.ratio
	}
	return bound, holds, of, ratio
}

// bytesPerEntity is what the trial holds per entity; for a process, its peak memory per entity.
func (r *result) bytesPerEntity(c *contender) float64 {
	switch {
	case r.w.child:
		return median(c.rounds) / float64(r.entities())
	case r.w.garbage:
		return c.collected(peak) / float64(c.n)
	}
	return float64(c.held) / float64(c.n)
}

// entities is the number of entities in workloads that measure memory.
func (r *result) entities() int {
	if r.w.name == "archetypes" {
		return r.n * archetypeRows
	}
	return r.n
}

// p99 is in ns: over passes over all n, or over single steps.
func (r *result) p99(c *contender) float64 {
	if r.w.each {
		return median(c.samples)
	}
	return quantile(c.samples, 0.99) * float64(c.per)
}

// printJSON writes an array with one object per entrant, workload and n.
func printJSON(w io.Writer, results []*result) error {
	list := []entry{}
	for _, r := range results {
		for _, c := range r.list {
			list = append(list, r.entry(c))
		}
	}
	return encode(w, list)
}

func encode(w io.Writer, list any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}
