package main

import (
	"errors"
)

// result is a workload at one n: all its entrants, and what became of the
// targets.
type result struct {
	w        *workload
	n        int
	list     []*contender
	verdicts []verdict
}

// measure runs all rounds of a workload at one n. A wrong result is kept in its
// row, any other error is returned.
func measure(w *workload, n, rounds int, b budget) (r *result, err error) {
	r = &result{w: w, n: n}
	for _, way := range w.entrants(n) {
		r.list = append(r.list, &contender{way: way, n: n})
	}
	defer func() {
		for _, c := range r.list {
			err = errors.Join(err, c.end())
		}
	}()
	for round := range rounds {
		for i := range r.list {
			c := r.list[(i+round)%len(r.list)]
			if w.child {
				err = c.roundInChild()
			} else {
				err = c.round(b)
			}
			if err != nil {
				return r, err
			}
		}
	}
	r.judge()
	return r, nil
}

// value is the figure of an entrant; false when it did not run or was wrong.
func (r *result) value(entrant string) (float64, bool) {
	for _, c := range r.list {
		if c.way.entrant == entrant && c.wrong == "" && len(c.rounds) > 0 {
			return median(c.rounds), true
		}
	}
	return 0, false
}

// best is the lowest figure of some entrants, and whose it is.
func (r *result) best(entrants []string) (value float64, whose string) {
	for _, e := range entrants {
		if v, ok := r.value(e); ok && (whose == "" || v < value) {
			value, whose = v, e
		}
	}
	return value, whose
}
