package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
	"quarry/layout"
)

// storeModel is a store beside the list of values that its rows must hold.
type storeModel struct {
	*Store
	plan     layout.Plan
	values   []uint64
	prepared int // rows that growing to cannot fail
}

// newStore makes a store of 16 to 20 rows a unit, so that rows fill chunks of 64 units soon.
func newStore(t *testing.T, u *universe.Universe, smallChunks *SmallChunks, growth growth.Policy,
	largest int) *storeModel {
	t.Helper()
	return newStoreOfLines(t, u, smallChunks, growth, largest, asm.CacheLine())
}

func newStoreOfLines(t *testing.T, u *universe.Universe, smallChunks *SmallChunks, growth growth.Policy,
	largest, line int) *storeModel {
	t.Helper()
	plan, err := layout.New([]layout.Column{{Name: "value", Size: 8, Align: 8}, {Name: "wide", Size: 800, Align: 8},
		{Name: "tag", Align: 1}}, layout.Options{CacheLine: line})
	require.NoError(t, err)
	columns := []Column{
		{Offset: uint32(plan.Places[0].Offset) / eighths, Size: 8}, {Offset: uint32(plan.Places[1].Offset) / eighths, Size: 800, Key: 1},
	}
	g := Make(u, smallChunks, &plan, columns, growth, uint32(UnitOrder+largest))
	return &storeModel{Store: &g, plan: plan}
}

// at returns the value of the i'th row of all, and what lies at the end of the row.
func (m *storeModel) at(i int) (value, far *uint64) {
	pos, row := m.Find(i)
	r := m.Row(pos, row)
	// Safe because the row is one of the store's, and the columns are wide enough.
	return (*uint64)(r.Element(m.columns[0].Offset, 8)), &(*[100]uint64)(r.Element(m.columns[1].Offset, 800))[99]
}

// check compares the store with the model.
func (m *storeModel) check(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, m.Verify(m.plan), text)
	require.Equal(t, len(m.values), m.Len(), text)
	rows, held := 0, 0
	for pos, c := range m.Chunks() {
		require.Equal(t, rows, c.Start, text)
		require.LessOrEqual(t, c.Order, m.largest, text)
		rows, held = rows+m.RowsOf(pos), held+c.Units()
	}
	require.Equal(t, []int{len(m.values), held}, []int{rows, m.Units()}, text)
	require.Equal(t, m.tail.full == m.count, m.Full(), text)
	for i, want := range m.values {
		value, far := m.at(i)
		if *value != want || *far != ^want {
			t.Fatalf("%s: row %d of %d: got %d and ^%d, want %d", text, i, m.Len(), *value, ^*far, want)
		}
	}
	if len(m.values) > 0 {
		pos, row := m.Find(len(m.values) - 1)
		lastPos, lastRow := m.Last()
		require.Equal(t, []int{pos, row}, []int{lastPos, lastRow}, text)
		require.Equal(t, m.Row(pos, row), m.LastRow(), text)
		require.Equal(t, pos, m.LastChunk(), text)
	}
}

// push makes room for n rows and fills some of them. It reports whether there was room.
func (m *storeModel) push(t *testing.T, rng *rand.Rand, n, used int) bool {
	return m.pushIf(t, rng, n, used, func() bool { return rng.IntN(3) > 0 })
}

// pushIf is push that goes on to a larger chunk if promote returns true.
func (m *storeModel) pushIf(t *testing.T, rng *rand.Rand, n, used int, promote func() bool) bool {
	before, room := *m.Store, m.Room()
	chunks, reserve := fmt.Sprint(before.chunks), fmt.Sprint(firstsOf(before.reserve))
	if err := m.Grow(n); err != nil {
		require.ErrorIs(t, err, sentinel.ErrFull)
		require.Greater(t, len(m.values)+n, m.prepared, "that was prepared")
		require.Equal(t, []any{chunks, reserve, before.count, before.units, before.spare, before.tail, room},
			[]any{fmt.Sprint(m.chunks), fmt.Sprint(firstsOf(m.reserve)), m.count, m.units, m.spare, m.tail, m.Room()})
		return false
	}
	if _, ok := m.Leaving(); ok {
		if !promote() { // the owner thinks better of it
			m.Settle()
			m.Trim(0)
			require.Equal(t, before.count > 0, len(m.chunks) == 1, "empty ones go, too")
			return false
		}
		m.Promote()
	}
	require.GreaterOrEqual(t, m.Room(), n)
	if n == 1 && used == 1 {
		r := m.Tail()
		pos, row := m.Find(m.Len())
		require.Equal(t, m.Row(pos, row), r)
	}
	for range used {
		v := rng.Uint64()
		m.values = append(m.values, v)
		value, far := m.at(len(m.values) - 1)
		*value, *far = v, ^v
	}
	m.Push(used)
	m.Settle()
	return true
}

// cut takes n rows away.
func (m *storeModel) cut(n int, singly bool) {
	m.values = m.values[:len(m.values)-n]
	if !singly {
		m.Cut(n)
		return
	}
	for range n {
		_, row := m.Last()
		m.Pop(row)
	}
}

// give hands the first full chunks to another store.
func (m *storeModel) give(t *testing.T, to *storeModel, rng *rand.Rand) {
	full := 0
	for full < len(m.chunks) && m.RowsOf(full) == m.Fits(m.chunks[full]) && !m.chunks[full].Small() {
		full++
	}
	n := rng.IntN(full + 1)
	if n == 0 || to.HasSmall() && len(to.values) > 0 {
		return
	}
	rows, at := 0, 0 // rows that go, and rows of the full chunks where they go
	for _, c := range m.chunks[:n] {
		rows += m.Fits(c)
	}
	for pos, c := range to.chunks {
		if to.RowsOf(pos) == to.Fits(c) {
			at = c.Start + to.RowsOf(pos)
		}
	}
	given := fmt.Sprint(firstsOf(m.chunks[:n]))
	pos := m.MoveChunks(to.Store, n)
	require.Equal(t, given, fmt.Sprint(firstsOf(to.chunks[pos:pos+n])), "the same chunks")
	to.values = append(append(append([]uint64{}, to.values[:at]...), m.values[:rows]...), to.values[at:]...)
	m.values = m.values[rows:]
	m.prepared = 0 // what was prepared may have gone, too
}

// empty takes all rows away, and all chunks.
func (m *storeModel) empty(t *testing.T, keep bool) {
	m.values = nil
	if keep {
		m.Clear()
		return
	}
	m.Release()
	m.prepared = 0
	require.Zero(t, m.Units()+m.Reserve())
}

func firstsOf(chunks []Chunk) (firsts []SmallIndex) {
	for _, c := range chunks {
		firsts = append(firsts, c.First)
	}
	return firsts
}

// storeUniverse is small enough to be full now and then.
func storeUniverse(t *testing.T) *universe.Universe {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	return u
}

// do does a random operation, and reports whether the universe had room for it.
func (m *storeModel) do(t *testing.T, other *storeModel, rng *rand.Rand, op int, text string) bool {
	switch op {
	case 0, 1, 2:
		n := rng.IntN(1500)
		if rng.IntN(3) == 0 { // about as many as a small chunk holds
			n = rng.IntN(4)
		}
		return m.push(t, rng, n, rng.IntN(n+1))
	case 3, 4:
		for range rng.IntN(70) * rng.IntN(2) {
			m.push(t, rng, 1, 1)
		}
	case 5:
		m.cut(min(len(m.values), rng.IntN(80)), true)
	case 6, 7:
		n := rng.IntN(len(m.values) + 2)
		if rng.IntN(4) == 0 { // but for a few
			n = len(m.values) - rng.IntN(3)
		}
		m.cut(max(min(len(m.values), n), 0), false)
	case 8:
		m.give(t, other, rng)
	case 9:
		if rows := rng.IntN(1500); m.smallChunks == nil && m.Prepare(rows) == nil {
			m.prepared = max(m.prepared, rows)
			require.GreaterOrEqual(t, (m.Units()+m.Reserve())*m.per, rows, text)
		}
	case 10:
		held := m.Reserve()
		keep := rng.IntN(held + 1)
		n := m.Trim(keep)
		require.Equal(t, held-m.Reserve(), n, text)
		require.LessOrEqual(t, m.Reserve(), keep, text)
		m.prepared = 0
	case 11:
		m.empty(t, rng.IntN(2) == 0)
	case 12:
		return m.refit(t, rng.IntN(3) > 0)
	}
	return true
}

// TestStoreIsAList does everything with two stores of one universe, against lists, with
// chunks up to each order and policies of all kinds; now and then the universe is full.
func TestStoreIsAList(t *testing.T) {
	refits := 0 // that were refused
	for largest := 0; largest <= MaxOrder-UnitOrder; largest++ {
		orders := map[uint32]bool{}
		for i, growth := range []growth.Policy{
			{}, growth.Fixed(1), growth.Fixed(10), growth.Doubling().Capped(64), growth.Geometric(1.5),
			growth.Fixed(64), growth.Doubling(), growth.Doubling().Capped(64), growth.Doubling().Plus(1),
		} {
			if testing.Short() && i%3 != largest%3 {
				continue
			}
			rng := rand.New(rand.NewPCG(uint64(largest), 3))
			u, smallChunks, small := storeUniverse(t), (*SmallChunks)(nil), 0
			if i >= 6 {
				smallChunks = NewSmallChunks(u)
			}
			stores := []*storeModel{
				newStore(t, u, smallChunks, growth, largest), newStore(t, u, smallChunks, growth, largest),
			}
			refused := 0
			for step := range 500 {
				m, other := stores[step%2], stores[1-step%2]
				op := rng.IntN(13)
				text := fmt.Sprintf("step %d, op %d, chunks to 2^%d units, %v", step, op, largest, growth)
				if !m.do(t, other, rng, op, text) {
					if refused++; op == 12 {
						refits++
					}
				}
				m.check(t, text)
				if op == 8 {
					other.check(t, text)
				}
				held := m.Units() + m.Reserve() + other.Units() + other.Reserve()
				if smallChunks != nil {
					require.NoError(t, smallChunks.Verify(), text)
					held += smallChunks.Chunks()
				}
				require.Equal(t, held, u.Stats().LiveChunks, text)
				for _, c := range m.chunks {
					orders[c.Order] = true
				}
				if m.HasSmall() {
					small++
				}
			}
			require.Positive(t, refused, "the universe was full at times, %v", growth)
			require.Equal(t, smallChunks != nil, small > 0, "%v", growth)
			require.NoError(t, u.Verify())
			stores[0].Release()
			stores[1].Release()
			require.NoError(t, u.Close())
		}
		require.Len(t, orders, largest+2, "chunks of all orders were met, and small ones: %v", orders)
	}
	require.Positive(t, refits)
}

// TestStoreThreeUnits: rows of three units get one chunk of four, where the policy doubles,
// chunks may be as large and the universe has one; else they get as many as they need.
func TestStoreThreeUnits(t *testing.T) {
	for _, c := range []struct {
		growth  growth.Policy
		largest int
		left    int // chunks of the universe
		units   []int
	}{
		{growth.Doubling(), 6, 64, []int{4}},
		{growth.Doubling().Capped(4), 6, 64, []int{4}},
		{growth.Doubling().Capped(3), 6, 64, []int{2, 1}},
		{growth.Doubling(), 1, 64, []int{2, 1}},
		{growth.Fixed(1), 6, 64, []int{1, 1, 1}},
		{growth.Doubling(), 6, 3, []int{2, 1}},
	} {
		u, err := universe.New(universe.Size(2 << 20))
		require.NoError(t, err)
		for u.Stats().LiveChunks < u.Size()/universe.ChunkSize-c.left {
			_, err := u.AllocExact(1)
			require.NoError(t, err)
		}
		m := newStore(t, u, nil, c.growth, c.largest)
		require.True(t, m.push(t, rand.New(rand.NewPCG(1, 1)), 3*m.per, 3*m.per))
		var units []int
		for _, chunk := range m.Chunks() {
			units = append(units, chunk.Units())
		}
		require.Equal(t, c.units, units, "%v, chunks to order %d, %d left", c.growth, c.largest, c.left)
		m.check(t, "three units")
		m.Release()
	}
}

// TestStoreOnlyChunk: rows that are too many for the only chunk go to a larger one, up to 64
// KiB, where the store may have small chunks, the policy multiplies, chunks may be as large
// and the universe has one; else there are more chunks.
func TestStoreOnlyChunk(t *testing.T) {
	for _, c := range []struct {
		growth  growth.Policy
		bare    bool // without small chunks
		exact   bool
		largest int
		left    int    // chunks of the universe
		apart   bool   // every second one is left
		want    string // units of the chunks, after the rows of 1, 2, 3, 4, 5 and 9 units
	}{
		{growth: growth.Doubling(), largest: 6, left: 100, want: "[1] [2] [4] [4] [4 4] [4 4 8]"},
		{growth: growth.Doubling().Capped(4), largest: 6, left: 100, want: "[1] [2] [4] [4] [4 4] [4 4 4]"},
		{growth: growth.Doubling().Capped(2), largest: 6, left: 100, want: "[1] [2] [2 2] [2 2] [2 2 2] [2 2 2 2 1]"},
		{growth: growth.Doubling().Capped(1), largest: 6, left: 100, want: "[1] [1 1] [1 1 1] [1 1 1 1] [1 1 1 1 1] [1 1 1 1 1 1 1 1 1]"},
		{growth: growth.Doubling(), largest: 1, left: 100, want: "[1] [2] [2 2] [2 2] [2 2 2] [2 2 2 2 2]"},
		{growth: growth.Doubling(), bare: true, largest: 6, left: 100, want: "[1] [1 1] [1 1 2] [1 1 2] [1 1 2 4] [1 1 2 4 8]"},
		{growth: growth.Doubling(), exact: true, largest: 6, left: 100, want: "[1] [1 1] [1 1 1] [1 1 1 1] [1 1 1 1 1] [1 1 1 1 1 4]"},
		{growth: growth.Fixed(1), largest: 6, left: 100, want: "[1] [1 1] [1 1 1] [1 1 1 1] [1 1 1 1 1] [1 1 1 1 1 1 1 1 1]"},
		{growth: growth.Doubling(), largest: 6, left: 5, want: "[1] [2] [2 2] [2 2] [2 2 1] full"},
		{growth: growth.Doubling(), largest: 6, left: 2, want: "[1] [1 1] full full full full"},
		{growth: growth.Doubling(), largest: 6, apart: true, want: "[1] [1 1] [1 1 1] [1 1 1 1] [1 1 1 1 1] [1 1 1 1 1 1 1 1 1]"},
	} {
		u, err := universe.New(universe.Size(2 << 20))
		require.NoError(t, err)
		for u.Stats().LiveChunks < u.Size()/universe.ChunkSize-c.left {
			_, err := u.AllocExact(1)
			require.NoError(t, err)
		}
		for first := 0; c.apart && first < u.Size()/universe.ChunkSize; first += 2 {
			u.Free(universe.ChunkIndex(first), 1)
		}
		smallChunks := NewSmallChunks(u)
		if c.bare {
			smallChunks = nil
		}
		live := u.Stats().LiveChunks
		m, rng, got := newStore(t, u, smallChunks, c.growth, c.largest), rand.New(rand.NewPCG(1, 1)), ""
		for _, units := range []int{1, 2, 3, 4, 5, 9} {
			n := units*m.per - len(m.values)
			if c.exact {
				require.NoError(t, m.GrowExact(n))
			}
			if m.pushIf(t, rng, n, n, func() bool { return true }) {
				list := []int{}
				for _, chunk := range m.Chunks() {
					list = append(list, chunk.Units())
				}
				got += fmt.Sprint(" ", list)
			} else {
				got += " full"
			}
			m.check(t, got)
			require.Equal(t, m.Units()+m.Reserve(), u.Stats().LiveChunks-live, "nothing else is held")
		}
		if got != " "+c.want {
			t.Errorf("%+v: got%s", c, got)
		}
		m.Release()
		require.NoError(t, u.Verify())
	}
}

// TestStoreSkewed: where a megachunk has the rows of 63 units, rows of 64 get a unit more;
// where the universe has no more than 64 units, they lie in chunks that are not skewed,
// which are the smaller the longer cache lines are.
func TestStoreSkewed(t *testing.T) {
	for _, c := range []struct {
		left, line int
		want       string
	}{
		{128, 64, "[64 1]"}, {65, 64, "[64 1]"}, {64, 64, "[32 32]"},
		{128, 128, "[64 1]"}, {65, 128, "[64 1]"}, {64, 128, "[16 16 16 16]"},
		{128, 256, "[64 1]"}, {65, 256, "[64 1]"}, {64, 256, "[8 8 8 8 8 8 8 8]"},
	} {
		text := fmt.Sprintf("%+v", c)
		u, err := universe.New(universe.Size(2 << 20))
		require.NoError(t, err)
		for u.Stats().LiveChunks < u.Size()/universe.ChunkSize-c.left {
			_, err := u.AllocExact(1)
			require.NoError(t, err)
		}
		m := newStoreOfLines(t, u, nil, growth.Doubling(), 6, c.line)
		m.skewed = true
		require.True(t, m.push(t, rand.New(rand.NewPCG(1, 1)), 64*m.per, 64*m.per), text)
		var units []int
		for _, chunk := range m.Chunks() {
			units = append(units, chunk.Units())
		}
		require.Equal(t, c.want, fmt.Sprint(units), text)
		m.check(t, text)
		m.Release()
		require.NoError(t, u.Verify())
	}
}

// TestStorePrepared: what was prepared can be grown to when nothing else is left.
func TestStorePrepared(t *testing.T) {
	for largest := 0; largest <= MaxOrder-UnitOrder; largest++ {
		u, err := universe.New(universe.Size(4 << 20))
		require.NoError(t, err)
		m, rng := newStore(t, u, nil, growth.Doubling(), largest), rand.New(rand.NewPCG(1, 1))
		require.True(t, m.push(t, rng, 30, 30))
		require.NoError(t, m.Prepare(2000))
		var hog []universe.ChunkIndex
		for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
			hog = append(hog, c)
		}
		for len(m.values) < 2000 {
			require.True(t, m.push(t, rng, 1, 1))
		}
		m.check(t, "prepared")
		m.cut(1990, false)
		require.True(t, m.push(t, rng, 1990, 1990), "rows that went left what was prepared")
		m.check(t, "again")
		require.ErrorIs(t, m.Prepare(1<<20), sentinel.ErrFull)
		m.check(t, "refused")
		m.Release()
		for _, c := range hog {
			u.Free(c, 1)
		}
		require.NoError(t, u.Close())
	}
}

// TestStoreInvariants corrupts a store with chunks of several units; Verify must name
// the invariant, and be content when it is mended.
func TestStoreInvariants(t *testing.T) {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	m, rng := newStore(t, u, nil, growth.Doubling().Capped(64), 6), rand.New(rand.NewPCG(1, 1))
	for range 40 * m.per { // 1, 1, 2, 4, 8, 16 units, then 32
		require.True(t, m.push(t, rng, 1, 1))
	}
	m.cut(12*m.per, false) // so that there is a reserve
	g := m.Store
	require.Positive(t, g.Reserve())
	require.NoError(t, g.Verify(m.plan))
	large := len(g.chunks) - 2
	require.GreaterOrEqual(t, g.chunks[large].Order, uint32(UnitOrder+2))
	set := func(p *Chunk, f func(c *Chunk)) func() func() {
		return func() func() { old := *p; f(p); return func() { *p = old } }
	}
	number := func(p *int, by int) func() func() { return func() func() { *p += by; return func() { *p -= by } } }
	for name, c := range map[string]struct {
		invariant string
		corrupt   func() func()
	}{
		"a wrong start":            {"T1", set(&g.chunks[large], func(c *Chunk) { c.Start += g.per })},
		"a wrong start, the last":  {"T1", set(&g.chunks[large+1], func(c *Chunk) { c.Start-- })},
		"an order too small":       {"T1", set(&g.chunks[large], func(c *Chunk) { c.Order-- })},
		"rows beyond the last":     {"T1", number(&g.count, 64*g.per)},
		"a last chunk without any": {"T1", number(&g.count, -12*g.per)},
		"units miscounted":         {"T1", number(&g.units, 1)},
		"a tail of another size":   {"T1", number(&g.tail.full, g.per)},
		"another tail":             {"T1", func() func() { old := g.tail.base; g.tail.base = nil; return func() { g.tail.base = old } }},
		"misaligned":               {"T2", set(&g.chunks[large], func(c *Chunk) { c.First++ })},
		"misaligned by half":       {"T2", set(&g.chunks[large], func(c *Chunk) { c.First += 1 << (c.Order - 1) })},
		"misaligned, in reserve":   {"T2", set(&g.reserve[0], func(c *Chunk) { c.First++ })},
		"overlaps another":         {"T2", set(&g.chunks[0], func(c *Chunk) { c.First = g.chunks[large].First + 3*eighths })},
		"overlaps the reserve":     {"T2", set(&g.reserve[0], func(c *Chunk) { c.First = g.chunks[large].First; c.Order = UnitOrder })},
		"a unit not in use": {"T2", func() func() {
			unit := int(g.chunks[large].First.Chunk()) + 3
			word, bit := g.u.Index.Word(unit/universe.ChunksPerMegachunk), unit%universe.ChunksPerMegachunk
			word.TryFree(bit, 1)
			return func() { word.TryAllocAt(bit, 1) }
		}},
		"an order too large":       {"T2", set(&g.reserve[0], func(c *Chunk) { c.Order, c.First = MaxOrder+1, 0 })},
		"the reserve miscounted":   {"T3", number(&g.spare, -1)},
		"a chunk of it is smaller": {"T3", set(&g.reserve[0], func(c *Chunk) { c.Order-- })},
		"the reserve too large": {"T3", func() func() {
			old := g.growth
			g.growth = growth.Fixed(1)
			return func() { g.growth = old }
		}},
		"a column elsewhere": {"T4", func() func() { g.columns[1].Offset += 8; return func() { g.columns[1].Offset -= 8 } }},
	} {
		restore := c.corrupt()
		require.ErrorContains(t, g.Verify(m.plan), "alloc: "+c.invariant+":", name)
		restore()
		require.NoError(t, g.Verify(m.plan), name)
	}
	m.check(t, "mended")
	g.Release()
	require.NoError(t, u.Close())
}

// TestSmallChunkInvariants corrupts stores with a small chunk.
func TestSmallChunkInvariants(t *testing.T) {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	smallChunks, rng := NewSmallChunks(u), rand.New(rand.NewPCG(1, 1))
	m := newStore(t, u, smallChunks, growth.Doubling(), MaxOrder-UnitOrder)
	require.True(t, m.push(t, rng, 1, 1))
	require.True(t, m.HasSmall())
	require.Equal(t, []int{1, 1, 0}, []int{smallChunks.Chunks(), smallChunks.Live(), m.Units()})
	c := &m.chunks[0]
	for text, test := range map[string]struct {
		name    string
		corrupt func() func()
	}{
		"of no smallChunks": {"T5", func() func() { m.smallChunks = nil; return func() { m.smallChunks = smallChunks } }},
		"another order": {"T5", func() func() {
			c.Order, m.tail.full = 1, m.Fits(Chunk{Order: 1})
			return func() { c.Order, m.tail.full = 0, m.SmallRows() }
		}},
		"not the only one": {"T5", func() func() { m.reserve = []Chunk{*c}; return func() { m.reserve = nil } }},
		"not handed out":   {"T2", func() func() { smallChunks.used[0] ^= 3; return func() { smallChunks.used[0] ^= 3 } }},
	} {
		restore := test.corrupt()
		require.ErrorContains(t, m.Verify(m.plan), "alloc: "+test.name+":", text)
		restore()
		require.NoError(t, m.Verify(m.plan), text)
	}
	for len(m.values) <= m.SmallRows() {
		for !m.push(t, rng, 1, 1) { // which may think better of it
		}
	}
	m.check(t, "outgrown")
	require.Equal(t, []int{0, 1}, []int{smallChunks.Chunks(), m.Units()})
	require.NoError(t, smallChunks.Verify())
	m.Release()
	require.NoError(t, u.Close())
	for _, growth := range []growth.Policy{{}, growth.Fixed(1), growth.Fixed(3)} {
		require.Zero(t, newStore(t, u, smallChunks, growth, 0).SmallRows(), "%v does not multiply", growth)
	}
}
