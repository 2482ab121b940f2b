package alloc

// NewArenaOf is NewArena with another growth policy, in bytes: a new block brings the total to
// g.Next of the current total.
func NewArenaOf(from Allocator, g Growth) *Arena {
	a := NewArena(from)
	a.growth = g
	return a
}

// NewPoolOf is NewPool with slabs of about as many bytes.
func NewPoolOf[T any](from Allocator, slabBytes int) (*Pool[T], error) {
	p, err := NewPool[T](from)
	if err == nil {
		p.slots.slabBytes = slabBytes
		p.slots.shape(sizeAlign[T]())
	}
	return p, err
}

// ArenaInvariants are what Arena.Corrupt can break in every build.
var ArenaInvariants = []string{"A1", "A2", "A3"}

// Corrupt breaks an invariant of an arena with blocks, marks and cuts.
func (a *Arena) Corrupt(invariant string) (restore func()) {
	old := *a
	switch invariant {
	case "A1":
		a.before++
	case "A2":
		a.marks = append(a.marks[:len(a.marks):len(a.marks)], mark{position: a.position() + 1})
	case "A3":
		a.cuts = append(a.cuts[:len(a.cuts):len(a.cuts)], cut{epoch: a.epoch + 1})
	}
	return func() { *a = old }
}

// PoolInvariants are what Pool.Corrupt can break in every build.
var PoolInvariants = []string{"P1", "P2", "P3", "P4"}

// Corrupt breaks an invariant of a pool with a slab.
func (p *Pool[T]) Corrupt(invariant string) (restore func()) {
	s := &p.slots
	old := *s
	last := len(s.used) - 1
	word, link := s.used[last], s.links[last]
	switch invariant {
	case "P1":
		s.used[last] = 0
	case "P2":
		s.links[last] = unlisted - s.links[last] - 3
	case "P3":
		s.live++
	case "P4":
		s.backed++
	}
	return func() {
		s.used[last], s.links[last] = word, link
		*s = old
	}
}

// BlocksInvariants are what Blocks.Corrupt can break in every build.
var BlocksInvariants = []string{"B1", "B2", "B4"}

// Corrupt breaks an invariant of Blocks with a block in slot 0.
func (b *Blocks) Corrupt(invariant string) (restore func()) {
	old, at := *b, *b.slots.at(0)
	switch invariant {
	case "B1":
		b.slots.live++
	case "B2":
		b.slots.at(0).place++
	case "B4":
		b.bytes++
	}
	return func() { *b, *b.slots.at(0) = old, at }
}
