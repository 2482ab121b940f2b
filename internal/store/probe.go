package store

import (
	"quarry/internal/growth"
	"quarry/internal/universe"
)

// Corrupt is a probe, which programs do not contain: it breaks one invariant of a store that has
// more than one chunk, for the tests of package alloc, and returns what puts it right.
func (g *Store) Corrupt(invariant string) (restore func()) {
	switch invariant {
	case "T1":
		g.count -= g.per
		return func() { g.count += g.per }
	case "T2":
		old := g.chunks[0]
		g.chunks[0].First = g.chunks[1].First
		return func() { g.chunks[0] = old }
	case "T2 not in use":
		c := g.chunks[0].First.Chunk()
		word, bit := g.u.Index.Word(int(c/universe.ChunksPerMegachunk)), int(c)%universe.ChunksPerMegachunk
		word.TryFree(bit, 1)
		return func() { word.TryAllocAt(bit, 1) }
	case "T3":
		old := g.growth
		g.growth = growth.Policy{}
		return func() { g.growth = old }
	case "T4":
		g.columns[0].Offset += 8
		return func() { g.columns[0].Offset -= 8 }
	}
	return nil
}
