package ecs

import (
	"unsafe"

	"quarry/alloc"
)

// Occupancy describes how well an archetype uses the memory of its chunks. Sizes are in bytes.
type Occupancy struct {
	Archetype *Archetype
	Rows      int // entities
	Chunks    int // chunks that hold rows
	Bytes     int // of those chunks
	Reserve   int // bytes of chunks kept without rows, see ChunkGrowth; World.Trim frees them
	RowBytes  int // bytes of one row: its Entity and components, without spilled buffer elements and managed values
}

// Occupancy returns the occupancy of the archetypes that hold memory, in order of creation. A
// closed world has none. A single small chunk counts its 2 KiB, not the unit that it shares with
// others; [Stats].Shared counts those units. inspect.WriteOccupancy writes the list as a table.
// Cost: a few ns per archetype.
func (w *World) Occupancy() (all []Occupancy) {
	if w.core.Closed {
		return nil
	}
	for _, a := range w.core.Archetypes.List {
		if o := archetypeFrom(a).occupancy(); o.Bytes+o.Reserve > 0 {
			all = append(all, o)
		}
	}
	return all
}

// occupancy returns the archetype's own, also if it holds no memory.
func (a *Archetype) occupancy() Occupancy {
	store := &a.core.Table.Store
	o := Occupancy{Archetype: a, Rows: store.Len(), Chunks: a.Chunks(), Reserve: store.Reserve() * alloc.ChunkSize,
		RowBytes: int(unsafe.Sizeof(Entity{}))}
	for _, c := range store.Columns() {
		o.RowBytes += int(c.Size)
	}
	for _, c := range store.Chunks() {
		o.Bytes += c.Bytes()
	}
	return o
}
