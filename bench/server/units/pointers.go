package units

import "slices"

const PointersSide = "plain Go, pointers"

// pointedUnit is a unit as most Go programs have it: on the heap by itself, with pointers to its
// leader and its team.
type pointedUnit struct {
	Position position
	Velocity velocity
	Health   health
	Stun     stun
	Slot     slot
	Leader   *pointedUnit // who may be gone
	Items    [pack]item
	Count    uint8 // of items
	Team     *team
	at       int // in the list; -1: gone
}

// pointed is the plain side with pointers in place of handles: the collector follows them.
type pointed struct {
	units   []*pointedUnit
	clients []*pointedUnit // by client
	teams   [teams]team
	workers *pair
	dead    [2][]uint32 // clients, by worker
	leaders []*pointedUnit
	spare   [][]pointedUnit // of states that have ended
}

func newPointed() *pointed {
	p := &pointed{workers: newPair()}
	for i := range p.teams {
		p.teams[i] = team(i)
	}
	return p
}

func (p *pointed) spawn(units []unit) error {
	p.leaders = leadersOf(units, p.clients, nil, p.leaders)
	for i := range units {
		u := &units[i]
		n := &pointedUnit{
			Position: u.Position, Velocity: u.Velocity, Health: u.Health, Slot: u.Slot, Items: u.Items, Count: pack,
			Leader: p.leaders[i], Team: &p.teams[u.Team], at: len(p.units),
		}
		p.clients = setAt(p.clients, u.Slot.Client, n)
		p.units = append(p.units, n)
	}
	clear(p.leaders)
	return nil
}

func (p *pointed) frame(e *events) ([]uint32, error) {
	for _, h := range e.Hits {
		u := p.clients[h.Client]
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

// pass does to each unit all that a frame does.
func (p *pointed) pass(frame int64) {
	p.workers.split(len(p.units), func(worker, from, to int) {
		units, dead := p.units[from:to], p.dead[worker][:0]
		for _, u := range units {
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

// kill fills the units' places with the last ones.
func (p *pointed) kill(clients []uint32) error {
	for _, c := range clients {
		u, last := p.clients[c], len(p.units)-1
		p.units[u.at] = p.units[last]
		p.units[u.at].at = u.at
		p.units[last] = nil
		p.units = p.units[:last]
		u.at, u.Leader, p.clients[c] = -1, nil, nil
	}
	return nil
}

// pointedCopy is a state of the side.
type pointedCopy struct {
	units []pointedUnit
	of    *pointed
}

func (p *pointed) state() state {
	var units []pointedUnit
	if last := len(p.spare) - 1; last >= 0 {
		units, p.spare = p.spare[last][:0], p.spare[:last]
	}
	units = slices.Grow(units, len(p.units))[:len(p.units)]
	p.workers.split(len(units), func(_, from, to int) {
		for i := from; i < to; i++ {
			units[i] = *p.units[i]
		}
	})
	return &pointedCopy{units, p}
}

func (c *pointedCopy) read() (s sum) {
	for i := range c.units {
		u := &c.units[i]
		s.add(u.Position, u.Health, u.Slot)
	}
	return s
}

func (c *pointedCopy) end() { c.of.spare = append(c.of.spare, c.units) }

func (p *pointed) full() (s sum) {
	for _, u := range p.units {
		s.add(u.Position, u.Health, u.Slot)
		leader := uint32(noClient)
		if l := u.Leader; l != nil && l.at >= 0 {
			leader = l.Slot.Number
		}
		s.addRest(u.Slot, rest{u.Velocity, u.Stun.Until == 0, u.Stun, leader, u.Items[:u.Count], *u.Team})
	}
	return s
}

func (p *pointed) committed() int64 { return 0 }

func (p *pointed) close() error {
	p.workers.close()
	return nil
}
