package undo

import (
	"hash/maphash"
	"math"
)

// plain is the scene on the Go heap. Things are not written but replaced, so a step is undone by
// putting back what it replaced.
type plain struct {
	things []*thing   // by number; nil: there is none
	steps  [][]change // of each step
	at     int        // number of steps that are done
}

// change is what a step did to a thing.
type change struct {
	n             int
	before, after *thing
}

// apply makes edits, as one step.
func (p *plain) apply(edits []edit) {
	step := make([]change, 0, len(edits))
	for _, e := range edits {
		for len(p.things) <= e.n {
			p.things = append(p.things, nil)
		}
		before := p.things[e.n]
		after := before.edited(e)
		p.things[e.n] = after
		step = append(step, change{e.n, before, after})
	}
	p.steps = append(p.steps[:p.at], step)
	p.at++
}

// edited returns the thing after an edit; nil if it is destroyed.
func (t *thing) edited(e edit) *thing {
	if e.what == create {
		return &thing{n: e.n, x: e.x, y: e.y, name: e.name}
	}
	if t == nil || e.what == destroy {
		return nil
	}
	next := *t
	switch e.what {
	case move:
		next.x, next.y = e.x, e.y
	case rename:
		next.name = e.name
	case light:
		if next.light != 0 {
			next.light = 0
		} else {
			next.light = 1 + e.x
		}
	case path:
		next.path = append(append(make([]float32, 0, len(t.path)+1), t.path...), e.x)
	case mark:
		if next.mark != 0 {
			next.mark = 0
		} else {
			next.mark = 1 + e.n
		}
	}
	return &next
}

// back undoes a step, and forth does it again.
func (p *plain) back() {
	p.at--
	step := p.steps[p.at]
	for i := len(step) - 1; i >= 0; i-- {
		p.things[step[i].n] = step[i].before
	}
}

func (p *plain) forth() {
	for _, c := range p.steps[p.at] {
		p.things[c.n] = c.after
	}
	p.at++
}

// digest returns the digest of the scene, the same on both sides.
func (p *plain) digest() (sum uint64) {
	for _, t := range p.things {
		if t != nil {
			sum += t.digest()
		}
	}
	return sum
}

var seed = maphash.MakeSeed()

// digest returns a hash of the thing, which is the same within a process.
func (t *thing) digest() uint64 {
	h := mix(uint64(t.n), uint64(math.Float32bits(t.x))<<32|uint64(math.Float32bits(t.y)))
	h = mix(h, uint64(math.Float32bits(t.light))<<32|uint64(t.mark))
	for _, v := range t.path {
		h = mix(h, uint64(math.Float32bits(v)))
	}
	return mix(h, maphash.String(seed, t.name))
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
