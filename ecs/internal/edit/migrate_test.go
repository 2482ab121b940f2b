package edit_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// newNests makes two worlds with the same types, registered in different orders, in one
// universe or each in its own.
func newNests(t *testing.T, together bool, growth alloc.Growth) (x, y *nest) {
	options := []ecs.Option{ecs.ChunkGrowth(growth)}
	if together {
		u := ecstest.NewUniverse(t, 64<<20)
		options = append(options, ecs.WithUniverse(u))
	}
	w := ecstest.NewWorld(t, options...)
	ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(3))
	ecs.Register[ecstest.Health](w)
	ecs.RegisterShared[string](w)
	ecs.Register[ecstest.Owner](w)
	y = &nest{w: w, position: ecs.Register[ecstest.Position](w), owner: ecs.Register[ecstest.Owner](w),
		stun: ecs.Register[ecstest.Stun](w, ecs.Enableable), hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(3)),
		team: ecs.RegisterShared[string](w), socket: ecs.Register[ecstest.Socket](w, ecs.Cleanup),
		prefab: ecs.Register[ecs.Prefab](w), linked: ecs.RegisterBuffer[ecs.LinkedEntity](w)}
	return newNest(t, options...), y
}

// shown is what an entity has, with the entities that it names as numbers in a list.
type shown struct {
	name, team                         string
	position, owner                    any
	hasTeam, socket, stunned, disabled bool
	hits                               []string
}

func (x *nest) show(e ecs.Entity, all []ecs.Entity) (s shown) {
	name := func(e ecs.Entity) any {
		if e == ecs.Null {
			return "null"
		}
		return slices.Index(all, e)
	}
	s.name, s.socket, s.stunned = x.w.Name(e), x.socket.Has(e), x.stun.Has(e)
	s.disabled = s.stunned && !x.stun.Enabled(e)
	s.team, s.hasTeam = x.team.Get(e)
	if p := x.position.Get(e); p != nil {
		s.position = *p
	}
	if o := x.owner.Get(e); o != nil {
		s.owner = name(o.Of)
	}
	for _, h := range x.hits.Slice(e) {
		s.hits = append(s.hits, fmt.Sprint(name(h.By), h.Damage))
	}
	return s
}

// TestMoveAll: all entities of a world are in another, with all that they have, and name
// each other as before; where both are in one universe full chunks change hands.
func TestMoveAll(t *testing.T) {
	for _, together := range []bool{true, false} {
		for _, growth := range ecstest.ChunkSizes {
			for _, n := range []int{0, 1, 30, 3000} {
				// Each closes its worlds: where these are of the Go heap, there is no room for all.
				t.Run(fmt.Sprintf("%v, %v, %d", together, growth, n),
					func(t *testing.T) { moveAll(t, together, growth, n) })
			}
		}
	}
}

func moveAll(t *testing.T, together bool, growth alloc.Growth, n int) {
	x, y := newNests(t, together, growth)
	ids := []ecs.Entity{}
	for i := range n {
		e := x.make([]int{0, 1, 1, 1, 2, 3}[i%6]%4, 0, append(slices.Clone(ids[max(0, i-3):]), ecs.Null)...)
		for k := range i % 6 {
			x.hits.Append(e, ecstest.Hit{
				By: append(slices.Clone(ids[max(0, i-2):]), e)[k%3%min(3, i+1)], Damage: int32(k),
			})
		}
		if i%7 == 0 {
			x.stun.Disable(e)
			x.w.SetName(e, fmt.Sprint("n", i))
		}
		ids = append(ids, e)
	}
	var want, got []shown
	for _, e := range ids {
		want = append(want, x.show(e, ids))
	}
	moved, err := y.w.MoveAll(x.w)
	require.NoError(t, err)
	require.NoError(t, x.w.Verify())
	require.NoError(t, y.w.Verify())
	require.Equal(t, n, moved.Len())
	require.Zero(t, x.w.Stats().Alive)
	require.Equal(t, n, y.w.Stats().Alive)
	require.Zero(t, x.w.Stats().Buffers)
	news := []ecs.Entity{}
	for _, e := range ids {
		require.False(t, x.w.Alive(e))
		require.False(t, y.w.Alive(e))
		news = append(news, moved.Of(e))
	}
	ecstest.RequireSame(t, news, moved.Entities(nil))
	for _, e := range news {
		got = append(got, y.show(e, news))
	}
	require.Equal(t, want, got)
	require.Equal(t, ecs.Null, moved.Of(ecs.Null))
}

// TestMoveRelinks: chunks of worlds in one universe are those of the other after a move,
// where the numbers of types differ too.
func TestMoveRelinks(t *testing.T) {
	x, y := newNests(t, true, alloc.Doubling().Capped(64))
	a := ecs.NewArchetype(x.w, x.position, x.owner, x.team.Of("blue"))
	b, err := a.CreateN(100_000)
	require.NoError(t, err)
	ids := b.Entities(nil)
	for i, e := range ids {
		x.position.Set(e, ecstest.Position{X: float64(i)})
		x.owner.Set(e, ecstest.Owner{Of: ids[len(ids)-1-i]})
	}
	offset, bytes, rows := a.Chunk(1)
	moved, err := y.w.MoveAll(x.w)
	require.NoError(t, err)
	to := ecs.NewArchetype(y.w, y.position, y.owner, y.team.Of("blue"))
	require.Equal(t, len(ids), to.Len())
	o, by, r := to.Chunk(1)
	require.Equal(t, []int{offset, bytes, rows}, []int{o, by, r})
	for i, e := range ids {
		require.Equal(t, float64(i), y.position.Get(moved.Of(e)).X)
		require.Equal(t, moved.Of(ids[len(ids)-1-i]), y.owner.Get(moved.Of(e)).Of)
	}
	require.NoError(t, y.w.Verify())
	back, err := x.w.MoveAll(y.w)
	require.NoError(t, err)
	require.Equal(t, 7.0, x.position.Get(back.Of(moved.Of(ids[7]))).X)
	require.NoError(t, x.w.Verify())
	require.NoError(t, y.w.Verify())
}

// TestMoveQuery: those that match go, and name those that stay no more; the values that are
// the same in both worlds become one.
func TestMoveQuery(t *testing.T) {
	for _, together := range []bool{true, false} {
		x, y := newNests(t, together, alloc.Fixed(1))
		var ids []ecs.Entity
		for i := range 1500 {
			ids = append(ids, x.make(1, i%5, append(slices.Clone(ids[max(0, i-1):]), ecs.Null)...))
			if i%3 == 0 {
				x.stun.Disable(ids[i])
			}
		}
		mine := y.w
		own := ecs.NewArchetype(mine, y.position, y.team.Of("red")).Create()
		x.owner.Set(ids[1], ecstest.Owner{Of: own}) // an entity of the world that it goes to
		var want, got []shown
		goers := slices.DeleteFunc(slices.Clone(ids), func(e ecs.Entity) bool { return !x.stun.Enabled(e) })
		for _, e := range goers {
			s := x.show(e, goers)
			if e == ids[1] || s.owner == -1 {
				s.owner = "null"
			}
			for i, h := range s.hits {
				var by, damage int
				if _, err := fmt.Sscan(h, &by, &damage); err == nil && by == -1 {
					s.hits[i] = fmt.Sprint("null", damage)
				}
			}
			want = append(want, s)
		}
		q := ecs.NewQuery(x.w, ecs.Read(x.stun))
		moved, err := mine.MoveQuery(q)
		require.NoError(t, err)
		require.NoError(t, x.w.Verify())
		require.NoError(t, mine.Verify())
		require.Equal(t, 1000, moved.Len())
		require.Zero(t, q.Count())
		require.Equal(t, 500, x.w.Stats().Alive)
		require.Equal(t, own, y.owner.Get(moved.Of(ids[1])).Of, "an entity of the new world stays")
		y.owner.Set(moved.Of(ids[1]), ecstest.Owner{})
		var news []ecs.Entity
		for _, e := range goers {
			news = append(news, moved.Of(e))
		}
		for _, e := range news {
			got = append(got, y.show(e, news))
		}
		require.Equal(t, want, got)
		require.Equal(t, ecs.Null, moved.Of(ids[0]))
		require.Equal(t, []string{"red"}, y.team.Values(nil))
		require.Equal(t, 1001, y.team.Len("red"))
		found := 0
		changed := ecs.NewQuery(mine, ecs.Read(y.position), ecs.Changed(y.position))
		for rows := range changed.Rows() {
			found += rows.Len()
		}
		require.Equal(t, 1001, found)
		require.True(t, changed.Empty(), "marked once")
	}
}

// TestMoveKeepsOtherNames: of the old world only those that came along are still named, by their
// new names; what names an entity of any other world, alive or dead, is left as it is.
func TestMoveKeepsOtherNames(t *testing.T) {
	for _, together := range []bool{true, false} {
		for _, n := range []int{1, 3000} { // one row, which is copied, and chunks that change hands
			x, y := newNests(t, together, alloc.Fixed(1))
			third := newNest(t)
			born := func(x *nest, alive bool) ecs.Entity {
				e := x.kinds[2].Create()
				if !alive {
					x.w.Destroy(e)
				}
				return e
			}
			y.kinds, third.kinds = []*ecs.Archetype{2: ecs.NewArchetype(y.w, y.hits)},
				[]*ecs.Archetype{2: ecs.NewArchetype(third.w, third.hits)}
			here, gone := born(x, true), born(x, false)
			names := []ecs.Entity{
				here, gone, born(y, true), born(y, false), born(third, true), born(third, false), ecs.Null,
			}
			want := append([]ecs.Entity{ecs.Null, ecs.Null}, names[2:]...)
			var ids []ecs.Entity
			for i := range n {
				ids = append(ids, x.make(1, len(names), names...))
				x.owner.Set(ids[i], ecstest.Owner{Of: names[i%len(names)]})
			}
			moved, err := y.w.MoveQuery(ecs.NewQuery(x.w, ecs.With(x.owner, x.position)))
			require.NoError(t, err)
			require.Equal(t, n, moved.Len())
			for i, e := range ids {
				e = moved.Of(e)
				require.Equal(t, want[i%len(names)], y.owner.Get(e).Of)
				for k, h := range y.hits.Slice(e) {
					require.Equal(t, want[k], h.By)
				}
			}
			require.True(t, x.w.Alive(here))
			require.NoError(t, y.w.Verify())
		}
	}
}

// TestMoveMisuse: what cannot move is refused, and nothing has.
func TestMoveMisuse(t *testing.T) {
	x, y := newNests(t, true, alloc.Fixed(1))
	e := x.make(1, 2, ecs.Null)
	q := ecs.NewQuery(x.w, ecs.Read(x.position))
	require.PanicsWithValue(t, "ecs: World.MoveAll: both worlds are the same", func() { _, _ = x.w.MoveAll(x.w) })
	require.PanicsWithValue(t, "ecs: World.MoveQuery: both worlds are the same", func() { _, _ = x.w.MoveQuery(q) })
	require.PanicsWithValue(t, "ecs: World.MoveAll: the world is nil or the zero value; worlds come from NewWorld",
		func() { _, _ = x.w.MoveAll(nil) })
	require.Panics(t, func() { _, _ = x.w.MoveQuery(nil) })
	require.Panics(t, func() {
		for range q.Rows() {
			_, _ = y.w.MoveAll(x.w)
		}
	})
	other := ecstest.NewWorld(t)
	ecs.Register[ecstest.Stun](other)
	require.PanicsWithValue(t, "ecs: World.MoveAll: the worlds have Stun with different options",
		func() { _, _ = other.MoveAll(x.w) })
	require.True(t, x.w.Alive(e))
	require.NoError(t, x.w.Verify())
	require.NoError(t, other.Verify())
	closed := ecstest.NewWorld(t)
	require.NoError(t, closed.Close())
	require.PanicsWithValue(t, "ecs: World.MoveAll: the world is closed", func() { _, _ = y.w.MoveAll(closed) })
	require.PanicsWithValue(t, "ecs: World.MoveAll: the world is closed", func() { _, _ = closed.MoveAll(y.w) })
}

// TestMoveWithoutMemory: all move or none, whatever is refused.
func TestMoveWithoutMemory(t *testing.T) {
	failed, done := 0, 0
	for left := range 60 {
		u := ecstest.NewUniverse(t, 4<<20)
		x, y := newNest(t, ecs.WithUniverse(u)), newNest(t, ecs.WithUniverse(u))
		last := ecs.Null
		for i := range 2000 {
			last = x.make(1+i%2, i%9, last)
		}
		x.w.Trim()
		held := holdBut(u, left)
		hash, mine := x.w.Hash(), y.w.Stats()
		moved, err := y.w.MoveAll(x.w)
		require.NoError(t, x.w.Verify())
		require.NoError(t, y.w.Verify())
		if err != nil {
			failed++
			require.ErrorIs(t, err, ecs.ErrLimit)
			require.Equal(t, hash, x.w.Hash())
			require.Equal(t, mine, y.w.Stats())
		} else {
			done++
			require.Equal(t, 2000, moved.Len())
			require.Equal(t, 2000, y.w.Stats().Alive)
		}
		for _, c := range held {
			u.Free(c, 1)
		}
	}
	require.Positive(t, failed)
	require.Positive(t, done)
}

// TestMoveAgainstModel moves entities to and fro at random, by value, by list of values and
// all, while they come and go.
func TestMoveAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	x, y := newNests(t, true, alloc.Fixed(1)) // so that there are full chunks
	sides := [2]*nest{x, y}
	y.kinds = []*ecs.Archetype{ecs.NewArchetype(y.w, y.position, y.owner, y.stun, y.hits, y.team.Of("red"))}
	x.kinds = []*ecs.Archetype{ecs.NewArchetype(x.w, x.position, x.owner, x.stun, x.hits, x.team.Of("red"))}
	var at [2][]ecs.Entity
	for range ecstest.StepsOf(250) {
		side := rng.IntN(2)
		w, other := sides[side], sides[1-side]
		switch rng.IntN(5) {
		case 0, 1:
			for range rng.IntN(max(1, 1200-len(at[side]))) / 4 {
				e := w.make(0, rng.IntN(6), append(ecstest.SomeOf(rng, at[side], 3), ecs.Null)...)
				w.team.Set(e, []string{"red", "blue", "green"}[rng.IntN(3)])
				at[side] = append(at[side], e)
			}
		case 2:
			list := ecstest.SomeOf(rng, at[side], 100)
			w.w.DestroyList(list)
			at[side] = slices.DeleteFunc(at[side], func(e ecs.Entity) bool { return slices.Contains(list, e) })
		default:
			q := ecs.NewQuery(w.w, ecs.Read(w.position))
			goes := func(ecs.Entity) bool { return true }
			if team := []string{"red", "blue", "green", "all"}[rng.IntN(4)]; team != "all" {
				q = ecs.NewQuery(w.w, ecs.Where(w.team.Of(team)))
				goes = func(e ecs.Entity) bool { v, _ := w.team.Get(e); return v == team }
			}
			var goers, stay, news []ecs.Entity
			for _, e := range at[side] {
				if goes(e) {
					goers = append(goers, e)
				} else {
					stay = append(stay, e)
				}
			}
			var want []shown
			for _, e := range goers {
				want = append(want, w.show(e, goers))
			}
			moved, err := other.w.MoveQuery(q)
			require.NoError(t, err)
			q.Close()
			require.Equal(t, len(goers), moved.Len())
			for _, e := range goers {
				news = append(news, moved.Of(e))
			}
			for i, e := range news {
				got := other.show(e, news)
				require.Equal(t, want[i].position, got.position)
				require.Equal(t, want[i].team, got.team)
				require.Equal(t, len(want[i].hits), len(got.hits))
				require.True(t, want[i].owner == got.owner || want[i].owner == -1 && got.owner == "null")
			}
			at[side], at[1-side] = stay, append(at[1-side], news...)
		}
		require.NoError(t, x.w.Verify())
		require.NoError(t, y.w.Verify())
		require.Equal(t, len(at[0]), x.w.Stats().Alive)
		require.Equal(t, len(at[1]), y.w.Stats().Alive)
	}
}

// TestMoveMarksOrder: full chunks that change hands come before the last one of the target,
// part full, and Ordered shows that one as well: its place is another.
func TestMoveMarksOrder(t *testing.T) {
	u := ecstest.NewUniverse(t, 16<<20)
	x := newNest(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	y := newNest(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	a := ecs.NewArchetype(x.w, x.position, x.owner)
	b := ecs.NewArchetype(y.w, y.position, y.owner)
	per := a.Plan().Rows
	require.Equal(t, per, b.Plan().Rows)
	for _, to := range []struct {
		a *ecs.Archetype
		n int
	}{{a, 2 * per}, {b, per + 1}} {
		_, err := to.a.CreateN(to.n)
		require.NoError(t, err)
	}
	q := ecs.NewQuery(y.w, ecs.Read(y.position), ecs.Ordered())
	seen := func() (rows []int) {
		for r := range q.Rows() {
			rows = append(rows, r.Len())
		}
		return rows
	}
	require.Equal(t, []int{per, 1}, seen())
	require.Empty(t, seen())
	_, err := y.w.MoveAll(x.w)
	require.NoError(t, err)
	require.Equal(t, 4, b.Chunks())
	require.Equal(t, []int{per, per, 1}, seen())
}

// TestMoveGivesPartFullChunks: a chunk that is not full goes as it is, too, if the other world's
// archetype has no rows; if it has some, the rows are copied.
func TestMoveGivesPartFullChunks(t *testing.T) {
	x, y := newNests(t, true, alloc.Doubling().Capped(64))
	from := ecs.NewArchetype(x.w, x.position, x.owner, x.team.Of("blue"))
	to := ecs.NewArchetype(y.w, y.position, y.owner, y.team.Of("blue"))
	for round, n := range []int{1000, 500} {
		b, err := from.CreateN(n)
		require.NoError(t, err)
		ids := b.Entities(nil)
		for i, e := range ids {
			x.position.Set(e, ecstest.Position{X: float64(i)})
			x.owner.Set(e, ecstest.Owner{Of: ids[n-1-i]})
		}
		last := x.position.Get(ids[n-1])
		moved, err := y.w.MoveAll(x.w)
		require.NoError(t, err)
		if round == 0 {
			require.Same(t, last, y.position.Get(moved.Of(ids[n-1])))
		} else {
			require.NotSame(t, last, y.position.Get(moved.Of(ids[n-1])))
		}
		for i, e := range ids {
			require.Equal(t, float64(i), y.position.Get(moved.Of(e)).X)
			require.Equal(t, moved.Of(ids[n-1-i]), y.owner.Get(moved.Of(e)).Of)
		}
		require.NoError(t, x.w.Verify())
		require.NoError(t, y.w.Verify())
	}
	require.Equal(t, 1500, to.Len())
}

// TestMoveQueryReuses: a result that serves several moves knows nothing of those before, not even
// of a world with the same ids, and makes no pages for worlds of one size.
func TestMoveQueryReuses(t *testing.T) {
	const n = 20_000
	y := ecstest.NewWorld(t)
	owner := ecs.Register[ecstest.Owner](y)
	var m ecs.MoveResult
	move := func(stays int) (ids []ecs.Entity, bytes uint64) {
		x := ecstest.NewWorld(t, ecs.WithUniverse(y.Universe()))
		door.SetTag(x, 9)
		of := ecs.Register[ecstest.Owner](x)
		b, err := ecs.NewArchetype(x, of).CreateN(n)
		require.NoError(t, err)
		ids = b.Entities(nil)
		for i := range ids {
			of.Set(ids[i], ecstest.Owner{Of: ids[max(0, i-1)]})
		}
		ecs.NewChange(x, ecs.Remove(of)).Apply(ids[stays])
		q := ecs.NewQuery(x, ecs.Read(of))
		defer q.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, door.MoveQuery(y, q, &m))
		runtime.ReadMemStats(&after)
		require.Equal(t, n-1, m.Len())
		require.Equal(t, ecs.Null, m.Of(ids[stays]))
		return ids, after.TotalAlloc - before.TotalAlloc
	}
	first, bytes := move(n - 1)
	require.Greater(t, bytes, uint64(3*128<<10))
	require.True(t, y.Alive(m.Of(first[n-2])))
	second, bytes := move(n - 2)
	require.Equal(t, first, second)
	require.Less(t, bytes, uint64(128<<10))
	require.Equal(t, ecs.Null, owner.Get(m.Of(second[n-1])).Of, "it leads to one that stayed")
	require.Equal(t, m.Of(second[0]), owner.Get(m.Of(second[1])).Of)
	require.NoError(t, y.Verify())
}
