package main

import "fmt"

// bound is what a figure of ours must not exceed: factor times the best of the named entrants, or
// factor itself if none is named.
type bound struct {
	factor float64
	of     []string
}

// target is a floor, which must hold, and a goal, which is what the project aims for, at sizes from
// least to most.
type target struct {
	workload    string
	least, most int
	ours        []string // the best of these entrants counts
	floor, goal bound    // factor 0: none
}

// times is a bound that is a multiple of the best of the entrants.
func times(factor float64, of ...string) bound { return bound{factor, of} }

// absolute is a bound in the unit of the figure.
func absolute(value float64) bound { return bound{factor: value} }

var (
	tables  = []string{arkTables, arkCached}
	singles = []string{ark, arche, volt, donburi, uot}
	batches = []string{arkBatch, archeBatch}
	makers  = []string{arkBatch, archeBatch, donburiBatch}
	all     = []string{ark, arkBatch, arche, archeBatch, volt, donburi, donburiBatch, uot}
	plain   = []string{quarry}
	batch   = []string{quarryBatch}
	lookups = []string{quarry, quarryMany}
)

const anySize = 1 << 40

var targets = []target{
	{"query2comp", one, one, plain, absolute(15), absolute(8)},
	{"query2comp", one + 1, anySize, plain, times(1.05, tables...), times(1, goSlices)},
	{"query2comp-kernel", one, anySize, []string{quarryKernel}, times(1.3, slicesKernel), times(1.1, slicesKernel)},
	{"query32arch", one, anySize, plain, times(1.1, tables...), times(0.95, tables...)},
	{"query256arch", one, anySize, plain, times(1.1, tables...), times(0.95, tables...)},
	{"random", one, large, lookups, times(1.1, ark), times(0.9, ark)},
	{"random", large + 1, anySize, lookups, times(1, ark), times(0.7, ark)},
	{"create2comp", one, anySize, plain, times(0.8, singles...), times(0.45, singles...)},
	{"create2comp-batch", one, large, batch, times(0.35, makers...), times(0.15, makers...)},
	{"create2comp-batch", large + 1, anySize, batch, times(0.5, makers...), times(0.2, makers...)},
	{"create2comp_alloc", one, anySize, []string{quarry, quarryBatch}, times(0.5, all...), times(0.15, all...)},
	{"create10comp-batch", one, anySize, batch, times(0.8, makers...), times(0.4, makers...)},
	{"delete2comp", one, anySize, plain, times(0.9, singles...), times(0.6, singles...)},
	{"delete2comp-batch", one, anySize, batch, times(0.6, batches...), times(0.3, batches...)},
	{"add_remove", one, anySize, plain, times(0.5, singles...), times(0.25, singles...)},
	{"add_remove-batch", one, anySize, batch, times(0.8, batches...), times(0.5, batches...)},
	{"add_remove-shuffled", one, anySize, []string{quarry, quarryList}, times(0.8, singles...), times(0.5, singles...)},
	{"add_remove-batch-shuffled", one, anySize, batch, times(0.8, batches...), times(0.5, batches...)},
	{"add_remove_large", one, anySize, plain, times(0.5, singles...), times(0.25, singles...)},
	{"add_remove_large-batch", one, anySize, batch, times(0.5, batches...), times(0.25, batches...)},
	{"enable", one, anySize, batch, absolute(0.2), absolute(0.03)},
	{"create-worst", one, anySize, plain, times(0.1, ark), bound{}},
	{"memory", 4 * million, 4 * million, plain, times(0.8, ark), absolute(1.05 * (128 + 32 + 32) * 1e6)},
	{"memory", 4 * million, 4 * million, batch, times(0.8, arkBatch), absolute(1.05 * (128 + 32 + 32) * 1e6)},
	{"archetypes", one, anySize, plain, times(1, ark, arkSmall), times(0.5, ark, arkSmall)},
}

// verdict is a target with its measurement. If ours or the peers did not run, whose is empty and
// nothing is judged.
type verdict struct {
	target
	got         float64
	whose       string // the entrant of ours
	floor, goal judged
}

// judged is a bound with its verdict.
type judged struct {
	bound
	most  float64 // factor; of an absolute bound, in unit
	unit  string  // of an absolute bound
	ratio float64 // ours over the best of the entrants; 0 for an absolute bound
	whose string  // the best of the entrants
	known bool    // there is a bound, and everything that it needs ran
	holds bool
}

// judge finds the targets of a result and whether they hold.
func (r *result) judge() {
	for _, t := range targets {
		if t.workload != r.w.name || r.n < t.least || r.n > t.most {
			continue
		}
		v := verdict{target: t}
		v.got, v.whose = r.best(t.ours)
		v.floor, v.goal = r.against(t.floor, v), r.against(t.goal, v)
		r.verdicts = append(r.verdicts, v)
	}
}

func (r *result) against(b bound, v verdict) judged {
	j := judged{bound: b, most: b.factor, unit: "ns"}
	if r.w.child {
		j.unit = r.w.unit()
	}
	if b.factor == 0 || v.whose == "" {
		return j
	}
	if b.of != nil {
		var best float64
		if best, j.whose = r.best(b.of); j.whose == "" || best == 0 {
			return j
		}
		j.ratio = r.paired(v.whose, j.whose)
		j.known, j.holds = true, j.ratio <= b.factor
		return j
	}
	j.known, j.holds = true, v.got <= j.most
	return j
}

// String returns the verdict in words: "0.42 of ark tables, at most 1.05: holds".
func (j judged) String() string {
	switch {
	case j.factor == 0:
		return "-"
	case !j.known:
		return "not measured"
	}
	word := "MISSED"
	if j.holds {
		word = "holds"
	}
	if j.of == nil {
		return fmt.Sprintf("at most %.10g %s %s", j.most, j.unit, word)
	}
	return fmt.Sprintf("%.3f of %s, at most %g %s", j.ratio, j.whose, j.factor, word)
}
