package job

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/clock"
)

// worker is one of the goroutines that run jobs. Worker 0 is whoever calls Complete.
type worker struct {
	s         *Scheduler
	id        int
	job       *Job          // that it is inside of
	sharers   int           // workers that may take parts of it, this one among them
	goroutine atomic.Uint64 // its number; 0: the caller's, or not started yet
	_         [64]byte      // keeps workers off each other's cache lines
}

// loop is the life of a worker's goroutine. When a body ends it by runtime.Goexit, another one
// takes its place (J4).
func (k *worker) loop() {
	stopped := false
	defer func() {
		if stopped {
			k.s.exited.Done()
		} else {
			go k.loop()
		}
	}()
	k.goroutine.Store(goroutine())
	s := k.s
	s.mu.Lock()
	for spun := false; !s.stopping; {
		j := pick(s.ready)
		switch {
		case j != nil:
			s.busy.Add(1)
			k.enter(j)
			s.unlock()
			k.run(j)
			s.mu.Lock()
			spun = false
		case !spun:
			turn := s.turns.Load()
			s.unlock()
			s.spin(turn)
			s.mu.Lock()
			spun = true
		default:
			s.parked++
			s.work.Wait()
		}
	}
	s.unlock()
	stopped = true
}

// pick returns the first flight that may be entered, or nil. Under mu.
func pick(list []*Job) *Job {
	for _, j := range list {
		if j.blockers == 0 && j.claimable() {
			return j
		}
	}
	return nil
}

// enter counts the worker among those that are inside of a flight. Under mu. While all workers but
// the caller are parked, the work that is ready was not worth waking one, and nobody is woken
// before the caller leaves: it may claim all at once.
func (k *worker) enter(j *Job) {
	j.running++
	k.job, k.sharers = j, len(k.s.workers)
	if k.id == 0 && j.open && k.s.parked == k.sharers-1 { // an Indexed job is not open yet: reopen may wake others
		k.sharers = 1
	}
}

// run claims parts of a flight that the worker has entered until none is left, and leaves.
func (k *worker) run(j *Job) {
	c, start := &j.seats[k.id].ctx, clock.Now()
	c.walked, c.ordinal = 0, 0
	ended := false
	var region *trace.Region
	if j.labels != nil {
		region = k.label(j.labels, j.name)
	}
	defer func() {
		if region != nil {
			k.unlabel(region)
		}
		var failure *PanicError
		if !ended {
			failure = &PanicError{Job: j.name, Ordinal: c.ordinal, Value: recover(), Stack: debug.Stack()}
			_ = fmt.Sprint(failure.Value) // a look-up that was refused says why when it is first asked, which is later than the borrow ends
		}
		k.leave(j, c, clock.Now()-start, failure)
	}()
	if j.indexed && !j.open { // the first to come; others are let in after
		c.count()
		k.s.reopen(j)
	}
	for {
		lo, hi := j.claim(k.sharers)
		if lo == hi {
			break
		}
		if k.s.yield != nil {
			k.s.yield()
		}
		c.walk(lo, hi)
	}
	ended = true
}

// reopen lets others into a parallel flight whose rows have been counted.
func (s *Scheduler) reopen(j *Job) {
	if j.mode != parallel {
		return
	}
	s.mu.Lock()
	defer s.unlock()
	j.open = true
	s.turns.Add(1)
	s.wake()
}

// leave undoes enter; the last one finishes the flight (J3, J4).
func (k *worker) leave(j *Job, c *Ctx, spent time.Duration, failure *PanicError) {
	c.accessor.Done()
	c.ordinal = -1 // writers of the last batch are void
	s := k.s
	if k.id > 0 {
		s.busy.Add(-1)
	} else {
		s.inside.Store(false)
	}
	s.mu.Lock()
	defer s.unlock()
	k.job = nil
	j.running--
	j.spent += int64(spent)
	j.walked += c.walked
	if failure != nil {
		j.fail(failure)
	}
	if j.exhausted() {
		s.unlist(j)
		if j.running == 0 {
			s.finish(j)
		}
	}
}

// spinTime is how long a goroutine waits for others before it parks: about what it costs to be
// woken. What others are at should end within a claim or two, and the owner who completed one job
// often schedules the next.
const spinTime = 50 * time.Microsecond

// spinTurns ends it where the clock stands still while a goroutine runs, as in a bubble of
// testing/synctest: six times what 50 us hold, and more.
const spinTurns = 2000

// takePart runs what it can of the flights that are marked, as worker 0, and waits for the rest
// (J6).
func (s *Scheduler) takePart() {
	s.wanted = s.wanted[:0]
	for _, j := range s.flights {
		if j.mark == s.mark {
			s.wanted = append(s.wanted, j)
		}
	}
	list := s.wanted
	k := &s.workers[0]
	for {
		s.mu.Lock()
		for len(list) > 0 && list[0].finished.Load() {
			list = list[1:]
		}
		if len(list) == 0 {
			s.unlock()
			return
		}
		if j := pick(list); j != nil {
			k.enter(j)
			s.inside.Store(true)
			s.unlock()
			k.run(j)
			continue
		}
		turn := s.turns.Load()
		s.unlock()
		if !s.spin(turn) {
			s.park(turn)
		}
	}
}

// spin waits a short time for something to change.
func (s *Scheduler) spin(turn uint32) (changed bool) {
	for start, n := clock.Now(), 0; n < spinTurns && clock.Now()-start < spinTime; n++ {
		if s.turns.Load() != turn {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// park waits until something has changed.
func (s *Scheduler) park(turn uint32) {
	s.mu.Lock()
	for s.turns.Load() == turn {
		s.waiting = true
		s.back.Wait()
	}
	s.waiting = false
	s.mu.Unlock()
}

// current returns the worker whose body runs on this goroutine, or nil. While the caller is inside
// a body nobody else speaks for the owner.
func (s *Scheduler) current() *worker {
	own := goroutine()
	for i := range s.workers[1:] {
		if k := &s.workers[1+i]; k.goroutine.Load() == own {
			return k
		}
	}
	if s.inside.Load() {
		return &s.workers[0]
	}
	return nil
}

// goroutine returns the number of the goroutine that runs, as stack traces print it. It costs some
// microseconds.
func goroutine() uint64 {
	text := texts.Get().(*[32]byte)
	defer texts.Put(text)
	line := text[:runtime.Stack(text[:], false)]
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}

// texts are what goroutine reads, kept because runtime.Stack lets its argument escape.
var texts = sync.Pool{New: func() any { return new([32]byte) }}
