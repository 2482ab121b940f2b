package units

import (
	"slices"

	"github.com/mlange-42/ark/ecs"
)

const ArkSide = "ark"

// arkPack is a list of items: a component of ark has no other form that lies beside the others.
type arkPack struct {
	Items [pack]item
	Count uint8
}

// arkWorld keeps units as entities of one table, which two goroutines share where a frame goes over
// all. Who is stunned is passed by in the loop, which takes less than to move it to another table.
type arkWorld struct {
	w       *ecs.World
	units   *ecs.Map8[position, velocity, health, stun, slot, link[ecs.Entity], arkPack, team]
	struck  *ecs.Map3[health, stun, arkPack]
	slots   *ecs.Map[slot]
	stuns   *ecs.Filter1[stun]
	movers  *ecs.Filter3[position, velocity, stun]
	healths *ecs.Filter2[health, slot]
	all     *ecs.Filter8[position, velocity, health, stun, slot, link[ecs.Entity], arkPack, team]
	clients []ecs.Entity
	workers *pair
	leaders []ecs.Entity // of what is spawned
	dead    [2][]uint32  // clients, by worker
	fresh   bool
	spare   []*columns
}

func newArk(fresh bool) *arkWorld {
	w := ecs.NewWorld()
	return &arkWorld{
		w: w, units: ecs.NewMap8[position, velocity, health, stun, slot, link[ecs.Entity], arkPack, team](w),
		struck: ecs.NewMap3[health, stun, arkPack](w), slots: ecs.NewMap[slot](w),
		stuns:   ecs.NewFilter1[stun](w).Register(),
		movers:  ecs.NewFilter3[position, velocity, stun](w).Register(),
		healths: ecs.NewFilter2[health, slot](w).Register(),
		all: ecs.NewFilter8[position, velocity, health, stun, slot, link[ecs.Entity], arkPack, team](w).
			Register(),
		workers: newPair(), fresh: fresh,
	}
}

func (s *arkWorld) spawn(units []unit) error {
	at := 0
	s.leaders = leadersOf(units, s.clients, ecs.Entity{}, s.leaders)
	s.units.NewBatchFn(len(units), func(e ecs.Entity, p *position, v *velocity, h *health, t *stun, of *slot,
		l *link[ecs.Entity], i *arkPack, side *team) {
		u := &units[at]
		*p, *v, *h, *t, *of, *side = u.Position, u.Velocity, u.Health, stun{}, u.Slot, u.Team
		*i = arkPack{u.Items, pack}
		*l = link[ecs.Entity]{s.leaders[at]}
		at++
		s.clients = setAt(s.clients, u.Slot.Client, e)
	})
	return nil
}

// setAt sets an element of a list, which grows to have it.
func setAt[E any](list []E, i uint32, e E) []E {
	if int(i) >= len(list) {
		list = append(list, make([]E, int(i)+1-len(list))...)
	}
	list[i] = e
	return list
}

func (s *arkWorld) frame(e *events) ([]uint32, error) {
	for _, h := range e.Hits {
		life, t, items := s.struck.Get(s.clients[h.Client])
		h.strike(life, &items.Items[h.Item])
		t.Until = e.Frame + stunFrames
	}
	s.recover(e.Frame)
	s.move()
	s.heal()
	s.dead[0] = append(s.dead[0], e.Removed...)
	s.dead[0] = append(s.dead[0], s.dead[1]...)
	if err := s.kill(s.dead[0]); err != nil {
		return nil, err
	}
	return s.dead[0], s.spawn(e.Spawns)
}

func (s *arkWorld) kill(clients []uint32) error {
	for _, c := range clients {
		s.w.RemoveEntity(s.clients[c])
	}
	return nil
}

func (s *arkWorld) recover(frame int64) {
	for q := s.stuns.Query(); q.NextTable(); {
		t := q.GetColumns()
		s.workers.split(len(t), func(_, from, to int) {
			t := t[from:to]
			for i := range t {
				if t[i].ended(frame) {
					t[i].Until = 0
				}
			}
		})
	}
}

func (s *arkWorld) move() {
	for q := s.movers.Query(); q.NextTable(); {
		p, v, t := q.GetColumns()
		s.workers.split(len(p), func(_, from, to int) {
			p := p[from:to]
			v, t := v[from:to][:len(p)], t[from:to][:len(p)]
			for i := range p {
				if t[i].Until == 0 {
					p[i].move(v[i])
				}
			}
		})
	}
}

func (s *arkWorld) heal() {
	s.dead[0], s.dead[1] = s.dead[0][:0], s.dead[1][:0]
	for q := s.healths.Query(); q.NextTable(); {
		h, of := q.GetColumns()
		s.workers.split(len(h), func(worker, from, to int) {
			dead := s.dead[worker]
			for i := from; i < to; i++ {
				if h[i].heal() {
					dead = append(dead, of[i].Client)
				}
			}
			s.dead[worker] = dead
		})
	}
}

// columns is a state: a copy of all columns.
type columns struct {
	positions  []position
	velocities []velocity
	healths    []health
	stuns      []stun
	slots      []slot
	links      []link[ecs.Entity]
	items      []arkPack
	teams      []team
	of         *arkWorld
}

func (s *arkWorld) state() state {
	c := &columns{of: s}
	if last := len(s.spare) - 1; last >= 0 && !s.fresh {
		c, s.spare = s.spare[last], s.spare[:last]
	}
	for q := s.all.Query(); q.NextTable(); { // one table
		p, v, h, t, of, l, i, k := q.GetColumns()
		c.positions, c.velocities, c.healths = sized(c.positions, p), sized(c.velocities, v), sized(c.healths, h)
		c.stuns, c.slots, c.links = sized(c.stuns, t), sized(c.slots, of), sized(c.links, l)
		c.items, c.teams = sized(c.items, i), sized(c.teams, k)
		s.workers.split(len(p), func(_, from, to int) {
			copy(c.positions[from:to], p[from:to])
			copy(c.velocities[from:to], v[from:to])
			copy(c.healths[from:to], h[from:to])
			copy(c.stuns[from:to], t[from:to])
			copy(c.slots[from:to], of[from:to])
			copy(c.links[from:to], l[from:to])
			copy(c.items[from:to], i[from:to])
			copy(c.teams[from:to], k[from:to])
		})
	}
	return c
}

// sized returns a list as long as another.
func sized[T any](list, like []T) []T { return slices.Grow(list[:0], len(like))[:len(like)] }

func (c *columns) read() (s sum) {
	for i := range c.positions {
		s.add(c.positions[i], c.healths[i], c.slots[i])
	}
	return s
}

func (c *columns) end() {
	if !c.of.fresh {
		c.of.spare = append(c.of.spare, c)
	}
}

func (s *arkWorld) full() (total sum) {
	for q := s.all.Query(); q.Next(); {
		p, v, h, t, of, l, i, k := q.Get()
		total.add(*p, *h, *of)
		leader := uint32(noClient)
		if s.w.Alive(l.To) {
			leader = s.slots.Get(l.To).Number
		}
		total.addRest(*of, rest{*v, t.Until == 0, *t, leader, i.Items[:i.Count], *k})
	}
	return total
}

func (s *arkWorld) committed() int64 { return 0 }

func (s *arkWorld) close() error {
	s.workers.close()
	return nil
}
