package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"quarry/alloc"
)

// goal is how long the slowest Set may take.
const goal = 100 * time.Microsecond

// fillings is how often each kind of map is filled.
const fillings = 4

var errNotReady = errors.New("the memory that was made ready was not enough")

// kind is a way to fill a map.
type kind struct {
	name  string
	fill  func(times []time.Duration) error // sets times[i] to what Set i took
	alike bool                              // each filling does the same

	top   [3]time.Duration // the 1st, 10th and 100th slowest Set, of each the filling with the least
	least []time.Duration  // of each Set, if fillings are alike
}

// run fills once.
func (k *kind) run(times []time.Duration) error {
	runtime.GC()
	if err := k.fill(times); err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	switch {
	case k.alike && k.least == nil:
		k.least = slices.Clone(times)
	case k.alike:
		for i, d := range times {
			k.least[i] = min(k.least[i], d)
		}
	}
	slices.Sort(times)
	for i, rank := range []int{1, 10, 100} {
		d := times[max(0, len(times)-rank)]
		if k.top[i] == 0 || d < k.top[i] {
			k.top[i] = d
		}
	}
	return nil
}

// timed calls a function for 0 to n-1 and sets times[i] to what call i took.
func timed(times []time.Duration, call func(i uint64)) {
	last := time.Now()
	for i := range times {
		call(uint64(i))
		now := time.Now()
		times[i], last = now.Sub(last), now
	}
}

// gaps reads the clock for some time, and sets times to the longest waits between two readings.
func gaps(times []time.Duration, during time.Duration) {
	clear(times)
	began := time.Now()
	for last, n := began, 0; last.Sub(began) < during; {
		now := time.Now()
		if d := now.Sub(last); d > time.Microsecond {
			times[n%len(times)] = max(times[n%len(times)], d)
			n++
		} else {
			times[0] = max(times[0], d)
		}
		last = now
	}
}

// allKinds returns the kinds of filling, and what to call after the last one.
func allKinds(n int, small bool) (kinds []*kind, end func() error, err error) {
	var maps []*heapMap
	end = func() (err error) {
		for _, m := range maps {
			err = errors.Join(err, m.close())
		}
		return err
	}
	for range 3 {
		m, err := newHeapMap(small, alloc.PurgeAfter(24*time.Hour)) // gives nothing back without a call of Trim
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		maps = append(maps, m)
	}
	fresh, ready, reserved := maps[0], maps[1], maps[2]
	took := time.Duration(0)
	return []*kind{
		{name: "Go's map", fill: func(times []time.Duration) error {
			m := map[uint64]uint64{}
			timed(times, func(i uint64) { m[mix(i)] = i })
			return nil
		}},
		{name: "Map, pages fresh from the system", alike: true, fill: func(times []time.Duration) error {
			return errors.Join(fresh.fill(times), fresh.clear())
		}},
		{name: "Map, memory made ready", alike: true, fill: func(times []time.Duration) error {
			if err := ready.u.Prefault(n*readyBytes + 16<<20); err != nil {
				return err
			}
			before, began := ready.u.Stats().Committed, time.Now()
			err := ready.fill(times)
			took = time.Since(began)
			if ready.u.Stats().Committed != before {
				err = errors.Join(err, errNotReady)
			}
			ready.m.Clear()
			return err
		}},
		{name: "Map, room reserved", alike: true, fill: func(times []time.Duration) error {
			return errors.Join(reserved.m.Reserve(n), reserved.fill(times), reserved.clear())
		}},
		{name: "the clock alone", fill: func(times []time.Duration) error {
			gaps(times, took)
			return nil
		}},
	}, end, nil
}

// readyBytes is how much memory is made ready for an entry. A map of 10 million takes 27 B for
// each; tables that are replaced leave some free that others cannot use at once.
const readyBytes = 36

// reportWaits measures and prints the longest waits of n Sets.
func reportWaits(w io.Writer, n int, small bool) (err error) {
	kinds, end, err := allKinds(n, small)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	times := make([]time.Duration, n)
	for range fillings {
		for _, k := range kinds {
			if err := k.run(times); err != nil {
				return err
			}
		}
	}
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	fmt.Fprintf(w, "the longest of %d Sets, us, of each the least of %d fillings; the goal is %.0f us\n",
		n, fillings, us(goal))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tslowest\t10th\t100th\tslowest by the least of each Set\t")
	for _, k := range kinds {
		each := ""
		if k.alike {
			each = fmt.Sprintf("%.1f", us(slices.Max(k.least)))
		}
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t%s\t\n", k.name, us(k.top[0]), us(k.top[1]), us(k.top[2]), each)
	}
	return t.Flush()
}
