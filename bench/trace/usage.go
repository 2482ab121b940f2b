package trace

import (
	"quarry/bench/curve"
	"quarry/bench/workload"
)

// usage is the memory use that a replay saw, at most usagePoints points.
type usage struct {
	every, next int       // operations between points, and the next point's operation
	op          []float64 // operations done
	live        []float64 // bytes of live blocks, as requested
	held        []float64 // bytes that the side has in use
}

const (
	usagePoints = 400
	usageBytes  = 3 * 8 * (usagePoints + 2) // on the Go heap
)

func newUsage(ops int) *usage {
	row := func() []float64 { return make([]float64, 0, usagePoints+2) }
	return &usage{every: ops/usagePoints + 1, op: row(), live: row(), held: row()}
}

// note records a point after operation i, if one is due.
func (u *usage) note(i int, live, held int64) {
	if i < u.next || len(u.op) == cap(u.op) {
		return
	}
	u.next = i + u.every
	u.op, u.live, u.held = append(u.op, float64(i)), append(u.live, float64(live)), append(u.held, float64(held))
}

// drawing draws both sides over the operations.
func drawing(plain, ours *usage) workload.Drawing {
	return workload.Drawing{Table: curve.Table{
		Name:   "Memory over the trace",
		What:   "Bytes that are live as asked for, and what each side has in use for them.",
		XLabel: "heap calls", YLabel: "bytes",
		Series: []curve.Series{
			{Name: "live", Roof: true, X: ours.op, Y: ours.live},
			{Name: "go heap objects", X: plain.op, Y: plain.held},
			{Name: "quarry committed", X: ours.op, Y: ours.held},
		},
	}}
}
