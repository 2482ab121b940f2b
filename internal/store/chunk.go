package store

import "quarry/internal/universe"

// Orders of chunks: a chunk of order k has 2^k eighths of a unit. World files have orders in
// eighths, and adoptTables in ecs/internal/worldfile counts on eight of them.
const (
	UnitOrder = 3             // one unit
	lastAlone = UnitOrder + 1 // largest order that a sole chunk is promoted from
	MaxOrder  = UnitOrder + 6 // the largest: 64 units, a megachunk
)

// Chunk is a chunk of a store: 2^Order eighths of a unit.
type Chunk struct {
	First SmallIndex // its first eighth, a multiple of 2^Order
	Order uint32     // 0, or UnitOrder to MaxOrder
	Start int        // rows in the chunks before it
}

// Small reports whether the chunk is an eighth of a unit.
func (c Chunk) Small() bool { return c.Order < UnitOrder }

// Units returns the number of units of the chunk; 0 for a small chunk.
func (c Chunk) Units() int { return 1 << c.Order >> UnitOrder }

// Bytes returns the size of the chunk in bytes.
func (c Chunk) Bytes() int { return SmallSize << c.Order }

// FreeChunk frees a chunk that a Keeper kept. small is the source of the store's small chunks.
func FreeChunk(u *universe.Universe, small *SmallChunks, c Chunk) {
	if c.Small() {
		small.Free(c.First)
		return
	}
	u.Free(c.First.Chunk(), c.Units())
}
