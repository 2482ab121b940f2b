package change

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// slowGroup is a group of a transaction: entities of one table that have one outcome, and what the
// slow twin makes of each.
type slowGroup struct {
	list  []entity.ID // as it was given: an entity may be in it twice
	to    *table.Table
	reset table.Signature
	ends  bool
	first int
	end   int
}

// outcome returns what becomes of rows of a table; to nil: they stay.
func (g *slowGroup) outcome(from *table.Table) Outcome {
	switch {
	case g.ends:
		return End()
	case g.to == nil:
		return Stay()
	case g.reset == table.Signature{} && g.to != from:
		return Move(from.To(g.to))
	}
	return Move(from.Resetting(g.to, g.reset))
}

// groups divides entities at random among groups: those of a table into up to four, of which one
// may be nearly all rows and one just a few, so that masks and lists meet. Targets are tables that
// others leave, new ones, or the table itself.
func (m *model) groups(rng *rand.Rand) (groups []*slowGroup) {
	for _, a := range m.all {
		ids := idsOf(a)
		rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		for n := rng.IntN(5); n > 0 && len(ids) > 0; n-- {
			k := 1 + rng.IntN(len(ids))
			switch rng.IntN(4) {
			case 0:
				k = min(k, 1+rng.IntN(4))
			case 1:
				k = len(ids)
			}
			g := &slowGroup{list: slices.Clone(ids[:k])}
			if ids = ids[k:]; rng.IntN(3) == 0 {
				slices.SortFunc(g.list, func(a, b entity.ID) int { return int(a.Index()) - int(b.Index()) })
			}
			if rng.IntN(3) == 0 {
				g.list = append(g.list, g.list[rng.IntN(len(g.list))], g.list[0])
			}
			m.aim(rng, a, g)
			groups = append(groups, g)
		}
	}
	rng.Shuffle(len(groups), func(i, k int) { groups[i], groups[k] = groups[k], groups[i] })
	return groups
}

// aim gives a group of a table an outcome.
func (m *model) aim(rng *rand.Rand, a *table.Table, g *slowGroup) {
	switch rng.IntN(6) {
	case 0:
		g.ends = true
	case 1: // they stay
	case 2:
		g.to, g.reset = a, someTypes(rng)
	case 3:
		g.to, g.reset = m.table(someTypes(rng)), someTypes(rng)
	default:
		if g.to = m.all[rng.IntN(len(m.all))]; g.to == a {
			g.reset = someTypes(rng)
		}
	}
	for i := range g.reset {
		if g.to != nil {
			g.reset[i] &= g.to.Sig[i] & a.Sig[i]
		}
	}
	if g.to == a && g.reset == (table.Signature{}) {
		g.to = nil
	}
}

// selectGroups begins a transaction of groups, beside entities that are created in a table.
func (m *model) selectGroups(groups []*slowGroup, born *table.Table, create int, text string) *Tx {
	tx := m.rows.Begin()
	for _, g := range groups {
		bad := 0
		g.first, g.end, bad = tx.SelectGroup(g.list, func(p *Part) Outcome { return g.outcome(p.Table) })
		require.Equal(m.t, -1, bad, text)
	}
	if create > 0 {
		tx.Expect(born, create)
	}
	return tx
}

// play plays groups in one transaction, and in the slow twin.
func (m *model) play(rng *rand.Rand, groups []*slowGroup, create int, text string) {
	born := m.all[rng.IntN(len(m.all))]
	tx := m.selectGroups(groups, born, create, text)
	require.NoError(m.t, tx.Reserve(create), text)
	m.move(rng, tx, groups, born, create, text)
}

// move plays what is reserved, moves in any order.
func (m *model) move(rng *rand.Rand, tx *Tx, groups []*slowGroup, born *table.Table, create int, text string) {
	if create > 0 { // before the moves, as commands are played
		for _, e := range idsIn([]TableRange{m.rows.CreateN(born, create, &table.Signature{})}) {
			m.want[e] = &slowRow{types: born.Sig, on: [kinds]bool{typeB: true, typeD: true}}
		}
	}
	for _, i := range rng.Perm(len(groups)) {
		g := groups[i]
		tx.MoveGroup(g.first, g.end)
		unique := slices.Clone(g.list)
		slices.SortFunc(unique, byBits)
		unique = slices.Compact(unique)
		came := idsIn(tx.Spans)
		if slices.SortFunc(came, byBits); g.to == nil {
			require.Empty(m.t, came, text)
		} else {
			require.Equal(m.t, unique, came, text)
			m.checkMarks(tx.Spans, text)
		}
		for _, e := range unique {
			if g.ends {
				m.ends(e)
			} else if g.to != nil {
				m.goes(e, g.to, g.reset)
			}
		}
	}
	tx.Finish()
	m.check(text)
}

func byBits(a, b entity.ID) int {
	if a.Bits() < b.Bits() {
		return -1
	}
	return int(min(a.Bits()-b.Bits(), 1))
}

// checkMarks checks that rows which have come are marked changed.
func (m *model) checkMarks(spans []TableRange, text string) {
	for _, s := range spans {
		for i := s.Start; i < s.Start+s.N; i++ {
			pos, _ := s.Table.Store.Find(i)
			for slot := range s.Table.Types {
				require.Equal(m.t, m.tables.Version, s.Table.Metadata.Changed(uint16(slot), pos), text)
			}
		}
	}
}

// TestGroupsAgainstModel plays random groups of several tables in one transaction each.
func TestGroupsAgainstModel(t *testing.T) {
	for seed, growth := range growths {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(31, uint64(seed)))
			m := newModel(t, newUniverse(t, 64<<20), growth)
			for i := range steps(150) {
				m.tables.Version++
				if len(m.want) < 4_000 {
					m.create(rng, m.table(someTypes(rng)), 1+rng.IntN(1<<rng.IntN(12)))
				}
				for _, e := range m.everyone() {
					if rng.IntN(16) == 0 {
						m.toggle(rng, e)
					}
				}
				m.play(rng, m.groups(rng), max(0, rng.IntN(200)-100), fmt.Sprintf("step %d", i))
				m.write(rng, m.everyone())
				if rng.IntN(20) == 0 {
					for _, a := range m.all {
						m.rows.Refit(a)
					}
				}
			}
		})
	}
}

// TestGroupsSwapTables moves all rows of each of a ring of tables to the next one: the target of
// each is the source of another.
func TestGroupsSwapTables(t *testing.T) {
	for seed, growth := range growths {
		for _, n := range []int{1, 20, 150, 3_000} {
			rng := rand.New(rand.NewPCG(32, uint64(seed)))
			m := newModel(t, newUniverse(t, 64<<20), growth)
			ring := []*table.Table{m.table(sigOf(typeA)), m.table(sigOf(typeA, typeHits)),
				m.table(sigOf(typeB, typeC, typeName)), m.table(sigOf())}
			for i, a := range ring {
				m.create(rng, a, 1+n*(i+1)/4)
			}
			for i := range 6 {
				m.tables.Version++
				var groups []*slowGroup
				for k, a := range ring {
					if a.Len() > 0 {
						groups = append(groups, &slowGroup{list: idsOf(a), to: ring[(k+1+i%2)%len(ring)]})
					}
				}
				m.play(rng, groups, 0, fmt.Sprintf("%d rows, turn %d", n, i))
				m.write(rng, m.everyone())
			}
		}
	}
}

// TestGroupsOfListsAndMasks joins parts of one table of either kind, in every order of up to four.
func TestGroupsOfListsAndMasks(t *testing.T) {
	const rows = 5_000
	for kindsOf := range 1 << 4 {
		rng := rand.New(rand.NewPCG(33, uint64(kindsOf)))
		m := newModel(t, newUniverse(t, 64<<20), growths[kindsOf%len(growths)])
		a, b := m.table(sigOf(typeA, typeB)), m.table(sigOf(typeB))
		m.create(rng, a, rows)
		shuffled := func(ids []entity.ID) []entity.ID {
			rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
			return ids
		}
		ids := idsOf(a)
		// rows at the end are void when gaps are to be filled with them.
		last, rest := shuffled(ids[rows-12:]), shuffled(ids[:rows-12])
		var groups []*slowGroup
		for k := range 4 {
			g := &slowGroup{list: last[3*k : 3*k+3], to: b} // 5,000 rows are more than 1,024 for each
			if kindsOf>>k&1 != 0 {
				g.list = slices.Concat(g.list, rest[700*k:700*k+700])
			}
			if k == 3 {
				g.to, g.ends = nil, true
			}
			groups = append(groups, g)
		}
		tx := m.rows.Begin()
		for k, g := range groups {
			first, end, _ := tx.SelectGroup(g.list, func(*Part) Outcome { return Stay() })
			require.Equal(t, first+1, end)
			require.Equal(t, kindsOf>>k&1 != 0, tx.Parts[first].IsMasked())
		}
		tx.Cancel()
		m.play(rng, groups, 0, fmt.Sprintf("kinds %04b", kindsOf))
	}
}

// TestGroupsFollowLayouts: a group's transition to a table without rows is worked out before the
// table returns to its own layout, because entities are created there too.
func TestGroupsFollowLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 0))
	m := newModel(t, newUniverse(t, 64<<20), growths[0])
	a, b, c := m.table(sigOf(typeA, typeB, typeC)), m.table(sigOf(typeA, typeC)), m.table(sigOf(typeA, typeC, typeD))
	m.create(rng, a, 3*a.Store.PerUnit())
	tx := m.rows.Begin()
	tx.AddWhole(a)
	tx.Parts[0].Outcome = Move(a.To(b))
	require.NoError(t, tx.Reserve(0))
	for _, e := range idsOf(a) {
		m.goes(e, b, table.Signature{})
	}
	tx.Commit()
	require.False(t, b.HasOwnLayout())
	m.play(rng, []*slowGroup{{list: idsOf(b), to: c}}, 0, "away")
	require.Zero(t, b.Len())
	groups := []*slowGroup{{list: idsOf(c)[:100], to: b, reset: sigOf(typeA)}}
	tx = m.selectGroups(groups, b, 50, "back")
	require.True(t, b.HasOwnLayout())
	require.NoError(t, tx.Reserve(50))
	m.move(rng, tx, groups, b, 50, "back")
	m.write(rng, m.everyone())
	m.check("written")
}
