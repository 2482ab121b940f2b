package edit_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// destroyWays are the calls that destroy entities.
var destroyWays = map[string]func(w *ecs.World, list ...ecs.Entity) int{
	"one by one": func(w *ecs.World, list ...ecs.Entity) (n int) {
		for _, e := range list {
			if w.Destroy(e) {
				n++
			}
		}
		return n
	},
	"list": func(w *ecs.World, list ...ecs.Entity) int { return w.DestroyList(list) },
	"query": func(w *ecs.World, list ...ecs.Entity) int {
		mark := ecs.Register[ecstest.Tag](w)
		for _, e := range list {
			mark.Add(e, ecstest.Tag{})
		}
		q := ecs.NewQuery(w, ecs.With(mark))
		defer q.Close()
		return w.DestroyQuery(q)
	},
}

// TestBehaviour59Cleanup: an entity with cleanup types stays alive with those when it is destroyed,
// and ends when the last of them is removed.
func TestBehaviour59Cleanup(t *testing.T) {
	for name, destroy := range destroyWays {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			position, dying := ecs.Register[ecstest.Position](w), ecs.Register[ecs.CleanupEntity](w)
			socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
			lines := ecs.RegisterBuffer[byte](w, ecs.Cleanup, ecs.Inline(2))
			team := ecs.RegisterShared[string](w, ecs.Cleanup)
			plain, full := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, socket, lines, team.Of("red"))
			other, e := plain.Create(), full.Create()
			w.SetName(e, "e")
			socket.Set(e, ecstest.Socket{FD: 7})
			lines.Append(e, []byte("what it wrote")...)

			require.Equal(t, 2, destroy(w, other, e))
			require.NoError(t, w.Verify())
			require.False(t, w.Alive(other))
			require.True(t, w.Alive(e))
			require.True(t, dying.Has(e))
			require.False(t, position.Has(e))
			require.Equal(t, "e", w.Name(e))
			require.Equal(t, ecstest.Socket{FD: 7}, *socket.Get(e))
			require.Equal(t, "what it wrote", string(lines.Slice(e)))
			v, _ := team.Get(e)
			require.Equal(t, "red", v)
			if name != "query" {
				require.Zero(t, destroy(w, other, e, e), "it is destroyed already")
			}
			require.True(t, w.Alive(e))

			// Those that died are found, and let go.
			q := ecs.NewQuery(w, ecs.Read(socket), ecs.With(dying))
			require.Equal(t, 1, q.Count())
			require.True(t, position.Add(e, ecstest.Position{}), "it may get other types meanwhile")
			_, err := ecs.NewChange(w, ecs.Remove(socket)).ApplyQuery(q)
			require.NoError(t, err)
			require.True(t, w.Alive(e))
			require.True(t, lines.Remove(e))
			require.NoError(t, w.Verify())
			require.True(t, w.Alive(e))
			require.True(t, team.Remove(e))
			require.False(t, w.Alive(e), "the last one ends it")
			require.Equal(t, "", w.Name(e))
			require.Zero(t, w.Stats().Alive)
			require.Zero(t, w.Stats().Buffers)
			require.NoError(t, w.Verify())
		})
	}
}

// TestCleanupEnds: an entity that dies ends with the last cleanup type, however that goes; one that
// lives does not.
func TestCleanupEnds(t *testing.T) {
	for name, end := range map[string]func(w *ecs.World, c *ecs.Change, a *ecs.Archetype, e ecs.Entity){
		"Apply": func(_ *ecs.World, c *ecs.Change, _ *ecs.Archetype, e ecs.Entity) { _, _ = c.Apply(e) },
		"ApplyList": func(_ *ecs.World, c *ecs.Change, _ *ecs.Archetype, e ecs.Entity) {
			_, _ = c.ApplyList([]ecs.Entity{e, e})
		},
		"Adopt": func(_ *ecs.World, _ *ecs.Change, a *ecs.Archetype, e ecs.Entity) { _, _ = ecs.Into(a).Apply(e) },
		"AdoptList": func(_ *ecs.World, _ *ecs.Change, a *ecs.Archetype, e ecs.Entity) {
			_, _ = ecs.Into(a).ApplyList([]ecs.Entity{e})
		},
		"Clear": func(w *ecs.World, _ *ecs.Change, _ *ecs.Archetype, _ ecs.Entity) { w.Clear() },
	} {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			position := ecs.Register[ecstest.Position](w)
			socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
			a := ecs.NewArchetype(w, position)
			c := ecs.NewChange(w, ecs.Remove(socket))
			e := ecs.NewArchetype(w, socket).Create()
			if name != "Clear" {
				end(w, c, a, e)
				require.True(t, w.Alive(e), "it was not destroyed: it lives without")
				socket.Add(e, ecstest.Socket{FD: 1})
			}
			require.True(t, w.Destroy(e))
			require.True(t, w.Alive(e))
			end(w, c, a, e)
			require.False(t, w.Alive(e))
			require.Zero(t, w.Stats().Alive)
			require.NoError(t, w.Verify())
		})
	}
}

// TestChangeSwapsCleanup: a change ends as adding and then removing would. One that gives a dying
// entity a cleanup type and takes its last one leaves it dying; one that gives it another type ends
// it.
func TestChangeSwapsCleanup(t *testing.T) {
	for name, apply := range map[string]func(c *ecs.Change, q *ecs.Query, e ecs.Entity) error{
		"Apply": func(c *ecs.Change, _ *ecs.Query, e ecs.Entity) error { _, err := c.Apply(e); return err },
		"ApplyList": func(c *ecs.Change, _ *ecs.Query, e ecs.Entity) error {
			_, err := c.ApplyList([]ecs.Entity{e})
			return err
		},
		"ApplyQuery": func(c *ecs.Change, q *ecs.Query, _ ecs.Entity) error { _, err := c.ApplyQuery(q); return err },
	} {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			position, socket := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Socket](w, ecs.Cleanup)
			health, lines := ecs.Register[ecstest.Health](w, ecs.Cleanup), ecs.RegisterBuffer[byte](w, ecs.Cleanup)
			team := ecs.RegisterShared[string](w, ecs.Cleanup)
			dying := ecs.NewQuery(w, ecs.With(ecs.Register[ecs.CleanupEntity](w)))
			a := ecs.NewArchetype(w, position, socket)
			for _, c := range []struct {
				given ecs.Part
				leave ecs.Type // what it dies with then; nil: it ends
			}{
				{ecs.Add(health), health}, {ecs.Add(lines), lines}, {ecs.Add(team.Of("red")), team}, {ecs.Put(team.Of("red")), team},
				{ecs.Add(position, health), health}, {ecs.Add(position), nil},
			} {
				e := a.Create()
				require.True(t, w.Destroy(e))
				require.NoError(t, apply(ecs.NewChange(w, c.given, ecs.Remove(socket)), dying, e))
				require.NoError(t, w.Verify())
				require.Equal(t, c.leave != nil, w.Alive(e))
				if c.leave == nil {
					continue
				}
				at, _ := w.Locate(e)
				require.True(t, at.Archetype.Has(c.leave) && !at.Archetype.Has(socket), "%v", at.Archetype)
				require.Equal(t, 1, dying.Count())
				require.NoError(t, apply(ecs.NewChange(w, ecs.Remove(c.leave)), dying, e))
				require.False(t, w.Alive(e), "that was the last one")
			}
			require.Zero(t, w.Stats().Alive)
		})
	}
}

// TestDyingIsNoOnesToGive: the tag comes and goes with Destroy and cleanup types alone.
func TestDyingIsNoOnesToGive(t *testing.T) {
	w := ecstest.NewWorld(t)
	dying, socket := ecs.Register[ecs.CleanupEntity](w), ecs.Register[ecstest.Socket](w, ecs.Cleanup)
	e := ecs.NewArchetype(w, socket).Create()
	const give = "CleanupEntity comes with World.Destroy and goes with the last Cleanup type; " +
		"it cannot be added or removed"
	require.PanicsWithValue(t, "ecs: Component.Add: "+give, func() { dying.Add(e, ecs.CleanupEntity{}) })
	w.Destroy(e)
	require.PanicsWithValue(t, "ecs: Component.Remove: "+give, func() { dying.Remove(e) })
	require.PanicsWithValue(t, "ecs: NewChange: "+give, func() { ecs.NewChange(w, ecs.Add(dying)) })
	require.PanicsWithValue(t,
		"ecs: NewArchetype: CleanupEntity comes with World.Destroy; no entity is created with it",
		func() { ecs.NewArchetype(w, dying) })
	other := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), socket)
	changed, err := ecs.Into(other).Apply(e)
	require.NoError(t, err)
	require.True(t, changed)
	require.True(t, dying.Has(e), "another archetype with cleanup types leaves it dying")
	at, _ := w.Locate(e)
	for op, f := range map[string]func(){
		"Create":         func() { at.Archetype.Create() },
		"CreateN":        func() { _, _ = at.Archetype.CreateN(3) },
		"CreateReserved": func() { _, _ = at.Archetype.CreateReserved(nil) },
	} {
		require.PanicsWithValue(t,
			"ecs: Archetype."+op+": CleanupEntity comes with World.Destroy; no entity is created with it", f)
	}
	require.PanicsWithValue(t, "ecs: Into: CleanupEntity comes with World.Destroy; no entity is created with it",
		func() { ecs.Into(at.Archetype) })
	require.NoError(t, w.Verify())
}

// TestLinkedGroup: destroying an entity destroys its group, by every call; dead members, itself and
// entities twice in it are passed by, and members' own groups are not asked.
func TestLinkedGroup(t *testing.T) {
	for name, destroy := range destroyWays {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			linked, position := ecs.RegisterBuffer[ecs.LinkedEntity](w), ecs.Register[ecstest.Position](w)
			socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
			part, root := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, linked)
			e, inner, dead, bystander := root.Create(), root.Create(), part.Create(), part.Create()
			lasting := ecs.NewArchetype(w, socket).Create()
			w.Destroy(dead)
			parts := []ecs.Entity{e, inner, dead, lasting, ecs.Null}
			for range 50 {
				parts = append(parts, part.Create())
			}
			for _, p := range parts {
				linked.Append(e, ecs.LinkedEntity{Entity: p}, ecs.LinkedEntity{Entity: p})
			}
			linked.Append(inner, ecs.LinkedEntity{Entity: bystander})
			n := destroy(w, e)
			if name != "one by one" {
				require.Equal(t, 53, n)
			}
			require.NoError(t, w.Verify())
			require.True(t, w.Alive(bystander))
			require.True(t, w.Alive(lasting), "its cleanup type keeps it")
			require.True(t, ecs.Register[ecs.CleanupEntity](w).Has(lasting))
			require.Equal(t, 2, w.Stats().Alive)
		})
	}
}

// TestDestroyedAgain: one that is dying is not destroyed again, by every call, though it got a
// group meanwhile, whose members stay; those that it is a member of take nothing along either.
func TestDestroyedAgain(t *testing.T) {
	for name, destroy := range destroyWays {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			linked, position := ecs.RegisterBuffer[ecs.LinkedEntity](w), ecs.Register[ecstest.Position](w)
			socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
			e, other := ecs.NewArchetype(w, socket).Create(), ecs.NewArchetype(w, socket, linked).Create()
			member, second := ecs.NewArchetype(w, position).Create(), ecs.NewArchetype(w, position).Create()
			require.Equal(t, 1, destroy(w, e))
			linked.Add(e)
			linked.Append(e, ecs.LinkedEntity{Entity: e}, ecs.LinkedEntity{Entity: member})
			require.Zero(t, destroy(w, e))
			var destroyed bool
			err := ecs.Try(func() { destroyed = w.Destroy(e) })
			require.False(t, destroyed)
			require.NoError(t, err)
			require.True(t, w.Alive(e) && w.Alive(member))
			require.Len(t, linked.Slice(e), 2, "it stays as it is")

			linked.Append(other, ecs.LinkedEntity{Entity: e}, ecs.LinkedEntity{Entity: second})
			n := destroy(w, e, other)
			if name == "one by one" {
				require.Equal(t, 1, n, "a call each, of which one destroyed")
			} else {
				require.Equal(t, 2, n, "the other, and the second")
			}
			require.True(t, w.Alive(e) && w.Alive(member) && w.Alive(other))
			require.False(t, w.Alive(second))
			require.NoError(t, w.Verify())
		})
	}
}

// TestCleanupWithoutMemory: destroying what leaves something needs room; when there is none,
// nothing has happened.
func TestCleanupWithoutMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 1<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	position, socket := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Socket](w, ecs.Cleanup)
	a := ecs.NewArchetype(w, position, socket)
	room, err := u.AllocExact(1)
	require.NoError(t, err)
	var ids []ecs.Entity
	for {
		var e ecs.Entity
		err := ecs.Try(func() { e = a.Create() })
		if err != nil {
			break
		}
		ids = append(ids, e)
	}
	rest := holdBut(u, 0) // records grow in one piece, so some chunks may be left
	hash, archetypes := w.Hash(), w.Stats().Archetypes
	err = ecs.Try(func() { w.Destroy(ids[0]) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Panics(t, func() { w.Destroy(ids[0]) })
	require.Panics(t, func() { w.DestroyList(ids) })
	require.Equal(t, hash, w.Hash())
	require.Equal(t, archetypes, w.Stats().Archetypes)
	require.NoError(t, w.Verify())
	for _, c := range append(rest, room) {
		u.Free(c, 1)
	}
	require.Equal(t, 10, w.DestroyList(ids[:10]))
	require.NoError(t, w.Verify())
}

// lasts is what a model knows of an entity.
type lasts struct{ socket, file, dying bool }

// TestCleanupAgainstModel destroys, changes and cleans up at random beside a map.
func TestCleanupAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 1))
	w := ecstest.NewWorld(t)
	position, dying := ecs.Register[ecstest.Position](w), ecs.Register[ecs.CleanupEntity](w)
	socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
	file := ecs.Register[ecstest.Health](w, ecs.Cleanup, ecs.Enableable)
	plain, both := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, socket, file)
	noSocket, noFile := ecs.NewChange(w, ecs.Remove(socket)), ecs.NewChange(w, ecs.Remove(file))
	want, ids := map[ecs.Entity]*lasts{}, []ecs.Entity(nil)
	settle := func(e ecs.Entity) {
		if m := want[e]; m != nil && m.dying && !m.socket && !m.file {
			delete(want, e)
		}
	}
	for range ecstest.StepsOf(2500) {
		some := ecstest.SomeOf(rng, ids, 20)
		switch op := rng.IntN(6); op {
		case 0:
			a, m := plain, lasts{}
			if rng.IntN(2) == 0 {
				a, m = both, lasts{socket: true, file: true}
			}
			b, err := a.CreateN(rng.IntN(20))
			require.NoError(t, err)
			for _, e := range b.Entities(nil) {
				copied := m
				want[e] = &copied
				ids = append(ids, e)
			}
		case 1, 2:
			n := 0
			for _, e := range some {
				if m := want[e]; m != nil && !m.dying {
					n++
					m.dying = true
					settle(e)
				}
			}
			how := []string{"one by one", "list"}[op-1]
			require.Equal(t, n, destroyWays[how](w, some...))
		case 3:
			for _, e := range some {
				require.Equal(t, want[e] != nil && want[e].socket, socket.Remove(e))
				if m := want[e]; m != nil {
					m.socket = false
					settle(e)
				}
			}
		case 4:
			_, err := noFile.ApplyList(some)
			require.NoError(t, err)
			for _, e := range some {
				if m := want[e]; m != nil {
					m.file = false
					settle(e)
				}
			}
		case 5:
			if rng.IntN(10) > 0 {
				break
			}
			q := ecs.NewQuery(w, ecs.With(socket, dying))
			_, err := noSocket.ApplyQuery(q)
			require.NoError(t, err)
			q.Close()
			for e, m := range want {
				if m.dying {
					m.socket = false
					settle(e)
				}
			}
		}
		ids = slices.DeleteFunc(ids, func(e ecs.Entity) bool { return want[e] == nil })
		require.NoError(t, w.Verify())
		require.Equal(t, len(want), w.Stats().Alive)
		for e, m := range want {
			require.Equal(t, *m, lasts{socket.Has(e), file.Has(e), dying.Has(e)})
		}
	}
}
