package units

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/job"
)

const DirectSide = "quarry, direct"

// direct is a world that the frame changes itself; only jobs record.
type direct struct {
	*world
	leaving []ecs.Entity
	leaders []ecs.Entity // of what is spawned
	byTeam  [teams][]recruit
	killed  [2][]uint32 // clients, by worker
}

func newDirect(s *world) *direct {
	d := &direct{world: s}
	s.bodies = [3]func(*job.Ctx, ecs.Rows){s.recoverRows, s.moveRows, d.healRows}
	return d
}

// recruit is a unit that is to be made, and its leader.
type recruit struct {
	*unit
	leader ecs.Entity
}

// spawn makes the units of a team at once.
func (s *direct) spawn(units []unit) error {
	for i := range s.byTeam {
		s.byTeam[i] = s.byTeam[i][:0]
	}
	s.leaders = leadersOf(units, s.clients, ecs.Null, s.leaders)
	for i := range units {
		u := &units[i]
		s.byTeam[u.Team] = append(s.byTeam[u.Team], recruit{u, s.leaders[i]})
	}
	for i, list := range s.byTeam {
		made, err := s.world.units[i].CreateN(len(list))
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		for rows := range made.Rows() {
			s.fill(rows, list[:rows.Len()])
			list = list[rows.Len():]
		}
	}
	return nil
}

// fill gives new rows the values of units.
func (s *direct) fill(rows ecs.Rows, units []recruit) {
	p, v, h := s.position.Slice(rows), s.velocity.Slice(rows), s.health.Slice(rows)
	of, l := s.slot.Slice(rows), s.link.Slice(rows)
	for i, e := range rows.Entities() {
		u := units[i]
		p[i], v[i], h[i], of[i], l[i].To = u.Position, u.Velocity, u.Health, u.Slot, u.leader
		s.items.At(rows, i).Append(u.Items[:]...)
		s.clients = setAt(s.clients, u.Slot.Client, e)
	}
}

func (s *direct) frame(e *events) ([]uint32, error) {
	s.hit(e)
	s.killed[0], s.killed[1] = s.killed[0][:0], s.killed[1][:0]
	if err := s.loops(e.Frame); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.kill(e.Removed); err != nil {
		return nil, err
	}
	if err := s.buffer.Play(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.dead = append(append(append(s.dead[:0], e.Removed...), s.killed[0]...), s.killed[1]...)
	return s.dead, s.spawn(e.Spawns)
}

func (s *direct) kill(clients []uint32) error {
	s.leaving = s.leaving[:0]
	for _, c := range clients {
		s.leaving = append(s.leaving, s.clients[c])
	}
	s.w.DestroyList(s.leaving)
	return nil
}

func (s *direct) healRows(c *job.Ctx, rows ecs.Rows) {
	h, of := s.health.Slice(rows), s.slot.Slice(rows)
	for i := range h {
		if h[i].heal() {
			s.buffer.Parallel(c).Destroy(rows.Entities()[i])
			s.killed[c.Worker()] = append(s.killed[c.Worker()], of[i].Client)
		}
	}
}
