package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/long"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
	"quarry/layout"
)

// kinds are the types of tests: of several sizes, two that can be disabled, two that own something.
var kinds = []table.Type{
	{Layout: layout.Column{Name: "A", Size: 16, Align: 8}},
	{Layout: layout.Column{Name: "B", Size: 8, Align: 8, Enableable: true}},
	{Layout: layout.Column{Name: "C", Size: 40, Align: 8}},
	{Layout: layout.Column{Name: "D", Size: 0, Align: 1, Enableable: true}},
	{Layout: layout.Column{Name: "E", Size: 32, Align: 8}, Buffers: new(value.Buffers)},
	{Layout: layout.Column{Name: "F", Size: 4, Align: 4}, Managed: ledger{}},
}

// shape is that of the type that is a buffer, whose rows have a block each.
var shape = value.Shape{Element: 8, Inline: 2}

// slowRow is what a row should hold.
type slowRow struct {
	types  table.Signature
	values [6]uint32
	on     [6]bool
}

// slowTables are tables beside a map.
type slowTables struct {
	t       *testing.T
	s       table.Tables
	ids     entity.Store
	all     []*table.Table
	rows    map[entity.ID]*slowRow
	next    uint32
	buffers value.Buffers
	owned   ledger                // of the managed type
	planned int                   // calls of Replanned
	sights  []*entity.LookupTable // of the types
}

// ledger is a managed type's values, by what stands in the column, which rows own.
type ledger struct {
	value.Managed
	t    *testing.T
	live map[value.Slot]bool
}

func (l ledger) Release(rows []value.Slot) {
	for _, n := range rows {
		require.True(l.t, l.live[n], "%d is released twice", n)
		delete(l.live, n)
	}
}

var tags entity.Tags

func newSlowTables(t *testing.T, u *universe.Universe, growth growth.Policy, kinds ...table.Type) *slowTables {
	m := &slowTables{t: t, rows: map[entity.ID]*slowRow{}, owned: ledger{t: t, live: map[value.Slot]bool{}}}
	tag := tags.Take(0)
	m.ids.Open(u, tag)
	m.s.Open(u, growth, &m.ids, table.Calls{Trim: func() int { return 0 }, Replanned: func() { m.planned++ }})
	m.buffers.Open(u, func() int { return 0 })
	for _, k := range kinds {
		if k.Buffers != nil {
			k.Buffers = &m.buffers
		}
		if k.Managed != nil {
			k.Managed = m.owned
		}
		k.Lookups = new(entity.LookupTable)
		m.sights = append(m.sights, k.Lookups)
		m.s.Register(k)
	}
	t.Cleanup(func() {
		for _, a := range m.all {
			a.End()
		}
		m.s.Close()
		if err := m.buffers.Close(); err != nil {
			require.ErrorIs(t, err, sentinel.ErrLeak) // rows that were there at the end had blocks
		}
		require.NoError(t, m.ids.Close())
		tags.Free(tag)
	})
	return m
}

// table returns the table of a set of types, made on need.
func (m *slowTables) table(types table.Signature) *table.Table {
	for _, a := range m.all {
		if a.Sig == types {
			return a
		}
	}
	a := new(table.Table)
	require.NoError(m.t, a.Init(&m.s, types, len(m.all)%2 == 0))
	a.Index = uint32(len(m.all))
	m.all = append(m.all, a)
	return a
}

// write gives a row that a new or changed entity has the values that the model has.
func (m *slowTables) write(a *table.Table, e entity.ID, fresh []table.Column) {
	at, row := m.at(e), m.rows[e]
	for _, c := range fresh {
		m.next++
		row.values[c.Key] = m.next
		first := (*uint32)(at.Element(c.Offset, c.Size)) // Safe because columns with storage have 4 bytes and more.
		*first = m.next
		switch {
		case kinds[c.Key].Managed != nil:
			m.owned.live[value.Slot(m.next)] = true
		case kinds[c.Key].Buffers != nil:
			h, err := m.buffers.OwnerSpill().Take(&shape, 1)
			require.NoError(m.t, err)
			*value.HeaderOf(at, c) = h
			row.values[c.Key] = *first // which has the place of the block
		}
	}
}

func (m *slowTables) at(e entity.ID) store.Row {
	r := m.ids.Find(e)
	return m.s.OwnerOf(r.Location).RowAt(r.Location)
}

// create makes n rows.
func (m *slowTables) create(a *table.Table, n int) {
	require.NoError(m.t, m.ids.MakeRoom(n))
	require.NoError(m.t, a.Grow(n))
	for n > 0 {
		b := a.Tail(n)
		m.ids.TakeRows(b.Loc, b.IDs)
		store.ClearRows(b.At, len(b.IDs), a.Store.Columns())
		a.Metadata.EnableRows(b.Pos, b.At.Row, len(b.IDs))
		a.Push(b)
		for _, e := range b.IDs {
			m.rows[e] = &slowRow{types: a.Sig, on: [6]bool{1: true, 3: true}}
			m.write(a, e, a.Store.Columns())
		}
		n -= len(b.IDs)
	}
}

// moved changes the model for an entity that has moved along a transition.
func (m *slowTables) moved(x *table.Transition, e entity.ID) {
	row := m.rows[e]
	for id := range kinds {
		if x.To.Sig.Has(table.TypeID(id)) && !row.types.Has(table.TypeID(id)) {
			row.on[id] = true
		}
	}
	row.types = x.To.Sig
	m.write(x.To, e, x.Fresh)
}

// check compares all rows with the model.
func (m *slowTables) check(text string) {
	require.NoError(m.t, m.s.Verify(m.all), text)
	count, owned, blocks := 0, 0, 0
	for _, s := range m.sights {
		s.SetRecords(m.ids.View())
	}
	for _, a := range m.all {
		require.NoError(m.t, a.Verify(), text)
		for pos := range a.Store.Chunks() {
			at := a.Store.Row(pos, 0)
			for row, e := range slices.Clone(table.IDs(at.Base, a.Store.RowsOf(pos))) {
				want := m.rows[e]
				if want == nil || want.types != a.Sig {
					m.t.Fatalf("%s: %v in %v", text, e, a)
				}
				at.Row = row
				for _, c := range a.Store.Columns() {
					if got := *(*uint32)(at.Element(c.Offset, c.Size)); got != want.values[c.Key] {
						m.t.Fatalf("%s: %v of %v has %d in column %d, not %d",
							text, e, a, got, c.Key, want.values[c.Key])
					}
					switch {
					case kinds[c.Key].Managed != nil:
						owned++
						if !m.owned.live[value.Slot(want.values[c.Key])] {
							m.t.Fatalf("%s: what %v of %v owns by column %d was released", text, e, a, c.Key)
						}
					case kinds[c.Key].Buffers != nil:
						blocks++
						if err := m.buffers.VerifyRow(value.HeaderOf(at, c), &shape); err != nil {
							m.t.Fatalf("%s: %v of %v: %v", text, e, a, err)
						}
					}
				}
				m.lookUp(text, a, e, at, pos)
				for _, slot := range a.Metadata.Toggling() {
					if a.Metadata.Bits(slot, pos).Has(row) != want.on[a.Types[slot]] {
						m.t.Fatalf("%s: %v of %v, bit %d", text, e, a, slot)
					}
				}
				count++
			}
		}
	}
	require.Equal(m.t, len(m.rows), count, text)
	require.Len(m.t, m.owned.live, owned, text)
	require.NoError(m.t, m.buffers.Verify(blocks), text)
}

// lookUp compares what look-ups find of an entity with where its row is.
func (m *slowTables) lookUp(text string, a *table.Table, e entity.ID, at store.Row, pos int) {
	l := m.ids.Find(e).Location
	for id, s := range m.sights {
		p, want := s.At(e), unsafe.Pointer(nil)
		if a.Sig.Has(table.TypeID(id)) {
			want = at.Element(a.Places[id].Offset, uint32(kinds[id].Layout.Size))
			if s.ColumnAt(l).Mark() != a.Metadata.Version(a.Places[id].Slot(), pos) {
				m.t.Fatalf("%s: type %d of %v is marked elsewhere", text, id, e)
			}
		}
		if p != want || s.ColumnAt(l).ValueAt(l) != want {
			m.t.Fatalf("%s: a look-up finds type %d of %v at %p, not %p", text, id, e, p, want)
		}
	}
}

// pick returns a table with rows, one of its entities and where that is.
func (m *slowTables) pick(rng *rand.Rand) (a *table.Table, e entity.ID, pos, row int) {
	var some []*table.Table
	for _, a := range m.all {
		if a.Len() > 0 {
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		m.create(m.table(typesOf(rng)), 1+rng.IntN(100))
		return m.pick(rng)
	}
	a = some[rng.IntN(len(some))]
	pos, row = a.Store.Find(rng.IntN(a.Len()))
	return a, table.IDs(a.Store.Row(pos, 0).Base, row+1)[row], pos, row
}

func typesOf(rng *rand.Rand) (sig table.Signature) {
	for id := range kinds {
		if rng.IntN(2) == 0 {
			sig.Add(table.TypeID(id))
		}
	}
	return sig
}

// step does something at random.
func (m *slowTables) step(rng *rand.Rand) string {
	m.s.Version++
	op := rng.IntN(9)
	if len(m.rows) > 6_000 {
		op = 1
	}
	if op == 0 {
		a, n := m.table(typesOf(rng)), 1+rng.IntN(1<<rng.IntN(11))
		m.create(a, n)
		return fmt.Sprintf("create %d of %v", n, a)
	}
	a, e, pos, row := m.pick(rng)
	n := 1 + rng.IntN(a.Store.RowsOf(pos)-row)
	if rng.IntN(4) == 0 {
		row, n = 0, a.Store.RowsOf(pos)
	}
	ids := slices.Clone(table.IDs(a.Store.Row(pos, 0).Base, row+n)[row:])
	text := fmt.Sprintf("op %d of %v, %d rows from %d of chunk %d", op, a, n, row, pos)
	switch op {
	case 1: // one goes
		r := m.ids.Find(e)
		o := m.s.OwnerOf(r.Location)
		a.MoveOne(nil, e, r, o)
		m.ids.FreeID(e, r)
		delete(m.rows, e)
	case 2: // many go
		a.Release(a.Store.Row(pos, row), n)
		m.ids.FreeIDs(ids)
		a.CloseGap(pos, row, n)
		for _, e := range ids {
			delete(m.rows, e)
		}
	case 3, 4: // one moves
		m.moveOne(a, m.table(typesOf(rng)), e)
	case 5, 6: // many move
		m.send(a, m.table(typesOf(rng)), pos, row, ids)
	case 7: // all move, chunks change hands
		m.give(a, m.table(typesOf(rng)))
	case 8: // bits, and memory given back
		for _, slot := range a.Metadata.Toggling() {
			on := rng.IntN(2) == 0
			r := m.ids.Find(e).Location
			at := m.s.OwnerOf(r).Row(r)
			a.Metadata.Bits(slot, pos).Set(at, on)
			m.rows[e].on[a.Types[slot]] = on
		}
		a.Refit()
	}
	return text
}

func (m *slowTables) moveOne(a, to *table.Table, e entity.ID) {
	if to == a {
		return
	}
	require.NoError(m.t, to.Grow(1))
	x := a.To(to)
	r := m.ids.Find(e)
	a.MoveOne(x, e, r, m.s.OwnerOf(r.Location))
	store.ClearRows(to.Store.LastRow(), 1, x.Fresh)
	m.moved(x, e)
}

func (m *slowTables) send(a, to *table.Table, pos, row int, ids []entity.ID) {
	if to == a {
		return
	}
	require.NoError(m.t, to.Grow(len(ids)))
	x := a.To(to)
	x.Send(pos, row, len(ids))
	a.CloseGap(pos, row, len(ids))
	for _, e := range ids {
		m.moved(x, e)
	}
}

func (m *slowTables) give(a, to *table.Table) {
	if to == a {
		return
	}
	x := a.To(to)
	if to.Len() == 0 && !x.MovesChunks && x.FitsSourceLayout() {
		before := m.planned
		x.UseSourceLayout()
		require.Greater(m.t, m.planned, before)
	}
	chunks := a.FullChunks()
	if !x.MovesChunks || chunks == 0 {
		return
	}
	if part := a.PartFull(); part == 0 || to.Len() > 0 {
		require.NoError(m.t, to.MakeRoom(1, false))
		to.Promote()
		to.Settle()
	}
	var ids []entity.ID
	for pos := range chunks {
		ids = append(ids, table.IDs(a.Store.Row(pos, 0).Base, a.Store.RowsOf(pos))...)
	}
	start, n := x.MoveChunks(chunks, nil)
	require.Equal(m.t, len(ids), n)
	require.Less(m.t, start, to.Len())
	for _, e := range ids {
		m.moved(x, e)
	}
}

func newUniverse(t *testing.T) *universe.Universe {
	u, err := universe.New(universe.Size(64 << 20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

// TestTablesAgainstModel brings rows to tables, moves and ends them, one by one, many at once and
// by whole chunks.
func TestTablesAgainstModel(t *testing.T) {
	u := newUniverse(t)
	for seed, growth := range []growth.Policy{growth.Doubling().Capped(64), growth.Fixed(1), growth.Fixed(4)} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(24, uint64(seed)))
			m := newSlowTables(t, u, growth, kinds...)
			steps := long.N(300, 2_000) // there are full tables, holes and outgrown chunks by then
			for i := range steps {
				text := m.step(rng)
				m.check(fmt.Sprintf("step %d: %s", i, text))
			}
		})
	}
}

// TestTablesVerifyNames corrupts each invariant in turn.
func TestTablesVerifyNames(t *testing.T) {
	for _, growth := range []growth.Policy{growth.Doubling(), growth.Fixed(1)} {
		m := newSlowTables(t, newUniverse(t), growth, kinds...)
		var both, one table.Signature
		both.Add(0)
		both.Add(1)
		one.Add(1)
		a, b := m.table(both), m.table(one)
		m.create(a, 20)
		m.create(b, 20)
		a.To(b)
		m.check("before")
		for _, name := range []string{"W1", "W2", "W3", "W3 row block", "W3 leak", "W6", "W9", "W9 hole",
			"W9 transition", "L1", "L1 length", "L1 mark"} {
			restore := a.Corrupt(name)
			require.ErrorContains(t, errors.Join(a.Verify(), m.s.Verify(m.all)), "ecs: "+name[:2]+":", name)
			restore()
			m.check(name)
		}
	}
}

// TestToWorld copies all rows to tables of another world whose types have other numbers, and
// repeats one there.
func TestToWorld(t *testing.T) {
	u := newUniverse(t)
	rng := rand.New(rand.NewPCG(24, 7))
	from, to := newSlowTables(t, u, growth.Doubling(), kinds...), newSlowTables(t, u, growth.Fixed(2), kinds...)
	backward := slices.Clone(kinds)
	slices.Reverse(backward)
	mirrored := newSlowTables(t, u, growth.Doubling(), backward...)
	for range 20 {
		sig := typesOf(rng)
		a := from.table(sig)
		from.create(a, 1+rng.IntN(2_000))
		same, other := to.table(sig), mirrored.table(mirror(sig))
		numbers := make([]table.TypeID, len(other.Types))
		for slot, id := range other.Types {
			numbers[slot] = table.TypeID(len(kinds)) - 1 - id
		}
		for _, x := range []*table.Transition{a.ToWorld(same, nil), a.ToWorld(other, numbers)} {
			require.NoError(t, x.To.MakeRoom(a.Len(), true))
			x.To.Promote()
			before, arrived := x.To.Len(), 0
			for pos := range a.Store.Chunks() {
				x.Copy(pos, 0, a.Store.RowsOf(pos), func(b table.Run, source store.Row) {
					require.Equal(t, table.IDs(source.Base, source.Row+len(b.IDs))[source.Row:], b.IDs)
					arrived += len(b.IDs)
				})
			}
			require.Equal(t, a.Len(), arrived)
			require.Equal(t, before+arrived, x.To.Len())
			for i := range a.Len() {
				requireSameRow(t, x, a.Store.Row(a.Store.Find(i)), x.To.Store.Row(x.To.Store.Find(before+i)))
			}
		}
	}
	a, e, pos, row := from.pick(rng)
	x := a.To(a)
	require.NoError(t, a.Grow(500))
	before := a.Len()
	for left := 500; left > 0; {
		b := a.Tail(left)
		x.Repeat(b, pos, row)
		for i := range b.IDs {
			b.IDs[i] = e
		}
		a.Push(b)
		left -= len(b.IDs)
	}
	for i := range 500 {
		requireSameRow(t, x, a.Store.Row(pos, row), a.Store.Row(a.Store.Find(before+i)))
	}
}

func mirror(sig table.Signature) (m table.Signature) {
	for id := range sig.Each() {
		m.Add(table.TypeID(len(kinds)) - 1 - id)
	}
	return m
}

func requireSameRow(t *testing.T, x *table.Transition, from, to store.Row) {
	require.Equal(t, *table.IDAt(from), *table.IDAt(to))
	for _, c := range x.To.Store.Columns() {
		there := x.From.Column(x.Number(table.TypeID(c.Key)))
		require.Equal(t, bytesOf(from, there), bytesOf(to, c), "column %d", c.Key)
	}
}

func bytesOf(at store.Row, c table.Column) []byte {
	return unsafe.Slice((*byte)(at.Element(c.Offset, c.Size)), c.Size) // Safe because the element has so many bytes.
}
