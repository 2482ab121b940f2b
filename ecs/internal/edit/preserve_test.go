package edit_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Behaviours 19 to 23: which values entities keep when they move, and how batches differ from
// moving them one by one. That a batch ends as its singles do in any order of any calls is
// TestBatchIsALoopOfSingles.

type extraTag struct{}
type extraFlag struct{}
type extraStun struct{ Left, Right int64 }

// mover is a world with all kinds of types and one more, which entities get and lose.
type mover struct {
	*ecstest.Twin
	extra    ecs.Type
	add      func(ecs.Entity) bool
	remove   func(ecs.Entity) bool
	has      func(ecs.Entity) bool
	on, off  *ecs.Change
	with     *ecs.Archetype // all kinds and the extra type
	selected ecs.Component[marked]
}

// extras are the kinds of the type that comes and goes.
var extras = map[string]func(m *mover){
	"data": func(m *mover) { withComponent[extraData](m) },
	"tag":  func(m *mover) { withComponent[extraTag](m) },
	"flag": func(m *mover) { withComponent[extraFlag](m, ecs.Enableable) },
	"stun": func(m *mover) { withComponent[extraStun](m, ecs.Enableable) },
	"buffer": func(m *mover) {
		b := ecs.RegisterBuffer[extraData](m.World, ecs.Inline(1), ecs.Enableable)
		m.extra, m.add, m.remove = b, b.Add, b.Remove
		m.has = func(e ecs.Entity) bool {
			b.Append(e, make([]extraData, e.Index()%5)...) // some spill, and end with the type
			return b.Has(e)
		}
	},
}

func withComponent[T any](m *mover, options ...ecs.TypeOption) {
	c := ecs.Register[T](m.World, options...)
	var v T
	m.extra, m.has, m.remove = c, c.Has, c.Remove
	m.add = func(e ecs.Entity) bool { return c.Add(e, v) }
}

// moves take chosen entities to the extra type and back; which are the selected ones of
// the query given.
var moves = map[string]func(t *testing.T, m *mover, chosen []ecs.Entity, q *ecs.Query, on bool){
	"singles": func(t *testing.T, m *mover, chosen []ecs.Entity, _ *ecs.Query, on bool) {
		for _, e := range chosen {
			if on {
				require.True(t, m.add(e))
			} else {
				require.True(t, m.remove(e))
			}
		}
	},
	"Apply": func(t *testing.T, m *mover, chosen []ecs.Entity, _ *ecs.Query, on bool) {
		require.Equal(t, len(chosen), applyEach(t, m.Twin, chosen, m.change(on).Apply))
	},
	"ApplyList": func(t *testing.T, m *mover, chosen []ecs.Entity, _ *ecs.Query, on bool) {
		m.batch(t, chosen)(m.change(on).ApplyList(chosen))
	},
	"ApplyQuery": func(t *testing.T, m *mover, chosen []ecs.Entity, q *ecs.Query, on bool) {
		m.batch(t, chosen)(m.change(on).ApplyQuery(q))
	},
	"Adopt": func(t *testing.T, m *mover, chosen []ecs.Entity, _ *ecs.Query, on bool) {
		require.Equal(t, len(chosen), applyEach(t, m.Twin, chosen, ecs.Into(m.set(on)).Apply))
	},
	"AdoptList": func(t *testing.T, m *mover, chosen []ecs.Entity, _ *ecs.Query, on bool) {
		m.batch(t, chosen)(ecs.Into(m.set(on)).ApplyList(chosen))
	},
	"AdoptQuery": func(t *testing.T, m *mover, chosen []ecs.Entity, q *ecs.Query, on bool) {
		m.batch(t, chosen)(ecs.Into(m.set(on)).ApplyQuery(q))
	},
}

func (m *mover) change(on bool) *ecs.Change {
	if on {
		return m.on
	}
	return m.off
}

func (m *mover) set(on bool) *ecs.Archetype {
	if on {
		return m.with
	}
	return m.Sets[len(m.Sets)-1]
}

// batch checks a batch: it is the chosen entities, each in its final place.
func (m *mover) batch(t *testing.T, chosen []ecs.Entity) func(ecs.Batch, error) {
	return func(b ecs.Batch, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, len(chosen), b.Len())
		ecstest.RequireSame(t, chosen, b.Entities(nil))
		for rows := range b.Rows() {
			p := m.Position.Slice(rows)
			for i, e := range rows.Entities() {
				require.Same(t, &p[i], m.Position.Get(e))
			}
		}
	}
}

// TestBehaviour19Preserved: moving preserves every other value, enable bit and element,
// for each operation and each kind of type that comes or goes; and so does what fills
// the places of those that went.
func TestBehaviour19Preserved(t *testing.T) {
	t.Parallel()
	for kind, extra := range extras {
		for name, move := range moves {
			for _, whole := range []bool{true, false} {
				for _, growth := range ecstest.ChunkSizes {
					t.Run(fmt.Sprintf("%s of a %s, all: %v, chunks grow %v", name, kind, whole, growth),
						func(t *testing.T) {
							m := &mover{Twin: ecstest.NewFullTwin(t, growth)}
							extra(m)
							m.selected = ecs.Register[marked](m.World, ecs.Enableable)
							all := []ecs.Type{m.Position, m.Health, m.Stun, m.Tag, m.Flag, m.Hits, m.selected}
							m.Sets[len(m.Sets)-1] = ecs.NewArchetype(m.World, all...)
							m.with = ecs.NewArchetype(m.World, append(all, m.extra)...)
							m.on, m.off = ecs.NewChange(m.World, ecs.Add(m.extra)),
								ecs.NewChange(m.World, ecs.Remove(m.extra))
							ids := m.Fill(t, 500)
							chosen := m.choose(ids, whole)
							q := ecs.NewQuery(m.World, ecs.With(m.selected))
							want := m.Shows(ids)
							for range 2 {
								move(t, m, chosen, q, true)
								require.NoError(t, m.World.Verify())
								require.Equal(t, want, m.Shows(ids))
								require.Equal(t, []int{len(chosen), len(ids) - len(chosen)}, []int{
									m.with.Len(), m.Sets[len(m.Sets)-1].Len(),
								})
								for i, e := range ids {
									require.Equal(t, whole || i%3 != 0, m.has(e))
									require.Equal(t, whole || i%3 != 0, m.selected.Enabled(e))
								}
								move(t, m, chosen, q, false)
								require.NoError(t, m.World.Verify())
								require.Equal(t, want, m.Shows(ids))
								require.Zero(t, m.with.Len())
							}
						})
				}
			}
		}
	}
}

// choose selects two entities of three, or all.
func (m *mover) choose(ids []ecs.Entity, whole bool) (chosen []ecs.Entity) {
	for i, e := range ids {
		if whole || i%3 != 0 {
			chosen = append(chosen, e)
		} else {
			m.selected.Disable(e)
		}
	}
	return chosen
}

// TestBehaviour20Exchange: adding and removing in one change ends as adding and then
// removing, in the same rows, and for entities that are not dying as the other way round.
func TestBehaviour20Exchange(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for how := range 3 {
			var hashes []uint64
			var shown [][]string
			for order := range 3 {
				x := ecstest.NewFullTwin(t, growth)
				ids := x.Fill(t, 900)
				extra, flag := ecs.Register[extraData](x.World), ecs.Register[extraFlag](x.World, ecs.Enableable)
				ecs.NewArchetype(x.World, x.Health, x.Flag, x.Hits, extra, flag) // so that archetypes have one order
				add := ecs.NewChange(x.World, ecs.Add(flag, extra))
				remove := ecs.NewChange(x.World, ecs.Remove(x.Position, x.Stun, x.Tag))
				exchange := ecs.NewChange(x.World, ecs.Add(extra, flag), ecs.Remove(x.Position, x.Stun, x.Tag))
				for _, c := range [][]*ecs.Change{{exchange}, {add, remove}, {remove, add}}[order] {
					switch how {
					case 0:
						require.Equal(t, len(ids)-100, applyEach(t, x, ids[100:], c.Apply))
					case 1:
						b, err := c.ApplyQuery(x.Queries[0])
						require.NoError(t, err)
						require.Equal(t, len(ids), b.Len())
					case 2:
						_, err := c.ApplyList(ids)
						require.NoError(t, err)
					}
				}
				require.NoError(t, x.World.Verify())
				hashes, shown = append(hashes, x.World.Hash()), append(shown, x.Shows(ids))
				require.NoError(t, x.World.Close())
			}
			for order := range hashes {
				require.Equal(t, shown[0], shown[order])
				require.Equal(t, hashes[0], hashes[order], "by single, query, list: %d", how)
			}
		}
	}
}

// TestBehaviour21Batch: the rows that a batch hands out are in their final places,
// those of chunks that changed hands included, and every column may be written, which
// marks it changed. The batch is void after the next change.
func TestBehaviour21Batch(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		x := ecstest.NewFullTwin(t, growth)
		ids := x.Fill(t, 2000)
		extra := ecs.Register[extraData](x.World)
		add, untag := ecs.NewChange(x.World, ecs.Add(extra)), ecs.NewChange(x.World, ecs.Remove(x.Tag))
		with := ecs.NewArchetype(x.World, x.Position, x.Health, x.Stun, x.Flag, x.Hits)
		plain := ecs.NewArchetype(x.World, x.Position)
		for name, apply := range map[string]func() (ecs.Batch, error){
			"move chunks": func() (ecs.Batch, error) { return untag.ApplyQuery(x.Queries[0]) },
			"query":       func() (ecs.Batch, error) { return add.ApplyQuery(x.Queries[1]) },
			"list":        func() (ecs.Batch, error) { return ecs.Into(plain).ApplyList(ids[7:1500]) },
		} {
			_, err := ecs.Into(x.Sets[len(x.Sets)-1]).ApplyQuery(x.Queries[0])
			require.NoError(t, err)
			since := x.World.Version()
			x.World.Advance()
			b, err := apply()
			require.NoError(t, err)
			require.NotZero(t, b.Len(), name)
			for rows := range b.Rows() {
				require.True(t, rows.Ordered(since), name)
				p := x.Position.Slice(rows)
				for i, e := range rows.Entities() {
					p[i] = ecstest.Position{X: float64(e.Index()), Y: 4321}
				}
				if name == "query" {
					require.True(t, extra.In(rows))
					for i := range extra.Slice(rows) {
						extra.Slice(rows)[i].C = 5
					}
				}
				require.True(t, x.Position.Changed(rows, since), name)
			}
			for _, e := range b.Entities(nil) {
				require.Equal(t, ecstest.Position{X: float64(e.Index()), Y: 4321}, *x.Position.Get(e), name)
				require.True(t, name != "query" || extra.Get(e).C == 5)
				require.True(t, name != "move chunks" || !x.Tag.Has(e))
			}
			require.NoError(t, x.World.Verify(), name)
			require.True(t, name == "list" || b.Len() == len(ids))
			with.Create()
			require.Panics(t, func() { b.Entities(nil) }, "%s: void after a change", name)
			x.World.DestroyList(x.Queries[0].Entities(nil)[len(ids):])
			ids = x.Queries[0].Entities(nil)
			x.Create(t, len(x.Sets)-1, 2000-len(ids))
			ids = x.Queries[0].Entities(nil)
		}
	}
}

// TestBehaviour22Duplicates: an entity that is in a list twice is handled once. Peers
// disagree (hecs rejects such lists).
func TestBehaviour22Duplicates(t *testing.T) {
	for _, n := range []int{5, 3000} { // a short list of many rows takes another way
		x := ecstest.NewFullTwin(t, ecstest.ChunkSizes[1])
		ids := x.Fill(t, n)
		e, f := ids[1], ids[3]
		list := []ecs.Entity{f, e, e, f, e}
		want := x.Shows(ids)
		extra := ecs.NewChange(x.World, ecs.Add(ecs.Register[extraData](x.World)))
		b, err := extra.ApplyList(list)
		require.NoError(t, err)
		require.Equal(t, 2, b.Len())
		require.ElementsMatch(t, []ecs.Entity{e, f}, b.Entities(nil))
		b, err = ecs.Into(x.Sets[len(x.Sets)-1]).ApplyList(list)
		require.NoError(t, err)
		require.Equal(t, 2, b.Len())
		require.Equal(t, want, x.Shows(ids))
		require.Equal(t, []int{2, 2, 2, 2}, []int{
			x.Stun.DisableList(list), x.Stun.EnableList(list), x.Flag.DisableList(list), x.Flag.EnableList(list),
		})
		require.Equal(t, 2, x.World.DestroyList(list))
		require.Equal(t, n-2, x.World.Stats().Alive)
		require.NoError(t, x.World.Verify())
	}
}

// TestBehaviour23DeadEntity: giving something to a dead entity is a broken contract, and
// a list with one dead entity is not begun: nothing is applied. Taking things away
// passes the dead by.
func TestBehaviour23DeadEntity(t *testing.T) {
	for _, n := range []int{20, 3000} {
		x := ecstest.NewFullTwin(t, ecstest.ChunkSizes[0])
		ids := x.Fill(t, n)
		for _, at := range []int{0, 7, 19} {
			list := append([]ecs.Entity{}, ids[:20]...)
			gone := x.Sets[0].Create()
			x.World.Destroy(gone)
			for _, e := range []ecs.Entity{gone, ecs.Null} {
				list[at] = e
				want, hash, stats := x.Shows(ids), x.World.Hash(), x.World.Stats()
				add := ecs.NewChange(x.World, ecs.Add(ecs.Register[extraData](x.World)), ecs.Remove(x.Tag))
				text := fmt.Sprintf(": entity %d of the list, %v, is not alive; nothing was changed", at, e)
				require.PanicsWithValue(t, "ecs: Change.ApplyList"+text, func() { _, _ = add.ApplyList(list) })
				require.PanicsWithValue(t, "ecs: Change.ApplyList"+text,
					func() { _, _ = ecs.Into(x.Sets[0]).ApplyList(list) })
				require.PanicsWithValue(t,
					fmt.Sprintf("ecs: Change.Apply: %v is not alive, cannot apply change -Tag +extraData", e),
					func() { _, _ = add.Apply(e) })
				require.PanicsWithValue(t,
					fmt.Sprintf("ecs: Change.Apply: %v is not alive, cannot apply change into []", e),
					func() { _, _ = ecs.Into(x.Sets[0]).Apply(e) })
				require.NoError(t, x.World.Verify())
				require.Equal(t, []any{want, hash, stats}, []any{x.Shows(ids), x.World.Hash(), x.World.Stats()})
			}
			b, err := ecs.NewChange(x.World, ecs.Remove(x.Tag)).ApplyList(list)
			require.NoError(t, err)
			require.Equal(t, 19, b.Len())
			_, err = ecs.NewChange(x.World, ecs.Add(x.Tag)).ApplyQuery(x.Queries[0])
			require.NoError(t, err)
		}
	}
}
