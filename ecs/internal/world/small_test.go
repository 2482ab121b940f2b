package world_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/store"

	"github.com/stretchr/testify/require"
)

// Small first chunks: what is seen of them when an archetype grows out of one.

// isSmall reports whether an archetype's rows are in a small chunk.
func isSmall(a *ecs.Archetype) bool {
	if a.Chunks() == 0 {
		return false
	}
	_, bytes, _ := a.Chunk(0)
	return bytes == store.SmallSize
}

// growths are the ways to n more rows of the set; each gives values that follow from ids.
var growths = map[string]func(t *testing.T, x *ecstest.Twin, set, n int){
	"CreateN": func(t *testing.T, x *ecstest.Twin, set, n int) { x.Create(t, set, n) },
	"Create": func(t *testing.T, x *ecstest.Twin, set, n int) {
		for range n {
			x.Create(t, set, 0)
			e := x.Sets[set].Create()
			x.Position.Set(e, ecstest.Position{X: float64(e.Index()), Y: 5})
		}
	},
	"CreateReserved": func(t *testing.T, x *ecstest.Twin, set, n int) {
		if n > 0 {
			ids := make([]ecs.Entity, n)
			require.NoError(t, x.World.Reserve(ids))
			_, err := x.Sets[set].CreateReserved(ids)
			require.NoError(t, err)
		}
	},
	"Adopt one by one": func(t *testing.T, x *ecstest.Twin, set, n int) {
		b, err := x.Sets[0].CreateN(n)
		require.NoError(t, err)
		for _, e := range b.Entities(nil) {
			_, err := ecs.Into(x.Sets[set]).Apply(e)
			require.NoError(t, err)
		}
	},
	"AdoptList": func(t *testing.T, x *ecstest.Twin, set, n int) {
		b, err := x.Sets[0].CreateN(n)
		require.NoError(t, err)
		_, err = ecs.Into(x.Sets[set]).ApplyList(b.Entities(nil))
		require.NoError(t, err)
	},
	"AdoptQuery": func(t *testing.T, x *ecstest.Twin, set, n int) {
		_, err := x.Sets[0].CreateN(n)
		require.NoError(t, err)
		_, err = ecs.Into(x.Sets[set]).ApplyQuery(ecs.NewQuery(x.World, ecs.Absent(x.Position), ecs.Absent(x.Tag)))
		require.NoError(t, err)
	},
}

// TestSmallChunkIsOutgrown: whatever makes rows, those that were in a small chunk keep
// their values, bits, buffers and names, and look-ups find them where they are.
func TestSmallChunkIsOutgrown(t *testing.T) {
	for name, grow := range growths {
		for _, set := range []int{1, 3, 4} {
			t.Run(fmt.Sprintf("%s, set %d", name, set), func(t *testing.T) {
				x := ecstest.NewTwin(t, alloc.Doubling().Capped(64))
				a := x.Sets[set]
				small := a.Plan().Rows / 8
				for _, have := range []int{1, small - 1, small} {
					for _, more := range []int{1, small - have, small, 3 * small, 9 * small, 40 * small} {
						text := fmt.Sprintf("%s, %v: %d of %d rows, %d more", name, a, have, small, more)
						x.Create(t, set, have)
						require.True(t, isSmall(a), text)
						outgrow(t, x, text, func() { grow(t, x, set, more) })
						require.Equal(t, have+more, a.Len(), text)
						require.Equal(t, have+more <= small, isSmall(a), text)
						emptyOut(t, x, text)
					}
				}
			})
		}
	}
}

// TestOnlyChunkIsOutgrown: the same, where the only chunk has one unit or two, up to four;
// then others come behind it.
func TestOnlyChunkIsOutgrown(t *testing.T) {
	for name, grow := range growths {
		for _, set := range []int{1, 3, 4} {
			t.Run(fmt.Sprintf("%s, set %d", name, set), func(t *testing.T) {
				x := ecstest.NewTwin(t, alloc.Doubling().Capped(64))
				a := x.Sets[set]
				per := a.Plan().Rows
				for _, have := range []int{per - 1, per, 2 * per} {
					for _, upTo := range []int{per, 2 * per, 2*per + 1, 4 * per, 4*per + 1} {
						if have >= upTo {
							continue
						}
						text := fmt.Sprintf("%s, %v: %d rows, %d a unit, to %d", name, a, have, per, upTo)
						x.Create(t, set, have)
						require.Equal(t, 1, a.Chunks(), text)
						outgrow(t, x, text, func() { grow(t, x, set, upTo-have) })
						require.Equal(t, upTo, a.Len(), text)
						require.Equal(t, upTo <= 4*per, a.Chunks() == 1, text)
						emptyOut(t, x, text)
					}
				}
			})
		}
	}
}

// outgrow compares what entities of a set have before and after others come.
func outgrow(t *testing.T, x *ecstest.Twin, text string, grow func()) {
	ids := x.Queries[0].Entities(nil)
	for i, e := range ids {
		if i%2 == 0 {
			x.Hits.Append(e, ecstest.Hit{Damage: int32(i)}, ecstest.Hit{}, ecstest.Hit{})
		}
	}
	want := x.Shows(ids)
	require.NoError(t, x.World.Verify(), text)
	grow()
	require.NoError(t, x.World.Verify(), text)
	require.Equal(t, want, x.Shows(ids), text)
	lookEverywhere(t, x, text)
}

// emptyOut ends all entities, after which nothing is held.
func emptyOut(t *testing.T, x *ecstest.Twin, text string) {
	x.World.Clear()
	x.World.Trim()
	require.Equal(t, []int{0, 0, 0}, []int{x.World.Stats().Small, x.World.Stats().Shared, x.World.Stats().Chunks}, text)
}

// lookEverywhere compares the look-ups of all kinds with what a query shows.
func lookEverywhere(t *testing.T, x *ecstest.Twin, text string) {
	q := ecs.NewQuery(x.World, ecs.Optional(ecs.Read(x.Position)), ecs.Present(x.Stun))
	defer q.Close()
	var ids []ecs.Entity
	var want []*ecstest.Position
	for rows := range q.Rows() {
		column := x.Position.Slice(rows)
		for i, e := range rows.Entities() {
			ids = append(ids, e)
			if column == nil {
				want = append(want, nil)
			} else {
				want = append(want, &column[i])
			}
		}
	}
	values := make([]ecstest.Position, len(ids))
	missing := x.Position.CopyList(values, ids)
	for i, p := range x.Position.GetList(nil, ids) {
		if p == nil {
			missing--
		}
		e := ids[i]
		if want[i] != p || p != x.Position.Get(e) || x.Position.Has(e) != (p != nil) || p != nil && values[i] != *p {
			t.Fatalf("%s: %v: want %p, got %p, Get %p, CopyList %v", text, e, want[i], p, x.Position.Get(e), values[i])
		}
	}
	require.Zero(t, missing, text)
}

// TestSmallChunkKeepsVersions: writes in a small chunk are seen after it was outgrown, and nothing
// else is.
func TestSmallChunkKeepsVersions(t *testing.T) {
	x := ecstest.NewTwin(t, alloc.Doubling().Capped(64))
	a := x.Sets[3] // position, stun, health, hits
	x.Create(t, 3, a.Plan().Rows/8)
	e := x.Queries[0].At(0)
	seen := func(since uint32) (got []bool) {
		for rows := range ecs.NewQuery(x.World, ecs.Read(x.Position), ecs.Read(x.Health), ecs.Present(x.Stun)).Rows() {
			got = append(got, x.Position.Changed(rows, since), x.Health.Changed(rows, since), rows.Ordered(since))
		}
		return got
	}
	created := x.World.Version()
	x.World.Advance()
	require.Equal(t, []bool{false, false, false}, seen(created))
	x.Position.Mut(e).X++
	require.Equal(t, []bool{true, false, false}, seen(created), "Mut marks small chunks")
	written := x.World.Version()
	x.World.Advance()
	require.Len(t, x.Health.MutList(nil, []ecs.Entity{e}), 1)
	require.Equal(t, []bool{false, true, false}, seen(written))
	before := x.World.Version()
	x.World.Advance()
	require.True(t, isSmall(a))
	a.Create()
	require.False(t, isSmall(a))
	require.Equal(t, []bool{true, true, true}, seen(before), "rows came")
	require.Equal(t, []bool{false, false, false}, seen(x.World.Version()))
	x.World.Advance()
	x.Position.Mut(e).X++
	require.Equal(t, []bool{true, false, false}, seen(x.World.Version()-1))

	x.World.Clear()
	x.World.Trim()
	x.Create(t, 3, 5) // what arrives in the chunks behind the first does not mark it twice
	x.World.Advance()
	b, err := a.CreateN(3*a.Plan().Rows - 5)
	require.NoError(t, err)
	require.Equal(t, a.Len()-5, b.Len())
	for i := range a.Chunks() {
		require.Equal(t, []bool{true, true, true}, seen(x.World.Version() - 1)[3*i:3*i+3])
	}
}

// TestSmallChunkStaysWhenThereIsNoRoom: at the border of a small chunk in a full universe
// nothing moves: values lie where they lay, and views of buffers are good.
func TestSmallChunkStaysWhenThereIsNoRoom(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u))
	position := ecs.Register[ecstest.Position](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	tag := ecs.Register[ecstest.Tag](w)
	plain, tagged := ecs.NewArchetype(w, position, hits), ecs.NewArchetype(w, position, hits, tag)
	wide := ecs.Register[[3000]byte](w)
	other, otherTagged := ecs.NewArchetype(w, wide, hits), ecs.NewArchetype(w, wide, hits, tag)
	small := plain.Plan().Rows / 8
	require.Positive(t, small)
	for range small {
		tagged.Create()
	}
	more := plain.Create()
	unit := other.Create()
	for range otherTagged.Plan().Rows {
		otherTagged.Create()
	}
	require.Equal(t, []bool{true, true, false}, []bool{isSmall(plain), isSmall(tagged), isSmall(other)})
	e := ecs.NewQuery(w, ecs.With(tag), ecs.Without(wide)).At(0)
	hits.Append(e, ecstest.Hit{Damage: 7})
	view, _ := hits.Mut(e)
	p := position.Mut(e)
	stats, hash := w.Stats(), w.Hash()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	add := ecs.NewChange(w, ecs.Add(tag))
	fails := map[string]func() error{
		"Create": func() error { err := ecs.Try(func() { tagged.Create() }); return err },
		"Add":    func() error { _, err := add.Apply(more); return err },
		"a list": func() error { _, err := add.ApplyList([]ecs.Entity{more}); return err },
		"two targets": func() error { // the first of which can be had
			_, err := add.ApplyQuery(ecs.NewQuery(w))
			return err
		},
	}
	check := func(name string) {
		require.ErrorIs(t, fails[name](), ecs.ErrLimit, name)
		require.NoError(t, w.Verify(), name)
		require.Equal(t, []any{stats, hash}, []any{w.Stats(), w.Hash()}, name)
		require.Same(t, p, position.Get(e), name)
		require.Equal(t, ecstest.Hit{Damage: 7}, view.Slice()[0], name)
	}
	for name := range fails {
		check(name)
	}
	u.Free(hog[0], 1) // enough for one chunk
	check("two targets")
	require.Equal(t, 1, other.Len())
	_, err := add.Apply(more)
	require.NoError(t, err)
	require.False(t, isSmall(tagged))
	require.NotSame(t, p, position.Get(e))
	view, _ = hits.Get(e)
	require.Equal(t, ecstest.Hit{Damage: 7}, view.Slice()[0])
	require.True(t, wide.Has(unit))
	for _, c := range hog[1:] {
		u.Free(c, 1)
	}
}

// TestManySmallArchetypes: tiny archetypes share units, keep what they have when they
// empty, and Trim gives it back.
func TestManySmallArchetypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	labels := ecstest.LabelsOf(w, 6)
	live := w.Universe().Stats().LiveChunks
	var all []*ecs.Archetype
	for set := range 1 << len(labels) {
		types := []ecs.Type{position}
		for i, l := range labels {
			if set>>i&1 != 0 {
				types = append(types, l)
			}
		}
		all = append(all, ecs.NewArchetype(w, types...))
		for range 3 {
			all[set].Create()
		}
	}
	const records = 4
	require.Equal(t, len(all)/8, w.Stats().Shared)
	require.Equal(t, len(all), w.Stats().Small)
	require.Equal(t, live+records+len(all)/8, w.Universe().Stats().LiveChunks)
	require.Equal(t, 3*len(all), ecs.NewQuery(w, ecs.Read(position)).Count())
	require.NoError(t, w.Verify())
	require.Equal(t, 3*len(all)/2, w.DestroyQuery(ecs.NewQuery(w, ecs.With(labels[0]))))
	require.Equal(t, len(all), w.Stats().Small, "the empty ones keep theirs")
	require.NoError(t, w.Verify())
	for set := 1; set < len(all); set += 2 {
		all[set].Create()
	}
	require.Equal(t, len(all)/8, w.Stats().Shared)
	w.Clear()
	require.Equal(t, len(all), w.Stats().Small)
	require.Equal(t, len(all)/8, w.Trim())
	require.Equal(t, live+records, w.Universe().Stats().LiveChunks)
	require.NoError(t, w.Verify())
}

// TestSmallChunkInAShare: several goroutines look up and toggle rows of small chunks.
func TestSmallChunkInAShare(t *testing.T) {
	x := ecstest.NewTwin(t, alloc.Doubling().Capped(64))
	x.Create(t, 1, 20) // position, stun
	x.Create(t, 4, 20) // and flag
	require.True(t, isSmall(x.Sets[1]) && isSmall(x.Sets[4]))
	ids := x.Queries[0].Entities(nil)
	x.Position.Get(ids[0])
	p := x.World.Lend()
	done := make(chan error)
	for g := range 4 {
		go func() {
			for range 100 {
				for i, e := range ids {
					if got := x.Position.Get(e); got == nil || got.X != float64(e.Index()) {
						done <- fmt.Errorf("%v has %v", e, got)
						return
					}
					if i%4 == g {
						x.Stun.Disable(e)
					}
					if x.Health.Has(e) {
						done <- fmt.Errorf("%v has health", e)
						return
					}
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	p.End()
	require.Zero(t, ecs.NewQuery(x.World, ecs.With(x.Stun)).Count())
}
