package change

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/layout"
)

// The types of tests: of several sizes, two that can be disabled, one that spills, one that is
// managed.
const (
	typeA = iota
	typeB
	typeC
	typeD
	typeHits
	typeName
	kinds
)

// shape is that of typeHits.
var shape = value.Shape{Element: 8, Inline: 2}

// slowRow is what a row should hold: a number for each type, 0 where it is as it began.
type slowRow struct {
	types  table.Signature
	values [kinds]uint32
	on     [kinds]bool
}

// model is a Writer beside a map.
type model struct {
	t       *testing.T
	u       *universe.Universe
	rows    Writer
	ids     entity.Store
	tables  table.Tables
	buffers value.Buffers
	names   *value.Store[uint32]
	all     []*table.Table
	want    map[entity.ID]*slowRow
	dead    []entity.ID
	next    uint32
	trim    func() int // what Calls.Trim does
}

var tags entity.Tags

func newModel(t *testing.T, u *universe.Universe, growth growth.Policy) *model {
	m := &model{t: t, u: u, names: value.NewStore[uint32](), want: map[entity.ID]*slowRow{}, trim: func() int {
		return 0
	}}
	tag := tags.Take(0)
	trim := func() int { return m.trim() }
	m.ids.Open(u, tag)
	m.buffers.Open(u, trim)
	m.tables.Open(u, growth, &m.ids, table.Calls{Trim: trim, Replanned: func() {}})
	for id, of := range [kinds]table.Type{
		{Layout: layout.Column{Name: "A", Size: 16, Align: 8}},
		{Layout: layout.Column{Name: "B", Size: 8, Align: 8, Enableable: true}},
		{Layout: layout.Column{Name: "C", Size: 40, Align: 8}},
		{Layout: layout.Column{Name: "D", Size: 0, Align: 1, Enableable: true}},
		{Layout: layout.Column{Name: "Hits", Size: value.HeaderSize + 16, Align: 8}, Buffers: &m.buffers},
		{Layout: layout.Column{Name: "Name", Size: 4, Align: 4}, Managed: m.names},
	} {
		require.Less(t, id, int(kinds))
		of.Lookups = new(entity.LookupTable)
		m.tables.Register(of)
	}
	m.rows.Open(&m.ids, &m.tables, &m.buffers, Calls{
		TableAt: func(i uint32) *table.Table { return m.all[i] }, Trim: trim, Records: func() {},
	})
	t.Cleanup(func() {
		for _, a := range m.all {
			for pos := range a.Store.Chunks() {
				a.Release(a.Store.Row(pos, 0), a.Store.RowsOf(pos))
			}
			a.End()
		}
		m.tables.Close()
		require.NoError(t, m.buffers.Close())
		require.NoError(t, m.ids.Close())
		tags.Free(tag)
	})
	return m
}

func newUniverse(t *testing.T, size int) *universe.Universe {
	u, err := universe.New(universe.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

func sigOf(types ...table.TypeID) (sig table.Signature) {
	for _, id := range types {
		sig.Add(id)
	}
	return sig
}

func someTypes(rng *rand.Rand) (sig table.Signature) {
	for id := range table.TypeID(kinds) {
		if rng.IntN(2) == 0 {
			sig.Add(id)
		}
	}
	return sig
}

// table returns the table of a set of types, made on need.
func (m *model) table(sig table.Signature) *table.Table {
	for _, a := range m.all {
		if a.Sig == sig {
			return a
		}
	}
	a := new(table.Table)
	require.NoError(m.t, a.Init(&m.tables, sig, len(m.all)%2 == 0))
	a.Index = uint32(len(m.all))
	m.all = append(m.all, a)
	return a
}

// at returns the row of an entity.
func (m *model) at(e entity.ID) store.Row {
	l := m.ids.Find(e).Location
	return m.tables.OwnerOf(l).RowAt(l)
}

// tableOf returns the table of an entity.
func (m *model) tableOf(e entity.ID) *table.Table {
	return m.all[m.tables.OwnerOf(m.ids.Find(e).Location).Table()]
}

// idsOf returns the entities of a table, in the order of rows, void ones of groups included.
func idsOf(a *table.Table) (list []entity.ID) {
	for pos := range a.Store.Needed() { // others are there for rows to come
		list = append(list, table.IDs(a.Store.Row(pos, 0).Base, a.Store.RowsOf(pos))...)
	}
	return list
}

// everyone returns all entities, in the order of tables and rows.
func (m *model) everyone() (list []entity.ID) {
	for _, a := range m.all {
		list = append(list, idsOf(a)...)
	}
	return list
}

// create makes n rows, in one of the ways that there are.
func (m *model) create(rng *rand.Rand, a *table.Table, n int) []entity.ID {
	var list []entity.ID
	switch rng.IntN(3) {
	case 0:
		for range n {
			require.NoError(m.t, m.rows.Room(a, 1, 1))
			list = append(list, m.rows.Create(a))
		}
	case 1:
		list = make([]entity.ID, n)
		require.NoError(m.t, m.ids.Reserve(list))
		require.Equal(m.t, -1, m.ids.Hold(list))
		require.NoError(m.t, m.rows.RoomHeld(a, n))
		start := a.Len()
		require.True(m.t, m.rows.CreateHeld(a, list) == TableRange{a, start, n})
	default:
		require.NoError(m.t, m.rows.Room(a, n, n))
		start := a.Len()
		require.True(m.t, m.rows.CreateN(a, n, &table.Signature{}) == TableRange{a, start, n})
		list = idsOf(a)[start:]
	}
	for _, e := range list {
		m.want[e] = &slowRow{types: a.Sig, on: [kinds]bool{typeB: true, typeD: true}}
	}
	m.write(rng, list)
	return list
}

// write gives the entities of a list values where they have none.
func (m *model) write(rng *rand.Rand, list []entity.ID) {
	for _, e := range list {
		row, at, a := m.want[e], m.at(e), m.tableOf(e)
		for _, c := range a.Store.Columns() {
			if row.values[c.Key] != 0 || rng.IntN(8) == 0 {
				continue
			}
			m.next++
			row.values[c.Key] = m.next
			switch c.Key {
			case typeHits:
				h, err := m.buffers.OwnerSpill().Take(&shape, 3)
				require.NoError(m.t, err)
				*value.HeaderOf(at, c) = h
				// Safe because there are three elements of 8 bytes.
				*(*uint32)(m.buffers.OwnerSpill().Elements(&h)) = m.next
			case typeName:
				*m.names.Make(&value.SlotsAt(at, c, 1)[0]) = m.next
			default:
				*(*uint32)(at.Element(c.Offset, c.Size)) = m.next // Safe because the columns have 4 bytes and more.
			}
		}
	}
}

// toggle switches a bit of an entity.
func (m *model) toggle(rng *rand.Rand, e entity.ID) {
	a, l := m.tableOf(e), m.ids.Find(e).Location
	o := m.tables.OwnerOf(l)
	row := o.Row(l)
	for _, slot := range a.Metadata.Toggling() {
		on := rng.IntN(2) == 0
		a.Metadata.Bits(slot, o.Pos()).Set(row, on)
		m.want[e].on[a.Types[slot]] = on
	}
}

// read returns what a row holds of a column.
func (m *model) read(at store.Row, c table.Column) uint32 {
	switch c.Key {
	case typeHits:
		if h := value.HeaderOf(at, c); h.Len() > 0 {
			return *(*uint32)(m.buffers.OwnerSpill().Elements(h)) // Safe because there are elements of 8 bytes.
		}
		return 0
	case typeName:
		if v := m.names.Get(value.SlotsAt(at, c, 1)[0]); v != nil {
			return *v
		}
		return 0
	}
	return *(*uint32)(at.Element(c.Offset, c.Size)) // Safe because the columns have 4 bytes and more.
}

// outcomes of the slow twin, entity by entity.

// goes notes that an entity came to a table, where types of reset begin anew.
func (m *model) goes(e entity.ID, to *table.Table, reset table.Signature) {
	row := m.want[e]
	for id := range table.TypeID(kinds) {
		switch {
		case !to.Sig.Has(id):
			row.values[id] = 0
		case !row.types.Has(id) || reset.Has(id):
			row.values[id], row.on[id] = 0, true
		}
	}
	row.types = to.Sig
}

// ends notes that an entity ended.
func (m *model) ends(e entity.ID) {
	delete(m.want, e)
	m.dead = append(m.dead, e)
}

// check compares all rows with the model, and verifies all parts.
func (m *model) check(text string) {
	m.t.Helper()
	require.NoError(m.t, m.rows.Verify(), text)
	require.NoError(m.t, m.tables.Verify(m.all), text)
	count, blocks := 0, 0
	for _, a := range m.all {
		require.NoError(m.t, a.Verify(), text)
		for pos := range a.Store.Chunks() {
			at := a.Store.Row(pos, 0)
			for row, e := range table.IDs(at.Base, a.Store.RowsOf(pos)) {
				want := m.want[e]
				if want == nil || want.types != a.Sig {
					m.t.Fatalf("%s: %v is in %v, want %+v", text, e, a, want)
				}
				at.Row = row
				for _, c := range a.Store.Columns() {
					if got := m.read(at, c); got != want.values[c.Key] {
						m.t.Fatalf("%s: %v of %v has %d in column %d, not %d",
							text, e, a, got, c.Key, want.values[c.Key])
					}
					if c.Key == typeHits {
						h := value.HeaderOf(at, c)
						require.NoError(m.t, m.buffers.VerifyRow(h, &shape), text)
						if h.Spilled() {
							blocks++
						}
					}
				}
				for _, slot := range a.Metadata.Toggling() {
					if a.Metadata.Bits(slot, pos).Has(row) != want.on[a.Types[slot]] {
						m.t.Fatalf("%s: %v of %v, bit %d", text, e, a, slot)
					}
				}
				count++
			}
		}
	}
	require.Len(m.t, m.want, count, text)
	require.Equal(m.t, count, int(m.rows.Created-m.rows.Destroyed), text)
	require.NoError(m.t, m.buffers.Verify(blocks), text)
	require.NoError(m.t, m.names.Verify(m.slots()), text)
	alive, err := m.ids.Verify()
	require.NoError(m.t, err, text)
	require.Equal(m.t, count, alive, text)
}

// slots yields the slots of all rows.
func (m *model) slots() iter.Seq2[string, []value.Slot] {
	return func(yield func(string, []value.Slot) bool) {
		for _, a := range m.all {
			for _, c := range a.Managed() {
				for pos := range a.Store.Chunks() {
					if !yield(a.String(), value.SlotsAt(a.Store.Row(pos, 0), c, a.Store.RowsOf(pos))) {
						return
					}
				}
			}
		}
	}
}

// shown returns all that a refused call leaves alone: chunks, where each entity is, counts. Tests
// report whether it is the same, and do not print it.
func (m *model) shown() string {
	text := fmt.Sprintln(m.rows.Created, m.rows.Destroyed, m.rows.Epoch, m.ids.Free(), m.buffers.Live())
	for _, a := range m.all {
		text += fmt.Sprintln(a.Len(), a.Store.Chunks(), idsOf(a))
	}
	return text
}

// idsIn returns the entities of spans.
func idsIn(spans []TableRange) (list []entity.ID) {
	for _, s := range spans {
		list = append(list, idsOf(s.Table)[s.Start:s.Start+s.N]...)
	}
	return list
}

// growths are policies with and without small chunks.
var growths = []growth.Policy{growth.Doubling().Capped(64), growth.Fixed(1), growth.Fixed(4)}

// steps returns how many steps a stream has.
func steps(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}
