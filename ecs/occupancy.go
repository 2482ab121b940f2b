package ecs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
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

// Used returns the bytes that rows use.
func (f Occupancy) Used() int { return f.Rows * f.RowBytes }

// Waste returns the bytes that are held but not used: room for further rows, padding at the ends of
// columns, and the reserve.
func (f Occupancy) Waste() int { return f.Bytes + f.Reserve - f.Used() }

// OccupancyTable is the occupancy of all archetypes of a world. It prints as a table.
type OccupancyTable []Occupancy

// Occupancy returns the occupancy of the archetypes that hold memory, in order of creation. A
// single small chunk counts its 2 KiB, not the unit that it shares with others; [Stats].Shared
// counts those units. Cost: a few ns per archetype.
func (w *World) Occupancy() OccupancyTable {
	if w.core.Closed {
		return nil
	}
	var all OccupancyTable
	for _, a := range w.core.Archetypes.List {
		f := Occupancy{
			Archetype: archetypeFrom(a), Rows: a.Table.Store.Len(), Chunks: archetypeFrom(a).Chunks(), Reserve: a.Table.Store.Reserve() * alloc.ChunkSize,
			RowBytes: int(unsafe.Sizeof(Entity{})),
		}
		for _, c := range a.Table.Store.Columns() {
			f.RowBytes += int(c.Size)
		}
		for _, c := range a.Table.Store.Chunks() {
			f.Bytes += c.Bytes()
		}
		if f.Bytes+f.Reserve > 0 {
			all = append(all, f)
		}
	}
	return all
}

// Sum returns the sum over all archetypes. RowBytes is the mean, rounded down, and Archetype is
// nil.
func (f OccupancyTable) Sum() (s Occupancy) {
	used := 0
	for _, one := range f {
		s.Rows += one.Rows
		s.Chunks += one.Chunks
		s.Bytes += one.Bytes
		s.Reserve += one.Reserve
		used += one.Used()
	}
	s.RowBytes = used / max(s.Rows, 1)
	return s
}

// String returns a table, sorted by bytes in descending order, with the sum in the last line.
func (f OccupancyTable) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rows\tB a row\tchunks\tKiB\treserve\tused\t  types")
	line := func(f Occupancy, used int, name string) {
		held := max(f.Bytes+f.Reserve, 1)
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d %%\t  %s\n",
			f.Rows, f.RowBytes, f.Chunks, f.Bytes>>10, f.Reserve>>10, 100*used/held, name)
	}
	used := 0
	for _, one := range slices.SortedStableFunc(slices.Values(f), func(x, y Occupancy) int {
		return cmp.Compare(y.Bytes+y.Reserve, x.Bytes+x.Reserve)
	}) {
		used += one.Used()
		line(one, one.Used(), one.Archetype.String())
	}
	line(f.Sum(), used, "all")
	t.Flush()
	return b.String()
}
