package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/bench/process"
)

// answerTime is the time limit for the rounds of a workload at one n. One round always runs.
const answerTime = 24 * time.Second

// result is a workload at one n: its entrants, and the verdicts on the targets.
type result struct {
	w        *workload
	n        int
	asked    int // rounds
	done     int
	list     []*contender
	verdicts []verdict
}

func newResult(w *workload, n, rounds int) *result {
	r := &result{w: w, n: n, asked: rounds}
	for _, way := range w.entrants(n) {
		r.list = append(r.list, &contender{way: way, n: n})
	}
	return r
}

// measure runs the rounds that there is time for, and reports progress to show. A wrong result is
// kept in its row; any other error is returned.
func (r *result) measure(b budget, show func(done int, name string)) (err error) {
	start, free := time.Now(), process.Free()
	if err := r.leaveOut(free); err != nil {
		return err
	}
	if free == 0 {
		free = freeUnknown
	}
	for _, c := range r.list {
		c.room = free / heldShare / int64(len(r.list))
	}
	defer func() {
		for _, c := range r.list {
			err = errors.Join(err, c.end())
		}
	}()
	for r.done < r.asked && err == nil {
		began := time.Now()
		err = r.round(b, show)
		if time.Since(start)+r.next(time.Since(began)) > answerTime {
			break
		}
	}
	if err == nil {
		r.judge()
	}
	return err
}

// next estimates the time of the next round from the last one: trials that were built in the first
// round and kept are not built again.
func (r *result) next(last time.Duration) time.Duration {
	for _, c := range r.list {
		if c.keep && r.done == 1 {
			last -= c.building
		}
	}
	return last
}

// round gives each entrant its turn.
func (r *result) round(b budget, show func(done int, name string)) (err error) {
	for i := range r.list {
		c := r.list[(i+r.done)%len(r.list)]
		show(r.done*len(r.list)+i, fmt.Sprintf("%s, n = %d", r.w.name, r.n))
		if r.w.apart() {
			err = c.roundInChild(b)
		} else {
			err = c.round(b)
		}
		if err != nil {
			return err
		}
	}
	r.done++
	return nil
}

// value is the figure of an entrant; false if it did not run or was wrong.
func (r *result) value(entrant string) (float64, bool) {
	for _, c := range r.list {
		if c.way.entrant == entrant && c.wrong == "" && len(c.rounds) > 0 {
			return median(c.rounds), true
		}
	}
	return 0, false
}

// best is the lowest figure of some entrants, and the entrant that has it.
func (r *result) best(entrants []string) (value float64, whose string) {
	for _, e := range entrants {
		if v, ok := r.value(e); ok && (whose == "" || v < value) {
			value, whose = v, e
		}
	}
	return value, whose
}

// bestPeer is the best of all entrants of other libraries.
func (r *result) bestPeer() (value float64, whose string) {
	var peers []string
	for _, c := range r.list {
		if l := c.way.library(); l != ours && l != plainGo {
			peers = append(peers, c.way.entrant)
		}
	}
	return r.best(peers)
}

// paired is the median of the ratios of two entrants' figures, round by round, because a
// disturbance of some seconds slows both. It is 0 if one has no figure.
func (r *result) paired(mine, other string) float64 {
	of := func(entrant string) []float64 {
		i := slices.IndexFunc(r.list, func(c *contender) bool { return c.way.entrant == entrant })
		return r.list[i].rounds
	}
	a, b := of(mine), of(other)
	ratios := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return median(ratios)
}

// ratio is the ratio of an entrant of ours to the best peer; false for other entrants, and if there
// is no peer or no figure.
func (r *result) ratio(c *contender) (ratio float64, peer string, ok bool) {
	_, ran := r.value(c.way.entrant)
	best, peer := r.bestPeer()
	if c.way.library() != ours || !ran || best == 0 {
		return 0, "", false
	}
	return r.paired(c.way.entrant, peer), peer, true
}
