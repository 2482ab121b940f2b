package store

import (
	"slices"

	"quarry/internal/debug"
	"quarry/internal/universe"
)

// Moving the rows of a chunk to a larger or smaller one: Grow or Refit appends the new chunk, the
// owner copies what the rows hold outside the columns, and Promote completes the move.

// Refit frees the reserve. When the rows of the last chunk fit a smaller chunk, it also allocates
// the smallest that they fit (a small chunk only if it is the sole chunk), and the rows must then
// move there; see Leaving. Refit also frees what Prepare took. An error is the universe's; then
// only the reserve has changed.
func (g *Store) Refit() error {
	g.TrimAll()
	last := len(g.chunks) - 1
	if last < 0 {
		return nil
	}
	c := g.smallest(g.RowsOf(last), last == 0)
	if c.Order >= g.chunks[last].Order {
		return nil
	}
	var err error
	if c.Small() {
		c.First, err = g.smallChunks.Alloc()
	} else {
		var first universe.ChunkIndex
		first, err = g.u.AllocAligned(c.Units())
		c.First = firstOf(first)
	}
	if err != nil {
		return err
	}
	if g.keeper != nil {
		g.keeper.Took(c)
	}
	if debug.On {
		g.poison(c, debug.Fresh)
	}
	g.add(c)
	g.replacement = last + 1
	return nil
}

// smallest returns an unallocated chunk of the smallest order that holds rows rows, or of the
// largest order when none does. alone reports that it will be the only chunk, which may be small.
func (g *Store) smallest(rows int, alone bool) (c Chunk) {
	if alone && rows <= g.SmallRows() {
		return c
	}
	for c.Order = UnitOrder; c.Order < MaxOrder && g.Fits(c) < rows; {
		c.Order++
	}
	return c
}

// Leaving reports whether rows must move from the chunk at position pos to the next chunk. After
// Grow that is the first chunk, which was the only one and too small; after Refit it is the last
// chunk, which was too large. Before rows are added or removed the owner must either copy what the
// rows hold outside the columns and call Promote, or undo the growth by Settle and Trim.
func (g *Store) Leaving() (pos int, ok bool) { return g.replacement - 1, g.replacement > 0 }

// Promote copies the rows of the chunk that Leaving names to the next chunk, which takes its
// position, and frees the old chunk.
func (g *Store) Promote() {
	pos := g.replacement - 1
	old := g.chunks[pos]
	g.own.Rows(g.Row(pos+1, 0), g.Row(pos, 0), g.RowsOf(pos))
	if debug.On {
		g.poison(old, debug.Freed)
	}
	g.free(old)
	g.chunks = slices.Delete(g.chunks, pos, pos+1)
	g.units -= old.Units()
	g.replacement = 0
	g.restart()
}
