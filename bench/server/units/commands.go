package units

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
)

const CommandsSide = "quarry, commands"

// commands is a world in which all that comes and goes is recorded, and played at the frame's end.
// A unit that was destroyed keeps its slot, by which its client is found.
type commands struct {
	*world
	dying   *ecs.Query
	create  *command.Bundle[values]
	placed  []ecs.Entity // placeholders of what is spawned
	leaders []ecs.Entity // of what is spawned
}

// values are those of a new unit, but for its items and its team.
type values struct {
	Position position
	Velocity velocity
	Health   health
	Slot     slot
	Leader   link[ecs.Entity]
}

func newCommands(s *world) *commands {
	dying := ecs.NewQuery(s.w, ecs.Read(s.slot), ecs.With(ecs.Register[ecs.CleanupEntity](s.w)))
	c := &commands{world: s, dying: dying, create: command.NewBundle[values](s.w)}
	s.bodies = [3]func(*job.Ctx, ecs.Rows){s.recoverRows, s.moveRows, c.healRows}
	return c
}

func (s *commands) spawn(units []unit) error {
	s.record(units)
	return s.play(units)
}

func (s *commands) frame(e *events) ([]uint32, error) {
	s.hit(e)
	for _, c := range e.Removed {
		s.buffer.Destroy(s.clients[c])
	}
	s.record(e.Spawns)
	if err := s.loops(e.Frame); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.play(e.Spawns); err != nil {
		return nil, err
	}
	return s.bury()
}

func (s *commands) kill(clients []uint32) error {
	for _, c := range clients {
		s.buffer.Destroy(s.clients[c])
	}
	if err := s.play(nil); err != nil {
		return err
	}
	_, err := s.bury()
	return err
}

// record records units.
func (s *commands) record(units []unit) {
	b := s.buffer
	s.placed = s.placed[:0]
	s.leaders = leadersOf(units, s.clients, ecs.Null, s.leaders)
	for i := range units {
		u := &units[i]
		e := s.create.Create(b, s.units[u.Team],
			values{u.Position, u.Velocity, u.Health, u.Slot, link[ecs.Entity]{s.leaders[i]}})
		command.SetBuffer(b, e, s.items, u.Items[:]...)
		s.placed = append(s.placed, e)
	}
}

func (s *commands) healRows(c *job.Ctx, rows ecs.Rows) {
	h := s.health.Slice(rows)
	for i := range h {
		if h[i].heal() {
			s.buffer.Parallel(c).Destroy(rows.Entities()[i])
		}
	}
}

// play plays what was recorded, and gives the units to their clients.
func (s *commands) play(units []unit) error {
	if err := s.buffer.Play(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	for i := range units {
		s.clients = setAt(s.clients, units[i].Slot.Client, s.buffer.Made(s.placed[i]))
	}
	return nil
}

// bury takes the slots of the dead, and returns their clients.
func (s *commands) bury() ([]uint32, error) {
	s.dead = s.dead[:0]
	for rows := range s.dying.Rows() {
		for _, of := range s.slot.Slice(rows) {
			s.dead = append(s.dead, of.Client)
		}
	}
	s.buffer.RemoveQuery(s.dying, s.slot)
	if err := s.buffer.Play(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return s.dead, nil
}
