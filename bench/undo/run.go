package undo

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the full sizes.
type Options struct {
	Things int // at the beginning
	Steps  int
	Named  int // one thing of so many has a name; negative: none ever has
}

const (
	thingsFull = 20_000
	stepsFull  = 1000
	namedFull  = 16
)

// Usual and Quick are options for a short run and a very short one.
var (
	Usual = Options{Things: 10_000, Steps: 500}
	Quick = Options{Things: 5000, Steps: 100}
)

// session is a scene on both sides, and what steps took.
type session struct {
	ours                  *scene
	plain                 *plain
	hashes, digests       []uint64 // by state, of twins that never go back
	edit, back, forth     []time.Duration
	pEdit, pBack, pForth  []time.Duration
	heap, plainHeap, kept int64 // of all states
}

// Run edits on both sides, and goes back and forth twice: once by the clock, and once to check each
// state. Figures of each side: edit_ns of a step with its saved state, back_ns and forth_ns of a
// step, kept (bytes outside the Go heap, a step) and heap (bytes on it, a step). Times are medians.
// An op is a step.
func Run(o Options, progress workload.Progress) (plainSide, ours workload.Side, err error) {
	for option, full := range map[*int]int{&o.Things: thingsFull, &o.Steps: stepsFull, &o.Named: namedFull} {
		if *option == 0 {
			*option = full
		}
	}
	done := 0
	tick := func() {
		if done++; progress != nil {
			progress(done, 6*o.Steps)
		}
	}
	for _, side := range []*workload.Side{&plainSide, &ours} {
		side.OK, side.Detail = true, fmt.Sprintf("%d states, back and forth, each as it was the first time", o.Steps+1)
	}
	s := &session{plain: new(plain)}
	author := newAuthor(o.Named)
	steps := [][]edit{author.begin(o.Things)}
	for range o.Steps {
		steps = append(steps, author.step())
	}
	if err := s.foresee(steps, tick, &ours); err != nil {
		return plainSide, ours, err
	}
	if s.ours, err = newScene(); err != nil {
		return plainSide, ours, err
	}
	defer func() { err = errors.Join(err, s.ours.close()) }()
	s.work(steps, tick)
	if err := s.walk(tick); err != nil {
		return plainSide, ours, err
	}
	if err := s.check(tick, &plainSide, &ours); err != nil {
		return plainSide, ours, err
	}
	ours.Committed = int64(s.ours.world.Universe().Stats().Committed)
	s.report(o, &plainSide, &ours)
	return plainSide, ours, nil
}

// foresee makes the steps on twins that save nothing and never go back, and notes what each state
// must be.
func (s *session) foresee(steps [][]edit, tick func(), ours *workload.Side) error {
	p := new(plain)
	twin, err := newScene()
	if err != nil {
		return err
	}
	for i, step := range steps {
		p.apply(step)
		twin.apply(step)
		s.digests, s.hashes = append(s.digests, p.digest()), append(s.hashes, twin.world.Hash())
		if twin.digest() != s.digests[i] {
			ours.Fail(fmt.Sprintf("after step %d the scene is not that of the plain side", i))
		}
		if i > 0 {
			tick()
		}
	}
	return twin.close()
}

// work makes the scene and the steps: first on the plain side, so that the memory of each is known.
func (s *session) work(steps [][]edit, tick func()) {
	s.plainHeap = timed(&s.pEdit, steps, func(step []edit) { s.plain.apply(step) })
	s.heap = timed(&s.edit, steps, func(step []edit) {
		s.ours.apply(step)
		s.ours.save()
	})
	s.kept = int64(s.ours.kept())
	for range s.edit {
		tick()
	}
}

// timed makes the scene, which is not timed, and the steps. It returns what the steps took on the
// Go heap.
func timed(to *[]time.Duration, steps [][]edit, do func([]edit)) int64 {
	do(steps[0])
	before := workload.LiveHeap()
	for _, step := range steps[1:] {
		start := time.Now()
		do(step)
		*to = append(*to, time.Since(start))
	}
	return workload.LiveHeap() - before
}

// path yields the states on the way from the last to the first and back to the last.
func (s *session) path(yield func(i, state int) bool) {
	last := len(s.hashes) - 1
	for i := 1; i <= 2*last; i++ {
		if !yield(i, max(last-i, i-last)) {
			return
		}
	}
}

// step goes back by a step on the plain side, or forth where the way has turned.
func (s *session) step(i int) {
	if i < len(s.hashes) {
		s.plain.back()
	} else {
		s.plain.forth()
	}
}

// walk goes back to the first state and forth to the last, on both sides, by the clock.
func (s *session) walk(tick func()) error {
	for i, state := range s.path {
		to, pTo := &s.back, &s.pBack
		if i >= len(s.hashes) {
			to, pTo = &s.forth, &s.pForth
		}
		start := time.Now()
		s.step(i)
		now := time.Now()
		*pTo = append(*pTo, now.Sub(start))
		err := s.ours.to(state)
		*to = append(*to, time.Since(now))
		if err != nil {
			return err
		}
		tick()
	}
	return nil
}

// check goes the same way and compares each state with that of the twins.
func (s *session) check(tick func(), plainSide, ours *workload.Side) error {
	for i, state := range s.path {
		s.step(i)
		if err := s.ours.to(state); err != nil {
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
			"edit_ns": float64(middle(r.edit)), "back_ns": float64(middle(r.back)),
			"forth_ns": float64(middle(r.forth)),
			"kept":     float64(r.kept / steps), "heap": float64(r.heap / steps),
		}
		r.side.Lines = []string{fmt.Sprintf(
			"%d things, %s, %d steps: a step with its state %v, back %v, forth %v; a state takes %.1f KiB off the Go heap and %.1f on it",
			o.Things, named, o.Steps, middle(r.edit), middle(r.back), middle(r.forth), float64(r.kept/steps)/1024,
			float64(r.heap/steps)/1024)}
	}
}

func middle(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
