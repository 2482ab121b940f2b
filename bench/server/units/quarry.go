package units

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
)

// types are the handles of a world. Who is stunned has its velocity disabled.
type types struct {
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	health   ecs.Component[health]
	stun     ecs.Component[stun]
	slot     ecs.Component[slot]
	link     ecs.Component[link[ecs.Entity]]
	items    ecs.Buffer[item]
	team     ecs.Shared[team]
}

// register registers the types of a side: where all goes by commands, an entity that was destroyed
// keeps its slot until the client is free.
func register(w *ecs.World, name string) (t types) {
	t.position, t.velocity = ecs.Register[position](w), ecs.Register[velocity](w, ecs.Enableable)
	t.health, t.stun = ecs.Register[health](w), ecs.Register[stun](w)
	if name == CommandsSide {
		t.slot = ecs.Register[slot](w, ecs.Cleanup)
	} else {
		t.slot = ecs.Register[slot](w)
	}
	t.link = ecs.Register[link[ecs.Entity]](w)
	t.items = ecs.RegisterBuffer[item](w, ecs.Inline(pack))
	t.team = ecs.RegisterShared[team](w)
	return t
}

// world keeps units as entities of eight archetypes, one for each team, and runs jobs over them.
type world struct {
	types
	w       *ecs.World
	units   [teams]*ecs.Archetype
	all     *ecs.Query
	clients []ecs.Entity
	jobs    *job.Scheduler
	recover *job.Job
	move    *job.Job
	heal    *job.Job
	buffer  *command.Buffer
	now     int64 // the frame
	bodies  [3]func(*job.Ctx, ecs.Rows)
	dead    []uint32 // clients

	strike   *job.Job
	struckBy func(*job.Ctx, ecs.Rows, []job.Listed)
	hits     []hit // of the frame

	struck   *ecs.View[struck]
	hitUnits []ecs.Entity
}

// newQuarry makes a side of Quarry, in a world of its own unless one is given.
func newQuarry(name string, w *ecs.World) (side, error) {
	if w == nil {
		var err error
		if w, err = ecs.NewWorld(); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	s := &world{types: register(w, name), w: w, buffer: command.NewBuffer(w), jobs: job.NewScheduler(w, job.Workers(2))}
	for i := range s.units {
		s.units[i] = ecs.NewArchetype(w, s.position, s.velocity, s.health, s.stun, s.slot, s.link, s.items,
			s.team.Of(team(i)))
	}
	stunned := ecs.NewQuery(w, ecs.Disabled(ecs.Write(s.velocity)), ecs.Write(s.stun))
	movers := ecs.NewQuery(w, ecs.Write(s.position), ecs.Read(s.velocity))
	healths := ecs.NewQuery(w, ecs.Write(s.health), ecs.Read(s.slot))
	s.all = ecs.NewQuery(w, ecs.Read(s.position), ecs.Read(s.health), ecs.Read(s.slot), ecs.Read(s.stun),
		ecs.Read(s.link), ecs.Read(s.items), ecs.Read(s.team), ecs.Present(ecs.Read(s.velocity)))
	s.struck = ecs.NewView[struck](w)
	s.strike, s.struckBy = s.jobs.For(s.struck.Query()).Named("strike"), s.strikeRows
	s.recover, s.move, s.heal = s.jobs.For(stunned), s.jobs.For(movers), s.jobs.For(healths)
	if name == CommandsSide {
		return newCommands(s), nil
	}
	return newDirect(s), nil
}

// hit strikes the units of a frame's hits, on two workers. A unit that is hit twice is struck twice
// by one of them.
func (s *world) hit(e *events) {
	s.hits, s.now, s.hitUnits = e.Hits, e.Frame, s.hitUnits[:0]
	for _, h := range e.Hits {
		s.hitUnits = append(s.hitUnits, s.clients[h.Client])
	}
	s.strike.List(s.hitUnits, s.struckBy)
}

func (s *world) strikeRows(_ *job.Ctx, rows ecs.Rows, listed []job.Listed) {
	u := s.struck.At(rows)
	for _, l := range listed {
		h, i := &s.hits[l.Index], l.Row
		h.strike(&u.Health[i], &u.Items.At(i).Slice()[h.Item])
		u.Stun[i].Until = s.now + stunFrames
		u.Moves.Disable(i)
	}
}

// struck is what a hit changes of a unit.
type struck struct {
	Health ecs.W[health]
	Stun   ecs.W[stun]
	Moves  ecs.BitsW[velocity]
	Items  ecs.BufferW[item]
}

// loops runs what a frame does to all units.
func (s *world) loops(frame int64) error {
	s.now = frame
	s.recover.Parallel(s.bodies[0])
	s.move.Parallel(s.bodies[1])
	s.heal.Parallel(s.bodies[2])
	return s.jobs.Complete()
}

func (s *world) recoverRows(_ *job.Ctx, rows ecs.Rows) {
	t := s.stun.ReadOnly(rows)
	for i := range rows.Each() {
		if t[i].ended(s.now) {
			t[i].Until = 0
			s.stun.MarkAt(rows, i)
			s.velocity.EnableAt(rows, i)
		}
	}
}

func (s *world) moveRows(_ *job.Ctx, rows ecs.Rows) {
	p, v := s.position.Slice(rows), s.velocity.Slice(rows)
	for from, to := range rows.Runs() {
		p, v := p[from:to], v[from:to]
		for i := range p {
			p[i].move(v[i])
		}
	}
}

// moment is a state of a world.
type moment struct {
	*ecs.Snapshot
	of *world
}

func (s *world) state() state { return moment{s.w.Snapshot(), s} }

func (m moment) read() (total sum) {
	for rows := range m.Rows(m.of.all) {
		p, h, of := m.of.position.Slice(rows), m.of.health.Slice(rows), m.of.slot.Slice(rows)
		for i := range p {
			total.add(p[i], h[i], of[i])
		}
	}
	return total
}

func (m moment) end() { m.Close() }

func (s *world) full() (total sum) {
	for rows := range s.all.Rows() {
		p, v, h, t := s.position.Slice(rows), s.velocity.Slice(rows), s.health.Slice(rows), s.stun.Slice(rows)
		of, l := s.slot.Slice(rows), s.link.Slice(rows)
		k, _ := s.team.At(rows)
		for i := range p {
			total.add(p[i], h[i], of[i])
			leader := uint32(noClient)
			if s.position.Has(l[i].To) { // a unit that was destroyed may still have its slot
				leader = s.slot.Get(l[i].To).Number
			}
			items, moves := s.items.At(rows, i).Slice(), s.velocity.EnabledAt(rows, i)
			total.addRest(of[i], rest{v[i], moves, t[i], leader, items, k})
		}
	}
	return total
}

func (s *world) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

func (s *world) close() error {
	err := errors.Join(s.w.Verify(), s.jobs.Close())
	s.buffer.Close()
	return errors.Join(err, s.w.Close())
}
