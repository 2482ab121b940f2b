package query_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// listing is a world of several archetypes with enable bits, and a query over them.
type listing struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	velocity ecs.Component[ecstest.Velocity]
	stun     ecs.Component[ecstest.Stun] // Enableable
	all      []*ecs.Archetype
	q        *ecs.Query
}

func newListing(t testing.TB, terms func(x *listing) []ecs.Term) *listing {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	x := &listing{w: w, position: ecs.Register[ecstest.Position](w), velocity: ecs.Register[ecstest.Velocity](w),
		stun: ecs.Register[ecstest.Stun](w, ecs.Enableable)}
	x.all = []*ecs.Archetype{ecs.NewArchetype(w, x.position, x.stun), ecs.NewArchetype(w, x.position, x.velocity),
		ecs.NewArchetype(w, x.position, x.velocity, x.stun)}
	x.q = ecs.NewQuery(w, terms(x)...)
	return x
}

// seen is the rows of a loop: entities that match, by chunk.
func seen(loop func(yield func(ecs.Rows) bool)) (chunks [][]ecs.Entity) {
	for rows := range loop {
		var of []ecs.Entity
		for i := range rows.Each() {
			of = append(of, rows.Entities()[i])
		}
		chunks = append(chunks, of)
	}
	return chunks
}

// TestChunkListIsTheLoop makes lists after random changes of a world: they have the chunks of the
// loop in its order, at their places, cut and whole; a list of before a structural change is void,
// and one of before changes of bits yields what a loop yields of its chunks.
func TestChunkListIsTheLoop(t *testing.T) {
	x := newListing(t, func(x *listing) []ecs.Term {
		return []ecs.Term{ecs.Read(x.position), ecs.Without(x.stun), ecs.Changed(x.position)}
	})
	random := rand.New(rand.NewPCG(29, 5))
	var list, before ecs.ChunkList
	var live []ecs.Entity
	for range 400 {
		structural := true
		switch random.IntN(6) {
		case 0, 1:
			b, err := x.all[random.IntN(3)].CreateN(1 + random.IntN(900))
			require.NoError(t, err)
			live = b.Entities(live)
		case 2:
			structural = len(live) > 0
			for range min(len(live), 50) {
				i := random.IntN(len(live))
				x.w.Destroy(live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
		case 3:
			for range min(len(live), 900) {
				x.stun.Disable(live[random.IntN(len(live))])
			}
			structural = false
		case 4:
			x.q.SetSince(x.w.Version())
			x.w.Advance()
			structural = false
		default:
			for range min(len(live), 3) {
				x.position.Set(live[random.IntN(len(live))], ecstest.Position{X: 1, Y: 2})
			}
			structural = false
		}
		require.Equal(t, structural && before.Len() > 0, before.Void())
		if !structural {
			for range before.Rows() { // bits may have changed, the chunks have not
			}
		}
		list = x.q.Chunks(list)
		before = x.q.Chunks(ecs.ChunkList{})
		since := x.q.Since()
		want := seen(x.q.Rows())
		x.q.SetSince(since)
		require.False(t, list.Void())
		require.Equal(t, want, seen(list.Rows()))
		require.Equal(t, list.Len(), len(want))
		cut := random.IntN(list.Len() + 1)
		require.Equal(t, want, append(seen(list.Slice(0, cut).Rows()), seen(list.Slice(cut, list.Len()).Rows())...))
		for i := range list.Len() {
			at, rows := list.At(i), list.Slice(i, i+1)
			first, _ := x.w.Locate(want[i][0])
			first.Row = 0
			require.Equal(t, first, at)
			require.Equal(t, want[i], seen(rows.Rows())[0])
		}
	}
}

// TestChunkListIsVoid: after a structural change of any kind a list reports that it is void, and
// all that reads it panics; the parts of it that are empty are never void.
func TestChunkListIsVoid(t *testing.T) {
	x := newListing(t, func(x *listing) []ecs.Term { return []ecs.Term{ecs.Read(x.position), ecs.With(x.stun)} })
	for what, change := range map[string]func(e ecs.Entity){
		"Create":  func(ecs.Entity) { x.all[1].Create() },
		"Destroy": func(e ecs.Entity) { x.w.Destroy(e) },
		"Add":     func(e ecs.Entity) { x.velocity.Add(e, ecstest.Velocity{}) },
		"Apply":   func(e ecs.Entity) { _, _ = ecs.Into(x.all[2]).Apply(e) },
		"Clear":   func(ecs.Entity) { x.w.Clear() },
	} {
		e := x.all[0].Create()
		list := x.q.Chunks(ecs.ChunkList{})
		x.stun.Disable(e)
		x.position.Set(e, ecstest.Position{X: 1})
		require.False(t, list.Void(), what)
		change(e)
		require.True(t, list.Void(), what)
		require.True(t, list.Slice(0, 1).Void(), what)
		require.False(t, list.Slice(0, 0).Void(), what)
		const text = "chunks of query(Read Position, With Stun) is void: the world has changed since it was made"
		ecstest.RequirePanic(t, text, func() { list.At(0) })
		ecstest.RequirePanic(t, text, func() { seen(list.Rows()) })
		p := x.w.Lend()
		ecstest.RequirePanic(t, text, func() { seen(list.Rows()) })
		require.Empty(t, seen(list.Slice(0, 0).Rows()))
		p.End()
	}
	x.all[0].Create()
	list := x.q.Chunks(ecs.ChunkList{})
	x.q.Close()
	require.True(t, list.Void(), "its query is closed")
	ecstest.RequirePanic(t, "ecs: ChunkList.Rows: query(Read Position, With Stun) is closed",
		func() { seen(list.Rows()) })
}

// TestChunkListMisuse: a list of another world, and a place outside of the list, panic by name.
func TestChunkListMisuse(t *testing.T) {
	x := newListing(t, func(x *listing) []ecs.Term { return []ecs.Term{ecs.Write(x.position)} })
	x.all[0].Create()
	var none ecs.ChunkList
	require.Zero(t, none.Len())
	require.False(t, none.Void())
	require.Empty(t, seen(none.Rows()))
	list := x.q.Chunks(none)
	ecstest.RequirePanic(t, "ecs: ChunkList.At: 1 is not in [0, 1)", func() { list.At(1) })
	ecstest.RequirePanic(t, "ecs: ChunkList.At: -1 is not in [0, 1)", func() { list.At(-1) })
	ecstest.RequirePanic(t, "ecs: ChunkList.Slice: [0, 2) of 1 chunks", func() { list.Slice(0, 2) })
	ecstest.RequirePanic(t, "ecs: ChunkList.Slice: [1, 0) of 1 chunks", func() { list.Slice(1, 0) })
	ecstest.RequirePanic(t, "ecs: Query.Chunks: the query is nil", func() { (*ecs.Query)(nil).Chunks(none) })
	x.all[1].Create()
	still := ecs.NewQuery(x.w, ecs.Read(x.position), ecs.Without(x.velocity)).Chunks(none)
	ecs.NewQuery(x.w, ecs.Read(x.velocity)).Chunks(still)
	ecstest.RequirePanic(t, "has chunks of another list: its memory was given to Query.Chunks",
		func() { seen(still.Rows()) })
	list = x.q.Chunks(none)
	ecstest.RequirePanic(t, "structural change inside a loop over query(Write Position)", func() {
		for range list.Rows() {
			x.all[0].Create()
		}
	})
	p := x.w.Lend()
	ecstest.RequirePanic(t, "ecs: ChunkList.Rows: the world is lent", func() { seen(list.Rows()) })
	p.End()
}

// TestChunkListAmongGoroutines cuts a list for several goroutines of a lent world: together they
// see what a loop sees, each chunk once.
func TestChunkListAmongGoroutines(t *testing.T) {
	x := newListing(t, func(x *listing) []ecs.Term { return []ecs.Term{ecs.Read(x.position), ecs.Without(x.stun)} })
	for _, a := range x.all {
		batch, err := a.CreateN(5000)
		require.NoError(t, err)
		for i, e := range batch.Entities(nil) {
			if i%3 != 0 {
				x.stun.Disable(e)
			}
		}
	}
	list := x.q.Chunks(ecs.ChunkList{})
	want := seen(list.Rows())
	got := make([][][]ecs.Entity, 4)
	p := x.w.Lend()
	var all sync.WaitGroup
	for g := range got {
		lo, hi := g*list.Len()/len(got), (g+1)*list.Len()/len(got)
		all.Go(func() { got[g] = seen(list.Slice(lo, hi).Rows()) })
	}
	all.Wait()
	p.End()
	require.Equal(t, want, slices.Concat(got...))
	require.Zero(t, testing.AllocsPerRun(10, func() { list = x.q.Chunks(list) }), "the memory is used again")
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for range list.Rows() {
			_ = list
		}
	}))
}
