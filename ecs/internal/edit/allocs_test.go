package edit_test

import (
	"hash/maphash"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBatchesAllocateNothing: batches take no Go memory once they have run, by entity, chunk or
// call, with chunks that come, go and change hands, and bits that do.
func TestBatchesAllocateNothing(t *testing.T) {
	// What the scavenger gives back meanwhile is allocated again where memory is Go's.
	defer alloc.SetScavenger(alloc.SetScavenger(alloc.Scavenger{Percent: -1}))
	for _, growth := range ecstest.ChunkSizes {
		x := ecstest.NewFullTwin(t, growth)
		w, extra, flag := x.World, ecs.Register[extraData](x.World), ecs.Register[extraFlag](x.World, ecs.Enableable)
		set := ecs.NewArchetype(w, x.Position, x.Stun, x.Flag)
		var ids []ecs.Entity
		for range 9000 { // one by one, which makes chunks of all sizes
			ids = append(ids, set.Create())
		}
		for i, e := range ids {
			if i%3 == 0 {
				x.Flag.Disable(e)
			}
		}
		all, some := ecs.NewQuery(w, ecs.Present(x.Stun)), ecs.NewQuery(w, ecs.With(x.Flag))
		few, half := ids[100:108], ids[3:4500]
		addData, dropData := ecs.NewChange(w, ecs.Add(extra)), ecs.NewChange(w, ecs.Remove(extra))
		addTag, dropTag := ecs.NewChange(w, ecs.Add(x.Tag, flag)), ecs.NewChange(w, ecs.Remove(x.Tag, flag))
		with := ecs.NewArchetype(w, x.Position, x.Stun, x.Flag, x.Health)
		must := func(_ ecs.Batch, err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"ApplyQuery of all", func() { must(addData.ApplyQuery(all)); must(dropData.ApplyQuery(all)) }},
			{"ApplyQuery of some", func() { must(addData.ApplyQuery(some)); must(dropData.ApplyQuery(all)) }},
			{"ApplyQuery that moves chunks", func() { must(addTag.ApplyQuery(all)); must(dropTag.ApplyQuery(all)) }},
			{"ApplyList of few", func() { must(addData.ApplyList(few)); must(dropData.ApplyList(few)) }},
			{"ApplyList of half", func() { must(addTag.ApplyList(half)); must(dropTag.ApplyList(half)) }},
			{"AdoptQuery", func() { must(ecs.Into(with).ApplyQuery(all)); must(ecs.Into(set).ApplyQuery(all)) }},
			{"AdoptList", func() { must(ecs.Into(with).ApplyList(half)); must(ecs.Into(set).ApplyList(half)) }},
			{"EnableQuery of all", func() { x.Stun.DisableQuery(all); x.Stun.EnableQuery(all) }},
			{"EnableQuery of some", func() { x.Stun.DisableQuery(some); x.Stun.EnableQuery(some) }},
			{"EnableList of few", func() { x.Stun.DisableList(few); x.Stun.EnableList(few) }},
			{"EnableList of half", func() { x.Stun.DisableList(half); x.Stun.EnableList(half) }},
			{"the rows of a batch", func() {
				b, _ := addData.ApplyQuery(all)
				for rows := range b.Rows() {
					extra.Slice(rows)[0].A++
				}
				must(dropData.ApplyQuery(all))
			}},
			{"DestroyList and CreateN", func() {
				w.DestroyList(half)
				b, _ := set.CreateN(len(half))
				half = b.Entities(half[:0])
			}},
			{"DestroyQuery and CreateN", func() { w.DestroyQuery(all); must(set.CreateN(9000)) }},
			{"Clear and CreateN", func() { w.Clear(); must(set.CreateN(9000)) }},
		} {
			for range 10 {
				c.f()
			}
			require.Zero(t, testing.AllocsPerRun(5, c.f), "%s, chunks grow %v", c.name, growth)
			require.Equal(t, 9000, w.Stats().Alive, c.name)
		}
		require.NoError(t, w.Verify())
	}
}

// TestSharedAllocatesNothing: values that archetypes have are asked for and given without Go
// memory. The hash of an archetype is maphash's, which allocates with the tag purego.
func TestSharedAllocatesNothing(t *testing.T) {
	if seed := maphash.MakeSeed(); testing.AllocsPerRun(5, func() { maphash.Comparable(seed, [2]int{}) }) > 0 {
		t.Skip("maphash allocates, as with the tag purego")
	}
	w := ecstest.NewWorld(t)
	cell, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position, cell.Of(1000))
	e, other := a.Create(), a.With(cell.Of(2000)).Create()
	q := ecs.NewQuery(w, ecs.Read(position))
	for name, f := range map[string]func(){
		"With":   func() { a.With(cell.Of(2000)) },
		"Set":    func() { cell.Set(e, 3000); cell.Set(e, 1000) },
		"Get":    func() { cell.Get(other) },
		"Len":    func() { cell.Len(2000) },
		"RowsOf": func() { q.Where(cell.Of(2000))(func(ecs.Rows) bool { return true }) },
	} {
		f()
		require.Zero(t, testing.AllocsPerRun(20, f), name)
	}
}
