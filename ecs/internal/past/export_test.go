package past

import "unsafe"

// Corrupt breaks one numbered invariant of a past of which two layers are alive, the older of which
// has unit 0 of the first memory, and the newer unit 1. Nobody has written unit 2.
func (p *Past) Corrupt(invariant string) (restore func()) {
	m, newest := p.memories[0], p.Newest()
	older := newest.below
	switch invariant {
	case "P1 order":
		older.number += 5
		return func() { older.number -= 5 }
	case "P1 above":
		older.above = nil
		return func() { older.above = newest }
	case "P1 newest":
		newest.above = older
		return func() { newest.above = nil }
	case "P1 closed":
		older.closed = true
		return func() { older.closed = false }
	case "P1 number":
		number := p.number
		p.number = newest.number - 1
		return func() { p.number = number }
	case "P1 only": // the newest layer alone has too great a number
		newest.below, newest.number = nil, newest.number+1
		return func() { newest.below, newest.number = older, newest.number-1 }
	case "P1 state":
		m.state(2).Store(stateOf(p.number + 1))
		return func() { m.state(2).Store(0) }
	case "P1 busy":
		m.state(2).Or(busy)
		return func() { m.state(2).Store(0) }
	case "P2":
		s := m.state(1).Load()
		m.state(1).Store(stateOf(older.number))
		return func() { m.state(1).Store(s) }
	case "P3 shared":
		page := newest.parts[0].pages[0]
		k := page[1]
		page[1] = older.parts[0].pages[0][0]
		return func() { page[1] = k }
	case "P3 free":
		c := newest.parts[0].of(1).chunk()
		p.u.Free(c, 1)
		return func() {
			if again, err := p.u.AllocExact(1); err != nil || again != c {
				panic("another chunk came")
			}
		}
	}
	return nil
}

// Address returns the address of a unit.
func (m *Memory) Address(unit int) unsafe.Pointer { return unsafe.Pointer(&m.bytes(unit)[0]) }

// Has reports whether the layer has a piece of a unit.
func (l *Layer) Has(m *Memory, unit int) bool { return l.parts[m.at].of(unit) != 0 }
