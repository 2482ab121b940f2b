package store

import (
	"fmt"
	"math/bits"

	"quarry/internal/debug"
	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// How a store gets room: from its reserve, from small chunks and from its universe.

// Grow makes room for n rows after the last. It uses the reserve first, then allocates as many
// chunks as the policy wants, or fewer when the universe has no more and those suffice. When the
// only chunk is too small, Grow may append a chunk that is to replace it; see Leaving. An error is
// the universe's, or wraps sentinel.ErrTooBig; nothing has changed then.
func (g *Store) Grow(n int) error { return g.grow(n, g.growth) }

// GrowExact is Grow that allocates what n rows need and no more, whatever the policy. It is for
// callers that grow several stores and must not let one take what another needs.
func (g *Store) GrowExact(n int) error { return g.grow(n, growth.Policy{}) }

func (g *Store) grow(n int, policy growth.Policy) error {
	if n <= g.Room() {
		return nil
	}
	if n > universe.MaxSize/universe.ChunkSize*g.per {
		return fmt.Errorf("alloc: Store.Grow: %d more rows, %d a chunk, the limit is %d chunks: %w",
			n, g.per, universe.MaxSize/universe.ChunkSize, sentinel.ErrTooBig)
	}
	if g.u.Index.Words() == 0 {
		panic("alloc: Store.Grow: the universe is closed")
	}
	before := len(g.chunks)
	for g.Room() < n && len(g.reserve) > 0 {
		g.use()
	}
	if g.Room() < n {
		if err := g.growBeyond(n, policy); err != nil {
			g.unuse(before)
			return err
		}
	}
	if debug.On {
		for _, c := range g.chunks[before:] {
			g.poison(c, debug.Fresh)
		}
	}
	return nil
}

// growBeyond is grow after the whole reserve has been put in use and does not suffice.
func (g *Store) growBeyond(n int, policy growth.Policy) error {
	if len(g.chunks) == 0 && n <= g.SmallRows() {
		first, err := g.smallChunks.Alloc()
		if err == nil {
			c := Chunk{First: first}
			if g.keeper != nil {
				g.keeper.Took(c)
			}
			g.add(c)
		}
		return err
	}
	if g.HasSmall() {
		return g.growBehind(n, policy, true)
	}
	if g.isAlone() && policy.Factor > 1 {
		if g.growBehind(n, policy, true) == nil && g.chunks[1].Order > g.chunks[0].Order {
			return nil
		}
		g.unuse(1)
		g.Trim(0) // chunks that are no larger: no larger room is free
	}
	return g.growBehind(n, policy, false)
}

// isAlone reports whether the store has one chunk, of few units, which a larger chunk replaces when
// the rows outgrow it.
func (g *Store) isAlone() bool {
	return len(g.chunks) == 1 && g.smallChunks != nil && g.chunks[0].Order < min(g.largest, lastAlone+1)
}

// growBehind appends chunks with room for n more rows. With instead, the new chunks replace the
// existing ones and have room for all rows and n more.
func (g *Store) growBehind(n int, policy growth.Policy, instead bool) error {
	end, stays := g.count+n, g.units // rows that must fit; units that stay
	if instead {
		end, stays = end+g.room(), 0
	}
	more := (end-g.room()-1)/g.per + 1
	before := len(g.chunks)
	want := policy.Next(g.units, stays+more) - stays
	if want == 3 && policy.Factor > 1 && g.largest >= UnitOrder+2 {
		want = 4 // one chunk: a second costs a kernel's loop 30 ns, a third of the time for those rows
	}
	if err := g.take(want, more, end); err != nil {
		return err
	}
	need := before + 1
	for g.chunks[need-1].Start+g.Fits(g.chunks[need-1]) < end {
		need++
	}
	g.unuse(need)
	if instead {
		g.replacement = 1
	}
	return nil
}

// SmallRows returns the number of rows in a small chunk; 0 when the store never gets one.
func (g *Store) SmallRows() int {
	if g.smallChunks == nil {
		return 0
	}
	return g.per / eighths
}

// HasSmall reports whether the store has a small chunk, in use or in reserve.
func (g *Store) HasSmall() bool {
	if len(g.chunks) > 0 {
		return g.chunks[0].Small()
	}
	return len(g.reserve) > 0 && g.reserve[0].Small()
}

// Prepare allocates chunks in advance, so that growing to rows rows in total cannot fail; only
// Trim, Refit and Release free them. The store must be one without small chunks. An error is the
// universe's; nothing has changed then.
func (g *Store) Prepare(rows int) error {
	if rows < 1 {
		return nil
	}
	before := len(g.chunks)
	for len(g.reserve) > 0 {
		g.use()
	}
	var err error
	if g.room() < rows {
		more := (rows-g.room()-1)/g.per + 1
		err = g.take(more, more, rows)
	}
	need := 0 // units that the rows need
	for _, c := range g.chunks {
		if c.Start < rows {
			need += c.Units()
		}
	}
	g.unuse(before)
	if err == nil {
		g.floor = max(g.floor, need)
	}
	return err
}

// add appends a chunk to the chunks in use.
func (g *Store) add(c Chunk) {
	c.Start = g.room()
	g.chunks = append(g.chunks, c)
	g.units += c.Units()
	g.turn()
}

// use moves the next chunk of the reserve to the chunks in use. unuse moves chunks back until keep
// are left, in such an order that use finds them as before.
func (g *Store) use() {
	last := len(g.reserve) - 1
	c := g.reserve[last]
	g.reserve = g.reserve[:last]
	g.spare -= c.Units()
	g.add(c)
}

func (g *Store) unuse(keep int) {
	for last := len(g.chunks) - 1; last >= keep; last-- {
		c := g.chunks[last]
		g.reserve = append(g.reserve, c)
		g.chunks = g.chunks[:last]
		g.units -= c.Units()
		g.spare += c.Units()
	}
	if keep <= g.replacement {
		g.replacement = 0
	}
	g.turn()
}

// take appends new chunks of want units in total, or of at least need units when the universe
// refuses the rest, with room for end rows. On an error it appends none.
func (g *Store) take(want, need, end int) error {
	before := len(g.chunks)
	err := g.ask(want, need, end, g.largest)
	if err != nil && g.skewed && g.largest >= g.meet {
		g.takeBack(before)
		err = g.ask(want, need, end, g.meet-1) // in these orders every unit holds rows
	}
	if err != nil {
		g.takeBack(before)
	}
	return err
}

// takeBack frees the chunks in use from position before on.
func (g *Store) takeBack(before int) {
	for last := len(g.chunks) - 1; last >= before; last-- {
		c := g.chunks[last]
		g.free(c)
		g.units -= c.Units()
	}
	g.chunks = g.chunks[:before]
	g.turn()
}

func (g *Store) ask(want, need, end int, order uint32) error {
	held := g.units + g.spare
	switch all := g.u.Size() / universe.ChunkSize; {
	case held+need > universe.MaxSize/universe.ChunkSize:
		return fmt.Errorf("alloc: Store.Grow: %d chunks of %d rows, the limit is %d: %w",
			held+need, g.per, universe.MaxSize/universe.ChunkSize, sentinel.ErrTooBig)
	case held+need > all: // refuse before memory is committed in vain
		return fmt.Errorf(
			"alloc: Store.Grow: %d chunks of %d rows, the universe has %d chunks (a larger one: alloc.Size): %w",
			held+need, g.per, all, sentinel.ErrFull)
	}
	for got := 0; got < want || g.room() < end; {
		order = min(order, UnitOrder+uint32(bits.Len(uint(max(want-got, 1))))-1) // one unit more for each 64 short
		units := 1 << order >> UnitOrder
		first, err := g.u.AllocAligned(units)
		switch {
		case err == nil:
			c := Chunk{First: firstOf(first), Order: order}
			if g.keeper != nil {
				g.keeper.Took(c)
			}
			g.add(c)
			got += units
		case got >= need && g.room() >= end:
			return nil
		case order > UnitOrder:
			order-- // smaller ones may be free, or lie in committed memory
		default:
			return err
		}
	}
	return nil
}
