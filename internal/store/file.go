package store

import (
	"errors"
	"fmt"
)

// A store in a file. Its chunks come from elsewhere: the owner, who has read them or mapped them,
// hands them over with Compose.

// ErrChunks is wrapped by the errors of Fit: the chunks cannot be those of the store.
var ErrChunks = errors.New("chunks that do not fit the store")

// Skew makes large chunks of a store without chunks leave one unit unused, or not, as they do by a
// plan with lines of so many bytes; see Scale. Only chunks that were filled so need it. Skew panics
// if the store has chunks in use.
func (g *Store) Skew(on bool, line int) {
	if len(g.chunks) > 0 {
		panic(fmt.Sprintf("alloc: Store.Skew: the store has %d chunks in use", len(g.chunks)))
	}
	g.skewed, g.meet = on, meetingOrder(line)
}

// Fit returns why the chunks in list cannot be a store's with so many rows, or nil: all are full
// but the last, which is not empty. Starts are ignored. The error wraps ErrChunks.
func (g *Store) Fit(list []Chunk, rows int) error {
	start := 0
	for i, c := range list {
		switch {
		case c.Order != 0 && (c.Order < UnitOrder || c.Order > MaxOrder) || c.Small() && len(list) > 1:
			return fmt.Errorf("alloc: Store.Fit: chunk %d of %d has order %d: %w", i, len(list), c.Order, ErrChunks)
		case c.Small() && g.smallChunks == nil:
			return fmt.Errorf("alloc: Store.Fit: a small chunk, of which the store has none by its growth: %w",
				ErrChunks)
		case c.First&(1<<c.Order-1) != 0:
			return fmt.Errorf("alloc: Store.Fit: chunk %d of order %d begins at eighth %d: %w",
				i, c.Order, c.First, ErrChunks)
		case start >= rows:
			return fmt.Errorf("alloc: Store.Fit: %d rows in %d chunks, of which %d have room for %d: %w",
				rows, len(list), i, start, ErrChunks)
		}
		start += g.Fits(c)
	}
	if rows < 0 || start < rows {
		return fmt.Errorf("alloc: Store.Fit: %d rows, the chunks have room for %d: %w", rows, start, ErrChunks)
	}
	return nil
}

// Compose gives a store without chunks those in list, which Fit, and rows. The chunks belong to the
// store from then on; small ones to its source of small chunks too. It panics for chunks that do
// not fit, and if the store has chunks.
func (g *Store) Compose(list []Chunk, rows int) {
	if err := g.Fit(list, rows); err != nil || len(g.chunks)+len(g.reserve) > 0 {
		panic(fmt.Sprintf("alloc: Store.Compose: the store has %d chunks and %d in reserve, and the new ones: %v",
			len(g.chunks), len(g.reserve), err))
	}
	start := 0
	for _, c := range list {
		c.Start = start
		g.chunks, g.units = append(g.chunks, c), g.units+c.Units()
		start += g.Fits(c)
	}
	g.count = rows
	g.turn()
}
