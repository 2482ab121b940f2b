package change

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// choose selects rows as queries and lists do, and gives each table an outcome of its own. No table
// is left and come to. It returns what the slow twin makes of the entities.
func (m *model) choose(rng *rand.Rand, tx *Tx) (groups []*slowGroup) {
	targets := map[*table.Table]bool{}
	for _, a := range m.all {
		targets[a] = rng.IntN(3) == 0
	}
	some := m.table(someTypes(rng))
	targets[some] = true
	var to []*table.Table
	for _, a := range m.all {
		if targets[a] {
			to = append(to, a)
		}
	}
	listed := rng.IntN(2) == 0
	var list []entity.ID
	for _, a := range m.all {
		if targets[a] || a.Len() == 0 {
			continue
		}
		g := &slowGroup{list: idsOf(a)}
		if rng.IntN(2) == 0 {
			rng.Shuffle(len(g.list), func(i, k int) { g.list[i], g.list[k] = g.list[k], g.list[i] })
			g.list = g.list[:1+rng.IntN(len(g.list))]
		}
		switch rng.IntN(6) {
		case 0:
			g.ends = true
		case 1: // they stay
		case 2:
			g.to = some
		default:
			g.to = to[rng.IntN(len(to))]
		}
		groups = append(groups, g)
		if list = append(list, g.list...); !listed {
			m.mask(tx, a, g.list)
		}
	}
	if listed {
		require.Equal(m.t, -1, m.rows.SelectList(&tx.Selection, list, true))
	}
	for i := range tx.Parts {
		p := &tx.Parts[i]
		for _, g := range groups {
			if m.tableOf(g.list[0]) == p.Table {
				p.Outcome = g.outcome(p.Table)
			}
		}
	}
	return groups
}

// mask selects rows as a query does: all rows of a table, or a mask.
func (m *model) mask(tx *Tx, a *table.Table, list []entity.ID) {
	if len(list) == a.Len() {
		tx.AddWhole(a)
		return
	}
	p := tx.Add(a)
	tx.AddMask(p)
	p.Rows = len(list)
	for _, e := range list {
		pos, row := a.Store.Find(m.indexOf(e))
		p.Mask(pos)[row/64] |= 1 << (row % 64)
	}
}

// TestCommitAgainstModel commits random changes of many rows: rows are copied, or chunks change
// hands, or layouts are used.
func TestCommitAgainstModel(t *testing.T) {
	for seed, growth := range growths {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(38, uint64(seed)))
			m := newModel(t, newUniverse(t, 64<<20), growth)
			for i := range steps(150) {
				text := fmt.Sprintf("step %d", i)
				m.tables.Version++
				if len(m.want) < 4_000 {
					m.create(rng, m.table(someTypes(rng)), 1+rng.IntN(1<<rng.IntN(12)))
				}
				tx := m.rows.Begin()
				groups := m.choose(rng, tx)
				require.NoError(t, tx.Reserve(0), text)
				moved, ended := tx.Commit()
				var came []entity.ID
				for _, g := range groups {
					for _, e := range g.list {
						if g.ends {
							ended--
							m.ends(e)
						} else if g.to != nil {
							moved--
							came = append(came, e)
							m.goes(e, g.to, table.Signature{})
						}
					}
				}
				require.Zero(t, moved, text)
				require.Zero(t, ended, text)
				there := idsIn(tx.Spans)
				slices.SortFunc(came, byBits)
				slices.SortFunc(there, byBits)
				require.True(t, slices.Equal(came, there), text)
				m.checkMarks(tx.Spans, text)
				m.check(text)
				m.write(rng, m.everyone())
			}
		})
	}
}

// TestChunksComeToASmallOne: chunks change hands to a table whose few rows are in a small chunk,
// which has room for the rest: the rows leave it all the same, for it is the only chunk of its
// table.
func TestChunksComeToASmallOne(t *testing.T) {
	for rest := range 3 {
		for here := range 3 {
			text := fmt.Sprintf("%d rows beyond full chunks, %d are there", rest, here)
			rng := rand.New(rand.NewPCG(46, 0))
			m := newModel(t, newUniverse(t, 64<<20), growths[0])
			a, b := m.table(sigOf(typeA, typeD)), m.table(sigOf(typeA))
			for m.create(rng, a, 1); a.FullChunks() == 0 || a.PartFull() != 0; m.create(rng, a, 1) {
				require.Less(t, a.Len(), 20_000)
			}
			if rest > 0 {
				m.create(rng, a, rest)
			}
			if here > 0 {
				m.create(rng, b, here)
			}
			tx := m.rows.Begin()
			tx.AddWhole(a)
			tx.Parts[0].Outcome = Move(a.To(b))
			require.NoError(t, tx.Reserve(0), text)
			for _, e := range idsOf(a) {
				m.goes(e, b, table.Signature{})
			}
			moved, _ := tx.Commit()
			require.Equal(t, b.Len()-here, moved, text)
			m.check(text)
		}
	}
}

// TestOneEntityAgainstModel moves, copies and ends entities one by one.
func TestOneEntityAgainstModel(t *testing.T) {
	for seed, growth := range growths {
		rng := rand.New(rand.NewPCG(39, uint64(seed)))
		m := newModel(t, newUniverse(t, 64<<20), growth)
		var told []entity.ID
		m.rows.OnEnd(func(ids []entity.ID) {
			for _, e := range ids {
				require.NotNil(t, m.ids.Find(e), "it is alive when that is told")
			}
			told = append(told, ids...)
		})
		for i := range steps(1_500) {
			if len(m.want) < 50 {
				m.create(rng, m.table(someTypes(rng)), 1+rng.IntN(300))
			}
			all := m.everyone()
			e := all[rng.IntN(len(all))]
			a, r := m.tableOf(e), m.ids.Find(e)
			switch to := m.table(someTypes(rng)); {
			case i%3 == 0:
				m.rows.EndOne(a, e, r, m.tables.OwnerOf(r.Location))
				m.ends(e)
			case i%3 == 1 && a != to:
				require.NoError(t, m.rows.Room(to, 1, 0))
				transition := a.To(to)
				m.rows.MoveOne(a, transition, e, r, m.tables.OwnerOf(r.Location))
				store.ClearRows(to.Store.LastRow(), 1, transition.Fresh)
				m.goes(e, to, table.Signature{})
				m.write(rng, []entity.ID{e})
			case !a.Sig.Has(typeHits): // the caller would give the copies blocks
				m.repeat(rng, e, a, 1+rng.IntN(20))
			}
			if i%10 == 0 {
				m.check(fmt.Sprintf("growth %d, step %d", seed, i))
			}
		}
		require.Equal(t, m.dead, told)
	}
}

// repeat makes n copies of an entity.
func (m *model) repeat(rng *rand.Rand, e entity.ID, a *table.Table, n int) {
	require.NoError(m.t, m.rows.Room(a, n, n))
	pos, row := a.Store.Find(m.indexOf(e))
	ids, span := m.rows.Repeat(a.To(a), pos, row, n, nil)
	require.Equal(m.t, ids, idsIn([]TableRange{span}))
	for _, c := range ids {
		copied := *m.want[e]
		m.want[c] = &copied
	}
	m.write(rng, ids)
}

// hog holds chunks of a universe, for it to be scarce.
type hog struct {
	u    *universe.Universe
	held []universe.ChunkIndex
}

// leave holds all chunks but some.
func (h *hog) leave(chunks int) {
	h.release()
	for c, err := h.u.AllocExact(1); err == nil; c, err = h.u.AllocExact(1) {
		h.held = append(h.held, c)
	}
	for _, c := range h.held[:min(chunks, len(h.held))] {
		h.u.Free(c, 1)
	}
	h.held = h.held[min(chunks, len(h.held)):]
}

func (h *hog) release() {
	for _, c := range h.held {
		h.u.Free(c, 1)
	}
	h.held = nil
}

// scarce is groups of several tables, new entities and blocks in a universe of which others hold
// chunks.
type scarce struct {
	*model
	hog    hog
	born   *table.Table
	groups []*slowGroup
	create int
	blocks int
}

// newScarce makes tables whose rows are to move. Some targets are there and have rows, in small
// chunks that are outgrown, others are new.
func newScarce(t *testing.T, growth growth.Policy, seed uint64, rows int) *scarce {
	u, rng := newUniverse(t, 4<<20), rand.New(rand.NewPCG(40, seed))
	m := newModel(t, u, growth)
	s := &scarce{model: m, hog: hog{u: u}, create: 9_000, blocks: 40}
	sources := []*table.Table{
		m.table(sigOf(typeA)), m.table(sigOf(typeA, typeB, typeHits)), m.table(sigOf(typeC, typeName, typeD)),
	}
	targets := []*table.Table{m.table(sigOf(typeA, typeD)), m.table(sigOf(typeB, typeHits)),
		m.table(sigOf(typeC, typeA, typeName)), m.table(sigOf(typeD))}
	for i, a := range sources {
		m.create(rng, a, rows)
		m.create(rng, targets[i], 3)
		ids := idsOf(a)
		rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		s.groups = append(s.groups,
			&slowGroup{list: ids[:rows/3], to: targets[i]},
			&slowGroup{list: ids[rows/3 : rows/2], to: sources[(i+1)%3]},
			&slowGroup{list: ids[rows/2 : rows/2+2], to: targets[3]},
			&slowGroup{list: ids[rows/2+2 : rows*3/4], to: a, reset: a.Sig},
			&slowGroup{list: ids[rows*3/4 : rows-5], ends: true})
	}
	s.born = targets[3]
	t.Cleanup(s.hog.release)
	return s
}

// try selects, takes blocks and reserves.
func (s *scarce) try(text string) (*Tx, error) {
	tx := s.selectGroups(s.groups, s.born, s.create, text)
	for range s.blocks {
		if err := tx.Take(s.buffers.OwnerSpill(), &shape, 2_000); err != nil {
			tx.Cancel()
			return tx, err
		}
	}
	return tx, tx.Reserve(s.create)
}

// TestReserveRefused: with every number of free chunks, and where the world has reserves or none, a
// transaction is refused as a whole, and nothing is kept of it, or plays.
func TestReserveRefused(t *testing.T) {
	for seed, growth := range growths {
		for _, rows := range []int{40, 1_500} {
			s := newScarce(t, growth, uint64(seed), rows)
			relieved := 0
			s.trim = func() (chunks int) {
				for _, a := range s.all {
					chunks += a.Store.Trim(0)
				}
				chunks += s.buffers.Trim()
				relieved += chunks
				return chunks
			}
			refusals := 0
			for free := 0; ; free++ {
				text := fmt.Sprintf("growth %d, %d rows, %d chunks free", seed, rows, free)
				s.trim()
				s.hog.leave(free)
				s.check(text)
				before, live := s.shown(), s.u.Stats().LiveChunks
				tx, err := s.try(text)
				if err == nil {
					require.Equal(t, s.blocks, len(tx.blocks), text)
					require.ErrorContains(t, s.rows.Verify(), "ecs: C1:", "blocks are kept until Block hands them out")
					for range s.blocks {
						h := tx.Block()
						s.buffers.Free(&h)
					}
					s.move(rand.New(rand.NewPCG(41, 0)), tx, s.groups, s.born, s.create, text)
					break
				}
				refusals++
				require.ErrorIs(t, err, sentinel.ErrFull, text)
				require.True(t, before == s.shown(), text)
				s.trim()
				require.LessOrEqual(t, s.u.Stats().LiveChunks, live, text)
				s.check(text)
			}
			require.Greater(t, refusals, 10)
			s.hog.release()
		}
	}
}

// TestReserveRefusesIDs: at the limit of indices, where all rows have room, nothing changes.
func TestReserveRefusesIDs(t *testing.T) {
	for seed, growth := range growths {
		s := newScarce(t, growth, uint64(seed), 1_500)
		trims := 0
		s.trim = func() int { trims++; return 1 }
		s.create = s.ids.Free() + 1
		s.ids.Limit(0)
		before := s.shown()
		_, err := s.try("ids")
		require.ErrorIs(t, err, entity.ErrFull)
		require.Equal(t, 2, trims, "once for growth by policy, once for exact growth")
		require.True(t, before == s.shown())
		s.check("refused")
		s.ids.Limit(1)
		tx, err := s.try("ids")
		require.NoError(t, err)
		for range s.blocks {
			h := tx.Block()
			s.buffers.Free(&h)
		}
		s.move(rand.New(rand.NewPCG(41, 0)), tx, s.groups, s.born, s.create, "played")
	}
}

// TestTakeBlockCancel: blocks come in the order in which they were taken, and Cancel frees those
// that Block has not handed out.
func TestTakeBlockCancel(t *testing.T) {
	m := newModel(t, newUniverse(t, 64<<20), growths[0])
	for given := range 5 {
		tx := m.rows.Begin()
		for i := range 4 {
			require.NoError(t, tx.Take(m.buffers.OwnerSpill(), &shape, 10+i))
		}
		require.Equal(t, 4, m.buffers.Live())
		require.EqualError(t, m.rows.Verify(),
			"ecs: C1: no change is under way, but rows are coming to 0 tables, and 4 of 4 blocks are kept")
		var headers []value.Header
		for i := range given {
			headers = append(headers, tx.Block())
			require.Equal(t, 10+i, headers[i].Len())
		}
		tx.Cancel()
		require.Equal(t, given, m.buffers.Live())
		require.NoError(t, m.rows.Verify())
		tx.Cancel()
		require.Equal(t, given, m.buffers.Live(), "canceling twice does nothing")
		for i := range headers {
			m.buffers.Free(&headers[i])
		}
	}
	tx := m.rows.Begin()
	require.EqualError(t, tx.Take(m.buffers.OwnerSpill(), &shape, value.MaxLen+1),
		"value: a buffer of more than 4294967295 elements")
	require.NoError(t, m.rows.Verify())
	tx.Expect(m.table(sigOf(typeA)), 3)
	require.EqualError(t, m.rows.Verify(),
		"ecs: C1: no change is under way, but rows are coming to 1 tables, and 0 of 0 blocks are kept")
	tx.Cancel()
	require.NoError(t, m.rows.Verify())
}

// TestRoomRefused: room for rows and ids of a call about one table is made as a whole or not at
// all.
func TestRoomRefused(t *testing.T) {
	for seed, growth := range growths {
		u := newUniverse(t, 4<<20)
		m, h := newModel(t, u, growth), hog{u: u}
		t.Cleanup(h.release)
		rng := rand.New(rand.NewPCG(42, uint64(seed)))
		a, fresh := m.table(sigOf(typeA, typeHits)), m.table(sigOf(typeC))
		m.create(rng, a, 30)
		for _, to := range []*table.Table{a, fresh} {
			refusals := 0
			for free := 0; ; free++ {
				text := fmt.Sprintf("growth %d, %v, %d chunks free", seed, to, free)
				h.leave(free)
				before := m.shown()
				err := m.rows.Room(to, 6_000, 20_000)
				if err == nil {
					break
				}
				refusals++
				require.ErrorIs(t, err, sentinel.ErrFull, text)
				require.True(t, before == m.shown(), text)
				m.check(text)
			}
			require.Positive(t, refusals)
			require.GreaterOrEqual(t, to.Store.Room(), 6_000)
			m.rows.CreateN(to, 6_000, &table.Signature{})
			for _, e := range idsOf(to)[to.Len()-6_000:] {
				m.want[e] = &slowRow{types: to.Sig, on: [kinds]bool{typeB: true, typeD: true}}
			}
			m.check("created")
		}
		h.release()
	}
}
