package alloc

import (
	"slices"

	"quarry/internal/debug"
)

// How the rows of a chunk go to another, larger or smaller: Grow and Refit put that one
// behind it, the owner copies what the rows have beside the columns, and Promote ends it.

// Refit gives the reserve back, and takes a chunk for the rows of the last one where they
// fit a smaller one: the smallest that they fit, a small one when there are no others.
// The rows are to leave for it then, see Leaving. What was asked for in advance is not
// spared. An error is the universe's; nothing but the reserve has changed then.
func (g *ColumnStore) Refit() error {
	g.floor = 0
	g.Trim(0)
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
		var first ChunkIndex
		first, err = g.u.AllocAligned(c.Units())
		c.First = firstOf(first)
	}
	if err != nil {
		return err
	}
	if debug.On {
		debug.Poison(g.memory(c), debug.Fresh)
	}
	g.add(c)
	g.heir = last + 1
	return nil
}

// smallest returns a chunk, nowhere yet, of the smallest order that rows fit, of the
// largest when they fit none; alone says that it will be the only one.
func (g *ColumnStore) smallest(rows int, alone bool) (c StoreChunk) {
	if alone && rows <= g.SmallRows() {
		return c
	}
	for c.Order = UnitOrder; c.Order < MaxStoreOrder && g.Fits(c) < rows; {
		c.Order++
	}
	return c
}

// Leaving reports whether there is a chunk, at position pos, that its rows are to leave
// for the next one: since Grow it is the first, which was the only one and too small, since
// Refit the last, which was too large. Before rows come or go the store's owner copies what
// the rows have beside the columns there and calls Promote, or takes the others away again
// by Settle and Trim.
func (g *ColumnStore) Leaving() (pos int, ok bool) { return g.heir - 1, g.heir > 0 }

// Promote copies the rows that are to leave a chunk to the next one, which thereby takes
// its position, and gives the chunk back.
func (g *ColumnStore) Promote() {
	pos := g.heir - 1
	old := g.chunks[pos]
	g.own.Rows(g.Row(pos+1, 0), g.Row(pos, 0), g.RowsOf(pos))
	if debug.On {
		debug.Poison(g.memory(old), debug.Freed)
	}
	g.free(old)
	g.chunks = slices.Delete(g.chunks, pos, pos+1)
	g.units -= old.Units()
	g.heir = 0
	g.restart()
}
