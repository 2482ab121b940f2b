package fuzz

import (
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
)

// The parallel driver: it applies each operation of a stream by jobs on some number of workers and
// by command buffers to which the jobs record. The result must not depend on that number.

// ParallelResult is the result of a stream; it is the same for any number of workers.
type ParallelResult struct {
	Steps  int
	Hash   uint64 // of the world after each step, and of the jobs' results
	Failed int    // commands that could not apply
	Peak   int    // most entities alive
}

type (
	place  struct{ X, Y float64 }
	speed  struct{ X, Y float64 }
	vigour struct{ N uint64 } // Enableable
	leader struct{ E ecs.Entity }
	doomed struct{} // a tag
)

// parallel is one run.
type parallel struct {
	w      *ecs.World
	s      *job.Scheduler
	cb     *command.Buffer
	place  ecs.Component[place]
	speed  ecs.Component[speed]
	vigour ecs.Component[vigour]
	leader ecs.Component[leader]
	doomed ecs.Component[doomed]
	hits   ecs.Buffer[uint32]
	team   ecs.Shared[int]
	movers *ecs.Archetype
	strong *ecs.Archetype
	gone   *ecs.Query // the entities to be destroyed

	move, steer, count, give, toggle, grow, lead, number *job.Job
	sum                                                  *job.Partials[float64]
	salt                                                 uint64
	result                                               ParallelResult
}

const mostParallel = 6000 // entities; above it some are destroyed

// RunParallel applies a stream to a new world in u, by jobs on the given number of workers.
func RunParallel(data []byte, u *alloc.Universe, workers int) (result ParallelResult, err error) {
	err = guarded(func() error {
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			return err
		}
		p := newParallel(w, job.NewScheduler(w, job.Workers(workers), job.Inline(0)))
		s := newStream(data)
		for r, ok := s.next(); ok && err == nil; r, ok = s.next() {
			err = p.step(r)
		}
		result = p.result
		p.cb.Close()
		for _, e := range []error{p.s.Close(), w.Close()} {
			if err == nil {
				err = e
			}
		}
		return err
	})
	return result, err
}

func newParallel(w *ecs.World, s *job.Scheduler) *parallel {
	p := &parallel{w: w, s: s, cb: command.NewBuffer(w),
		place: ecs.Register[place](w), speed: ecs.Register[speed](w), vigour: ecs.Register[vigour](w, ecs.Enableable),
		leader: ecs.Register[leader](w), doomed: ecs.Register[doomed](w), hits: ecs.RegisterBuffer[uint32](w,
			ecs.Inline(2)),
		team: ecs.RegisterShared[int](w), sum: job.NewPartials[float64]()}
	p.movers = ecs.NewArchetype(w, p.place, p.speed)
	p.strong = ecs.NewArchetype(w, p.place, p.speed, p.vigour, p.hits, p.team.Of(0))
	p.gone = ecs.NewQuery(w, ecs.With(p.doomed), ecs.Without(p.vigour))
	q := func(terms ...ecs.Term) *ecs.Query { return ecs.NewQuery(w, terms...) }
	p.move = p.s.For(q(ecs.Write(p.place), ecs.Read(p.speed))).Named("move")
	p.steer = p.s.For(q(ecs.Read(p.place), ecs.Write(p.speed))).Named("steer")
	p.count = p.s.For(q(ecs.Read(p.place), ecs.Optional(ecs.Read(p.vigour)))).Named("count").Reduces(p.sum)
	p.give = p.s.For(q()).Named("give").Uses(ecs.Read(p.leader))
	p.toggle = p.s.For(q(ecs.Present(ecs.Write(p.vigour)))).Named("toggle")
	p.grow = p.s.For(q(ecs.Write(p.hits))).Named("grow")
	p.lead = p.s.For(q(ecs.Read(p.place))).Named("lead").Exclusive(ecs.Write(p.leader))
	p.number = p.s.For(q(ecs.Write(p.vigour))).Named("number").Indexed()
	return p
}

// step does one operation and hashes the result.
func (p *parallel) step(r record) error {
	p.salt = mix(p.salt ^ uint64(r.n)<<16 ^ uint64(r.who))
	switch r.pick % 8 {
	case 0, 1:
		p.create(1 + int(r.who)%800)
	case 2, 3, 4:
		p.record()
	case 5:
		p.chain()
	case 6:
		p.write()
	default:
		p.queries(r)
	}
	if err := p.s.Complete(); err != nil {
		return err
	}
	if err := p.play(); err != nil {
		return err
	}
	if err := p.reduce(); err != nil {
		return err
	}
	alive := p.w.Stats().Alive
	if alive > mostParallel {
		p.w.Clear()
	}
	p.result.Steps++
	p.result.Peak = max(p.result.Peak, alive)
	p.result.Hash = mix(p.result.Hash ^ p.w.Hash())
	return p.w.Verify()
}

// create records the creation of entities, by the buffer's own writer.
func (p *parallel) create(n int) {
	for i := range n {
		x := mix(p.salt + uint64(i))
		a := p.movers
		if x&1 != 0 {
			a = p.strong
		}
		e := p.cb.Create(a)
		command.Set(p.cb, e, p.place, place{float64(x >> 40), float64(i)})
		command.Set(p.cb, e, p.speed, speed{float64(x & 15), 1})
		if x&2 != 0 {
			command.PutShared(p.cb, e, p.team, int(x>>8&3))
		}
		if x&12 == 0 {
			command.Add(p.cb, e, p.leader, leader{e})
		}
	}
}

// record lets a job record commands for its rows: the commands and their keys depend only on the
// entity.
func (p *parallel) record() {
	p.give.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		out, leaders := p.cb.Parallel(c), p.leader.Lookup(c.Accessor())
		ids := rows.Entities()
		for i := range rows.Each() {
			x := mix(p.salt ^ uint64(ids[i].Index())<<20 ^ uint64(ids[i].Version()))
			if x&3 != 0 {
				continue
			}
			out.Key(int64(x >> 60 & 3))
			p.order(out, ids[i], x>>8)
			if x>>4&3 == 0 {
				p.order(out, ids[i], mix(x))
			}
			if l := leaders.Get(ids[i]); l != nil && x>>6&3 == 0 && p.w.Owns(l.E) {
				out.Destroy(l.E)
			}
		}
		yield()
	})
}

// order records one command about e.
func (p *parallel) order(out *command.Writer, e ecs.Entity, x uint64) {
	v := float64(x >> 48)
	switch x % 16 {
	case 0:
		out.Destroy(e)
	case 1:
		command.Add(out, e, p.vigour, vigour{x})
	case 2:
		command.Put(out, e, p.place, place{v, v})
	case 3:
		out.Remove(e, p.speed)
	case 4:
		child := out.Create(p.strong)
		command.Append(out, child, p.hits, uint32(x), 2, 3)
		command.Put(out, child, p.leader, leader{e})
		command.Put(out, e, p.leader, leader{child})
	case 5:
		out.Add(e, p.doomed)
	case 6:
		command.PutShared(out, e, p.team, int(x>>8&7))
	case 7:
		command.Put(out, out.Instantiate(e), p.speed, speed{v, 0})
	case 8:
		out.Disable(e, p.vigour) // fails where there is none
	case 9:
		command.AddBuffer(out, e, p.hits, uint32(x))
	case 10:
		command.Append(out, e, p.hits, 1, 2, 3, 4)
	case 11:
		command.Set(out, e, p.speed, speed{1, v})
	case 12:
		out.Remove(e, p.hits, p.team)
	case 13:
		out.Remove(e, p.vigour)
		command.Add(out, e, p.vigour, vigour{x})
	default:
		command.Add(out, e, p.speed, speed{v, 2})
	}
}

// chain schedules jobs that depend on each other.
func (p *parallel) chain() {
	p.move.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
		at, v := p.place.Slice(rows), p.speed.Slice(rows)
		for i := range rows.Each() {
			at[i].X, at[i].Y = at[i].X+v[i].X, at[i].Y*0.5+v[i].Y
		}
		yield()
	})
	p.steer.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
		at, v := p.place.Slice(rows), p.speed.Slice(rows)
		for i := range rows.Each() {
			v[i].X, v[i].Y = v[i].Y, at[i].X/3
		}
	})
	p.lead.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		leaders := p.leader.Lookup(c.Accessor())
		for i, e := range rows.Entities() {
			if (c.Row()+i)%3 == 0 { // where a batch begins depends on timing
				leaders.Set(e, leader{e})
			}
		}
	})
}

// write schedules jobs that write bits, buffers and indices.
func (p *parallel) write() {
	p.toggle.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
		v := p.vigour.Slice(rows)
		for i := range v {
			if x := mix(v[i].N ^ p.salt); x&3 == 0 {
				p.vigour.DisableAt(rows, i)
			} else if x&3 == 1 {
				p.vigour.EnableAt(rows, i)
			}
		}
		yield()
	})
	p.number.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		v, at := p.vigour.Slice(rows), c.Index()
		for i := range rows.Each() {
			v[i].N = uint64(at)
			at++
		}
	})
	p.grow.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
		for i, e := range rows.Entities() {
			d := p.hits.At(rows, i)
			if mix(p.salt^uint64(e.Index()))&7 == 0 {
				d.Append(uint32(d.Len()), uint32(e.Index()))
			}
		}
	})
}

// queries records commands about queries.
func (p *parallel) queries(r record) {
	switch r.kind % 4 {
	case 0:
		p.cb.DestroyQuery(p.gone)
	case 1:
		command.Add(p.cb, p.gone, p.vigour, vigour{uint64(r.n)})
	case 2:
		command.PutShared(p.cb, p.gone, p.team, int(r.n%5))
	default:
		p.cb.RemoveQuery(p.gone, p.speed)
	}
	p.create(int(r.who) % 20)
}

// play plays the recorded commands.
func (p *parallel) play() error {
	if p.cb.Len() == 0 {
		return nil
	}
	err := p.cb.PlayRest()
	if e, ok := err.(*command.PlayError); ok && e.Unwrap() == nil {
		p.result.Failed += e.Count
		for _, f := range e.Failures {
			h := fnv.New64a() // the number of commands in a batch, and so their numbering, depends on timing
			h.Write([]byte(f.Command + f.Why))
			p.result.Hash = mix(p.result.Hash ^ h.Sum64() ^ uint64(f.Key))
		}
		return nil
	}
	return err
}

// reduce adds up numbers whose sum depends on the order.
func (p *parallel) reduce() error {
	err := p.count.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		sum := p.sum.At(c)
		for _, at := range p.place.Slice(rows) {
			*sum += at.X/7 + at.Y
		}
	}).Complete()
	p.result.Hash = mix(p.result.Hash ^ uint64(p.sum.Fold(0, func(a, b float64) float64 { return a/3 + b })))
	return err
}

// yield sometimes makes goroutines meet in a different order.
func yield() {
	switch rand.IntN(8) {
	case 0:
		time.Sleep(time.Microsecond)
	case 1, 2, 3:
		runtime.Gosched()
	}
}
