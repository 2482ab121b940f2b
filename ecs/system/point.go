package system

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/internal/door"
)

// The buffers of command points: handed out, played, sealed and dropped.

// NewPoint returns a command point to be added to a group, in addition to the five default points.
func NewPoint() *Point { return &Point{} }

// String returns the point's name, or "command point" before it is added.
func (p *Point) String() string {
	if p == nil || p.state == nil {
		return "command point"
	}
	return p.state.name
}

// hand opens and returns the buffer of a system (S6).
func (p *Point) hand(s *State) *command.Buffer {
	i := slices.IndexFunc(s.outboxes, func(o *outbox) bool { return o.p == p })
	if i < 0 {
		i = len(s.outboxes)
		s.outboxes = append(s.outboxes, &outbox{p: p, from: s, l: command.NewLender(s.y.w, s.y.buffers...)})
	}
	o := s.outboxes[i]
	if !o.open {
		o.open, o.b = true, o.l.Lend()
		p.pending = append(p.pending, o)
	}
	return o.b
}

// attach notes the state that the point was added with.
func (p *Point) attach(s *State) {
	p.state = s
	p.void = "it was handed out by the command point " + s.name +
		", which has updated since: ask State.Commands in every update"
}

// Update plays the pending buffers. It panics outside of the point's own turn.
func (p *Point) Update(s *State) {
	if p == nil || p.state == nil || s != p.state {
		panic("system: Point.Update: the state is not that of point " + p.String())
	}
	s.checkTurn("Point.Update")
	if len(p.pending) == 0 {
		return
	}
	door.CheckChange(s.y.w, "Point.Update") // a panic here leaves all buffers pending
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
			o.b.Clear() // the world may need this memory
			o.b.Trim()
		}
	}
}

// seal closes the buffer until State.Commands hands it out again, for code that kept a reference.
func (o *outbox) seal() {
	o.open = false
	if o.last {
		o.l.Close()
		return
	}
	o.l.Seal(o.p.void)
}

// release is called when the buffer's system is destroyed. Commands it recorded are still played.
func (o *outbox) release() {
	o.last = true
	if !o.open {
		o.l.Close()
	}
}

// drop drops the pending buffers, since the point is being destroyed.
func (p *Point) drop() {
	s := p.state
	for _, o := range p.pending {
		if n := o.b.Len(); n > 0 && !s.y.root.state.gone {
			s.y.warn(fmt.Sprintf("%s was removed before it played %d commands of %s", p, n, o.from.name))
		}
		o.open = false
		o.l.Close()
	}
	p.pending = nil
	for _, t := range s.y.states {
		t.outboxes = slices.DeleteFunc(t.outboxes, func(o *outbox) bool {
			if o.p == p {
				o.l.Close()
			}
			return o.p == p
		})
	}
}
