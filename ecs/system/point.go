package system

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/internal/seam"
)

// Point is a command point: a system that, when it updates, plays the command buffers that it
// handed out since its last update, in the order in which they were asked for. Commands that cannot
// apply are errors of the frame, with the name of the system that recorded them; the others are
// applied (command.Buffer.PlayRest). When the world is full, commands that were not applied are
// lost, and their memory is given back. Without buffers it costs nothing and completes no job; else
// it completes all.
type Point struct {
	state   *State
	void    string // why a buffer that was played records nothing
	pending []*outbox
}

// outbox is the buffer of one system for one point.
type outbox struct {
	p    *Point
	from *State
	b    *command.Buffer
	open bool // it is among the pending
	last bool // its system is gone: it is closed behind its commands
}

// NewPoint makes a command point, to be added to a group, beside the five that are there.
func NewPoint() *Point { return &Point{} }

// String returns the point's name.
func (p *Point) String() string {
	if p == nil || p.state == nil {
		return "command point"
	}
	return p.state.name
}

// hand returns the buffer of a system, open (S6).
func (p *Point) hand(s *State) *command.Buffer {
	i := slices.IndexFunc(s.outboxes, func(o *outbox) bool { return o.p == p })
	if i < 0 {
		i = len(s.outboxes)
		s.outboxes = append(s.outboxes, &outbox{p: p, from: s, b: command.NewBuffer(s.y.w, s.y.buffers...)})
	} else if o := s.outboxes[i]; !o.open {
		o.b.Unseal()
	}
	o := s.outboxes[i]
	if !o.open {
		o.open = true
		p.pending = append(p.pending, o)
	}
	return o.b
}

// attach makes the point one of the systems.
func (p *Point) attach(s *State) {
	p.state = s
	p.void = "it was handed out by the command point " + s.name + ", which has updated since: ask State.Commands in every update"
}

// Update plays what is pending.
func (p *Point) Update(s *State) {
	if p == nil || p.state == nil || s != p.state {
		panic("system: Point.Update: the state is not that of point " + p.String())
	}
	s.checkTurn("Point.Update")
	if len(p.pending) == 0 {
		return
	}
	seam.CheckChange(s.y.w, "Point.Update") // where nothing may be played now, all stays pending
	for len(p.pending) > 0 {
		o := p.pending[0]
		p.pending = slices.Delete(p.pending, 0, 1)
		p.play(o)
	}
}

// play plays one buffer and seals it.
func (p *Point) play(o *outbox) {
	defer o.seal() // also when playing panics
	if o.b.Len() == 0 {
		return
	}
	if err := o.b.PlayRest(); err != nil {
		o.from.y.keep(fmt.Errorf("system: %s: commands of %s: %w", p, o.from.name, err))
		if full := (*ecs.LimitError)(nil); errors.As(err, &full) {
			o.b.Clear() // what the seal ends may be what the world lacks
			o.b.Trim()
		}
	}
}

// seal closes the buffer to code that kept it, until State.Commands.
func (o *outbox) seal() {
	o.open = false
	if o.last {
		o.b.Close()
		return
	}
	o.b.Seal(o.p.void)
}

// release is called when the system goes: what it recorded is played still.
func (o *outbox) release() {
	o.last = true
	if !o.open {
		o.b.Close()
	}
}

// drop drops what is pending: the point goes.
func (p *Point) drop() {
	s := p.state
	for _, o := range p.pending {
		if n := o.b.Len(); n > 0 && !s.y.root.state.gone {
			s.y.warn(fmt.Sprintf("%s was removed before it played %d commands of %s", p, n, o.from.name))
		}
		o.open = false
		o.b.Close()
	}
	p.pending = nil
	for _, t := range s.y.states {
		t.outboxes = slices.DeleteFunc(t.outboxes, func(o *outbox) bool {
			if o.p == p {
				o.b.Close()
			}
			return o.p == p
		})
	}
}
