package alloc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// The columns of the tests: widths with code of their own (16 and 8 bytes), odd
// ones, padding inside, and a tag.
type (
	tablePoint struct{ X, Y float64 }
	tableID    uint64
	tableColor struct{ R, G, B uint8 }
	tableWide  struct{ A, B, C [5]int64 }
	tableGaps  struct {
		A uint8
		B uint32
	}
	tableTag struct{}
)

// tableRecord is a record as a program without columns keeps it.
type tableRecord struct {
	point tablePoint
	id    tableID
	color tableColor
	wide  tableWide
	gaps  tableGaps
}

func newTable(t testing.TB, u *alloc.Universe, options ...alloc.TableOption) *alloc.Table {
	t.Helper()
	table, err := alloc.NewTable(u, append([]alloc.TableOption{
		alloc.Col[tablePoint](), alloc.Col[tableID](), alloc.Col[tableColor](), alloc.Col[tableTag](),
		alloc.Col[tableWide](),
		alloc.Col[tableGaps](),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(table.Close)
	return table
}

func randomRecord(r *rand.Rand) tableRecord {
	return tableRecord{
		point: tablePoint{r.Float64(), r.Float64()}, id: tableID(r.Uint64()),
		color: tableColor{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32())},
		wide:  tableWide{A: [5]int64{r.Int64()}, C: [5]int64{4: r.Int64()}}, gaps: tableGaps{uint8(r.Uint32()), r.Uint32()},
	}
}

func writeRecord(table *alloc.Table, h alloc.Handle, v tableRecord) {
	alloc.Create(table, h, v.point)
	alloc.Create(table, h, v.id)
	alloc.Create(table, h, v.color)
	alloc.Create(table, h, v.wide)
	*alloc.Get[tableGaps](table, h) = v.gaps
}

func readRecord(table *alloc.Table, h alloc.Handle) tableRecord {
	return tableRecord{*alloc.Get[tablePoint](table, h), *alloc.Get[tableID](table, h),
		*alloc.Get[tableColor](table, h),
		*alloc.Get[tableWide](table, h), *alloc.Get[tableGaps](table, h)}
}

// tablePolicies are the growth policies that the model test runs with.
var tablePolicies = []alloc.Growth{
	{}, alloc.Doubling().Capped(16), alloc.Fixed(1), alloc.Fixed(3), alloc.Geometric(1.5),
}

// tableModel is a table and a slice of structs with the records that it must have: a new record at
// the end, the last one into the gap.
type tableModel struct {
	t     *testing.T
	table *alloc.Table
	rng   *rand.Rand
	want  []tableRecord
}

// TestTableModel applies random streams to a table and to the model.
func TestTableModel(t *testing.T) {
	for seed := range uint64(10) {
		u := newUniverse(t, alloc.Size(4<<20))
		g := tablePolicies[seed%5]
		m := &tableModel{t: t, table: newTable(t, u, alloc.ChunkGrowth(g), alloc.PreAllocate(int(seed%3)*100)),
			rng: rand.New(rand.NewPCG(seed, 7))}
		grow := true
		for step := range 1500 {
			if n := len(m.want); n > 1200 {
				grow = false
			} else if n < 10 {
				grow = true
			}
			m.step(grow)
			require.NoError(t, m.table.Verify(), "seed %d, step %d", seed, step)
			require.Equal(t, len(m.want), m.table.Len())
			if step%100 == 0 {
				m.compare()
			}
		}
		m.compare()
		m.table.Close()
		require.Zero(t, u.Stats().LiveChunks)
	}
}

func (m *tableModel) step(grow bool) {
	switch op := m.rng.IntN(100); {
	case op == 0 && len(m.want) > 600:
		m.table.Clear()
		m.want = m.want[:0]
	case op < 4:
		live, reserve := m.table.Cap(), m.table.Reserve()
		require.Equal(m.t, reserve, m.table.Trim())
		require.Equal(m.t, live-reserve*m.table.Plan().Rows, m.table.Cap())
	case op < 10 && grow:
		n := m.rng.IntN(200)
		first, err := m.table.AllocateN(n)
		require.NoError(m.t, err)
		require.Equal(m.t, len(m.want), first)
		for i := range n {
			h := m.table.Handle(first + i)
			require.Equal(m.t, tableRecord{}, readRecord(m.table, h), "new records are zero")
			m.want = append(m.want, randomRecord(m.rng))
			writeRecord(m.table, h, m.want[first+i])
		}
	case grow == (op < 80) || len(m.want) == 0:
		h, err := m.table.Allocate()
		require.NoError(m.t, err)
		require.Equal(m.t, m.table.Handle(len(m.want)), h)
		require.Equal(m.t, tableRecord{}, readRecord(m.table, h), "a new record is zero")
		m.want = append(m.want, randomRecord(m.rng))
		writeRecord(m.table, h, m.want[len(m.want)-1])
	default:
		for range 1 + m.rng.IntN(4) {
			m.free()
		}
	}
}

func (m *tableModel) free() {
	last := len(m.want) - 1
	if last < 0 {
		return
	}
	i := m.rng.IntN(last + 1)
	lastHandle := m.table.Handle(last)
	moved, ok := m.table.Free(m.table.Handle(i))
	require.Equal(m.t, i != last, ok)
	if ok {
		require.Equal(m.t, lastHandle, moved)
	} else {
		require.Zero(m.t, moved)
	}
	m.want[i] = m.want[last]
	m.want = m.want[:last]
	if ok {
		require.Equal(m.t, m.want[i], readRecord(m.table, m.table.Handle(i)))
	}
}

// compare compares every record by its handle, and the columns chunk by chunk.
func (m *tableModel) compare() {
	per, i := m.table.Plan().Rows, 0
	for chunk := range m.table.Chunks() {
		ids, colors := alloc.ColumnOf[tableID](m.table, chunk), alloc.ColumnOf[tableColor](m.table, chunk)
		require.Len(m.t, ids, m.table.Rows(chunk))
		require.Len(m.t, alloc.ColumnOf[tableTag](m.table, chunk), len(ids))
		for row := range ids {
			h := m.table.Handle(i)
			require.Equal(m.t, [2]int{chunk, row}, [2]int{h.Chunk(), h.Row()})
			require.Equal(m.t, m.want[i], readRecord(m.table, h))
			require.Equal(m.t, m.want[i].id, ids[row])
			require.Equal(m.t, m.want[i].color, colors[row])
			i++
		}
		require.True(m.t, len(ids) == per || i == len(m.want), "only the last chunk is part full")
	}
	require.Equal(m.t, len(m.want), i)
}

// TestTableKeepsReserve crosses the border of a chunk: the universe must not see it.
func TestTableKeepsReserve(t *testing.T) {
	for _, g := range append(tablePolicies, alloc.Fixed(70)) {
		u := newUniverse(t, alloc.Size(8<<20))
		table := newTable(t, u, alloc.ChunkGrowth(g))
		_, err := table.AllocateN(20 * table.Plan().Rows)
		require.NoError(t, err)
		_, err = table.Allocate()
		require.NoError(t, err)
		live := u.Stats().LiveChunks
		most := g.Next(20, 21) - 1
		require.LessOrEqual(t, table.Reserve(), most, "%v", g)
		for range 10 {
			table.Free(table.Handle(table.Len() - 1))
			require.Equal(t, live, u.Stats().LiveChunks, "%v: a chunk that empties is kept", g)
			_, err = table.Allocate()
			require.NoError(t, err)
			require.Equal(t, live, u.Stats().LiveChunks, "%v: and used again", g)
		}
		for table.Len() > 0 {
			reserve := table.Reserve()
			table.Free(table.Handle(table.Len() - 1))
			require.NoError(t, table.Verify())
			if now := table.Reserve(); now < reserve {
				n := table.Chunks()
				require.Equal(t, g.Next(n, n+1)-n, now, "%v: a reserve is cut, not given up", g)
			}
		}
		require.LessOrEqual(t, table.Reserve(), g.Next(0, 1), "%v: the reserve shrinks with the table", g)
		table.Close()
	}
}

func TestTablePreAllocate(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	table := newTable(t, u, alloc.PreAllocate(1000))
	live, room := u.Stats().LiveChunks, table.Cap()
	require.GreaterOrEqual(t, room, 1000)
	require.Less(t, room, 1000+table.Plan().Rows)
	for range 2 {
		_, err := table.AllocateN(1000)
		require.NoError(t, err)
		require.Equal(t, live, u.Stats().LiveChunks, "nothing was taken for them")
		table.Clear()
		require.Equal(t, room, table.Cap(), "and nothing goes back")
		require.NoError(t, table.Verify())
	}
	require.Equal(t, live, table.Trim())
	require.Zero(t, table.Cap())
	require.NoError(t, table.Verify())
}

// refusingPages refuses the k-th commit, counted from 1, or all from it on.
type refusingPages struct {
	*mmap.Region
	calls, at int
	all       bool
}

var errRefused = errors.New("refused by the test")

func (p *refusingPages) Commit(offset, n int) error {
	if p.calls++; p.calls == p.at || p.all && p.calls > p.at {
		return errRefused
	}
	return p.Region.Commit(offset, n)
}

// TestTableFailsCleanly makes each commit fail in turn, once or from then on: every
// call that fails leaves table and universe as they were.
func TestTableFailsCleanly(t *testing.T) {
	for _, g := range tablePolicies {
		for at := 1; at <= 5; at++ {
			for _, all := range []bool{false, true} {
				t.Run(fmt.Sprintf("growth=%v/at=%d/all=%v", g, at, all),
					func(t *testing.T) { tableFails(t, g, at, all) })
			}
		}
	}
}

func tableFails(t *testing.T, g alloc.Growth, at int, all bool) {
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	p := &refusingPages{Region: region, at: at, all: all}
	u := newUniverse(t, alloc.WithPages(p), alloc.Retain(0))
	failed := 0
	check := func(table *alloc.Table, call func() error) bool {
		before, length, room := u.Stats(), table.Len(), table.Cap()
		err := call()
		require.NoError(t, table.Verify())
		if err == nil {
			return true
		}
		require.True(t, errors.Is(err, alloc.ErrCommit) && errors.Is(err, errRefused) || errors.Is(err, alloc.ErrFull),
			"%v", err)
		after := u.Stats()
		after.Committed = before.Committed
		require.Equal(t, before, after)
		require.Equal(t, []int{length, room}, []int{table.Len(), table.Cap()})
		failed++
		return false
	}
	_, err = alloc.NewTable(u, alloc.Col[tableWide](), alloc.PreAllocate(600*136))
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Zero(t, u.Stats().LiveChunks)
	table := newTable(t, u, alloc.ChunkGrowth(g))
	check(table, func() error { _, err := table.AllocateN(150 * table.Plan().Rows); return err })
	check(table, func() error { _, err := table.AllocateN(400 * table.Plan().Rows); return err })
	for check(table, func() error { _, err := table.AllocateN(table.Plan().Rows); return err }) || !all && failed < 3 {
		if table.Len() > 600*table.Plan().Rows {
			t.Fatal("a universe of 8 MiB holds more than 512 chunks")
		}
	}
	require.Positive(t, failed)
	require.NoError(t, u.Verify())
	table.Close()
	require.Zero(t, u.Stats().LiveChunks)
}

// TestTableTakesSingleChunks refuses all new memory and leaves single chunks in
// that which there is: a table gets them all, whatever its policy would rather have.
func TestTableTakesSingleChunks(t *testing.T) {
	for _, g := range append(tablePolicies, alloc.Fixed(70)) {
		region, err := mmap.Reserve(8 << 20)
		require.NoError(t, err)
		u := newUniverse(t, alloc.WithPages(&refusingPages{Region: region, at: 2, all: true}))
		first, err := u.AllocExact(64)
		require.NoError(t, err)
		second, err := u.AllocExact(64)
		require.NoError(t, err)
		for i := 0; i < 64; i += 2 {
			u.Free(first+alloc.ChunkIndex(i), 1)
		}
		table := newTable(t, u, alloc.ChunkGrowth(g))
		_, err = table.AllocateN(33 * table.Plan().Rows)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.Equal(t, 96, u.Stats().LiveChunks)
		_, err = table.AllocateN(32 * table.Plan().Rows)
		require.NoError(t, err, "%v", g)
		table.Close()
		for i := 1; i < 64; i += 2 {
			u.Free(first+alloc.ChunkIndex(i), 1)
		}
		u.Free(second, 64)
	}
}

// TestTableTakesWhatThereIs fills a universe to the last row of its last chunk, with
// policies that would rather have more.
func TestTableTakesWhatThereIs(t *testing.T) {
	for _, g := range tablePolicies {
		u := newUniverse(t, alloc.Size(2<<20))
		table := newTable(t, u, alloc.ChunkGrowth(g))
		n := 0
		for _, err := table.Allocate(); err == nil; _, err = table.Allocate() {
			n++
		}
		require.Equal(t, 128*table.Plan().Rows, n, "%v", g)
		_, err := table.AllocateN(1)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.ErrorContains(t, err, "the universe has 128 chunks (a larger one: alloc.Size)")
		_, err = table.AllocateN(129 * table.Plan().Rows)
		require.ErrorIs(t, err, alloc.ErrFull)
		_, err = table.AllocateN(1<<63 - 1)
		require.ErrorIs(t, err, alloc.ErrTooBig)
		first, err := table.AllocateN(0)
		require.NoError(t, err)
		require.Equal(t, n, first)
		table.Close()
	}
}

func TestTableVerifyNamesTheInvariant(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	table := newTable(t, u, alloc.ChunkGrowth(alloc.Fixed(20)))
	_, err := table.AllocateN(5 * table.Plan().Rows)
	require.NoError(t, err)
	require.NoError(t, table.Verify())
	for _, name := range []string{"T1", "T2", "T2 not in use", "T3", "T4", "T4 plan", "T6", "T6 twice"} {
		restore := table.Corrupt(name)
		require.ErrorContains(t, table.Verify(), "alloc: "+name[:2]+":", name)
		restore()
		require.NoError(t, table.Verify(), name)
	}
}

func TestTableMisuse(t *testing.T) {
	type named struct {
		ID   int
		Name string
	}
	u := newUniverse(t, alloc.Size(4<<20))
	table, other := newTable(t, u), newTable(t, u)
	h, err := table.Allocate()
	require.NoError(t, err)
	foreign, err := other.Allocate()
	require.NoError(t, err)
	last, err := table.Allocate()
	require.NoError(t, err)
	table.Free(last)
	for want, f := range map[string]func(){
		"alloc: Col[alloc_test.named]: named.Name is a string; records must hold no Go pointers, for they lie outside the garbage collector's heap": func() {
			alloc.Col[named]()
		},
		"alloc: NewTable: int32 is given twice":                                   func() { alloc.NewTable(u, alloc.Col[int32](), alloc.Col[int32]()) },
		"alloc: NewTable: no columns; give it alloc.Col of each type":             func() { alloc.NewTable(u) },
		"alloc: PreAllocate: rows=-1 is negative":                                 func() { alloc.PreAllocate(-1) },
		"alloc: Table.AllocateN: n=-1 is negative":                                func() { table.AllocateN(-1) },
		"alloc: Get: the handle is the zero value; handles come from Allocate":    func() { alloc.Get[tableID](table, alloc.Handle{}) },
		"alloc: Get: the handle is of another table, or from before Clear":        func() { alloc.Create(table, foreign, tableID(1)) },
		"alloc: Table.Free: the handle is of another table, or from before Clear": func() { table.Free(foreign) },
		fmt.Sprintf("alloc: Table.Free: row 1 of chunk 0 is behind the last of 1 records of %d a chunk (freed twice?)",
			table.Plan().Rows): func() { table.Free(last) },
		"alloc: Table.Rows: chunk 1 is not in [0, 1)":    func() { alloc.ColumnOf[tableID](table, 1) },
		"alloc: Table.Handle: record 1 is not in [0, 1)": func() { table.Handle(1) },
		"alloc: Get: int16 is no column of table(alloc_test.tablePoint, alloc_test.tableID, alloc_test.tableColor, alloc_test.tableTag, alloc_test.tableWide, alloc_test.tableGaps)": func() {
			alloc.Get[int16](table, h)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
	_, err = alloc.NewTable(u, alloc.Col[[1 << 15]byte]())
	require.ErrorIs(t, err, alloc.ErrTooBig)
	other.Clear()
	require.PanicsWithValue(t, "alloc: Get: the handle is of another table, or from before Clear",
		func() { alloc.Get[tableID](other, foreign) })
	table.Close()
	table.Close()
	require.PanicsWithValue(t, "alloc: Get: the table is closed", func() { alloc.Get[tableID](table, h) })
	require.PanicsWithValue(t, "alloc: Table.Allocate: the table is closed", func() { table.Allocate() })
	require.PanicsWithValue(t, "alloc: Table.Clear: the table is closed", func() { table.Clear() })
	require.Zero(t, table.Len()+table.Cap()+table.Chunks()+table.Trim())
}

func BenchmarkTable(b *testing.B) {
	u := newUniverse(b, alloc.Size(64<<20))
	table, err := alloc.NewTable(u, alloc.Col[tablePoint](), alloc.Col[tableID]())
	require.NoError(b, err)
	defer table.Close()
	b.Run("op=allocate+free", func(b *testing.B) {
		for b.Loop() {
			h, _ := table.Allocate()
			table.Free(h)
		}
	})
	b.Run("op=get", func(b *testing.B) {
		h, err := table.Allocate()
		require.NoError(b, err)
		for b.Loop() {
			*alloc.Get[tableID](table, h)++
		}
		require.NotZero(b, *alloc.Get[tableID](table, h))
	})
}
