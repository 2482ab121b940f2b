package units

import "slices"

const PlainSide = "plain Go"

// handle names a unit of the plain side: its client, and its number, which no other unit has had.
type handle struct{ client, number uint32 }

// plainUnit is a unit of the plain side.
type plainUnit struct {
	Position position
	Velocity velocity
	Health   health
	Stun     stun
	Slot     slot
	Leader   link[handle]
	Items    [pack]item
	Count    uint8 // of items
	Team     team
}

// plainSlot is where a client's unit is.
type plainSlot struct{ at, number uint32 }

// plain keeps units one behind the other in a slice, without holes, so that a loop meets each.
type plain struct {
	units   []plainUnit
	slots   []plainSlot // by client
	workers *pair
	dead    [2][]uint32 // clients, by worker
	leaders []plainSlot // of what is spawned
	fresh   bool
	spare   [][]plainUnit // of states that have ended
}

func newPlain(fresh bool) *plain { return &plain{workers: newPair(), fresh: fresh} }

func (p *plain) spawn(units []unit) error {
	p.leaders = leadersOf(units, p.slots, plainSlot{number: noClient}, p.leaders)
	for i := range units {
		u := &units[i]
		c := u.Slot.Client
		if int(c) >= len(p.slots) {
			p.slots = append(p.slots, make([]plainSlot, int(c)+1-len(p.slots))...)
		}
		n := plainUnit{
			Position: u.Position, Velocity: u.Velocity, Health: u.Health, Slot: u.Slot, Items: u.Items, Count: pack,
			Team: u.Team,
		}
		n.Leader.To = handle{u.Leader, p.leaders[i].number}
		p.slots[c] = plainSlot{uint32(len(p.units)), u.Slot.Number}
		p.units = append(p.units, n)
	}
	return nil
}

func (p *plain) frame(e *events) ([]uint32, error) {
	for _, h := range e.Hits {
		u := &p.units[p.slots[h.Client].at]
		h.strike(&u.Health, &u.Items[h.Item])
		u.Stun.Until = e.Frame + stunFrames
	}
	p.pass(e.Frame)
	p.dead[0] = append(p.dead[0], e.Removed...)
	p.dead[0] = append(p.dead[0], p.dead[1]...)
	if err := p.kill(p.dead[0]); err != nil {
		return nil, err
	}
	return p.dead[0], p.spawn(e.Spawns)
}

func (p *plain) kill(clients []uint32) error {
	for _, c := range clients {
		p.remove(c)
	}
	return nil
}

// pass does to each unit all that a frame does: one pass over structs is faster than three.
func (p *plain) pass(frame int64) {
	p.workers.split(len(p.units), func(worker, from, to int) {
		units, dead := p.units[from:to], p.dead[worker][:0]
		for i := range units {
			u := &units[i]
			if u.Stun.ended(frame) {
				u.Stun.Until = 0
			}
			if u.Stun.Until == 0 {
				u.Position.move(u.Velocity)
			}
			if u.Health.heal() {
				dead = append(dead, u.Slot.Client)
			}
		}
		p.dead[worker] = dead
	})
}

// remove fills the unit's place with the last one.
func (p *plain) remove(client uint32) {
	at, last := p.slots[client].at, len(p.units)-1
	p.units[at] = p.units[last]
	p.slots[p.units[at].Slot.Client].at = at
	p.slots[client].at = noClient
	p.units = p.units[:last]
}

// copied is a state of the plain side.
type copied struct {
	units []plainUnit
	of    *plain
}

func (p *plain) state() state {
	var units []plainUnit
	if last := len(p.spare) - 1; last >= 0 && !p.fresh {
		units, p.spare = p.spare[last][:0], p.spare[:last]
	}
	units = slices.Grow(units, len(p.units))[:len(p.units)]
	p.workers.split(len(units), func(_, from, to int) { copy(units[from:to], p.units[from:to]) })
	return &copied{units, p}
}

func (c *copied) read() (s sum) {
	for i := range c.units {
		u := &c.units[i]
		s.add(u.Position, u.Health, u.Slot)
	}
	return s
}

func (c *copied) end() {
	if !c.of.fresh {
		c.of.spare = append(c.of.spare, c.units)
	}
}

func (p *plain) full() (s sum) {
	for i := range p.units {
		u := &p.units[i]
		s.add(u.Position, u.Health, u.Slot)
		leader := uint32(noClient)
		if l := u.Leader.To; l.number != noClient && p.slots[l.client].number == l.number &&
			p.slots[l.client].at != noClient {
			leader = l.number
		}
		s.addRest(u.Slot, rest{u.Velocity, u.Stun.Until == 0, u.Stun, leader, u.Items[:u.Count], u.Team})
	}
	return s
}

func (p *plain) committed() int64 { return 0 }

func (p *plain) close() error {
	p.workers.close()
	return nil
}
