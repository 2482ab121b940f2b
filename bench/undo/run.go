package undo

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the usual sizes.
type Options struct {
	Things int // at the beginning
	Steps  int
	Named  int // one thing of so many has a name; negative: none ever has
}

const (
	thingsUsual = 20_000
	stepsUsual  = 1000
	namedUsual  = 16
)

// Quick are options for a short run.
var Quick = Options{Things: 5000, Steps: 100}

// session is a scene on both sides, and what steps took.
type session struct {
	ours                  *scene
	plain                 *plain
	hashes, digests       []uint64 // by state
	edit, back, forth     []time.Duration
	pEdit, pBack, pForth  []time.Duration
	heap, plainHeap, kept int64 // of all states
}

// Run edits on both sides, and goes back and forth. Figures of each side: edit_ns of a step with
// its saved state, back_ns and forth_ns of a step, kept (bytes outside the Go heap, a step) and
// heap (bytes on it, a step). Times are medians. An op is a step.
func Run(o Options, progress workload.Progress) (plainSide, ours workload.Side, err error) {
	if o.Things == 0 {
		o.Things = thingsUsual
	}
	if o.Steps == 0 {
		o.Steps = stepsUsual
	}
	if o.Named == 0 {
		o.Named = namedUsual
	}
	done := 0
	tick := func() {
		if done++; progress != nil {
			progress(done, 3*o.Steps)
		}
	}
	s := &session{plain: new(plain)}
	if s.ours, err = newScene(); err != nil {
		return plainSide, ours, err
	}
	defer func() { err = errors.Join(err, s.ours.close()) }()
	for _, side := range []*workload.Side{&plainSide, &ours} {
		side.OK, side.Detail = true, fmt.Sprintf("%d states, back and forth, each as it was the first time", o.Steps+1)
	}
	s.work(o, tick, &plainSide, &ours)
	if err := s.walk(tick, &plainSide, &ours); err != nil {
		return plainSide, ours, err
	}
	ours.Committed = int64(s.ours.world.Universe().Stats().Committed)
	s.report(o, &plainSide, &ours)
	return plainSide, ours, nil
}

// work makes the scene and the steps: first on the plain side, so that the memory of each is known.
func (s *session) work(o Options, tick func(), plainSide, ours *workload.Side) {
	author := newAuthor(o.Named)
	steps := [][]edit{author.begin(o.Things)}
	for range o.Steps {
		steps = append(steps, author.step())
	}
	before := workload.LiveHeap()
	for i, step := range steps {
		if i == 1 {
			before = workload.LiveHeap()
		}
		start := time.Now()
		s.plain.apply(step)
		s.pEdit = append(s.pEdit, time.Since(start))
		s.digests = append(s.digests, s.plain.digest())
	}
	s.plainHeap = workload.LiveHeap() - before
	for i, step := range steps {
		if i == 1 {
			before = workload.LiveHeap()
		}
		start := time.Now()
		s.ours.apply(step)
		s.ours.save()
		s.edit = append(s.edit, time.Since(start))
		s.hashes = append(s.hashes, s.ours.world.Hash())
		if got := s.ours.digest(); got != s.digests[i] {
			ours.Fail(fmt.Sprintf("after step %d the scene is not that of the plain side", i))
		}
		if i > 0 {
			tick()
		}
	}
	s.heap, s.kept = workload.LiveHeap()-before, int64(s.ours.kept())
	s.edit, s.pEdit = s.edit[1:], s.pEdit[1:] // without the making
}

// walk goes back to the first state and forth to the last, on both sides.
func (s *session) walk(tick func(), plainSide, ours *workload.Side) error {
	last := len(s.hashes) - 1
	for i := 1; i <= 2*last; i++ {
		state, plainStep := last-i, s.plain.back
		to, pTo := &s.back, &s.pBack
		if i > last {
			state, plainStep, to, pTo = i-last, s.plain.forth, &s.forth, &s.pForth
		}
		start := time.Now()
		plainStep()
		now := time.Now()
		*pTo = append(*pTo, now.Sub(start))
		err := s.ours.to(state)
		*to = append(*to, time.Since(now))
		if err != nil {
			return err
		}
		if s.plain.digest() != s.digests[state] {
			plainSide.Fail(fmt.Sprintf("state %d is not as it was", state))
		}
		if s.ours.world.Hash() != s.hashes[state] || s.ours.digest() != s.digests[state] {
			ours.Fail(fmt.Sprintf("state %d is not as it was", state))
		}
		tick()
	}
	return nil
}

// report fills in what both sides took.
func (s *session) report(o Options, plainSide, ours *workload.Side) {
	named := fmt.Sprintf("one of %d named", o.Named)
	if o.Named < 0 {
		named = "none named"
	}
	for _, r := range []struct {
		side              *workload.Side
		edit, back, forth []time.Duration
		heap, kept        int64
	}{{plainSide, s.pEdit, s.pBack, s.pForth, s.plainHeap, 0}, {ours, s.edit, s.back, s.forth, s.heap, s.kept}} {
		steps := int64(o.Steps)
		r.side.Ops, r.side.Heap = 3*o.Steps, r.heap
		for _, list := range [][]time.Duration{r.edit, r.back, r.forth} {
			for _, d := range list {
				r.side.Time += d
			}
		}
		r.side.Figures = map[string]float64{
			"edit_ns": float64(middle(r.edit)), "back_ns": float64(middle(r.back)), "forth_ns": float64(middle(r.forth)),
			"kept": float64(r.kept / steps), "heap": float64(r.heap / steps),
		}
		r.side.Lines = []string{fmt.Sprintf(
			"%d things, %s, %d steps: a step with its state %v, back %v, forth %v; a state takes %.1f KiB off the Go heap and %.1f on it",
			o.Things, named, o.Steps, middle(r.edit), middle(r.back), middle(r.forth), float64(r.kept/steps)/1024, float64(r.heap/steps)/1024)}
	}
}

func middle(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
