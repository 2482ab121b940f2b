package micro

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrWrong is wrapped by every error about a wrong result.
var ErrWrong = errors.New("wrong result")

// want compares a result with the expected one.
func want[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%w: %s: got %v, want %v", ErrWrong, what, got, want)
	}
	return nil
}

// table is one benchmark: the cost of one operation, in several ways at several sizes.
type table struct {
	name, pkg, what string
	x, unit         string // the unit of n, and one operation
	sizes           []int
	ways            []way
}

// way is one way to do it. The roof is the plain Go twin.
type way struct {
	name  string
	roof  bool
	build func(n int) (*run, error)
}

// run is a way built for one size.
type run struct {
	// pass is timed and makes that many steps. Calls to it are per step or rarer.
	pass func(steps int)
	// undo, which is not timed, makes another step possible; nil if steps can follow each other.
	undo func() error
	// check compares the state after that many steps in all with the expected one.
	check func(steps int) error
	// close ends the run; nil if the collector does.
	close func() error
	// ops is how many operations a step has; 0: n.
	ops int

	steps int
}

// Sizes from one to a million; batches starts where reading the clock once per step costs less than
// a tenth of a nanosecond per operation.
var (
	powers  = []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}
	batches = []int{1000, 10_000, 100_000, 1_000_000}
)

// open builds a way for one size.
func (w *way) open(n int) (*run, error) {
	r, err := w.build(n)
	if err == nil && r.ops == 0 {
		r.ops = n
	}
	return r, err
}

// timed makes that many steps and returns how long they took without undo.
func (r *run) timed(steps int) (took time.Duration, err error) {
	if r.undo == nil {
		start := time.Now()
		r.pass(steps)
		took = time.Since(start)
		r.steps += steps
		return took, nil
	}
	for range steps {
		if r.steps > 0 {
			if err := r.undo(); err != nil {
				return took, err
			}
		}
		start := time.Now()
		r.pass(1)
		took += time.Since(start)
		r.steps++
	}
	return took, nil
}

// end checks and closes the run.
func (r *run) end() error {
	err := r.check(r.steps)
	if r.close != nil {
		err = errors.Join(err, r.close())
	}
	return err
}

// sampleTime is the least time of a sample: reading the clock takes 50 ns.
const sampleTime = 20 * time.Microsecond

// measure returns ns per operation: the median of samples that take budget in all, or three times
// as long with undo.
func (r *run) measure(budget time.Duration) (float64, error) {
	steps := 1
	took, err := r.timed(1) // work that happens only once
	for err == nil && (r.steps == 1 || took < sampleTime && r.undo == nil) {
		if r.steps > 1 {
			steps *= 2
		}
		took, err = r.timed(steps)
	}
	samples := []float64{r.perOp(took, steps)}
	total, end := took, time.Now().Add(3*budget)
	for err == nil && total < budget && time.Now().Before(end) {
		took, err = r.timed(steps)
		total += took
		samples = append(samples, r.perOp(took, steps))
	}
	slices.Sort(samples)
	return samples[len(samples)/2], err
}

func (r *run) perOp(took time.Duration, steps int) float64 {
	return float64(took.Nanoseconds()) / float64(steps) / float64(r.ops)
}
