package micro

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"quarry/bench/curve"
)

// Budgets of one point. Tables takes about 40 s with Budget, 20 with UsualBudget and 4 with
// QuickBudget, on a machine of 2 cores.
const (
	Budget      = 40 * time.Millisecond
	UsualBudget = 15 * time.Millisecond
	QuickBudget = 2 * time.Millisecond
)

// A budget below shortBudget leaves out sizes above shortSize: building that much takes longer than
// measuring it.
const (
	shortBudget = 10 * time.Millisecond
	shortSize   = 10_000
)

// tables lists all benchmarks by package, the lowest package first.
var tables = slices.Concat(asmTables, bitmaskTables, layoutTables, mmapTables, allocTables, ecsTables)

// Tables measures everything, with the given time for each point (Budget, QuickBudget), and calls
// progress after each point. An error that wraps ErrWrong means a wrong result.
func Tables(budget time.Duration, progress func(done, total int)) ([]curve.Table, error) {
	chosen := slices.Clone(tables)
	total, done := 0, 0
	for i := range chosen {
		t := &chosen[i]
		if budget < shortBudget {
			t.sizes = t.upTo(shortSize)
		}
		total += len(t.sizes) * len(t.ways)
	}
	var all []curve.Table
	for i := range chosen {
		c, err := chosen[i].curves(budget, func() {
			done++
			progress(done, total)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// upTo returns the sizes up to most.
func (t *table) upTo(most int) []int {
	return slices.DeleteFunc(slices.Clone(t.sizes), func(n int) bool { return n > most })
}

// curves measures one table. It measures all ways at one size one after the other, so that a
// disturbance of the machine does not hit only one of them.
func (t *table) curves(budget time.Duration, point func()) (curve.Table, error) {
	c := curve.Table{Name: t.name, Package: t.pkg, What: t.what, XLabel: t.x, YLabel: "ns per " + t.unit}
	for _, w := range t.ways {
		c.Series = append(c.Series, curve.Series{Name: w.name, Roof: w.roof})
	}
	for _, n := range t.sizes {
		for i := range t.ways {
			ns, err := t.ways[i].point(n, budget)
			if err != nil {
				return c, fmt.Errorf("micro: %s/n=%d/way=%s: %w", t.name, n, t.ways[i].name, err)
			}
			s := &c.Series[i]
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, ns)
			point()
		}
	}
	return c, nil
}

// point measures a way at one size.
func (w *way) point(n int, budget time.Duration) (float64, error) {
	r, err := w.open(n)
	if err != nil {
		return 0, err
	}
	runtime.GC()
	ns, err := r.measure(budget)
	return ns, errors.Join(err, r.end())
}
