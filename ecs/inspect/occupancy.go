package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"quarry/ecs"
)

// WriteOccupancy writes World.Occupancy as a table: a line for each archetype that holds memory, in
// descending order of bytes, and a last line for all of them, whose bytes a row are the mean,
// rounded down. The columns are rows, bytes of a row, chunks, their KiB, KiB of the reserve, the
// part of both that rows use, and types. A closed world has no archetypes.
func WriteOccupancy(out io.Writer, w *ecs.World) error {
	checkWriter("WriteOccupancy", out)
	if w == nil {
		panic("inspect: WriteOccupancy: the world is nil")
	}
	all := w.Occupancy()
	slices.SortStableFunc(all, func(a, b ecs.Occupancy) int {
		return cmp.Compare(b.Bytes+b.Reserve, a.Bytes+a.Reserve)
	})
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rows\tB a row\tchunks\tKiB\treserve\tused\t  types")
	var sum ecs.Occupancy
	used := 0
	for _, o := range all {
		writeLine(t, o, o.Rows*o.RowBytes, o.Archetype.String())
		sum.Rows += o.Rows
		sum.Chunks += o.Chunks
		sum.Bytes += o.Bytes
		sum.Reserve += o.Reserve
		used += o.Rows * o.RowBytes
	}
	sum.RowBytes = used / max(sum.Rows, 1)
	writeLine(t, sum, used, "all")
	if err := t.Flush(); err != nil {
		return fmt.Errorf("inspect: WriteOccupancy: the writer failed: %w", err)
	}
	return nil
}

// writeLine writes a line of the table; used is the number of bytes that rows use.
func writeLine(t *tabwriter.Writer, o ecs.Occupancy, used int, name string) {
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d %%\t  %s\n",
		o.Rows, o.RowBytes, o.Chunks, o.Bytes>>10, o.Reserve>>10, 100*used/max(o.Bytes+o.Reserve, 1), name)
}
