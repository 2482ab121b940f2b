package store

import (
	"math/bits"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/layout"
)

// The store.
//
// Rows are dense: every chunk in use except the last is full, a removed row is replaced by the last
// row of the store, and new rows are appended. So the only metadata is one count and two lists of
// chunks:
//
//	100 rows a unit, 530 rows:
//	chunks   [ 17: 100 rows ] [ 18: 100 rows ] [ 40-41: 200 rows ] [ 44-47: 130 rows ]
//	reserve  [ 64-71: empty ]                      the last one listed is used next
//
// A unit is 16 KiB. A chunk is 2^k eighths of a unit, aligned to its size: a small chunk of one
// eighth, or 1, 2, 4 ... 64 units. The layout of a chunk is the layout of one unit with every
// offset and the number of rows multiplied by the chunk's units, or by one less in large chunks of
// many columns (Scale). So one plan and one multiplication serve chunks of all sizes. The index of
// a chunk's first eighth has k zero bits, in which the owner can store a row. Offsets in a unit are
// multiples of 64, so an eighth of an offset is still a multiple of 8, the largest alignment of Go
// types. Growth takes the units that the policy wants as few large chunks: doubling gives chunks of
// 1, 1, 2, 4 ... units, in which long loops run at the speed of long slices (docs/decisions/0011).
//
// The first chunk is a small one when the store may have small chunks, its policy multiplies, and
// the rows fit: most archetypes have few rows (docs/decisions/0014). A small chunk is the only
// chunk of its store, the reserve included. When more rows are needed, Grow appends chunks, the
// owner copies its rows to the first of them, and Promote drops the small chunk. Policies count
// units, and a small chunk counts as none. The only chunk of such a store, up to 64 KiB, is
// replaced in the same way by a chunk of at least twice its size, so a few hundred rows lie in one
// chunk; a loop over two chunks takes 40 ns more (docs/decisions/0016).
//
// The reserve holds chunks that growth took beyond its need, and chunks of removed rows. Let
// step(n) be the units that the policy adds to n. An emptied chunk is kept until the reserve
// exceeds 2*step(units); the reserve is then cut to step(units). So a row that comes and goes at
// the border of a chunk, or of the reserve, does not reach the universe each time. A store without
// rows keeps at most step(0), since there may be many such stores.
//
// When rows are removed the last chunk keeps its size, up to a megachunk. Refit takes a smaller
// chunk for its rows, which move there as rows move out of an outgrown chunk.
//
// Invariants, checked by Verify:
//
//	T1 There are as many chunks as the rows need: all are full but the last, which is not empty.
//	   Each chunk knows the number of rows before it.
//	T2 Every unit of a chunk, in use or in reserve, is in use in the universe and belongs to one
//	   chunk. A chunk of 2^k eighths begins at a multiple of 2^k.
//	T3 The reserve is at most 2*step(units), or step(0) without rows, unless Prepare took more
//	   in advance.
//	T4 The plan is sound, and every column lies inside its place in the plan.
//	T5 A small chunk is the only chunk, reserve included.

// Store stores rows in columns over chunks of a universe, without the Go types of the columns.
// alloc.Table and the archetypes of package ecs are built on it. A position is the index of a chunk
// among the chunks in use; a row is counted within its chunk. Store does not check positions; its
// owner does. One goroutine at a time may use it.
type Store struct {
	u           *universe.Universe
	smallChunks *SmallChunks  // source of small chunks; nil: none
	per         int           // rows of a full unit
	count       int           // rows
	tail        tail          // the last chunk, cached for operations on single rows
	chunks      []Chunk       // in use, in order of their rows (T1)
	reserve     []Chunk       // empty chunks; the last is used next
	units       int           // units of chunks
	spare       int           // units of reserve
	largest     uint32        // largest order to allocate
	replacement int           // position of the chunk that replaces the one before it (see Leaving); 0: none
	skewed      bool          // large chunks leave one unit unused (see Scale)
	meet        uint32        // lowest order of a large chunk in this sense
	columns     []Column      // columns with storage
	own         RowCopy       // copies a row over another row of the store
	growth      growth.Policy // policy for the number of units
	floor       int           // units that only Trim and Release free
	keeper      Keeper        // is called for chunks; nil: nobody
}

// tail caches the last chunk for operations on single rows.
type tail struct {
	base  unsafe.Pointer
	scale uintptr
	start int // rows in the chunks before it
	full  int // rows in all chunks when it is full; 0 without a chunk
}

// Column is a column that occupies space in the chunks of a store.
type Column struct {
	Offset uint32 // bytes from a small chunk's start to row 0: an eighth of the offset in the plan
	Size   uint32 // bytes of one row's element
	Key    uint32 // the owner's number of the column
}

// fewColumns is the number of columns up to which a store is not skewed: with few columns loops are
// slower when skewed.
const fewColumns = 4

// Make returns a store without chunks. columns are the columns of plan that have a size and that
// the store is to copy and clear. Chunks have orders up to largest, which is in UnitOrder to
// MaxOrder, and no chunk has more units than policy adds at a time. Small chunks come from
// smallChunks, which must be of the same universe; with nil the store has none.
func Make(u *universe.Universe, smallChunks *SmallChunks, plan *layout.Plan, columns []Column, policy growth.Policy,
	largest uint32) Store {
	if policy.Most == 0 || policy.Most > universe.MaxSize/universe.ChunkSize {
		policy = policy.Capped(universe.MaxSize / universe.ChunkSize) // so that no step overflows
	}
	if n := policy.AtOnce(); n > 0 {
		largest = min(largest, UnitOrder+uint32(bits.Len(uint(n)))-1)
	}
	if policy.Factor <= 1 || widest(plan) > plan.CacheLine/eighths {
		smallChunks = nil
	}
	g := Store{u: u, smallChunks: smallChunks, growth: policy, largest: largest, meet: meetingOrder(plan.CacheLine)}
	g.Replan(plan.Rows, columns, nil)
	return g
}

// Replan gives a store without rows another layout, of rows rows per unit. With like, the layout is
// skewed as like is, so that the store can take chunks from like; with nil, the store decides from
// its own columns. The chunks in reserve stay, since they hold no rows.
func (g *Store) Replan(rows int, columns []Column, like *Store) {
	g.skewed = len(columns) > fewColumns
	if like != nil {
		g.skewed, g.meet = like.skewed, like.meet
	}
	g.per, g.columns, g.own = rows, columns, g.own.Emptied()
	for _, c := range columns {
		g.own.Add(c.Offset, c.Offset, c.Size)
	}
}

// meetingOrder returns the order from which column offsets are multiples of 4 KiB, given that
// offsets in a unit are multiples of a cache line of line bytes.
func meetingOrder(line int) uint32 { return UnitOrder + uint32(bits.Len(uint(4096/line))) - 1 }

// widest returns the largest alignment of a plan's columns.
func widest(plan *layout.Plan) int {
	align := 1
	for i := range plan.Places {
		align = max(align, plan.Places[i].Align)
	}
	return align
}

// Len returns the number of rows.
func (g *Store) Len() int { return g.count }

// PerUnit returns the number of rows in a full chunk of one unit.
func (g *Store) PerUnit() int { return g.per }

// Scale returns the factor by which column offsets are multiplied in a chunk of the given order:
// the number of eighths in the chunk, less the eighths of one unit in a large chunk of a skewed
// store. Offsets are multiples of cache lines: 64 times an offset of 64 bytes, 32 times one of 128
// or 16 times one of 256 is a multiple of 4 KiB. Without the skew the elements of one row would
// compete for the same few lines of the first-level cache (docs/decisions/0017).
func (g *Store) Scale(order uint32) uintptr {
	scale := uintptr(1) << (order & 63)
	if order >= g.meet && g.skewed {
		scale -= eighths
	}
	return scale
}

// IsSkewed reports whether large chunks leave one unit unused; see Scale.
func (g *Store) IsSkewed() bool { return g.skewed }

// ScalesLike reports whether chunks of each order have the same Scale in another store.
func (g *Store) ScalesLike(other *Store) bool {
	return g.skewed == other.skewed && (!g.skewed || g.meet == other.meet)
}

// Fits returns the number of rows that a chunk has room for.
func (g *Store) Fits(c Chunk) int { return g.per * int(g.Scale(c.Order)) >> UnitOrder }

// memory returns the bytes of a chunk.
func (g *Store) memory(c Chunk) []byte {
	// Safe because the chunk belongs to the store and is in use.
	return unsafe.Slice((*byte)(PointerTo(g.u, c.First)), c.Bytes())
}

// free returns a chunk that is in no list any more to its allocator.
func (g *Store) free(c Chunk) {
	if g.keeper != nil && g.keeper.Keeps(c) {
		return
	}
	if c.Small() {
		g.smallChunks.Free(c.First)
		return
	}
	g.u.Free(c.First.Chunk(), c.Units())
}

// Chunks returns the chunks in use, in order of their rows. The caller must not modify the slice;
// it is valid until the next call of Grow, Pop, Cut, Clear or Release.
func (g *Store) Chunks() []Chunk { return g.chunks }

// Columns returns the columns given to Make or Replan. The caller must not modify the slice.
func (g *Store) Columns() []Column { return g.columns }

// Own returns the RowCopy that copies one row of the store over another.
func (g *Store) Own() *RowCopy { return &g.own }

// Units returns the number of units of the chunks in use; a small chunk counts as none.
func (g *Store) Units() int { return g.units }

// Reserve returns the number of units in reserve.
func (g *Store) Reserve() int { return g.spare }

// RowsOf returns the number of rows in the chunk at pos.
func (g *Store) RowsOf(pos int) int {
	c := &g.chunks[pos]
	return min(g.Fits(*c), g.count-c.Start)
}

// room returns the number of rows that the chunks in use have room for.
func (g *Store) room() int { return g.tail.full }

// turn updates the tail after the last chunk has changed.
func (g *Store) turn() {
	g.tail = tail{}
	if n := len(g.chunks); n > 0 {
		c := g.chunks[n-1]
		g.tail = tail{PointerTo(g.u, c.First), g.Scale(c.Order), c.Start, c.Start + g.Fits(c)}
	}
}

// Full reports whether the chunks in use have no room for another row.
func (g *Store) Full() bool { return g.count >= g.tail.full }

// Tail returns the place after the last row. That place must be in the last chunk, so the last
// chunk must not be full, and the chunk before it must be.
func (g *Store) Tail() Row {
	return Row{g.tail.base, g.tail.scale, g.count - g.tail.start}
}

// LastRow returns the place of the last row. The store must have a row, and it must be in the last
// chunk.
func (g *Store) LastRow() Row {
	return Row{g.tail.base, g.tail.scale, g.count - 1 - g.tail.start}
}

// Last returns the position and row of the last row. The last chunk in use must have a row.
func (g *Store) Last() (pos, row int) {
	pos = len(g.chunks) - 1
	return pos, g.count - 1 - g.chunks[pos].Start
}

// LastChunk returns the position of the last chunk in use.
func (g *Store) LastChunk() int { return len(g.chunks) - 1 }

// Find returns the position and row of the i'th row of the store. Row i may lie beyond the last
// row, in the room of the chunks in use.
func (g *Store) Find(i int) (pos, row int) {
	pos, _ = slices.BinarySearchFunc(g.chunks, i+1, func(c Chunk, i int) int { return c.Start - i })
	return pos - 1, i - g.chunks[pos-1].Start
}

// Room returns the number of rows that can be pushed without Grow.
func (g *Store) Room() int { return g.room() - g.count }

// Push appends n rows to the count. The chunks in use must have room; the owner writes the
// contents.
func (g *Store) Push(n int) { g.count += n }

// Pop removes the last row, whose row within its chunk is row, as Last returns it. A chunk that
// empties moves to the reserve, which is cut when it has become too large.
func (g *Store) Pop(row int) {
	g.count--
	if row == 0 {
		g.leave(len(g.chunks) - 1)
	}
}

// Cut removes the last n rows, as n calls of Pop do.
func (g *Store) Cut(n int) {
	g.count -= n
	g.leave(g.Needed())
}

// Needed returns the number of chunks that the rows need. It is less than the number in use after a
// Grow that was not followed by Push.
func (g *Store) Needed() int {
	keep := len(g.chunks)
	for keep > 0 && g.chunks[keep-1].Start >= g.count {
		keep--
	}
	return keep
}

// Settle moves chunks without rows to the reserve.
func (g *Store) Settle() { g.leave(g.Needed()) }

// MoveChunks moves the first n chunks, n > 0, to another store and returns their position there:
// the end, or before the last chunk when that is part full. None of the chunks may be small, and
// they must be full unless the other store has no rows. The other store must be of the same
// universe, have as many rows per unit, be skewed alike, and have no rows in a small chunk.
// MoveChunks does not hold back what Prepare took.
func (g *Store) MoveChunks(to *Store, n int) (at int) {
	at = to.Needed()
	if at > 0 && to.RowsOf(at-1) < to.Fits(to.chunks[at-1]) {
		at--
	}
	if to.HasSmall() {
		to.Trim(0) // the small chunk in reserve
	}
	given := g.chunks[:n]
	rows, units := 0, 0
	for i, c := range given {
		rows += g.RowsOf(i)
		units += c.Units()
	}
	to.chunks = slices.Insert(to.chunks, at, given...)
	g.chunks = slices.Delete(g.chunks, 0, n)
	to.count, g.count = to.count+rows, g.count-rows
	to.units, g.units = to.units+units, g.units-units
	to.restart()
	g.restart()
	g.floor = min(g.floor, g.units+g.spare)
	g.Settle()
	to.shrink()
	return at
}

// restart recounts the rows before each chunk.
func (g *Store) restart() {
	start := 0
	for i := range g.chunks {
		g.chunks[i].Start = start
		start += g.Fits(g.chunks[i])
	}
	g.turn()
}

// step returns the number of units that the policy adds to n.
func (g *Store) step(n int) int { return g.growth.Next(n, n+1) - n }

// mostReserve returns the largest reserve, in units, that is not cut (T3).
func (g *Store) mostReserve() int {
	most := 2 * g.step(g.units)
	if g.units == 0 {
		most = g.step(0)
	}
	return max(most, g.floor-g.units)
}

// leave moves the chunks from position keep on, which hold no rows, to the reserve, and cuts the
// reserve when it has become too large.
func (g *Store) leave(keep int) {
	if debug.On {
		for _, c := range g.chunks[keep:] {
			g.poison(c, debug.Freed)
		}
	}
	g.unuse(keep)
	g.shrink()
}

// shrink cuts the reserve when it is too large (T3).
func (g *Store) shrink() {
	if g.spare > g.mostReserve() {
		g.Trim(max(g.step(g.units), g.floor-g.units))
	}
}

// Clear removes all rows.
func (g *Store) Clear() {
	g.count = 0
	g.leave(0)
}

// Trim frees chunks of the reserve until at most keep units are left, starting with the chunk that
// would be used last, and returns the number of units freed. A small chunk in reserve is freed only
// when keep is 0. Trim also frees what Prepare took.
func (g *Store) Trim(keep int) int {
	spare, n := g.spare, 0
	for n < len(g.reserve) && (g.spare > keep || keep == 0) {
		c := g.reserve[n]
		g.free(c)
		g.spare -= c.Units()
		n++
	}
	if n > 0 {
		g.reserve = g.reserve[:copy(g.reserve, g.reserve[n:])]
		g.floor = min(g.floor, g.units+g.spare)
	}
	return spare - g.spare
}

// TrimAll is Trim to nothing, after which the store keeps no more than its policy has it keep,
// whatever Prepare took.
func (g *Store) TrimAll() int {
	g.floor = 0
	return g.Trim(0)
}

// Release frees every chunk. The store is then empty and may be used again.
func (g *Store) Release() {
	g.count, g.floor = 0, 0
	g.unuse(0)
	g.Trim(0)
	g.chunks, g.reserve = nil, nil
}
