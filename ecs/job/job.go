package job

import (
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// For returns a new job over the rows of q. Its bodies may read and write, through their rows, the
// types that the terms of q declare. To look up other entities see Uses. For panics if q is nil,
// closed, or of another world.
func (s *Scheduler) For(q *ecs.Query) *Job {
	s.enter("Scheduler.For")
	switch door.WorldOf(q) {
	case s.w:
	case nil:
		panic("job: Scheduler.For: the query is nil or closed")
	default:
		panic(fmt.Sprintf("job: Scheduler.For: %v is of another world than the scheduler", q))
	}
	return &Job{s: s, query: q, name: q.String()}
}

// Query returns the query that the job runs over.
func (j *Job) Query() *ecs.Query { return j.query }

// Named sets the name of the job, for messages and profiles. It returns j.
func (j *Job) Named(name string) *Job {
	j.build("Job.Named")
	j.name = name
	return j
}

// Uses declares, by ecs.Read and ecs.Write terms, the types that the body looks up for any entity:
// health.Lookup(c.Accessor()). A job that looks up to write must run on one worker, or declare the
// type by Exclusive. The query may declare the same type if both only read it. Uses returns j.
func (j *Job) Uses(terms ...ecs.Term) *Job {
	j.build("Job.Uses")
	for _, t := range terms {
		if door.Writes(t) && j.writer == "" {
			j.writer = t.String()
		}
	}
	j.uses = append(j.uses, terms...)
	return j
}

// Exclusive is Uses for a job that runs on several workers and writes through look-ups. The caller
// promises that no entity is written for two rows, and that no entity written for one row is read
// for another. Only the race detector checks this.
func (j *Job) Exclusive(terms ...ecs.Term) *Job {
	j.build("Job.Exclusive")
	j.uses = append(j.uses, terms...)
	return j
}

// Indexed makes Ctx.Index available, the number of matching rows before a call. It returns j. Cost:
// one pass over the enable masks before the first body, by one worker.
func (j *Job) Indexed() *Job {
	j.build("Job.Indexed")
	j.indexed = true
	return j
}

// Reduces gives the job partials of its own. Bodies are then called once per part, so each call
// gets the same rows and ordinal in every run, for any number of workers. Reduces returns j.
func (j *Job) Reduces(p Reduction) *Job {
	j.build("Job.Reduces")
	if p == nil {
		panic("job: Job.Reduces: the reduction is nil; NewPartials makes one")
	}
	p.bind(j)
	j.partials = append(j.partials, p)
	return j
}

// After makes the next flight wait for other flights, besides those that conflict with its access.
// Zero handles and handles of completed flights have no effect. After returns j. It panics for a
// job of another scheduler.
func (j *Job) After(handles ...Handle) *Job {
	if j == nil || j.s == nil {
		j.build("Job.After")
	}
	j.s.enter("Job.After")
	for _, h := range handles {
		h.each(func(h Handle) {
			if h.j.s != j.s {
				panic(fmt.Sprintf("job: Job.After: job %s is of another scheduler than job %s", h.j.name, j.name))
			}
			j.after = append(j.after, h)
		})
	}
	return j
}

// Access returns what the job reads and writes: the access of its query and of its uses. It decides
// which jobs the job waits for. Before the first flight, Access allocates, and panics for uses that
// a flight would refuse.
func (j *Job) Access() ecs.Access {
	if j == nil || j.s == nil {
		j.build("Job.Access")
	}
	j.s.enter("Job.Access")
	if !j.fixed {
		return door.Access(j.lends())
	}
	return j.access
}

// lends makes the borrow of the types that the job declares.
func (j *Job) lends() *ecs.Borrow {
	return door.NewBorrow(j.query, "job "+j.name, j.s.structural, j.uses...)
}

// build panics if the job can no longer be configured.
func (j *Job) build(op string) {
	if j == nil || j.s == nil {
		panic("job: " + op + ": the job is nil or the zero value; jobs come from Scheduler.For")
	}
	j.s.enter(op)
	if j.fixed {
		panic(fmt.Sprintf("job: %s: job %s was scheduled before; say all of it before the first time", op, j.name))
	}
}

// Parallel schedules a flight on several workers. body is called by several goroutines at once, in
// no order, each time with some rows of one chunk that begin at a multiple of 64. The number of
// rows per call depends on the workers and on time, unless the job Reduces. The body may use its
// Ctx, its rows and look-ups, and nothing else of the world. Parallel allocates nothing once the
// job has run. It panics inside a loop over rows, and if the world is closed.
func (j *Job) Parallel(body func(c *Ctx, rows ecs.Rows)) Handle {
	return j.schedule("Job.Parallel", parallel, work{body: body})
}

// Schedule is Parallel on one worker, with the rows in the order of Query.Rows.
func (j *Job) Schedule(body func(c *Ctx, rows ecs.Rows)) Handle {
	return j.schedule("Job.Schedule", single, work{body: body})
}

// Run is Schedule followed by Complete; the bodies run on the caller's goroutine.
func (j *Job) Run(body func(c *Ctx, rows ecs.Rows)) error {
	return j.schedule("Job.Run", here, work{body: body}).Complete()
}

// Complete completes the job's flight like Handle.Complete. It costs next to nothing if no flight
// is under way.
func (j *Job) Complete() error {
	if j == nil || j.s == nil {
		j.build("Job.Complete")
	}
	if !j.out {
		j.s.enter("Job.Complete")
		return j.s.takeErrors()
	}
	return Handle{j: j, number: j.number}.Complete()
}

func (j *Job) schedule(op string, m mode, k work) Handle {
	if j == nil || j.s == nil {
		j.build(op)
	}
	s := j.s
	s.enter(op)
	if k.body == nil && k.listBody == nil {
		panic(fmt.Sprintf("job: %s: the body of job %s is nil", op, j.name))
	}
	if s.w.Closed() {
		panic(fmt.Sprintf("job: %s: job %s: the world is closed", op, j.name))
	}
	if m == parallel && j.writer != "" {
		panic(fmt.Sprintf(
			"job: %s: job %s looks up to write, by Uses(%s): schedule it on one worker, or say Exclusive(%s) instead",
			op, j.name, j.writer, j.writer))
	}
	j.fix()
	if j.out {
		s.newRound()
		s.choose(Handle{j: j, number: j.number})
		s.completeChosen()
	}
	door.Borrow(j.borrow).Begin("Borrow.Begin")
	s.serial++
	j.number, j.mode, j.body, j.listBody, j.labels, j.out = s.serial, m, k.body, k.listBody, s.labels, true
	if k.ofList {
		j.planList(k.list)
	} else {
		j.plan()
	}
	j.depend()
	s.launch(j)
	return Handle{j: j, number: j.number}
}

// fix makes, at the first flight, what the job keeps from then on.
func (j *Job) fix() {
	if j.fixed {
		return
	}
	s := j.s
	j.borrow = j.lends()
	j.access = door.Access(j.borrow)
	j.slots = make([]workerSlot, len(s.workers))
	for i := range j.slots {
		j.slots[i].ctx = Ctx{job: j, accessor: door.Borrow(j.borrow).Accessor(), worker: i}
	}
	j.fixed = true
}

// depend finds the flights that the next flight must wait for (J1), the latest first. It leaves out
// flights that one already found waits for, so in a chain of jobs each has one dependency.
func (j *Job) depend() {
	s := j.s
	j.before = j.before[:0]
	s.round++
	for _, f := range slices.Backward(s.flights) {
		if f.round == s.round {
			continue
		}
		h := Handle{j: f, number: f.number}
		named := slices.ContainsFunc(j.after, func(a Handle) bool { return a.j == h.j && a.number == h.number })
		if named || door.Conflicts(&f.access, &j.access) {
			j.before = append(j.before, h)
			s.choose(h)
		}
	}
	slices.Reverse(j.before)
	j.after = j.after[:0]
}

// terms prints what the job declares.
func (j *Job) terms() string {
	text := j.query.String()
	for i, t := range j.uses {
		if i == 0 {
			text += " uses"
		}
		text += " " + t.String()
	}
	return text
}
