package alloc

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"quarry/internal/debug"
	"quarry/layout"
)

// The grid.
//
// Rows are dense: the chunks in use are full but for the last, a row that goes is
// replaced by the last row of all, and new rows come behind it. So the books are
// one count and two lists of chunks:
//
//	100 rows a unit, 530 rows:
//	chunks   [ 17: 100 rows ] [ 18: 100 rows ] [ 40-41: 200 rows ] [ 44-47: 130 rows ]
//	reserve  [ 64-71: empty ]                      the next to be used last
//
// A chunk is 2^k units of 16 KiB, aligned to its size, and its layout is that of
// one unit with every offset and the number of rows times 2^k. So one plan and one
// shift serve chunks of all sizes, and the index of a chunk's first unit has k zero
// bits, where the owner can put a row. Growth takes what the policy says as few
// large chunks: doubling gives chunks of 1, 1, 2, 4 ... units, in which long
// loops run at the speed of long slices (docs/decisions/0011).
//
// The reserve is what growth took beyond its need and what rows that went left
// behind. With step(n) for the units that the policy adds to n, a chunk that
// empties is kept until the reserve is above 2*step(units); then it is cut to
// step(units). So a row that comes and goes at the border of a chunk, or of the
// reserve, never reaches the universe each time. A grid without rows keeps no more
// than step(0): there may be many of them.
//
// Invariants, checked by Verify:
//
//	T1 There are as many chunks as the rows need: all full but the last, which is
//	   not empty; each knows the rows before it.
//	T2 Every unit of a chunk, of the reserve too, is in use in the universe, and of
//	   one chunk. A chunk of 2^k units begins at a multiple of 2^k.
//	T3 The reserve is not above 2*step(units), nor step(0) without rows, unless
//	   more was asked for in advance.
//	T4 The plan is sound, and every column lies inside its place in the plan.

// Grid is what Table and the archetypes of package ecs have in common: rows in
// columns over chunks of a universe, without the types. Positions count the
// chunks in use, rows count within a chunk. It checks no positions; its owner
// does. One goroutine at a time may use it.
type Grid struct {
	u       *Universe
	per     int          // rows of a full unit
	count   int          // rows
	tail    tail         // the last chunk, at hand for rows that come and go one by one
	chunks  []GridChunk  // in use, in order of their rows (T1)
	reserve []GridChunk  // held, without rows; the last is used next
	units   int          // of chunks
	spare   int          // units of reserve
	largest int          // order of the largest chunk to ask for
	columns []GridColumn // with storage
	self    []ColumnCopy // columns, as copies from a row to another of this grid
	growth  Growth       // of the number of units
	floor   int          // units that only Trim gives back
	plan    layout.Plan  // of a unit
}

// GridChunk is a chunk of a grid: 2^Order units of 16 KiB.
type GridChunk struct {
	First ChunkIndex // its first unit, a multiple of 2^Order
	Order uint32
	Start int // rows of the chunks before it
}

// tail is what single rows need to know of the last chunk.
type tail struct {
	base  unsafe.Pointer
	first ChunkIndex
	order uint32
	start int // rows before it
	full  int // rows when it is full; 0 without a chunk
}

// GridColumn is a column that takes room in the chunks of a grid.
type GridColumn struct {
	Offset uint32 // bytes from a unit's start to row 0; a multiple of the cache line
	Size   uint32 // bytes of one row's element
	Key    uint32 // the owner's number of the column
}

// ColumnCopy says how a row's element goes from one layout to another.
type ColumnCopy struct{ From, To, Size uint32 } // offsets of the columns in a unit and size of an element in bytes

// DefaultChunkGrowth is how tables take chunks unless told otherwise: doubling, at
// most 16 chunks (256 KiB) at a time. Measured on an EPYC virtual machine: policies
// are alike in making a million rows one by one (11 ns each, BenchmarkGrow of ecs);
// a larger step only keeps more in reserve.
func DefaultChunkGrowth() Growth { return Doubling().Capped(16) }

// MaxGridOrder is the largest order of a chunk of a grid: 64 units, a megachunk.
const MaxGridOrder = 6

// MakeGrid makes a grid without chunks. The columns are those of plan that have a
// size and that the grid is to copy and clear. Chunks have 2^0 to 2^largest units, and
// no more than growth, which counts units, adds at a time.
func MakeGrid(u *Universe, plan layout.Plan, columns []GridColumn, growth Growth, largest int) Grid {
	if growth.most == 0 || growth.most > MaxSize/ChunkSize {
		growth = growth.Capped(MaxSize / ChunkSize) // so that no step overflows
	}
	if n := growth.atOnce(); n > 0 {
		largest = min(largest, bits.Len(uint(n))-1)
	}
	g := Grid{u: u, growth: growth, largest: largest}
	g.Replan(plan, columns)
	return g
}

// Replan gives a grid without rows another layout. The chunks of its reserve stay: they
// have none.
func (g *Grid) Replan(plan layout.Plan, columns []GridColumn) {
	g.per, g.plan, g.columns, g.self = plan.Rows, plan, columns, nil
	for _, c := range columns {
		g.self = append(g.self, ColumnCopy{From: c.Offset, To: c.Offset, Size: c.Size})
	}
}

// Len returns the number of rows.
func (g *Grid) Len() int { return g.count }

// PerUnit returns the rows of a full chunk of one unit.
func (g *Grid) PerUnit() int { return g.per }

// Chunks returns the chunks in use, in order of their rows, to read. It is good
// until the next call of Grow, Pop, Cut, Clear or Release.
func (g *Grid) Chunks() []GridChunk { return g.chunks }

// Columns returns the columns that were given to MakeGrid or Replan, to read.
func (g *Grid) Columns() []GridColumn { return g.columns }

// Plan returns the layout of a unit.
func (g *Grid) Plan() layout.Plan { return g.plan }

// Units returns the number of units of the chunks in use.
func (g *Grid) Units() int { return g.units }

// Reserve returns the number of units that are held without rows.
func (g *Grid) Reserve() int { return g.spare }

// RowsOf returns the rows of the chunk at a position.
func (g *Grid) RowsOf(pos int) int {
	c := &g.chunks[pos]
	return min(g.per<<c.Order, g.count-c.Start)
}

// room returns the rows that the chunks in use have room for.
func (g *Grid) room() int { return g.tail.full }

// turn looks up the tail after the last chunk has changed.
func (g *Grid) turn() {
	g.tail = tail{}
	if n := len(g.chunks); n > 0 {
		c := g.chunks[n-1]
		g.tail = tail{g.u.Pointer(c.First), c.First, c.Order, c.Start, c.Start + g.per<<c.Order}
	}
}

// Full reports whether there is no room for a row.
func (g *Grid) Full() bool { return g.count >= g.tail.full }

// Tail returns the place behind the last row, in the last chunk, and that chunk's
// first unit. The chunk must not be full, nor have others without rows before it.
func (g *Grid) Tail() (r GridRow, first ChunkIndex) {
	return GridRow{g.tail.base, g.tail.order, g.count - g.tail.start}, g.tail.first
}

// LastRow returns the place of the last row. There must be one, in the last chunk.
func (g *Grid) LastRow() GridRow {
	return GridRow{g.tail.base, g.tail.order, g.count - 1 - g.tail.start}
}

// Last returns the position and row of the last row. There must be one.
func (g *Grid) Last() (pos, row int) {
	pos = len(g.chunks) - 1
	return pos, g.count - 1 - g.chunks[pos].Start
}

// LastChunk returns the position of the last chunk in use.
func (g *Grid) LastChunk() int { return len(g.chunks) - 1 }

// Find returns the position of the chunk and the row in it of the i'th row of all,
// which may be one that there is only room for.
func (g *Grid) Find(i int) (pos, row int) {
	pos, _ = slices.BinarySearchFunc(g.chunks, i+1, func(c GridChunk, i int) int { return c.Start - i })
	return pos - 1, i - g.chunks[pos-1].Start
}

// Room returns the rows that can be pushed without Grow.
func (g *Grid) Room() int { return g.room() - g.count }

// Push counts n rows behind the last. There must be room; their contents are the
// owner's to write.
func (g *Grid) Push(n int) { g.count += n }

// Pop takes the last row away, and its chunk into the reserve when it has no other
// row; a reserve that is too large by then is cut. row is what Last returns.
func (g *Grid) Pop(row int) {
	g.count--
	if row == 0 {
		g.leave(len(g.chunks) - 1)
	}
}

// Cut takes the last n rows away, as n times Pop.
func (g *Grid) Cut(n int) {
	g.count -= n
	g.leave(g.Needed())
}

// Needed returns the number of chunks that the rows need: fewer than there are
// after a Grow that no Push followed.
func (g *Grid) Needed() int {
	keep := len(g.chunks)
	for keep > 0 && g.chunks[keep-1].Start >= g.count {
		keep--
	}
	return keep
}

// Settle moves chunks beyond the rows to the reserve.
func (g *Grid) Settle() { g.leave(g.Needed()) }

// Give moves the first n chunks to another grid of the same universe, whose units have
// as many rows: before its last chunk when that is part full. They must be full, or the
// other grid without rows. It returns their position there. What Prepare took is not
// kept back.
func (g *Grid) Give(to *Grid, n int) (at int) {
	at = to.Needed()
	if at > 0 && to.RowsOf(at-1) < to.per<<to.chunks[at-1].Order {
		at--
	}
	given := g.chunks[:n]
	rows, units := 0, 0
	for i, c := range given {
		rows += g.RowsOf(i)
		units += 1 << c.Order
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
func (g *Grid) restart() {
	start := 0
	for i := range g.chunks {
		g.chunks[i].Start = start
		start += g.per << g.chunks[i].Order
	}
	g.turn()
}

// Grow makes room for n rows behind the last: chunks of the reserve, then of the
// universe, as many as the policy says, or as there are if they suffice. An error
// is the universe's; nothing has changed then.
func (g *Grid) Grow(n int) error { return g.grow(n, g.growth) }

// GrowExact is Grow that takes what n rows need and nothing beyond, whatever the policy:
// for who grows several grids and must not take from one what another needs.
func (g *Grid) GrowExact(n int) error { return g.grow(n, Growth{}) }

func (g *Grid) grow(n int, growth Growth) error {
	if n <= g.Room() {
		return nil
	}
	if n > MaxSize/ChunkSize*g.per {
		return fmt.Errorf("alloc: Grid.Grow: %d more rows, %d a chunk, the limit is %d chunks: %w", n, g.per, MaxSize/ChunkSize, ErrTooBig)
	}
	if g.u.index.Words() == 0 {
		panic("alloc: Grid.Grow: the universe is closed")
	}
	before := len(g.chunks)
	for g.Room() < n && len(g.reserve) > 0 {
		g.use()
	}
	if room := g.Room(); room < n {
		more := (n-room-1)/g.per + 1
		if err := g.take(growth.Next(g.units, g.units+more)-g.units, more); err != nil {
			g.unuse(before)
			return err
		}
		need := before + 1
		for g.chunks[need-1].Start+g.per<<g.chunks[need-1].Order < g.count+n {
			need++
		}
		g.unuse(need)
	}
	if debug.On {
		for _, c := range g.chunks[before:] {
			debug.Poison(g.u.bytes(c.First, 1<<c.Order), debug.Fresh)
		}
	}
	return nil
}

// Prepare takes chunks for rows in advance, so that growing to as many rows cannot
// fail; only Trim and Release give them back. An error is the universe's; nothing
// has changed then.
func (g *Grid) Prepare(rows int) error {
	if rows < 1 {
		return nil
	}
	need := (rows-1)/g.per + 1
	if held := g.units + g.spare; need > held {
		before := len(g.chunks)
		for len(g.reserve) > 0 {
			g.use()
		}
		err := g.take(need-held, need-held)
		g.unuse(before)
		if err != nil {
			return err
		}
	}
	g.floor = max(g.floor, need)
	return nil
}

// add puts a chunk behind the chunks.
func (g *Grid) add(c GridChunk) {
	c.Start = g.room()
	g.chunks = append(g.chunks, c)
	g.units += 1 << c.Order
	g.turn()
}

// use moves the next chunk of the reserve behind the chunks; unuse moves chunks
// back until keep are left, so that use finds them in the same order.
func (g *Grid) use() {
	last := len(g.reserve) - 1
	c := g.reserve[last]
	g.reserve = g.reserve[:last]
	g.spare -= 1 << c.Order
	g.add(c)
}

func (g *Grid) unuse(keep int) {
	for last := len(g.chunks) - 1; last >= keep; last-- {
		c := g.chunks[last]
		g.reserve = append(g.reserve, c)
		g.chunks = g.chunks[:last]
		g.units -= 1 << c.Order
		g.spare += 1 << c.Order
	}
	g.turn()
}

// take puts new chunks behind the chunks until they have want units more, or need
// when the universe refuses the rest. On an error none is new.
func (g *Grid) take(want, need int) error {
	before := len(g.chunks)
	if err := g.ask(want, need); err != nil {
		for last := len(g.chunks) - 1; last >= before; last-- {
			c := g.chunks[last]
			g.u.Free(c.First, 1<<c.Order)
			g.units -= 1 << c.Order
		}
		g.chunks = g.chunks[:before]
		g.turn()
		return err
	}
	return nil
}

func (g *Grid) ask(want, need int) error {
	held := g.units + g.spare
	switch all := g.u.Size() / ChunkSize; {
	case held+need > MaxSize/ChunkSize:
		return fmt.Errorf("alloc: Grid.Grow: %d chunks of %d rows, the limit is %d: %w",
			held+need, g.per, MaxSize/ChunkSize, ErrTooBig)
	case held+need > all: // said before memory is committed in vain
		return fmt.Errorf("alloc: Grid.Grow: %d chunks of %d rows, the universe has %d chunks (a larger one: alloc.Size): %w",
			held+need, g.per, all, ErrFull)
	}
	order := g.largest
	for got := 0; got < want; {
		order = min(order, bits.Len(uint(want-got))-1)
		first, err := g.u.AllocAligned(1 << order)
		switch {
		case err == nil:
			g.add(GridChunk{First: first, Order: uint32(order)})
			got += 1 << order
		case got >= need:
			return nil
		case order > 0:
			order-- // there may be smaller ones, or some in memory that is there
		default:
			return err
		}
	}
	return nil
}

// step returns the units that the policy adds to n.
func (g *Grid) step(n int) int { return g.growth.Next(n, n+1) - n }

// mostReserve returns the units at which the reserve is not cut yet (T3).
func (g *Grid) mostReserve() int {
	most := 2 * g.step(g.units)
	if g.units == 0 {
		most = g.step(0)
	}
	return max(most, g.floor-g.units)
}

// leave moves chunks from position keep on, which hold no rows, to the reserve and
// cuts it when it has become too large.
func (g *Grid) leave(keep int) {
	if debug.On {
		for _, c := range g.chunks[keep:] {
			debug.Poison(g.u.bytes(c.First, 1<<c.Order), debug.Freed)
		}
	}
	g.unuse(keep)
	g.shrink()
}

// shrink cuts the reserve when it is too large (T3).
func (g *Grid) shrink() {
	if g.spare > g.mostReserve() {
		g.Trim(max(g.step(g.units), g.floor-g.units))
	}
}

// Clear takes all rows away.
func (g *Grid) Clear() {
	g.count = 0
	g.leave(0)
}

// Trim gives chunks of the reserve back, those to be used last first, until at most
// keep units are left, and returns how many units went. What was asked for in
// advance is not spared.
func (g *Grid) Trim(keep int) int {
	spare, n := g.spare, 0
	for n < len(g.reserve) && g.spare > keep {
		c := g.reserve[n]
		g.u.Free(c.First, 1<<c.Order)
		g.spare -= 1 << c.Order
		n++
	}
	if n > 0 {
		g.reserve = g.reserve[:copy(g.reserve, g.reserve[n:])]
		g.floor = min(g.floor, g.units+g.spare)
	}
	return spare - g.spare
}

// Release gives every chunk back. The grid is empty and may be used again.
func (g *Grid) Release() {
	g.count, g.floor = 0, 0
	g.unuse(0)
	g.Trim(0)
	g.chunks, g.reserve = nil, nil
}

// Verify checks the numbered invariants and names the first that does not hold.
func (g *Grid) Verify() error {
	start, units, spare := 0, 0, 0
	for i, c := range g.chunks {
		if c.Start != start || i < len(g.chunks)-1 && g.count <= start+g.per<<c.Order || g.count <= start {
			return fmt.Errorf("alloc: T1: %d rows, %d a unit, in %d chunks; chunk %d of order %d starts at row %d, want %d",
				g.count, g.per, len(g.chunks), i, c.Order, c.Start, start)
		}
		start += g.per << c.Order
		units += 1 << c.Order
	}
	if g.count > start || g.count < 0 || units != g.units {
		return fmt.Errorf("alloc: T1: %d rows, %d a unit, in %d units, counted %d", g.count, g.per, units, g.units)
	}
	if g.tail.full != start || len(g.chunks) > 0 && g.tail.first != g.chunks[len(g.chunks)-1].First {
		return fmt.Errorf("alloc: T1: room for %d rows, the tail says %d, in chunk %d", start, g.tail.full, g.tail.first)
	}
	seen := make(map[ChunkIndex]bool, g.units+g.spare)
	for i, list := range [][]GridChunk{g.chunks, g.reserve} {
		for _, c := range list {
			if c.First%(1<<c.Order) != 0 || c.Order > MaxGridOrder {
				return fmt.Errorf("alloc: T2: a chunk of order %d begins at %d", c.Order, c.First)
			}
			for unit := c.First; unit < c.First+1<<c.Order; unit++ {
				if seen[unit] || !g.u.InUse(unit) {
					return fmt.Errorf("alloc: T2: chunk %d is listed twice (%v) or not in use", unit, seen[unit])
				}
				seen[unit] = true
			}
			spare += i << c.Order
		}
	}
	if most := g.mostReserve(); spare != g.spare || spare > most {
		return fmt.Errorf("alloc: T3: %d chunks in reserve, counted %d, beside %d in use, at most %d may be (%v)",
			spare, g.spare, g.units, most, g.growth)
	}
	if err := g.plan.Verify(); err != nil {
		return fmt.Errorf("alloc: T4: %w", err)
	}
	for _, c := range g.columns {
		if !g.isPlanned(c) {
			return fmt.Errorf("alloc: T4: a column of %d x %d B at offset %d is not in the plan", g.per, c.Size, c.Offset)
		}
	}
	return nil
}

func (g *Grid) isPlanned(c GridColumn) bool {
	for _, p := range g.plan.Places {
		if !p.Hole && p.Offset == int(c.Offset) && p.Size == int(c.Size) {
			return true
		}
	}
	return false
}
