package main

import "slices"

const plainSide = "plain Go"

// handle names a unit of the plain side: a slot, and how often it was used before.
type handle struct{ slot, version uint32 }

// slot is where the unit of a handle is.
type slot struct{ at, version uint32 }

// plain keeps units one behind the other in a slice, without holes, so that a loop meets each.
type plain struct {
	units []unit
	of    []uint32 // the slot of each unit
	slots []slot
	free  []uint32
	spare [][]unit // of states that have ended
}

func newPlain() (*plain, error) { return new(plain), nil }

func (p *plain) spawn(units []unit, list []handle) ([]handle, error) {
	for _, u := range units {
		var s uint32
		if last := len(p.free) - 1; last >= 0 {
			s, p.free = p.free[last], p.free[:last]
		} else {
			s = uint32(len(p.slots))
			p.slots = append(p.slots, slot{})
		}
		p.slots[s].at = uint32(len(p.units))
		p.units, p.of = append(p.units, u), append(p.of, s)
		list = append(list, handle{s, p.slots[s].version})
	}
	return list, nil
}

// at returns the unit of a handle, or nil.
func (p *plain) at(h handle) *unit {
	s := p.slots[h.slot]
	if s.version != h.version {
		return nil
	}
	return &p.units[s.at]
}

func (p *plain) remove(h handle) {
	s := &p.slots[h.slot]
	s.version++
	p.free = append(p.free, h.slot)
	last := len(p.units) - 1
	p.units[s.at], p.of[s.at] = p.units[last], p.of[last]
	p.slots[p.of[s.at]].at = s.at
	p.units, p.of = p.units[:last], p.of[:last]
}

func (p *plain) hit(h handle, points int32) int32 { return p.at(h).Health.hit(points) }
func (p *plain) stun(h handle, until int64)       { p.at(h).Stun.Until = until }

func (p *plain) recover(h handle, frame int64) {
	if u := p.at(h); u != nil && u.Stun.Until == frame {
		u.Stun.Until = 0
	}
}

func (p *plain) move() {
	for i := range p.units {
		if u := &p.units[i]; u.Stun.Until == 0 {
			u.Place.move(u.Speed)
		}
	}
}

// copied is a state of the plain side.
type copied struct {
	units []unit
	of    *plain
}

func (p *plain) state() state {
	var units []unit
	if last := len(p.spare) - 1; last >= 0 {
		units, p.spare = p.spare[last][:0], p.spare[:last]
	}
	return &copied{append(slices.Grow(units, len(p.units)), p.units...), p}
}

func (c *copied) read() (s sum) {
	for i := range c.units {
		u := &c.units[i]
		s.add(u.Place, u.Health, u.Number)
	}
	return s
}

func (c *copied) end()        { c.of.spare = append(c.of.spare, c.units) }
func (p *plain) close() error { return nil }
