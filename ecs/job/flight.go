package job

import (
	"slices"
	"time"

	"quarry/ecs/internal/door"
)

// mode is which goroutines may run a flight.
type mode uint8

const (
	parallel mode = iota // several workers
	single               // one worker, whichever
	here                 // the caller
)

const (
	smallestGrain = 64   // rows: a word of a mask
	largestGrain  = 4096 // rows
	partsWanted   = 128  // enough for any number of workers to end at the same time

	claimTime  = 30 * time.Microsecond // target time of a claim
	guessedRow = 10                    // ns a row, before the first measurement
)

// grainOf returns the most rows of a part, for a total number of rows.
func grainOf(rows int) int {
	grain := ((rows+partsWanted-1)/partsWanted + 63) &^ 63
	return min(max(grain, smallestGrain), largestGrain)
}

// plan cuts the rows into parts and estimates how long they take. The cut depends on the number of
// rows alone.
func (j *Job) plan() {
	f := &j.flight
	f.parts, f.rows = door.Borrow(j.borrow).Split(f.parts[:0], largestGrain), 0
	for _, p := range f.parts {
		f.rows += p.Len()
	}
	if grain := grainOf(f.rows); grain < largestGrain {
		f.parts = door.Borrow(j.borrow).Split(f.parts[:0], grain)
	}
	f.estimate()
	for _, p := range j.partials {
		p.reset(len(f.parts))
	}
}

// estimate decides how many parts a worker claims.
func (f *flight) estimate() {
	row := f.cost
	if row == 0 {
		row = guessedRow
	}
	worth := row * float64(f.rows)
	f.worth = int64(worth) + 1
	f.batch = 1 + int(float64(claimTime)*float64(len(f.parts))/(worth+1))
}

// claimable reports whether a worker may enter. Under mu.
func (f *flight) claimable() bool { return !f.exhausted() && (f.open || f.running == 0) }

// exhausted reports whether all parts are claimed, or dropped.
func (f *flight) exhausted() bool { return int(f.next.Load()) >= len(f.parts) }

// claim takes the parts [lo, hi) for one of n workers; lo equals hi if none are left (J2). A worker
// takes fewer parts when few are left, so that all workers end together. A worker that is alone (n
// = 1) takes all.
func (f *flight) claim(n int) (lo, hi int) {
	for {
		lo, all := int(f.next.Load()), len(f.parts)
		if lo >= all {
			return all, all
		}
		take := all - lo
		if f.mode == parallel && n > 1 {
			take = min(f.batch, max(1, take/(2*n)))
		}
		if f.next.CompareAndSwap(int64(lo), int64(lo+take)) {
			return lo, lo + take
		}
	}
}

// fail keeps the failure with the lowest ordinal, and drops the parts not claimed yet. Under mu.
func (f *flight) fail(e *PanicError) {
	if f.failure == nil || e.Ordinal < f.failure.Ordinal {
		f.failure = e
	}
	f.failed.Store(true)
	f.next.Store(int64(len(f.parts)))
}

// launch adds a planned flight to those in flight, and makes it ready if nothing blocks it (J1).
func (s *Scheduler) launch(j *Job) {
	f := &j.flight
	f.next.Store(0)
	f.failed.Store(false)
	f.finished.Store(false)
	f.open = f.mode == parallel && !j.indexed
	f.spent, f.walked = 0, 0
	s.flights = append(s.flights, j)
	s.mu.Lock()
	defer s.unlock()
	for _, h := range f.before {
		if !h.j.finished.Load() {
			h.j.dependents = append(h.j.dependents, j)
			f.blockers++
		}
	}
	if f.blockers == 0 {
		s.makeReady(j)
	}
}

// makeReady lets workers enter a flight whose blockers have all finished; one without parts is
// finished at once. Under mu.
func (s *Scheduler) makeReady(j *Job) {
	if len(j.parts) == 0 {
		s.finish(j)
		return
	}
	s.changes.Add(1)
	if j.mode == here {
		return // the caller finds it in chosen
	}
	j.listed = true
	s.ready = append(s.ready, j)
	s.backlog += j.worth
	s.wake()
}

// unlist removes a flight without parts to claim from ready. Under mu.
func (s *Scheduler) unlist(j *Job) {
	if !j.listed {
		return
	}
	j.listed = false
	s.backlog -= j.worth
	i := slices.Index(s.ready, j)
	s.ready = slices.Delete(s.ready, i, i+1)
}

// wake notes how many workers to wake for the ready work: one for each stretch of Inline, at most
// as many as could enter, minus the workers that are awake and free. Under mu.
func (s *Scheduler) wake() {
	if s.parked == 0 {
		return
	}
	room := 0
	for _, j := range s.ready {
		if j.open {
			room += len(j.parts) - min(int(j.next.Load()), len(j.parts))
		} else if j.claimable() {
			room++
		}
	}
	if s.inline > 0 {
		room = min(room, int(s.backlog/int64(s.inline)))
	}
	free := len(s.workers) - 1 - s.parked - int(s.busy.Load())
	if n := min(s.parked, room-free); n > 0 {
		s.parked -= n
		s.signals += n
	}
}

// finish ends a flight with no parts left and no workers inside (J3), and makes flights ready that
// waited for it alone. Under mu.
func (s *Scheduler) finish(j *Job) {
	f := &j.flight
	s.unlist(j)
	if f.walked > 0 {
		cost := float64(f.spent) / float64(f.walked)
		if f.cost != 0 {
			cost = (3*f.cost + cost) / 4
		}
		f.cost = cost
	}
	f.finished.Store(true)
	s.changes.Add(1)
	for i, d := range f.dependents {
		f.dependents[i] = nil
		d.blockers--
		if d.blockers == 0 {
			s.makeReady(d)
		}
	}
	f.dependents = f.dependents[:0]
}

// unlock unlocks mu and wakes the goroutines chosen while it was held.
func (s *Scheduler) unlock() {
	signals, owner := s.signals, s.waiting
	s.signals, s.waiting = 0, false
	s.mu.Unlock()
	if owner {
		s.back.Signal()
	}
	for range signals {
		s.work.Signal()
	}
}
