package fuzz

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// The frame driver: a stream adds systems of many kinds, in groups and orders that it chooses, and
// runs frames. Between frames, systems come, go, sleep and wake. The result must not depend on the
// number of workers.

// frames is one run.
type frames struct {
	p      *parallel // types, archetypes and commands; its jobs and its buffer are not used
	y      *system.Systems
	groups []*system.Group
	points []*system.Point
	names  []string
	result ParallelResult
}

// RunFrames applies a stream to a new world in u, by systems whose jobs run on the given number of
// workers.
func RunFrames(data []byte, u *alloc.Universe, workers int) (result ParallelResult, err error) {
	err = guarded(func() error {
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			return err
		}
		y := system.New(w, system.Jobs(job.Workers(workers), job.Inline(0)),
			system.Logger(slog.New(slog.DiscardHandler)))
		f := &frames{p: newParallel(w, y.Scheduler()), y: y}
		f.groups = []*system.Group{y.Initialization(), y.FixedStep(), y.Simulation(), y.VariableRate(),
			y.LateSimulation(), y.Presentation()}
		f.points = []*system.Point{y.BeginInitialization(), y.EndInitialization(), y.BeginSimulation(),
			y.EndSimulation(), y.BeginPresentation()}
		s := newStream(data)
		for r, ok := s.next(); ok && err == nil; r, ok = s.next() {
			err = f.step(r)
		}
		result = f.result
		f.p.cb.Close()
		return errors.Join(err, y.Close(), w.Close())
	})
	return result, err
}

// step changes a system, runs a frame and hashes the result.
func (f *frames) step(r record) error {
	p := f.p
	p.salt = mix(p.salt ^ uint64(r.n)<<16 ^ uint64(r.who))
	switch {
	case len(f.names) < 8 || r.pick%8 == 0 && len(f.names) < 40:
		f.add(r)
	case r.pick%8 == 1:
		f.y.Find(f.names[int(r.who)%len(f.names)]).Disable()
	case r.pick%8 < 4:
		f.y.Find(f.names[int(r.who)%len(f.names)]).Enable()
	case r.pick%8 == 4 && len(f.names) > 20:
		i := int(r.who) % len(f.names)
		f.y.Find(f.names[i]).Remove()
		f.names = append(f.names[:i], f.names[i+1:]...)
	}
	if err := f.count(f.y.Step(time.Duration(r.n%50) * time.Millisecond)); err != nil {
		return err
	}
	alive := p.w.Stats().Alive
	if alive > mostParallel {
		p.w.Clear()
	}
	f.result.Steps++
	f.result.Peak = max(f.result.Peak, alive)
	f.result.Hash = mix(f.result.Hash ^ p.w.Hash())
	return p.w.Verify()
}

// count counts commands that could not apply, of which there are many; it returns other errors.
func (f *frames) count(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	for _, e := range joined.Unwrap() {
		var failed *command.PlayError
		if !errors.As(e, &failed) || failed.Unwrap() != nil {
			return err
		}
		f.result.Failed += failed.Count
	}
	return nil
}

// add adds a system, unless its order would close a cycle.
func (f *frames) add(r record) {
	name := fmt.Sprint("s", f.result.Steps)
	var orderings []system.Ordering
	if n := len(f.names); n > 0 {
		orderings = append(orderings, system.Before(f.names[int(r.n)%n]), system.After(f.names[int(r.n>>8)%n]))
	}
	switch r.n >> 16 % 8 {
	case 0:
		orderings = append(orderings, system.First())
	case 1:
		orderings = append(orderings, system.Last())
	}
	makes := [...]func(*system.State, record) func(){f.creates, f.records, f.records, f.moves, f.steers, f.toggles,
		f.grows, f.watches, f.sums, f.sleeps}
	make := makes[int(r.kind)%len(makes)]
	group := f.groups[int(r.who)%len(f.groups)]
	if len(f.names) == 0 {
		make, group = f.creates, f.y.Initialization()
	}
	_, err := group.TryAdd(name, system.Make(func(s *system.State) func() { return make(s, r) }), orderings...)
	if err == nil {
		f.names = append(f.names, name)
	}
}

// point returns the command point for which a system records.
func (f *frames) point(r record) *system.Point { return f.points[int(r.n>>20)%len(f.points)] }

// creates records the creation of entities.
func (f *frames) creates(s *system.State, r record) func() {
	return func() {
		own := f.p.cb
		f.p.cb = s.Commands(f.point(r))
		f.p.create(1 + int(mix(f.p.salt^uint64(r.n))%100))
		f.p.cb = own
	}
}

// records is a job that records commands for its rows; they depend only on the entity.
func (f *frames) records(s *system.State, r record) func() {
	p := f.p
	j := s.For(s.Query()).Uses(ecs.Read(p.leader))
	var cb *command.Buffer
	var salt uint64
	body := func(c *job.Ctx, rows ecs.Rows) {
		out, leaders := cb.Parallel(c), p.leader.Lookup(c.Accessor())
		for _, e := range rows.Entities() {
			x := mix(salt ^ uint64(e.Index())<<20 ^ uint64(e.Version()))
			if x&7 != 0 {
				continue
			}
			p.order(out, e, x>>8)
			if l := leaders.Get(e); l != nil && x>>6&3 == 0 && p.w.Owns(l.E) {
				out.Destroy(l.E)
			}
		}
		yield()
	}
	return func() {
		cb, salt = s.Commands(f.point(r)), mix(p.salt^uint64(r.n))
		j.Parallel(body)
	}
}

// moves is a job that moves by the time that passed.
func (f *frames) moves(s *system.State, _ record) func() {
	p := f.p
	j, dt := s.For(s.Query(ecs.Write(p.place), ecs.Read(p.speed))), 0.0
	body := func(_ *job.Ctx, rows ecs.Rows) {
		at, v := p.place.Slice(rows), p.speed.Slice(rows)
		for i := range rows.Each() {
			at[i].X, at[i].Y = at[i].X+v[i].X*dt, at[i].Y*0.5+v[i].Y
		}
		yield()
	}
	return func() { dt = s.Time().Seconds(); j.Parallel(body) }
}

// steers is a loop in the update itself, over what other systems moved.
func (f *frames) steers(s *system.State, _ record) func() {
	p := f.p
	q := s.Query(ecs.Read(p.place), ecs.Write(p.speed), ecs.Changed(p.place))
	return func() {
		for rows := range q.Rows() {
			at, v := p.place.Slice(rows), p.speed.Slice(rows)
			for i := range rows.Each() {
				v[i].X, v[i].Y = v[i].Y, at[i].X/3
			}
		}
	}
}

// toggles is a job that enables and disables.
func (f *frames) toggles(s *system.State, _ record) func() {
	p, salt := f.p, uint64(0)
	j := s.For(s.Query(ecs.Present(ecs.Write(p.vigour))))
	body := func(_ *job.Ctx, rows ecs.Rows) {
		v := p.vigour.Slice(rows)
		for i := range v {
			if x := mix(v[i].N ^ salt); x&3 == 0 {
				p.vigour.DisableAt(rows, i)
			} else if x&3 == 1 {
				p.vigour.EnableAt(rows, i)
			}
		}
	}
	return func() { salt = p.salt; j.Parallel(body) }
}

// grows is a job that appends to buffers.
func (f *frames) grows(s *system.State, _ record) func() {
	p, salt := f.p, uint64(0)
	j := s.For(s.Query(ecs.Write(p.hits), ecs.Read(p.vigour)))
	body := func(_ *job.Ctx, rows ecs.Rows) {
		ids := rows.Entities()
		for i := range rows.Each() {
			if d := p.hits.At(rows, i); mix(salt^uint64(ids[i].Index()))&7 == 0 {
				d.Append(uint32(d.Len()))
			}
		}
	}
	return func() { salt = p.salt; j.Parallel(body) }
}

// watches hashes the result of a query that compares versions, in the update itself.
func (f *frames) watches(s *system.State, _ record) func() {
	q := s.Query(ecs.Read(f.p.hits), ecs.Changed(f.p.hits), ecs.Ordered())
	return func() {
		f.result.Hash = mix(f.result.Hash ^ uint64(q.Count())<<8 ^ s.Time().Frame)
	}
}

// sums is a job whose sum depends on the order; the update completes it.
func (f *frames) sums(s *system.State, _ record) func() {
	p, sum := f.p, job.NewPartials[float64]()
	j := s.For(s.Query(ecs.Read(p.place), ecs.Changed(p.place))).Reduces(sum)
	body := func(c *job.Ctx, rows ecs.Rows) {
		for _, at := range p.place.Slice(rows) {
			*sum.At(c) += at.X/7 + at.Y
		}
	}
	return func() {
		if err := j.Parallel(body).Complete(); err != nil {
			panic(err)
		}
		f.result.Hash = mix(f.result.Hash ^ uint64(sum.Fold(0, func(a, b float64) float64 { return a/3 + b })))
	}
}

// sleeps updates only if enable bits let something match, and then changes the world itself.
func (f *frames) sleeps(s *system.State, r record) func() {
	p := f.p
	s.Require(s.Query(ecs.Disabled(p.vigour)), s.Query(ecs.With(p.doomed), ecs.Changed(p.speed)))
	return func() {
		f.result.Hash = mix(f.result.Hash ^ uint64(r.n))
		p.w.DestroyQuery(p.gone)
	}
}
