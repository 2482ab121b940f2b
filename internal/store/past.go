package store

import "quarry/internal/debug"

// The past of a store. A Keeper, for those that keep copies of a store's rows, as snapshots of a
// world do, is called when chunks are allocated and freed; Restore puts the store back.

// Keeper receives a call for each chunk that a store changes.
type Keeper interface {
	Took(c Chunk)            // the store has the chunk from the universe
	Keeps(c Chunk) bool      // the store ends the chunk; true: the keeper frees it, by FreeChunk
	Overwrites(memory Chunk) // debug builds: all bytes of the chunk are about to be overwritten
}

// SetKeeper sets the keeper of the store's chunks; nil removes it.
func (g *Store) SetKeeper(k Keeper) { g.keeper = k }

// Save makes to a copy of the store without the reserve: the same chunks, which belong to the store
// still, and the same layout. It uses the memory of to's list, and keeps to's source of small
// chunks.
func (g *Store) Save(to *Store) {
	chunks, small := append(to.chunks[:0], g.chunks...), to.smallChunks
	*to = *g
	if small != nil {
		to.smallChunks = small
	}
	to.chunks, to.reserve, to.spare, to.floor, to.replacement, to.keeper = chunks, nil, 0, 0, 0, nil
}

// Detach empties the store and returns the chunks that it had, in use or in reserve, appended to
// list. They belong to the caller.
func (g *Store) Detach(list []Chunk) []Chunk {
	list = append(append(list, g.chunks...), g.reserve...)
	g.chunks, g.reserve = g.chunks[:0], g.reserve[:0]
	g.count, g.units, g.spare, g.floor, g.replacement = 0, 0, 0, 0, 0
	g.turn()
	return list
}

// Restore gives an empty store the chunks and rows of a copy from Save. The chunks are the store's
// again. The layout must be that of the copy.
func (g *Store) Restore(from *Store) {
	g.chunks = append(g.chunks[:0], from.chunks...)
	g.count, g.units = from.count, from.units
	g.turn()
}

// Relocate gives the chunk at pos of a copy from Save another place, of the same order.
func (g *Store) Relocate(pos int, first SmallIndex) {
	g.chunks[pos].First = first
	g.turn()
}

// poison overwrites a chunk whose bytes only the keeper needs. Debug builds call it.
func (g *Store) poison(c Chunk, with byte) {
	if g.keeper != nil {
		g.keeper.Overwrites(c)
	}
	debug.Poison(g.memory(c), with)
}
