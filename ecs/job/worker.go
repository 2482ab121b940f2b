package job

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync"
	"time"

	"quarry/internal/clock"
)

// loop runs on a worker's goroutine. If a body ends the goroutine with runtime.Goexit, another
// goroutine takes its place (J4).
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
			turn := s.changes.Load()
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

// pick returns the first flight of the list that a worker may enter, or nil. Under mu.
func pick(list []*Job) *Job {
	for _, j := range list {
		if j.blockers == 0 && j.claimable() {
			return j
		}
	}
	return nil
}

// enter counts the worker as inside a flight. Under mu. If all workers but the caller are parked,
// the ready work was not worth waking one, and none is woken before the caller leaves. The caller
// may then claim all parts at once.
func (k *worker) enter(j *Job) {
	j.running++
	k.job, k.participants = j, len(k.s.workers)
	if k.id == 0 && j.open && k.s.parked == k.participants-1 { // an Indexed job is not open yet: reopen may wake others
		k.participants = 1
	}
}

// run claims and runs parts of a flight that the worker has entered until none is left, and leaves.
func (k *worker) run(j *Job) {
	c, start := &j.slots[k.id].ctx, clock.Now()
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
			// A refused look-up finds its reason when first printed, which must be before the
			// borrow ends.
			_ = fmt.Sprint(failure.Value)
		}
		k.leave(j, c, clock.Now()-start, failure)
	}()
	if j.indexed && !j.open { // the first worker counts; reopen lets others in
		c.count()
		k.s.reopen(j)
	}
	for {
		lo, hi := j.claim(k.participants)
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

// reopen lets other workers into a parallel flight after its rows were counted.
func (s *Scheduler) reopen(j *Job) {
	if j.mode != parallel {
		return
	}
	s.mu.Lock()
	defer s.unlock()
	j.open = true
	s.changes.Add(1)
	s.wake()
}

// leave undoes enter. The last worker to leave finishes the flight (J3, J4).
func (k *worker) leave(j *Job, c *Ctx, spent time.Duration, failure *PanicError) {
	c.accessor.Done()
	c.ordinal = -1 // writers of the last part are void
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

// spinTime is how long a goroutine waits for others before it parks, about the cost of being woken.
// Other workers should finish a claim or two in that time, and an owner that has completed one job
// often schedules the next.
const spinTime = 50 * time.Microsecond

// spinTurns bounds the wait where the clock stands still while a goroutine runs, as in a bubble of
// testing/synctest. It is at least six times the turns that fit into 50 us.
const spinTurns = 2000

// takePart runs what it can of the chosen flights, as worker 0, and waits for the rest (J6).
func (s *Scheduler) takePart() {
	s.chosen = s.chosen[:0]
	for _, j := range s.flights {
		if j.round == s.round {
			s.chosen = append(s.chosen, j)
		}
	}
	list := s.chosen
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
		turn := s.changes.Load()
		s.unlock()
		if !s.spin(turn) {
			s.park(turn)
		}
	}
}

// spin waits a short time for something to change.
func (s *Scheduler) spin(turn uint32) (changed bool) {
	for start, n := clock.Now(), 0; n < spinTurns && clock.Now()-start < spinTime; n++ {
		if s.changes.Load() != turn {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// park waits until something has changed.
func (s *Scheduler) park(turn uint32) {
	s.mu.Lock()
	for s.changes.Load() == turn {
		s.waiting = true
		s.back.Wait()
	}
	s.waiting = false
	s.mu.Unlock()
}

// current returns the worker whose body runs on this goroutine, or nil. While the caller is inside
// a body, every goroutine that is not a worker's is taken for the caller's.
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

// goroutine returns the number of the current goroutine, as stack traces print it. It costs some
// microseconds.
func goroutine() uint64 {
	text := texts.Get().(*[32]byte)
	defer texts.Put(text)
	line := text[:runtime.Stack(text[:], false)]
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	n, _ := strconv.ParseUint(string(digits), 10, 64)
	return n
}

// texts holds buffers for goroutine, because the argument of runtime.Stack escapes.
var texts = sync.Pool{New: func() any { return new([32]byte) }}
