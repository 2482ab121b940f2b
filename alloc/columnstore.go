package alloc

import (
	"math/bits"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/layout"
)

// The store.
//
// Rows are dense: the chunks in use are full but for the last, a row that goes is replaced by the
// last row of all, and new rows come behind it. So the books are one count and two lists of chunks:
//
//	100 rows a unit, 530 rows:
//	chunks   [ 17: 100 rows ] [ 18: 100 rows ] [ 40-41: 200 rows ] [ 44-47: 130 rows ]
//	reserve  [ 64-71: empty ]                      the next to be used last
//
// A unit is 16 KiB. A chunk is 2^k eighths of a unit, aligned to its size: a small chunk of one
// eighth, or 1, 2, 4 ... 64 units. Its layout is that of one unit with every offset and the number
// of rows times its units, or one less where those are many (Scale), so one plan and one
// multiplication serve chunks of all sizes. The index of a chunk's first eighth has k zero bits,
// where the owner can put a row. Offsets in a unit are multiples of 64, so an eighth of one still
// is a multiple of 8, which is as much as Go types ask for. Growth takes what the policy says as
// few large chunks: doubling gives chunks of 1, 1, 2, 4 ... units, in which long loops run at the
// speed of long slices (docs/decisions/0011).
//
// The first chunk is a small one when the store may have small chunks, its policy multiplies, and
// the rows fit: most archetypes have few rows (docs/decisions/0014). A small chunk is the only one
// of its store, reserve included. When more rows are needed Grow puts chunks behind it, the owner
// copies its rows to the first of those, and Promote drops it. Policies do not count it: they count
// units, and it is none. The only chunk of such a store is left in the same way for one of at least
// twice its size, up to 64 KiB, so some hundred rows are one chunk; a loop over two takes 40 ns
// more (docs/decisions/0016).
//
// The reserve is what growth took beyond its need and what rows that went left behind. With step(n)
// for the units that the policy adds to n, a chunk that empties is kept until the reserve is above
// 2*step(units); then it is cut to step(units). So a row that comes and goes at the border of a
// chunk, or of the reserve, never reaches the universe each time. A store without rows keeps no
// more than step(0): there may be many of them.
//
// Rows that went leave the last chunk as large as it was, up to a megachunk. Refit takes a smaller
// one for its rows, which go there as from a chunk that was outgrown.
//
// Invariants, checked by Verify:
//
//	T1 There are as many chunks as the rows need: all full but the last, which is
//	   not empty; each knows the rows before it.
//	T2 Every unit of a chunk, of the reserve too, is in use in the universe, and of
//	   one chunk. A chunk of 2^k eighths begins at a multiple of 2^k.
//	T3 The reserve is not above 2*step(units), nor step(0) without rows, unless
//	   more was asked for in advance.
//	T4 The plan is sound, and every column lies inside its place in the plan.
//	T5 A small chunk is the only chunk, reserve included.

// ColumnStore is what Table and the archetypes of package ecs have in common: rows in columns over
// chunks of a universe, without the types. Positions count the chunks in use, rows count within a
// chunk. It checks no positions; its owner does. One goroutine at a time may use it.
type ColumnStore struct {
	u           *Universe
	smallChunks *SmallChunks  // of small chunks; nil: none
	per         int           // rows of a full unit
	count       int           // rows
	tail        tail          // the last chunk, at hand for rows that come and go one by one
	chunks      []StoreChunk  // in use, in order of their rows (T1)
	reserve     []StoreChunk  // held, without rows; the last is used next
	units       int           // of chunks
	spare       int           // units of reserve
	largest     uint32        // order of the largest chunk to ask for
	heir        int           // position of a chunk that the rows of the one before it are to go to, see Leaving; 0: none
	skewed      bool          // large chunks are laid out as one unit less: see Scale
	meet        uint32        // order from which chunks are large in this sense
	columns     []StoreColumn // with storage
	own         RowCopy       // of a row over another
	growth      Growth        // of the number of units
	floor       int           // units that only Trim gives back
}

// StoreChunk is a chunk of a store: 2^Order eighths of a unit.
type StoreChunk struct {
	First SmallIndex // its first one, a multiple of 2^Order
	Order uint32     // 0, or UnitOrder to MaxStoreOrder
	Start int        // rows of the chunks before it
}

// Small reports whether the chunk is an eighth of a unit.
func (c StoreChunk) Small() bool { return c.Order < UnitOrder }

// Units returns the number of units of the chunk; a small one has none.
func (c StoreChunk) Units() int { return 1 << c.Order >> UnitOrder }

// Bytes returns the size of the chunk.
func (c StoreChunk) Bytes() int { return SmallChunkSize << c.Order }

// tail is what single rows need to know of the last chunk.
type tail struct {
	base  unsafe.Pointer
	scale uintptr
	start int // rows before it
	full  int // rows when it is full; 0 without a chunk
}

// StoreColumn is a column that takes room in the chunks of a store.
type StoreColumn struct {
	Offset uint32 // bytes from a small chunk's start to row 0: an eighth of the plan's
	Size   uint32 // bytes of one row's element
	Key    uint32 // the owner's number of the column
}

// DefaultChunkGrowth is how tables take chunks unless told otherwise: doubling, at most 16 chunks
// (256 KiB) at a time. Measured on an EPYC virtual machine: policies are alike in making a million
// rows one by one (11 ns each, BenchmarkGrow of ecs); a larger step only keeps more in reserve.
func DefaultChunkGrowth() Growth { return Doubling().Capped(16) }

// fewColumns is up to how many columns a store is not skewed: loops over few lose by it.
const fewColumns = 4

// Orders of chunks.
const (
	UnitOrder     = 3             // of one unit
	lastAlone     = UnitOrder + 1 // the largest that rows leave when it is the only one
	MaxStoreOrder = UnitOrder + 6 // the largest: 64 units, a megachunk
)

// MakeColumnStore makes a store without chunks. The columns are those of plan that have a size and
// that the store is to copy and clear. Chunks have orders to largest, UnitOrder to MaxStoreOrder,
// and no more units than growth adds at a time. smallChunks, of the same universe, is where small
// chunks come from; nil: the store has none.
func MakeColumnStore(u *Universe, smallChunks *SmallChunks, plan *layout.Plan, columns []StoreColumn, growth Growth, largest uint32) ColumnStore {
	checkUniverse("MakeColumnStore", u)
	if plan == nil {
		panic("alloc: MakeColumnStore: the plan is nil")
	}
	if growth.most == 0 || growth.most > MaxSize/ChunkSize {
		growth = growth.Capped(MaxSize / ChunkSize) // so that no step overflows
	}
	if n := growth.atOnce(); n > 0 {
		largest = min(largest, UnitOrder+uint32(bits.Len(uint(n)))-1)
	}
	if growth.factor <= 1 || widest(plan) > plan.CacheLine/eighths {
		smallChunks = nil
	}
	g := ColumnStore{u: u, smallChunks: smallChunks, growth: growth, largest: largest, meet: meetingOrder(plan.CacheLine)}
	g.Replan(plan.Rows, columns, nil)
	return g
}

// Replan gives a store without rows another layout, of so many rows a unit: that of another store
// whose chunks it will take, or, nil, its own. The chunks of its reserve stay: they have no rows.
func (g *ColumnStore) Replan(rows int, columns []StoreColumn, like *ColumnStore) {
	g.skewed = len(columns) > fewColumns
	if like != nil {
		g.skewed = like.skewed
	}
	g.per, g.columns, g.own = rows, columns, g.own.Emptied()
	for _, c := range columns {
		g.own.Add(c.Offset, c.Offset, c.Size)
	}
}

// meetingOrder returns the order from which offsets of columns are multiples of 4 KiB, those in a
// unit being multiples of a cache line.
func meetingOrder(line int) uint32 { return UnitOrder + uint32(bits.Len(uint(4096/line))) - 1 }

// widest returns the greatest alignment of a plan's columns.
func widest(plan *layout.Plan) int {
	align := 1
	for i := range plan.Places {
		align = max(align, plan.Places[i].Align)
	}
	return align
}

// Len returns the number of rows.
func (g *ColumnStore) Len() int { return g.count }

// PerUnit returns the rows of a full chunk of one unit.
func (g *ColumnStore) PerUnit() int { return g.per }

// Scale returns what offsets of columns are multiplied by in a chunk of an order: its eighths, but
// in a large one with many columns those of one of its units less. Offsets are multiples of cache
// lines: 64 times one of 64 bytes, 32 times one of 128 or 16 times one of 256 is a multiple of 4
// KiB, so a row of all columns would want the same few lines of the first-level cache
// (docs/decisions/0017).
func (g *ColumnStore) Scale(order uint32) uintptr {
	scale := uintptr(1) << (order & 63)
	if order >= g.meet && g.skewed {
		scale -= eighths
	}
	return scale
}

// IsSkewed reports whether Scale leaves a unit of large chunks unused.
func (g *ColumnStore) IsSkewed() bool { return g.skewed }

// Fits returns the rows that a chunk has room for.
func (g *ColumnStore) Fits(c StoreChunk) int { return g.per * int(g.Scale(c.Order)) >> UnitOrder }

// memory returns the bytes of a chunk.
func (g *ColumnStore) memory(c StoreChunk) []byte {
	// Safe because the chunk is of the store, and in use.
	return unsafe.Slice((*byte)(g.u.PointerTo(c.First)), c.Bytes())
}

// free gives a chunk back that is in no list any more.
func (g *ColumnStore) free(c StoreChunk) {
	if c.Small() {
		g.smallChunks.Free(c.First)
		return
	}
	g.u.Free(c.First.Chunk(), c.Units())
}

// Chunks returns the chunks in use, in order of their rows, to read. It is good until the next call
// of Grow, Pop, Cut, Clear or Release.
func (g *ColumnStore) Chunks() []StoreChunk { return g.chunks }

// Columns returns the columns that were given to MakeColumnStore or Replan, to read.
func (g *ColumnStore) Columns() []StoreColumn { return g.columns }

// Own says how a row of the store goes over another.
func (g *ColumnStore) Own() *RowCopy { return &g.own }

// Units returns the number of units of the chunks in use; a small chunk has none.
func (g *ColumnStore) Units() int { return g.units }

// Reserve returns the number of units that are held without rows.
func (g *ColumnStore) Reserve() int { return g.spare }

// RowsOf returns the rows of the chunk at a position.
func (g *ColumnStore) RowsOf(pos int) int {
	c := &g.chunks[pos]
	return min(g.Fits(*c), g.count-c.Start)
}

// room returns the rows that the chunks in use have room for.
func (g *ColumnStore) room() int { return g.tail.full }

// turn looks up the tail after the last chunk has changed.
func (g *ColumnStore) turn() {
	g.tail = tail{}
	if n := len(g.chunks); n > 0 {
		c := g.chunks[n-1]
		g.tail = tail{g.u.PointerTo(c.First), g.Scale(c.Order), c.Start, c.Start + g.Fits(c)}
	}
}

// Full reports whether there is no room for a row.
func (g *ColumnStore) Full() bool { return g.count >= g.tail.full }

// Tail returns the place behind the last row, in the last chunk. The chunk must not be full, nor
// have others without rows before it.
func (g *ColumnStore) Tail() StoreRow {
	return StoreRow{g.tail.base, g.tail.scale, g.count - g.tail.start}
}

// LastRow returns the place of the last row. There must be one, in the last chunk.
func (g *ColumnStore) LastRow() StoreRow {
	return StoreRow{g.tail.base, g.tail.scale, g.count - 1 - g.tail.start}
}

// Last returns the position and row of the last row. There must be one.
func (g *ColumnStore) Last() (pos, row int) {
	pos = len(g.chunks) - 1
	return pos, g.count - 1 - g.chunks[pos].Start
}

// LastChunk returns the position of the last chunk in use.
func (g *ColumnStore) LastChunk() int { return len(g.chunks) - 1 }

// Find returns the position of the chunk and the row in it of the i'th row of all, which may be one
// that there is only room for.
func (g *ColumnStore) Find(i int) (pos, row int) {
	pos, _ = slices.BinarySearchFunc(g.chunks, i+1, func(c StoreChunk, i int) int { return c.Start - i })
	return pos - 1, i - g.chunks[pos-1].Start
}

// Room returns the rows that can be pushed without Grow.
func (g *ColumnStore) Room() int { return g.room() - g.count }

// Push counts n rows behind the last. There must be room; their contents are the owner's to write.
func (g *ColumnStore) Push(n int) { g.count += n }

// Pop takes the last row away, and its chunk into the reserve when it has no other row; a reserve
// that is too large by then is cut. row is what Last returns.
func (g *ColumnStore) Pop(row int) {
	g.count--
	if row == 0 {
		g.leave(len(g.chunks) - 1)
	}
}

// Cut takes the last n rows away, as n times Pop.
func (g *ColumnStore) Cut(n int) {
	g.count -= n
	g.leave(g.Needed())
}

// Needed returns the number of chunks that the rows need: fewer than there are after a Grow that no
// Push followed.
func (g *ColumnStore) Needed() int {
	keep := len(g.chunks)
	for keep > 0 && g.chunks[keep-1].Start >= g.count {
		keep--
	}
	return keep
}

// Settle moves chunks beyond the rows to the reserve.
func (g *ColumnStore) Settle() { g.leave(g.Needed()) }

// Give moves the first n chunks, n > 0, none of them small, to another store of the same universe,
// whose units have as many rows, which is skewed like it, and which has no rows in a small chunk:
// before its last chunk when that is part full. They must be full, or the other store without rows.
// It returns their position there. What Prepare took is not kept back.
func (g *ColumnStore) Give(to *ColumnStore, n int) (at int) {
	if to == nil {
		panic("alloc: ColumnStore.Give: the other store is nil")
	}
	at = to.Needed()
	if at > 0 && to.RowsOf(at-1) < to.Fits(to.chunks[at-1]) {
		at--
	}
	if to.HasSmall() {
		to.Trim(0) // the one in reserve
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

// restart counts the rows before each chunk.
func (g *ColumnStore) restart() {
	start := 0
	for i := range g.chunks {
		g.chunks[i].Start = start
		start += g.Fits(g.chunks[i])
	}
	g.turn()
}

// step returns the units that the policy adds to n.
func (g *ColumnStore) step(n int) int { return g.growth.Next(n, n+1) - n }

// mostReserve returns the units at which the reserve is not cut yet (T3).
func (g *ColumnStore) mostReserve() int {
	most := 2 * g.step(g.units)
	if g.units == 0 {
		most = g.step(0)
	}
	return max(most, g.floor-g.units)
}

// leave moves chunks from position keep on, which hold no rows, to the reserve and cuts it when it
// has become too large.
func (g *ColumnStore) leave(keep int) {
	if debug.On {
		for _, c := range g.chunks[keep:] {
			debug.Poison(g.memory(c), debug.Freed)
		}
	}
	g.unuse(keep)
	g.shrink()
}

// shrink cuts the reserve when it is too large (T3).
func (g *ColumnStore) shrink() {
	if g.spare > g.mostReserve() {
		g.Trim(max(g.step(g.units), g.floor-g.units))
	}
}

// Clear takes all rows away.
func (g *ColumnStore) Clear() {
	g.count = 0
	g.leave(0)
}

// Trim gives chunks of the reserve back, those to be used last first, until at most keep units are
// left, and returns how many units went; a small chunk goes when none is kept. What was asked for
// in advance is not spared.
func (g *ColumnStore) Trim(keep int) int {
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

// Release gives every chunk back. The store is empty and may be used again.
func (g *ColumnStore) Release() {
	g.count, g.floor = 0, 0
	g.unuse(0)
	g.Trim(0)
	g.chunks, g.reserve = nil, nil
}
