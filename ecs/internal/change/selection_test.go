package change

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/internal/store"
)

// rowsOf returns the rows of a part as Backward shows them, counted over the table, and checks the
// order in which they come.
func (m *model) rowsOf(p *Part, text string) (list []int) {
	m.t.Helper()
	last := p.Table.Len()
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		c := p.Table.Store.Chunks()[pos]
		require.Positive(m.t, n, text)
		require.LessOrEqual(m.t, row+n, p.Table.Store.RowsOf(pos), text)
		if !p.Whole {
			require.LessOrEqual(m.t, c.Start+row+n, last, text)
			last = c.Start + row
		}
		for i := range n {
			list = append(list, c.Start+row+i)
		}
	}
	_, _, _, ok := runs.Next()
	require.False(m.t, ok, text)
	var visited []int
	require.NoError(m.t, p.EachRow(func(at store.Row) error {
		visited = append(visited, m.indexOf(*table.IDAt(at)))
		return nil
	}), text)
	require.Equal(m.t, list, visited, text)
	slices.Sort(list)
	return list
}

// indexOf returns the row of an entity, counted over its table.
func (m *model) indexOf(e entity.ID) int {
	l := m.ids.Find(e).Location
	o := m.tables.OwnerOf(l)
	row := o.Row(l)
	return m.all[o.Table()].Store.Chunks()[o.Pos()].Start + row
}

// checkPart compares a part with the entities that it should have.
func (m *model) checkPart(p *Part, want []entity.ID, text string) {
	m.t.Helper()
	ids, got := idsOf(p.Table), []entity.ID(nil)
	list := m.rowsOf(p, text)
	for _, i := range list {
		got = append(got, ids[i])
	}
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b entity.ID) int { return m.indexOf(a) - m.indexOf(b) })
	want = slices.Compact(want)
	require.True(m.t, slices.Equal(want, got), "%s: %v, want %v", text, got, want)
	require.Equal(m.t, len(want), p.Rows, text)
	switch {
	case p.IsMasked():
		for pos := range p.Table.Store.Chunks() {
			mask := p.Mask(pos)
			require.Len(m.t, mask, (p.Table.Store.RowsOf(pos)+63)/64, text)
			for row := range p.Table.Store.RowsOf(pos) {
				_, has := slices.BinarySearch(list, p.Table.Store.Chunks()[pos].Start+row)
				if has != (mask[row/64]>>(row%64)&1 != 0) {
					m.t.Fatalf("%s: row %d of chunk %d", text, row, pos)
				}
			}
		}
	case !p.Whole:
		require.Len(m.t, p.Listed(), len(want), text)
		require.True(m.t,
			slices.IsSortedFunc(p.Listed(), func(a, b uint64) int { return int(uint32(a)) - int(uint32(b)) }), text)
	}
}

// slowSelect is the slow twin of SelectList: the entities of a list by table, or the index of one
// that cannot be in it.
func (m *model) slowSelect(list []entity.ID, alive bool) (byTable map[*table.Table][]entity.ID, bad int) {
	byTable = map[*table.Table][]entity.ID{}
	for i, e := range list {
		switch {
		case m.want[e] != nil:
			byTable[m.tableOf(e)] = append(byTable[m.tableOf(e)], e)
		case alive || e != (entity.ID{}) && (e.IsPlaceholder() || e.Tag() != m.ids.Tag()):
			return nil, i
		}
	}
	return byTable, -1
}

// someList draws a list: entities that lie together or anywhere, twice, dead, null, of another
// world, placeholders.
func (m *model) someList(rng *rand.Rand, all []entity.ID) (list []entity.ID) {
	odd := []entity.ID{{}, entity.MakePlaceholder(3, 1), entity.Make(5, entity.TagOf(m.ids.Tag().Number()+1), 1)}
	odd = append(odd, m.dead[max(0, len(m.dead)-3):]...)
	for range rng.IntN(8) {
		if at := rng.IntN(len(all)); rng.IntN(2) == 0 {
			list = append(list, all[at:min(len(all), at+1+rng.IntN(300))]...)
		}
		list = append(list, all[rng.IntN(len(all))])
		if rng.IntN(12) == 0 {
			list = append(list, odd[rng.IntN(len(odd))])
		}
	}
	switch rng.IntN(4) {
	case 0:
		rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	case 1:
		slices.Reverse(list)
	case 2:
		list = append(list, list[:len(list)/2]...)
	}
	return list
}

// TestSelectListAgainstSlow compares lists of all kinds with a slow twin, alone and several in one
// selection.
func TestSelectListAgainstSlow(t *testing.T) {
	for seed, growth := range growths {
		rng := rand.New(rand.NewPCG(34, uint64(seed)))
		m := newModel(t, newUniverse(t, 64<<20), growth)
		for _, n := range []int{1, 30, 64, 65, 900, 2_600} { // the last in tables whose rows are listed and not masked
			m.create(rng, m.table(someTypes(rng)), n)
		}
		for _, e := range m.everyone()[:20] {
			r := m.ids.Find(e)
			m.rows.EndOne(m.tableOf(e), e, r, m.tables.OwnerOf(r.Location))
			m.ends(e)
		}
		all := m.everyone()
		for i := range steps(150) {
			text := fmt.Sprintf("growth %d, selection %d", seed, i)
			tx := m.rows.Begin()
			for range 1 + rng.IntN(3) {
				list, alive := m.someList(rng, all), rng.IntN(3) == 0
				want, bad := m.slowSelect(list, alive)
				first := len(tx.Parts)
				require.Equal(t, bad, m.rows.SelectList(&tx.Selection, list, alive), text)
				if bad >= 0 {
					break
				}
				require.Len(t, tx.Parts[first:], len(want), text)
				for k := range tx.Parts[first:] {
					p := &tx.Parts[first+k]
					m.checkPart(p, want[p.Table], text)
					require.Equal(t, p.Rows == p.Table.Len(), p.Whole, text)
				}
			}
			tx.Cancel()
		}
		m.check("after")
	}
}

// TestSelectWholeAndMasked adds tables as queries do: whole, or with a mask of any rows.
func TestSelectWholeAndMasked(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 0))
	for _, growth := range growths {
		m := newModel(t, newUniverse(t, 64<<20), growth)
		a, none := m.table(sigOf(typeA, typeC)), m.table(sigOf(typeB))
		for _, n := range []int{1, 62, 1, 1, 200, 1_300} {
			m.create(rng, a, n)
			ids := idsOf(a)
			for _, share := range []float64{0, .01, .5, .99, 1} {
				text := fmt.Sprintf("%d rows, %v of them", len(ids), share)
				tx := m.rows.Begin()
				tx.AddWhole(none)
				require.Empty(t, tx.Parts, text)
				tx.AddWhole(a)
				m.checkPart(&tx.Parts[0], ids, text)
				tx.Add(none)
				tx.DropLast()
				p := tx.Add(a)
				tx.AddMask(p)
				var want []entity.ID
				for i, e := range ids {
					if pos, row := a.Store.Find(i); rng.Float64() < share {
						p.Mask(pos)[row/64] |= 1 << (row % 64)
						p.Rows++
						want = append(want, e)
					}
				}
				m.checkPart(&tx.Parts[1], want, text)
				require.Equal(t, len(ids)+len(want), tx.Selection.Rows(), text)
				tx.Cancel()
			}
		}
	}
}

// TestEachRowStops: an error ends the walk and is returned.
func TestEachRowStops(t *testing.T) {
	m := newModel(t, newUniverse(t, 64<<20), growths[0])
	a := m.table(sigOf(typeA))
	m.create(rand.New(rand.NewPCG(36, 0)), a, 200)
	tx := m.rows.Begin()
	tx.AddWhole(a)
	seen := 0
	require.ErrorIs(t, tx.Parts[0].EachRow(func(store.Row) error {
		if seen++; seen == 3 {
			return alloc.ErrInjected
		}
		return nil
	}), alloc.ErrInjected)
	require.Equal(t, 3, seen)
	tx.Cancel()
}

// TestSerialWraps: tables of a selection that had the same serial, 2^32 selections before, are
// forgotten.
func TestSerialWraps(t *testing.T) {
	m := newModel(t, newUniverse(t, 64<<20), growths[0])
	list := m.create(rand.New(rand.NewPCG(37, 0)), m.table(sigOf(typeA)), 10)
	for range 3 {
		m.rows.tx.serial = ^uint32(0) - 1
		for range 4 {
			tx := m.rows.Begin()
			require.Equal(t, -1, m.rows.SelectList(&tx.Selection, list[:4], true))
			require.Len(t, tx.Parts, 1)
			m.checkPart(&tx.Parts[0], list[:4], "serial")
		}
	}
}
