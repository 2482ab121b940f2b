package alloc

import (
	"errors"
	"fmt"
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
//	100 rows a chunk, 230 rows:
//	chunks   [ 17: 100 rows ] [ 18: 100 rows ] [ 40: 30 rows ]
//	reserve  [ 41: empty ] [ 42: empty ]           the next to be used last
//
// The reserve is what growth took beyond its need and what rows that went left
// behind. With step(n) for the chunks that the policy adds to n, a chunk that
// empties is kept until the reserve is above 2*step(chunks); then it is cut to
// step(chunks). So a row that comes and goes at the border of a chunk, or of the
// reserve, never reaches the universe each time. A grid without rows keeps no more
// than step(0): there may be many of them.
//
// Invariants, checked by Verify:
//
//	T1 There are as many chunks as the rows need: all full but the last, which is
//	   not empty.
//	T2 Every chunk, of the reserve too, is in use in the universe, and listed once.
//	T3 The reserve is not above 2*step(chunks), nor step(0) without rows, unless
//	   more was asked for in advance.
//	T4 The plan is sound, and every column lies inside its place in the plan.

// Grid is what Table and the archetypes of package ecs have in common: rows in
// columns over chunks of a universe, without the types. Positions count the
// chunks in use, rows count within a chunk. It checks no positions; its owner
// does. One goroutine at a time may use it.
type Grid struct {
	u       *Universe
	per     int          // rows of a full chunk
	count   int          // rows
	chunks  []ChunkIndex // in use, in order of their rows (T1)
	reserve []ChunkIndex // held, without rows; the last is used next
	columns []GridColumn // with storage
	self    []ColumnCopy // columns, as copies from a row to another of this grid
	growth  Growth       // of the number of chunks
	floor   int          // chunks that only Trim gives back
	plan    layout.Plan
}

// GridColumn is a column that takes room in the chunks of a grid.
type GridColumn struct {
	Offset uint32 // bytes from the chunk's start to row 0; a multiple of the cache line
	Size   uint32 // bytes of one row's element
	Key    uint32 // the owner's number of the column
}

// ColumnCopy says how a row's element goes from one layout to another.
type ColumnCopy struct{ From, To, Size uint32 } // offsets of the columns and size of an element in bytes

// DefaultChunkGrowth is how tables and archetypes take chunks unless told otherwise:
// doubling, at most 16 chunks (256 KiB) at a time. Measured on an EPYC virtual
// machine: policies are alike in making a million rows one by one (11 ns each,
// BenchmarkGrow of ecs). When 32 archetypes grow in turn, a loop over one of them
// takes 0.75 ns a row with chunks taken singly and 0.70 with runs, whether by 4, by
// 64 or doubling (BenchmarkGrowInTurn); a larger step only keeps more in reserve.
func DefaultChunkGrowth() Growth { return Doubling().Capped(16) }

// MakeGrid makes a grid without chunks. The columns are those of plan that have a
// size and that the grid is to copy and clear.
func MakeGrid(u *Universe, plan layout.Plan, columns []GridColumn, growth Growth) Grid {
	if growth.most == 0 || growth.most > MaxSize/ChunkSize {
		growth = growth.Capped(MaxSize / ChunkSize) // so that no step overflows
	}
	g := Grid{u: u, per: plan.Rows, columns: columns, growth: growth, plan: plan}
	for _, c := range columns {
		g.self = append(g.self, ColumnCopy{From: c.Offset, To: c.Offset, Size: c.Size})
	}
	return g
}

// Len returns the number of rows.
func (g *Grid) Len() int { return g.count }

// PerChunk returns the rows of a full chunk.
func (g *Grid) PerChunk() int { return g.per }

// Chunks returns the chunks in use, in order of their rows, to read. It is good
// until the next call of Grow, Pop, Clear or Release.
func (g *Grid) Chunks() []ChunkIndex { return g.chunks }

// Columns returns the columns that were given to MakeGrid, to read.
func (g *Grid) Columns() []GridColumn { return g.columns }

// Plan returns the layout of a chunk.
func (g *Grid) Plan() layout.Plan { return g.plan }

// Reserve returns the number of chunks that are held without rows.
func (g *Grid) Reserve() int { return len(g.reserve) }

// RowsOf returns the rows of the chunk at a position.
func (g *Grid) RowsOf(pos int) int { return min(g.per, g.count-pos*g.per) }

// End returns the position and row behind the last row. The position is
// len(Chunks()) when they are full.
func (g *Grid) End() (pos, row int) {
	if n := len(g.chunks); n > 0 {
		if row = g.count - (n-1)*g.per; row < g.per {
			return n - 1, row
		}
		return n, 0
	}
	return 0, 0
}

// Last returns the position and row of the last row. There must be one.
func (g *Grid) Last() (pos, row int) {
	pos = len(g.chunks) - 1
	return pos, g.count - 1 - pos*g.per
}

// Room returns the rows that can be pushed without Grow.
func (g *Grid) Room() int { return len(g.chunks)*g.per - g.count }

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

// Grow makes room for n rows behind the last: chunks of the reserve, then of the
// universe, as many as the policy says, or as there are if they suffice. An error
// is the universe's; nothing has changed then.
func (g *Grid) Grow(n int) error {
	room := g.Room()
	if n <= room {
		return nil
	}
	before := len(g.chunks)
	more := (n-room-1)/g.per + 1
	if more > MaxSize/ChunkSize {
		return fmt.Errorf("alloc: Grid.Grow: %d more chunks of %d rows, the limit is %d: %w", more, g.per, MaxSize/ChunkSize, ErrTooBig)
	}
	if g.u.index.Words() == 0 {
		panic("alloc: Grid.Grow: the universe is closed")
	}
	need := before + more
	for len(g.chunks) < need && len(g.reserve) > 0 {
		g.use()
	}
	if held := len(g.chunks); held < need {
		if err := g.take(g.growth.Next(held, need), need); err != nil {
			g.unuse(before)
			return err
		}
		g.unuse(need)
	}
	if debug.On {
		for _, c := range g.chunks[before:] {
			debug.Poison(g.u.bytes(c, 1), debug.Fresh)
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
	if need > len(g.chunks)+len(g.reserve) {
		before := len(g.chunks)
		for len(g.reserve) > 0 {
			g.use()
		}
		err := g.take(need, need)
		g.unuse(before)
		if err != nil {
			return err
		}
	}
	g.floor = max(g.floor, need)
	return nil
}

// use moves the next chunk of the reserve behind the chunks; unuse moves chunks
// back until keep are left, so that use finds them in the same order.
func (g *Grid) use() {
	last := len(g.reserve) - 1
	g.chunks = append(g.chunks, g.reserve[last])
	g.reserve = g.reserve[:last]
}

func (g *Grid) unuse(keep int) {
	for last := len(g.chunks) - 1; last >= keep; last-- {
		g.reserve = append(g.reserve, g.chunks[last])
		g.chunks = g.chunks[:last]
	}
}

// take puts new chunks behind the chunks until there are want, or need and the
// universe has no more. On an error none is new.
func (g *Grid) take(want, need int) error {
	held := len(g.chunks)
	if err := g.ask(want, need); err != nil {
		for _, c := range g.chunks[held:] {
			g.u.Free(c, 1)
		}
		g.chunks = g.chunks[:held]
		return err
	}
	return nil
}

func (g *Grid) ask(want, need int) error {
	switch all := g.u.Size() / ChunkSize; {
	case need > MaxSize/ChunkSize:
		return fmt.Errorf("alloc: Grid.Grow: %d chunks of %d rows, the limit is %d: %w",
			need, g.per, MaxSize/ChunkSize, ErrTooBig)
	case need > all: // said before memory is committed in vain
		return fmt.Errorf("alloc: Grid.Grow: %d chunks of %d rows, the universe has %d chunks (a larger one: alloc.Size): %w",
			need, g.per, all, ErrFull)
	}
	most := ChunksPerMegachunk // of one call
	for len(g.chunks) < want {
		ask := min(want-len(g.chunks), most)
		first, got, err := g.u.Alloc(ask)
		switch {
		case err == nil:
			for i := range got {
				g.chunks = append(g.chunks, first+ChunkIndex(i))
			}
		case len(g.chunks) >= need:
			return nil
		case ask > need-len(g.chunks):
			most = need - len(g.chunks)
		case ask > 1 && errors.Is(err, ErrCommit):
			// The universe looks for shorter runs when it is full, not when a run
			// has no memory; there may be single chunks in memory that it has.
			most = ask / 2
		default:
			return err
		}
	}
	return nil
}

// step returns the chunks that the policy adds to n.
func (g *Grid) step(n int) int { return g.growth.Next(n, n+1) - n }

// mostReserve returns the size at which the reserve is not cut yet (T3).
func (g *Grid) mostReserve() int {
	n := len(g.chunks)
	most := 2 * g.step(n)
	if n == 0 {
		most = g.step(0)
	}
	return max(most, g.floor-n)
}

// leave moves chunks from position keep on, which hold no rows, to the reserve and
// cuts it when it has become too large.
func (g *Grid) leave(keep int) {
	if debug.On {
		for _, c := range g.chunks[keep:] {
			debug.Poison(g.u.bytes(c, 1), debug.Freed)
		}
	}
	g.unuse(keep)
	if len(g.reserve) > g.mostReserve() {
		g.Trim(max(g.step(keep), g.floor-keep))
	}
}

// Clear takes all rows away.
func (g *Grid) Clear() {
	g.count = 0
	g.leave(0)
}

// Trim gives chunks of the reserve back until keep are left, those to be used last
// first, and returns how many. What was asked for in advance is not spared.
func (g *Grid) Trim(keep int) int {
	n := len(g.reserve) - max(0, keep)
	if n <= 0 {
		return 0
	}
	for _, c := range g.reserve[:n] {
		g.u.Free(c, 1)
	}
	g.reserve = g.reserve[:copy(g.reserve, g.reserve[n:])]
	g.floor = min(g.floor, len(g.chunks)+len(g.reserve))
	return n
}

// Release gives every chunk back. The grid is empty and may be used again.
func (g *Grid) Release() {
	g.count, g.floor = 0, 0
	g.unuse(0)
	g.Trim(0)
	g.chunks, g.reserve = nil, nil
}

// ClearRows zeroes rows [lo, lo+n) of the chunk at base in some columns.
func ClearRows(base unsafe.Pointer, lo, n int, columns []GridColumn) {
	for i := range columns {
		c := &columns[i]
		// Safe because rows [lo, lo+n) lie inside the column, and a column starts on
		// a cache line, so its rows of 8 and 16 bytes are aligned for words.
		p := unsafe.Add(base, uintptr(c.Offset)+uintptr(lo)*uintptr(c.Size))
		switch {
		case n == 1 && c.Size == 16:
			*(*[2]uint64)(p) = [2]uint64{}
		case n == 1 && c.Size == 8:
			*(*uint64)(p) = 0
		default:
			clear(unsafe.Slice((*byte)(p), n*int(c.Size)))
		}
	}
}

// CopyRow copies row fromRow of the chunk at from over row toRow of the chunk at
// to, in the columns of copies.
func CopyRow(to, from unsafe.Pointer, toRow, fromRow int, copies []ColumnCopy) {
	for i := range copies {
		c := &copies[i]
		size := uintptr(c.Size)
		// Safe because both rows lie inside their columns, and columns start on cache
		// lines, so elements of 8 and 16 bytes are aligned for words.
		p := unsafe.Add(to, uintptr(c.To)+uintptr(toRow)*size)
		q := unsafe.Add(from, uintptr(c.From)+uintptr(fromRow)*size)
		switch size {
		case 16:
			*(*[2]uint64)(p) = *(*[2]uint64)(q)
		case 8:
			*(*uint64)(p) = *(*uint64)(q)
		default:
			copy(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
		}
	}
}

// FillGap copies a row of the chunk at from over one of the chunk at to, both of
// this grid.
func (g *Grid) FillGap(to, from unsafe.Pointer, toRow, fromRow int) {
	CopyRow(to, from, toRow, fromRow, g.self)
}

// PoisonRow fills a row that holds nothing any more, so that a stale pointer to it
// shows. Debug builds call it.
func (g *Grid) PoisonRow(base unsafe.Pointer, row int) {
	for _, c := range g.columns {
		// Safe because the row lies inside the column.
		p := unsafe.Add(base, uintptr(c.Offset)+uintptr(row)*uintptr(c.Size))
		debug.Poison(unsafe.Slice((*byte)(p), c.Size), debug.Freed)
	}
}

// Verify checks the numbered invariants and names the first that does not hold.
func (g *Grid) Verify() error {
	if n := len(g.chunks); g.count > n*g.per || n > 0 && g.count <= (n-1)*g.per || g.count < 0 {
		return fmt.Errorf("alloc: T1: %d rows, %d a chunk, in %d chunks", g.count, g.per, n)
	}
	seen := make(map[ChunkIndex]bool, len(g.chunks)+len(g.reserve))
	for _, list := range [][]ChunkIndex{g.chunks, g.reserve} {
		for _, c := range list {
			if seen[c] || !g.u.InUse(c) {
				return fmt.Errorf("alloc: T2: chunk %d is listed twice (%v) or not in use", c, seen[c])
			}
			seen[c] = true
		}
	}
	if most := g.mostReserve(); len(g.reserve) > most {
		return fmt.Errorf("alloc: T3: %d chunks in reserve beside %d in use, at most %d may be (%v)",
			len(g.reserve), len(g.chunks), most, g.growth)
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
		if p.Offset == int(c.Offset) && p.Size == int(c.Size) {
			return true
		}
	}
	return false
}
