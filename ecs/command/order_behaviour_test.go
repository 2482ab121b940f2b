package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// Behaviours 61 to 63 of the list of what entity systems agree on: placeholders, and the order of
// commands about one entity.

// TestBehaviour61Placeholders: later commands may use a created entity as their target and as their
// source, and in values, elements and groups.
func TestBehaviour61Placeholders(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	there := y.full.Create()
	e, other := cb.Create(y.plain), cb.Create(y.plain)
	Set(cb, e, y.pos, position{1, 2})
	Add(cb, e, y.ptr, pointer{other, 1})
	AddBuffer(cb, e, y.hits, hit{e, 1}, hit{other, 2}, hit{there, 3}, hit{ecs.Null, 4})
	Append(cb, e, y.hits, hit{other, 5})
	Set(cb, there, y.ptr, pointer{e, 2})
	Put(cb, []ecs.Entity{other, there}, y.ptr, pointer{e, 3})
	cb.Remove(other, y.pos)
	cb.Disable(there, y.walk)
	c := cb.Instantiate(e)
	Set(cb, c, y.pos, position{3, 4})
	PutBuffer(cb, other, y.group, ecs.LinkedEntity{Entity: other}, ecs.LinkedEntity{Entity: c})
	for _, p := range []ecs.Entity{e, other, c} {
		require.True(t, p.IsPlaceholder())
		require.False(t, y.w.Alive(p))
		require.Equal(t, ecs.Null, cb.Made(p), "not made before Play")
	}
	require.NoError(t, cb.Play())
	me, mo, mc := cb.Made(e), cb.Made(other), cb.Made(c)
	require.Equal(t, position{1, 2}, *y.pos.Get(me))
	require.Equal(t, position{3, 4}, *y.pos.Get(mc))
	require.Equal(t, pointer{mo, 1}, *y.ptr.Get(me))
	require.Equal(t, pointer{me, 3}, *y.ptr.Get(mo))
	require.Equal(t, pointer{me, 3}, *y.ptr.Get(there))
	require.False(t, y.pos.Has(mo))
	require.False(t, y.walk.Enabled(there))
	require.Equal(t, []hit{{me, 1}, {mo, 2}, {there, 3}, {ecs.Null, 4}, {mo, 5}}, y.hits.Slice(me))
	require.Equal(t, []hit{{mc, 1}, {mo, 2}, {there, 3}, {ecs.Null, 4}, {mo, 5}}, y.hits.Slice(mc),
		"a copy names itself where its pattern did")
	y.w.Destroy(mo)
	require.False(t, y.w.Alive(mc), "the group has what was made")
}

// TestBehaviour61DestroyedAtOnce: an entity that commands of the same run destroy is never made,
// nor are its copies, and it is null in the values of others. But one with Cleanup types was made
// and is a cleanupEntity, and one that is destroyed behind a command about a query was made and has
// ended.
func TestBehaviour61DestroyedAtOnce(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	there := y.full.Create()
	e, copied := cb.Create(y.full), cb.Instantiate(there)
	Set(cb, there, y.ptr, pointer{e, 1})
	SetBuffer(cb, there, y.hits, hit{e, 1}, hit{copied, 2})
	Append(cb, e, y.hits, hit{e, 3})
	cb.DestroyList([]ecs.Entity{e, copied})
	cb.Destroy(e)
	cb.Remove(e, y.pos)
	before, created := y.w.Stats().Alive, y.w.Stats().Created
	require.NoError(t, cb.Play())
	require.Equal(t, before, y.w.Stats().Alive)
	require.Equal(t, created, y.w.Stats().Created)
	require.Equal(t, []ecs.Entity{ecs.Null, ecs.Null}, []ecs.Entity{cb.Made(e), cb.Made(copied)})
	require.Equal(t, pointer{ecs.Null, 1}, *y.ptr.Get(there))
	require.Equal(t, []hit{{ecs.Null, 1}, {ecs.Null, 2}}, y.hits.Slice(there))

	lasting, later := cb.Create(ecs.NewArchetype(y.w, y.pos, y.socket)), cb.Instantiate(there)
	SetBuffer(cb, there, y.hits, hit{lasting, 1}, hit{later, 2})
	cb.Destroy(lasting)
	cb.AddQuery(ecs.NewQuery(y.w, ecs.With(y.slow)), y.walk)
	cb.Destroy(later)
	require.NoError(t, cb.Play())
	require.Equal(t, created+2, y.w.Stats().Created)
	require.True(t, y.w.Alive(cb.Made(lasting)) && y.dying(cb.Made(lasting)))
	require.True(t, cb.Made(later) != ecs.Null && !y.w.Alive(cb.Made(later)))
	require.Equal(t, []hit{{cb.Made(lasting), 1}, {cb.Made(later), 2}}, y.hits.Slice(there))
}

// TestBehaviour61NotMade: a placeholder whose creation fails, or comes later in the order of
// playback, is nobody: every command about it is a failure, Destroy and Remove too, and one whose
// value holds it fails once, for all entities that it is about.
func TestBehaviour61NotMade(t *testing.T) {
	y := openYard(t)
	for name, nobody := range map[string]func(cb *Buffer) ecs.Entity{
		"it fails": func(cb *Buffer) ecs.Entity {
			dead := y.plain.Create()
			y.w.Destroy(dead)
			return cb.Instantiate(dead)
		},
		"it comes later": func(cb *Buffer) ecs.Entity { cb.Key(1); defer cb.Key(0); return cb.Create(y.full) },
		"it comes later, as its end": func(cb *Buffer) ecs.Entity {
			cb.Key(1)
			defer cb.Key(0)
			e := cb.Create(y.full)
			cb.Destroy(e)
			return e
		},
	} {
		for _, c := range []struct {
			name   string
			record func(cb *Buffer, e, a, b ecs.Entity)
			want   func(e ecs.Entity) []ecs.Entity // Failure.Entity
		}{
			{"about it", func(cb *Buffer, e, a, b ecs.Entity) {
				cb.Destroy(e)
				cb.Remove(e, y.pos)
				Set(cb, e, y.pos, position{})
				cb.DestroyList([]ecs.Entity{e, a})
				cb.Instantiate(e)
			}, func(e ecs.Entity) []ecs.Entity { return []ecs.Entity{e, e, e, e} }},
			{"its value", func(cb *Buffer, e, a, b ecs.Entity) { Set(cb, a, y.ptr, pointer{e, 1}); cb.Destroy(a) }, nil},
			{"a list's value", func(cb *Buffer, e, a, b ecs.Entity) {
				Put(cb, []ecs.Entity{a, b, a}, y.ptr, pointer{e, 1})
				cb.Destroy(a)
			}, nil},
			{"an element", func(cb *Buffer, e, a, b ecs.Entity) {
				Append(cb, a, y.hits, hit{b, 1}, hit{e, 2}, hit{e, 3})
				cb.Destroy(a)
			}, nil},
			{"a query's value", func(cb *Buffer, e, a, b ecs.Entity) { Put(cb, y.q, y.ptr, pointer{e, 1}); cb.Destroy(a) }, nil},
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				cb := y.open(t)
				a, b := y.full.Create(), y.full.Create()
				e := nobody(cb)
				c.record(cb, e, a, b)
				var refused *PlayError
				require.ErrorAs(t, cb.Play(), &refused)
				require.True(t, y.w.Alive(a))
				list := slices.DeleteFunc(refused.Failures, func(f Failure) bool { return f.Command == "Instantiate" })
				if c.want == nil {
					require.Len(t, list, 1)
					require.Equal(t, reasons[namesNobody], list[0].Why)
				} else {
					var about []ecs.Entity
					for _, f := range list {
						require.Equal(t, reasons[notCreated], f.Why)
						about = append(about, f.Entity)
					}
					require.Equal(t, c.want(e), about)
				}
				require.NotContains(t, refused.Error(), "null")
				require.ErrorAs(t, cb.PlayRest(), &refused)
				require.False(t, y.w.Alive(a), "the others were applied")
				require.Equal(t, pointer{}, *y.ptr.Get(b))
				require.Empty(t, y.hits.Slice(b))
			})
		}
	}
}

// TestBehaviour61PlaceholderElsewhere: a placeholder of another buffer, or from before this one was
// cleared or played, panics wherever it is recorded, and nothing of the command is.
func TestBehaviour61PlaceholderElsewhere(t *testing.T) {
	y, other := openYard(t), openYard(t)
	there := y.full.Create()
	strange := map[string]func(t *testing.T, cb *Buffer) ecs.Entity{
		"another buffer":            func(t *testing.T, _ *Buffer) ecs.Entity { return y.open(t).Create(y.plain) },
		"a buffer of another world": func(t *testing.T, _ *Buffer) ecs.Entity { return other.open(t).Create(other.plain) },
		"before Clear":              func(_ *testing.T, cb *Buffer) ecs.Entity { e := cb.Create(y.plain); cb.Clear(); return e },
		"before Play": func(t *testing.T, cb *Buffer) ecs.Entity {
			e := cb.Create(y.plain)
			require.NoError(t, cb.Play())
			return e
		},
		"before PlayRest": func(t *testing.T, cb *Buffer) ecs.Entity {
			e := cb.Create(y.plain)
			require.NoError(t, cb.PlayRest())
			return e
		},
		"no command":                 func(*testing.T, *Buffer) ecs.Entity { return door.Placeholder(7, 0) },
		"another, of a later number": func(t *testing.T, cb *Buffer) ecs.Entity { return door.Placeholder(1<<30, ids.Load()+100) },
	}
	records := map[string]func(cb *Buffer, e ecs.Entity){
		"Destroy":     func(cb *Buffer, e ecs.Entity) { cb.Destroy(e) },
		"DestroyList": func(cb *Buffer, e ecs.Entity) { cb.DestroyList([]ecs.Entity{there, e}) },
		"Instantiate": func(cb *Buffer, e ecs.Entity) { cb.Instantiate(e) },
		"Writer.Add":  func(cb *Buffer, e ecs.Entity) { cb.Add(e, y.slow) },
		"Apply":       func(cb *Buffer, e ecs.Entity) { cb.Apply(e, y.change) },
		"Enable":      func(cb *Buffer, e ecs.Entity) { cb.Enable(e, y.walk) },
		"Add":         func(cb *Buffer, e ecs.Entity) { Add(cb, e, y.pos, position{}) },
		"PutList":     func(cb *Buffer, e ecs.Entity) { Put(cb, []ecs.Entity{there, e}, y.pos, position{}) },
		"AddShared":   func(cb *Buffer, e ecs.Entity) { AddShared(cb, e, y.team, "red") },
		"Append":      func(cb *Buffer, e ecs.Entity) { Append(cb, e, y.hits) },
		"value":       func(cb *Buffer, e ecs.Entity) { Set(cb, there, y.ptr, pointer{e, 1}) },
		"list value":  func(cb *Buffer, e ecs.Entity) { Set(cb, []ecs.Entity{there}, y.ptr, pointer{e, 1}) },
		"query value": func(cb *Buffer, e ecs.Entity) { Set(cb, y.q, y.ptr, pointer{e, 1}) },
		"element":     func(cb *Buffer, e ecs.Entity) { Append(cb, there, y.hits, hit{there, 1}, hit{e, 1}) },
		"member":      func(cb *Buffer, e ecs.Entity) { PutBuffer(cb, there, y.group, ecs.LinkedEntity{Entity: e}) },
	}
	for from, make := range strange {
		for name, record := range records {
			t.Run(name+" of "+from, func(t *testing.T) {
				cb := y.open(t)
				e := make(t, cb)
				Set(cb, there, y.pos, position{5, 6}) // or the placeholder would be void by the next recording only
				n := cb.Len()
				said := panicOf(func() { record(cb, e) })
				require.Contains(t, said, "command: ")
				require.Contains(t, said, "is of another buffer, or from before this one")
				require.Equal(t, n, cb.Len())
				Set(cb, there, y.ptr, pointer{there, 9})
				require.NoError(t, cb.Play())
				require.Equal(t, pointer{there, 9}, *y.ptr.Get(there))
				require.Equal(t, position{5, 6}, *y.pos.Get(there))
			})
		}
	}
}

// panicOf makes a call and returns what it panics with, as text; empty when it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// TestBehaviour62Pairs: each command behind each other one, about the same entity, of each of five
// archetypes, in one buffer. The twin does them one by one.
func TestBehaviour62Pairs(t *testing.T) {
	for _, groups := range []bool{false, true} {
		a, b := openYard(t), openYard(t)
		var told [][]order
		for first := range doDestroyQuery {
			for second := range doDestroyQuery {
				told = append(told, []order{{what: first, n: 6}, {what: second, n: 11}})
			}
		}
		playGroups(t, a, b, told, groups)
	}
}

// TestBehaviour62Triples is TestBehaviour62Pairs of three, some of them at random.
func TestBehaviour62Triples(t *testing.T) {
	n := long.N(2000, 10_000) // of the pairs in them each occurs ten times
	a, b := openYard(t), openYard(t)
	r := rand.New(rand.NewPCG(62, 62))
	told := make([][]order, n)
	for i := range told {
		for range 3 + r.IntN(2) {
			told[i] = append(told[i], order{what: r.IntN(doDestroyQuery), n: r.IntN(20)})
		}
	}
	playGroups(t, a, b, told, false)
}

// playGroups plays groups of orders in one buffer, each group about an entity of each archetype of
// the yard, that no other group names.
func playGroups(t *testing.T, a, b *yard, told [][]order, groups bool) {
	const kinds = 5
	n := 2 * kinds * len(told)
	known, real := a.populate(n, groups), b.populate(n, groups)
	cb := a.open(t)
	handles, failed := append([]ecs.Entity(nil), known...), 0
	for i, list := range told {
		for k := range kinds {
			for _, o := range list {
				o.who, o.other = i*2*kinds+k, i*2*kinds+kinds+k
				var f int
				handles = o.record(a, cb, handles)
				real, f = o.do(b, real)
				failed += f
			}
		}
	}
	err := cb.PlayRest()
	require.NoError(t, a.w.Verify())
	resolve(cb, handles)
	var refused *PlayError
	if failed > 0 {
		require.ErrorAs(t, err, &refused)
		require.Equal(t, failed, refused.Count)
	}
	got, want := a.describeAll(handles), b.describeAll(real)
	for i := range want {
		if want[i] != got[i] && i < n {
			t.Logf("orders: %v", told[i/2/kinds])
		}
		require.Equal(t, want[i], got[i])
	}
}

// TestBehaviour62WhatRemains: the meaning of some pairs and triples, written out.
func TestBehaviour62WhatRemains(t *testing.T) {
	y := openYard(t)
	first, second := position{1, 1}, position{2, 2}
	for _, c := range []struct {
		name   string
		has    bool // before
		record func(cb *Buffer, e ecs.Entity)
		want   *position // nil: none
		dead   bool
		fails  int
	}{
		{"insert, remove", false, func(cb *Buffer, e ecs.Entity) { Add(cb, e, y.pos, first); cb.Remove(e, y.pos) }, nil, false, 0},
		{"remove, insert", true, func(cb *Buffer, e ecs.Entity) { cb.Remove(e, y.pos); Add(cb, e, y.pos, first) }, &first, false, 0},
		{"remove, insert without a value", true, func(cb *Buffer, e ecs.Entity) { cb.Remove(e, y.pos); cb.Add(e, y.pos) }, &position{}, false, 0},
		{"insert of what is there", true, func(cb *Buffer, e ecs.Entity) { Add(cb, e, y.pos, first) }, &position{7, 7}, false, 0},
		{"insert, insert", false, func(cb *Buffer, e ecs.Entity) { Add(cb, e, y.pos, first); Add(cb, e, y.pos, second) }, &first, false, 0},
		{"put, put", true, func(cb *Buffer, e ecs.Entity) { Put(cb, e, y.pos, first); Put(cb, e, y.pos, second) }, &second, false, 0},
		{"there, set, remove", true, func(cb *Buffer, e ecs.Entity) { Set(cb, e, y.pos, first); cb.Remove(e, y.pos) }, nil, false, 0},
		{"absent, remove, put", false, func(cb *Buffer, e ecs.Entity) { cb.Remove(e, y.pos); Put(cb, e, y.pos, first) }, &first, false, 0},
		{"absent, set", false, func(cb *Buffer, e ecs.Entity) { Set(cb, e, y.pos, first) }, nil, false, 1},
		{"insert, set, remove, insert", false, func(cb *Buffer, e ecs.Entity) {
			Add(cb, e, y.pos, first)
			Set(cb, e, y.pos, second)
			cb.Remove(e, y.pos)
			Add(cb, e, y.pos, first)
		}, &first, false, 0},
		{"set, delete", true, func(cb *Buffer, e ecs.Entity) { Set(cb, e, y.pos, first); cb.Destroy(e) }, nil, true, 0},
		{"delete, set", true, func(cb *Buffer, e ecs.Entity) { cb.Destroy(e); Set(cb, e, y.pos, first) }, nil, true, 1},
		{"delete, insert", false, func(cb *Buffer, e ecs.Entity) { cb.Destroy(e); Add(cb, e, y.pos, first) }, nil, true, 1},
		{"delete, remove, delete", true, func(cb *Buffer, e ecs.Entity) { cb.Destroy(e); cb.Remove(e, y.pos); cb.Destroy(e) }, nil, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cb := y.open(t)
			e := ecs.NewArchetype(y.w, y.socket).Create()
			y.socket.Remove(e)
			if c.has {
				y.pos.Add(e, position{7, 7})
			}
			c.record(cb, e)
			err := cb.PlayRest()
			if c.fails > 0 {
				var refused *PlayError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, c.fails, refused.Count)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, !c.dead, y.w.Alive(e))
			require.Equal(t, c.want, y.pos.Get(e))
		})
	}
}

// TestBehaviour63ManyOfOneEntity: 63, 64, 65, 96 and 1,000 commands of each entity in one buffer
// are what they are when each is played before the next is recorded.
func TestBehaviour63ManyOfOneEntity(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 96, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a, b := openYard(t), openYard(t)
			const entities = 10
			known := a.populate(entities, false)
			real := b.populate(entities, false)
			whole, single := a.open(t), b.open(t)
			r := rand.New(rand.NewPCG(63, uint64(n)))
			failed := 0
			for i := range n * entities {
				o := order{what: doAddPos + r.IntN(doPutGroup-doAddPos), who: i, other: r.IntN(entities), n: r.IntN(20)}
				o.record(a, whole, known)
				o.record(b, single, real)
				var refused *PlayError
				if err := single.PlayRest(); err != nil {
					require.ErrorAs(t, err, &refused)
					failed += refused.Count
				}
			}
			err := whole.PlayRest()
			if failed > 0 {
				var refused *PlayError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, failed, refused.Count)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, b.describeAll(real), a.describeAll(known))
		})
	}
}

// TestBehaviour62GoneOnTheWay: a type that was removed comes anew, whatever else happens between,
// and bits hide no value.
func TestBehaviour62GoneOnTheWay(t *testing.T) {
	y := openYard(t)
	for name, between := range map[string]func(cb *Buffer, e ecs.Entity){
		"nothing":         func(*Buffer, ecs.Entity) {},
		"a value":         func(cb *Buffer, e ecs.Entity) { Set(cb, e, y.ptr, pointer{N: 1}) },
		"another type":    func(cb *Buffer, e ecs.Entity) { cb.Add(e, y.slow) },
		"another removed": func(cb *Buffer, e ecs.Entity) { cb.Remove(e, y.ptr) },
	} {
		cb := y.open(t)
		e := y.full.Create()
		y.pos.Set(e, position{7, 7})
		cb.Remove(e, y.pos)
		between(cb, e)
		cb.Add(e, y.pos)
		Set(cb, e, y.walk, health{9})
		cb.Disable(e, y.walk)
		require.NoError(t, cb.Play())
		require.Equal(t, position{}, *y.pos.Get(e), name)
		require.Equal(t, health{9}, *y.walk.Get(e), name)
		require.False(t, y.walk.Enabled(e), name)
	}
}

// TestBehaviour62SameSlot: a dead entity is not the one that has its slot now.
func TestBehaviour62SameSlot(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	dead := y.plain.Create()
	y.w.Destroy(dead)
	e := y.plain.Create()
	for i := 0; e.Index() != dead.Index(); i++ {
		require.Less(t, i, 1<<16)
		e = y.plain.Create()
	}
	Set(cb, e, y.pos, position{1, 1})
	Set(cb, dead, y.pos, position{2, 2})
	var refused *PlayError
	require.ErrorAs(t, cb.PlayRest(), &refused)
	require.Equal(t, 1, refused.Count)
	require.Equal(t, position{1, 1}, *y.pos.Get(e))
}

// TestBehaviour62Anew: what a type that was removed comes back with has nothing of before, bits
// included.
func TestBehaviour62Anew(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	put, applied := y.full.Create(), y.full.Create()
	for _, e := range []ecs.Entity{put, applied} {
		y.walk.Set(e, health{7})
		y.walk.Disable(e)
		cb.Remove(e, y.walk)
	}
	Put(cb, put, y.walk, health{9})
	cb.Apply(applied, y.change)
	require.NoError(t, cb.Play())
	require.Equal(t, health{9}, *y.walk.Get(put))
	require.Equal(t, health{}, *y.walk.Get(applied))
	require.True(t, y.walk.Enabled(put))
	require.True(t, y.walk.Enabled(applied))
}
