package table

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// Owner says which table's chunk a unit belongs to, and the chunk's position. The zero Owner stands for
// a unit that no table has.
type Owner struct {
	table uint32 // Index of the table, plus one; 0: no table; or shelved
	at    uint32 // position in the table's grid 22 bits | scale of the chunk 10; when shelved, index in owners.tenants
}

// shelved is the table of a unit on the shelf, whose eighths belong to several tables: the Owner's at
// is the unit's index in owners.tenants.
const shelved = ^uint32(0)

// tenants are the tables of a unit's small chunks, by eighth, each as Owner.table. A small chunk has
// position 0 in its table's grid and one eighth, so a tenant needs no more of an Owner.
type tenants [1 << alloc.UnitOrder]uint32

func makeOwner(t *Table, pos int, order uint32) Owner {
	return Owner{t.Index + 1, uint32(pos) | uint32(t.Grid.Scale(order))<<posBits}
}

// Table returns the index of the owning table.
func (o Owner) Table() uint32 { return o.table - 1 }

// Pos returns the position of the chunk in the table's grid.
func (o Owner) Pos() int { return int(o.at & (1<<posBits - 1)) }

// Scale returns the scale of the chunk, see alloc.Grid.Scale.
func (o Owner) Scale() uintptr { return uintptr(o.at >> posBits) }

const (
	posBits = 22
	_       = uint(1<<(32-posBits) - 1 - 1<<alloc.MaxGridOrder) // there is room for the scale
	_       = uint(1<<posBits - 1<<(32-RowBits))                // and a position for each unit of a location
)

// owners says of each unit of the universe which chunk of which table it belongs to.
type owners struct {
	units       []Owner      // by unit, up to the last that a table had
	tenants     []tenants    // of units on the shelf
	idle        []uint32     // indices in tenants that no unit uses
	directories []*Directory // the directories that are built
}

// OwnerOf returns the owner of the chunk that a location lies in.
func (s *Tables) OwnerOf(l Location) Owner {
	o := s.units[l>>RowBits]
	if o.table == shelved {
		return Owner{s.tenants[o.at][l>>eighthBits%(1<<alloc.UnitOrder)], 1 << posBits}
	}
	return o
}

// IsShelved reports whether a location lies in a unit of small chunks.
func (s *Tables) IsShelved(l Location) bool { return s.units[l>>RowBits].table == shelved }

// Split returns the start of the chunk that a location lies in, and the row. scale is the chunk's.
func (s *Tables) Split(l Location, scale uintptr) (chunk unsafe.Pointer, row int) {
	at := uintptr(l)
	in := at & (alloc.EighthsOf(scale)<<eighthBits - 1)
	// Safe because without the row l is the chunk's first eighth times 512, a
	// quarter of its offset from the universe's base.
	return unsafe.Add(s.base, (at-in)<<2), int(in)
}

// RowAt returns the row at a location. o is OwnerOf of the location.
func (s *Tables) RowAt(l Location, o Owner) alloc.GridRow {
	base, row := s.Split(l, o.Scale())
	return alloc.GridRow{Base: base, Scale: o.Scale(), Row: row}
}

// setOwner enters a chunk of a table in the owners and the directories, or removes the chunk when the
// table is nil. Directories have no small chunks.
func (s *Tables) setOwner(c alloc.GridChunk, t *Table, pos int) {
	if c.Small() {
		s.setTenant(c.First, t)
		return
	}
	o, first, end := Owner{}, int(c.First.Chunk()), int(c.First.Chunk())+c.Units()
	if t != nil {
		o = makeOwner(t, pos, c.Order)
		s.reach(end)
	}
	units := s.units[first:end]
	for ; len(units) >= 4; units = units[4:] { // by four, or where the linker puts the loop doubles its time
		units[0], units[1], units[2], units[3] = o, o, o, o
	}
	for i := range units {
		units[i] = o
	}
	for _, d := range s.directories {
		d.note(c, t, pos)
	}
}

// reach extends the owners and the directories to a number of units.
func (s *Tables) reach(end int) {
	for len(s.units) < end {
		s.units = append(s.units, Owner{})
	}
	for _, d := range s.directories {
		d.reach(len(s.units))
	}
}

// setTenant enters a small chunk of a table, or removes the chunk when the table is nil.
func (s *Tables) setTenant(e alloc.Eighth, t *Table) {
	unit, i := int(e.Chunk()), e%(1<<alloc.UnitOrder)
	s.reach(unit + 1)
	o := &s.units[unit]
	if o.table == 0 {
		*o = Owner{table: shelved, at: uint32(len(s.tenants))}
		if last := len(s.idle) - 1; last >= 0 {
			o.at = s.idle[last]
			s.idle = s.idle[:last]
		} else {
			s.tenants = append(s.tenants, tenants{})
		}
	}
	shared := &s.tenants[o.at]
	shared[i] = 0
	if t != nil {
		shared[i] = t.Index + 1
	}
	if *shared == (tenants{}) {
		s.idle = append(s.idle, o.at)
		*o = Owner{}
	}
}

// verifyOwners checks W3.
func (s *Tables) verifyOwners(all []*Table) error {
	chunks, small, kept, entries, sharing, used := 0, 0, 0, 0, 0, 0
	for unit, o := range s.units {
		switch {
		case o.table == 0:
		case o.table != shelved:
			entries++
		case int(o.at) >= len(s.tenants):
			return fmt.Errorf("ecs: W3: unit %d has entry %d of %d for small chunks", unit, o.at, len(s.tenants))
		default:
			used++
			for _, table := range s.tenants[o.at] {
				if table != 0 {
					sharing++
				}
			}
		}
	}
	for _, t := range all {
		chunks += t.Grid.Units()
		for pos, c := range t.Grid.Chunks() {
			if c.Small() {
				small++
			}
			for part := c.First; part < c.First+1<<c.Order; part++ {
				if int(part.Chunk()) >= len(s.units) || s.OwnerOf(Locate(part, 0)) != makeOwner(t, pos, c.Order) {
					return fmt.Errorf("ecs: W3: eighth %d at position %d of %v has no such owner", part, pos, t)
				}
			}
		}
		if t.Grid.HasSmall() {
			kept++
		}
	}
	if entries != chunks || sharing != small || used+len(s.idle) != len(s.tenants) {
		return fmt.Errorf("ecs: W3: the owners have %d units and %d small chunks, the archetypes %d and %d; %d units and %d idle ones have %d entries for small ones",
			entries, sharing, chunks, small, used, len(s.idle), len(s.tenants))
	}
	if s.shelf.Live() != kept {
		return fmt.Errorf("ecs: W3: the shelf has handed out %d small chunks, the archetypes have %d", s.shelf.Live(), kept)
	}
	return s.shelf.Verify()
}
