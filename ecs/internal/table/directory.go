package table

import (
	"fmt"

	"quarry/alloc"
)

// Directory says where the values of one type are, for look-ups. Within a chunk the address of
// a row's value is linear in the row's location, so a look-up needs one number for each unit:
// where the column would begin if the chunk's locations began at 0.
//
// A directory is built at the first look-up of its type, so types that are never looked up cost
// nothing. setOwner, which sees every chunk come and go, keeps the directory up to date. Rows that
// move change their records only. A closed table has no chunks, so no directory has an entry for it.
type Directory struct {
	Built  bool
	Starts []uintptr // by unit, as many as owners.units once Built; NoColumn: the chunk lacks the type, or the unit has small chunks
	Marks  []Mark    // by unit, as Starts: where the change version of the chunk's column is
	id     TypeID
	size   int // bytes of an element
}

// NoColumn stands for no start: starts are even, as offsets of columns and locations of chunks are.
const NoColumn = 1

// Build fills a directory with the chunks of all tables. Later calls do nothing.
func (s *Tables) Build(d *Directory, id TypeID, all func(yield func(*Table) bool)) {
	if d.Built {
		return
	}
	*d = Directory{Built: true, id: id, size: s.types[id].Layout.Size}
	s.directories = append(s.directories, d)
	d.reach(len(s.units))
	for t := range all {
		for pos, c := range t.Grid.Chunks() {
			if !c.Small() {
				d.note(c, t, pos)
			}
		}
	}
}

// reach extends the directory to a number of units.
func (d *Directory) reach(units int) {
	for len(d.Starts) < units {
		d.Starts = append(d.Starts, NoColumn)
		d.Marks = append(d.Marks, Mark{})
	}
}

// startOf returns the start for a chunk of a table. A nil table has no column.
func (d *Directory) startOf(c alloc.GridChunk, t *Table) uintptr {
	if t == nil || !t.Sig.Has(d.id) {
		return NoColumn
	}
	column := uintptr(c.First)*alloc.EighthSize + uintptr(t.Places[d.id].Offset)*t.Grid.Scale(c.Order)
	// This may wrap below 0; adding a location of the chunk wraps back.
	return column - uintptr(Locate(c.First, 0))*uintptr(d.size)
}

// markOf returns the mark of a chunk of a table that has the type.
func (d *Directory) markOf(t *Table, pos int) Mark {
	return t.Books.MarkOf(t.Places[d.id].Slot(), pos)
}

// note enters a chunk of a table, or removes a chunk when the table is nil.
func (d *Directory) note(c alloc.GridChunk, t *Table, pos int) {
	start, m := d.startOf(c, t), Mark{}
	if start != NoColumn {
		m = d.markOf(t, pos)
	}
	first := int(c.First.Chunk())
	for unit := first; unit < first+c.Units(); unit++ {
		d.Starts[unit], d.Marks[unit] = start, m
	}
}

// verify checks L1.
func (d *Directory) verify(s *Tables, all []*Table) error {
	name := s.types[d.id].Layout.Name
	if len(d.Starts) != len(s.units) || len(d.Marks) != len(s.units) {
		return fmt.Errorf("ecs: L1: the directory of %s has %d units, the owners %d", name, len(d.Starts), len(s.units))
	}
	units, want := 0, 0
	for _, start := range d.Starts {
		if start != NoColumn {
			units++
		}
	}
	for _, t := range all {
		for pos, c := range t.Grid.Chunks() {
			start := d.startOf(c, t)
			if start == NoColumn || c.Small() {
				continue
			}
			want += c.Units()
			for unit := int(c.First.Chunk()); unit < int(c.First.Chunk())+c.Units(); unit++ {
				if unit >= len(d.Starts) || d.Starts[unit] != start || d.Marks[unit] != d.markOf(t, pos) {
					return fmt.Errorf("ecs: L1: %s in unit %d, chunk %d of %v, is not where its directory says", name, unit, pos, t)
				}
			}
		}
	}
	if units != want {
		return fmt.Errorf("ecs: L1: the directory of %s has %d units, the archetypes %d", name, units, want)
	}
	return nil
}
