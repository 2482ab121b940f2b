package main

import "math"

// table keeps records of type T in a slice without holes, and finds them by handle.
type table[T any] struct {
	records []T
	of      []uint32 // the slot of each record
	slots   []slot
	free    []uint32
}

type slot struct{ at, version uint32 }

type handle struct{ slot, version uint32 }

func (t *table[T]) add(r T) handle {
	s := uint32(len(t.slots))
	if last := len(t.free) - 1; last >= 0 {
		s, t.free = t.free[last], t.free[:last]
	} else {
		t.slots = append(t.slots, slot{})
	}
	t.slots[s].at = uint32(len(t.records))
	t.records, t.of = append(t.records, r), append(t.of, s)
	return handle{s, t.slots[s].version}
}

// get returns the record of a handle, or nil.
func (t *table[T]) get(h handle) *T {
	s := t.slots[h.slot]
	if s.version != h.version {
		return nil
	}
	return &t.records[s.at]
}

func (t *table[T]) remove(h handle) {
	s := &t.slots[h.slot]
	s.version++
	t.free = append(t.free, h.slot)
	last := len(t.records) - 1
	t.records[s.at], t.of[s.at] = t.records[last], t.of[last]
	t.slots[t.of[s.at]].at = s.at
	t.records, t.of = t.records[:last], t.of[:last]
}

// mix makes an answer of positions in any order.
func mix(sum uint64, p position) uint64 {
	z := math.Float64bits(p.X) ^ math.Float64bits(p.Y)<<9
	return sum + (z^z>>31)*0x9e3779b97f4a7c15
}

// plain is the plain side of most tasks.
type plain struct {
	table[slim]
	handles []handle
	work    func(p *plain)
	list    []uint32
	flags   []bool
	state   []slim
	sum     uint64
}

func newPlain(n int) *plain {
	p := &plain{}
	for i := range n {
		p.handles = append(p.handles, p.add(slim{Velocity: speedOf(i)}))
	}
	return p
}

func (p *plain) do() { p.work(p) }

func (p *plain) answer() uint64 {
	sum := p.sum
	for i := range p.records {
		sum = mix(sum, p.records[i].Position)
	}
	return sum
}

func (p *plain) close() error { return nil }

func with(p *plain, list []uint32, work func(*plain)) side {
	p.list, p.work = list, work
	return p
}

func newPlainMake(n int) side {
	return with(&plain{}, nil, func(p *plain) {
		made := newPlain(n)
		p.sum += uint64(len(made.records)) + uint64(made.records[n-1].Velocity.X)
	})
}

func newPlainLoop(n int) side {
	return with(newPlain(n), nil, func(p *plain) {
		for i := range p.records {
			r := &p.records[i]
			r.Position.move(r.Velocity)
		}
	})
}

// plainWide is the plain side of a loop over a part of each record.
type plainWide struct{ records []wide }

func newPlainWide(n int) side {
	p := &plainWide{make([]wide, n)}
	for i := range p.records {
		p.records[i].Velocity = speedOf(i)
	}
	return p
}

func (p *plainWide) do() {
	for i := range p.records {
		r := &p.records[i]
		r.Position.move(r.Velocity)
	}
}

func (p *plainWide) answer() (sum uint64) {
	for i := range p.records {
		sum = mix(sum, p.records[i].Position)
	}
	return sum
}

func (p *plainWide) close() error { return nil }

func newPlainGet(n int) side {
	return with(newPlain(n), shuffled(n), func(p *plain) {
		x := 0.0
		for _, i := range p.list {
			x += p.get(p.handles[i]).Velocity.X
		}
		p.sum += uint64(x)
	})
}

func newPlainReplace(n int) side {
	return with(newPlain(n), order(some(n, 16), n), func(p *plain) {
		for _, i := range p.list {
			p.remove(p.handles[i])
			p.handles[i] = p.add(slim{Velocity: speedOf(int(i))})
		}
	})
}

func newPlainFlag(n int) side {
	p := newPlain(n)
	p.flags = make([]bool, n) // records stay where they are
	return with(p, order(some(n, 16), n), func(p *plain) {
		for _, i := range p.list {
			p.flags[p.slots[p.handles[i].slot].at] = true
		}
		for i := range p.records {
			if !p.flags[i] {
				p.records[i].Position.move(p.records[i].Velocity)
			}
		}
		for _, i := range p.list {
			p.flags[p.slots[p.handles[i].slot].at] = false
		}
	})
}

// newPlainState returns what makes the side of a state, of which the records of a list change.
func newPlainState(list func(n int) []uint32) func(n int) side {
	return func(n int) side {
		return with(newPlain(n), list(n), func(p *plain) {
			p.state = append(p.state[:0], p.records...)
			for _, i := range p.list {
				p.get(p.handles[i]).Position.X++
			}
			x := 0.0
			for i := range p.state {
				x += p.state[i].Position.X
			}
			p.sum += uint64(x)
		})
	}
}
