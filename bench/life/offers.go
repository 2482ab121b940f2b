package life

import "math/bits"

// A place on the plane is dead unless a cell is there, so no object stands for a dead place.
// Instead each live cell offers itself as a parent to every empty place next to it, and this table
// collects the offers for each place:
//
//	slots    open addressing, 16 B each:  [ place 8 | stamp 4 | group 4 ]
//	groups   one for each offered place:  [ place 8 | count 4 | first 4 | child ]
//	offers   one for each offer:          [ parent | next 4 | side 1 ]
//	                                        group.first -> offer -> next -> -1
//
// Groups are in the order of their first offers, so the result of a generation depends on the order
// of the cells and on nothing else. Between generations only the stamp changes; a slot with an old
// stamp is empty. Once the three slices have grown to what the pattern needs, a generation
// allocates nothing.
//
// The same table serves both sides: parent is an entity in World and a pointer in Plain.

// Sides of a cell, numbered so that the opposite of side d is 7 - d.
const sides = 8

// beside is the step from a cell to its neighbour on each side:
//
//	0 1 2
//	3   4
//	5 6 7
var beside = [sides]Cell{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// at returns the place on side d of c.
func (c Cell) at(d int) Cell {
	return Cell{X: c.X + beside[d].X, Y: c.Y + beside[d].Y}
}

// offers is the table; ID is the type that names a parent. The zero value is not ready: use
// newOffers.
type offers[ID comparable] struct {
	slots  []slot
	shift  uint8  // 64 - log2(len(slots)): a hash's top bits are the first slot to try
	stamp  uint32 // of this generation; never 0
	groups []group[ID]
	list   []offer[ID]
}

type slot struct {
	place Cell
	stamp uint32
	group int32 // index into groups
}

// group is an empty place and the cells that offered to be its parents.
type group[ID comparable] struct {
	place Cell
	count int32 // live neighbours of the place, 1 to 8
	first int32 // index into list of the latest offer
	child ID    // the cell that was born here; set by the code that creates it
}

type offer[ID comparable] struct {
	from ID
	next int32 // index into list, -1 at the end
	side uint8 // the place is on this side of from
}

const firstSlots = 256 // room for 128 groups: enough for about 30 cells

func newOffers[ID comparable]() *offers[ID] {
	o := &offers[ID]{}
	o.resize(firstSlots)
	return o
}

// clear starts a generation.
func (o *offers[ID]) clear() {
	o.groups, o.list = o.groups[:0], o.list[:0]
	if o.stamp++; o.stamp == 0 {
		clear(o.slots) // after 2^32 generations old stamps would look new
		o.stamp = 1
	}
}

// find returns the slot of a place, or the empty slot where it belongs.
func (o *offers[ID]) find(place Cell) *slot {
	key := uint64(uint32(place.Y))<<32 | uint64(uint32(place.X))
	// Multiplicative hashing: 2^64 over the golden ratio (Knuth, volume 3, 6.4).
	i := key * 0x9E3779B97F4A7C15 >> (o.shift & 63)
	for {
		s := &o.slots[i&uint64(len(o.slots)-1)]
		if s.stamp != o.stamp || s.place == place {
			return s
		}
		i++
	}
}

// add notes that place is empty and lies on side d of the live cell from.
func (o *offers[ID]) add(from ID, d int, place Cell) {
	n := int32(len(o.list))
	s := o.find(place)
	if s.stamp != o.stamp {
		if 2*len(o.groups) >= len(o.slots) {
			o.resize(2 * len(o.slots))
			s = o.find(place)
		}
		*s = slot{place: place, stamp: o.stamp, group: int32(len(o.groups))}
		o.groups = append(o.groups, group[ID]{place: place, first: -1})
	}
	g := &o.groups[s.group]
	o.list = append(o.list, offer[ID]{from: from, next: g.first, side: uint8(d)})
	g.first = n
	g.count++
}

// child returns the cell that was born at place in this generation, or the zero ID.
func (o *offers[ID]) child(place Cell) (id ID) {
	if s := o.find(place); s.stamp == o.stamp {
		id = o.groups[s.group].child
	}
	return id
}

// resize replaces the slots by n new ones, a power of two.
func (o *offers[ID]) resize(n int) {
	o.slots = make([]slot, n)
	o.shift = uint8(64 - bits.TrailingZeros(uint(n)))
	o.stamp = max(o.stamp, 1)
	for i := range o.groups {
		*o.find(o.groups[i].place) = slot{place: o.groups[i].place, stamp: o.stamp, group: int32(i)}
	}
}
