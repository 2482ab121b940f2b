package scene_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

type (
	follows struct{ Of ecs.Entity } // of the older program
	chases  struct{ Of ecs.Entity } // the same in the newer one
	crowd   struct{ All [3]ecs.Entity }
	zone    struct{ N int32 }
	left    struct{ N int32 }
	glow    struct{ N int32 }
	tracked struct{ N int32 }
	wide    struct{ N [64]int32 }
)

// Types of the file that have another name in the program keep their links.
func TestRenamedTypesKeepLinks(t *testing.T) {
	type thing struct{ To string }
	b, folder := bakeryOf(t, func(w *ecs.World) { ecs.Register[follows](w) }), t.TempDir()
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		if v.To != "" {
			scene.Put(c, c.Entity(), follows{c.EntityOf(v.To)})
		}
		return nil
	})
	_, err := b.Bake(folder, []scene.Object{
		{ID: "a", Section: "a", Value: thing{"b"}}, {ID: "b", Section: "b", Value: thing{}}, {ID: "c", Section: "a", Value: thing{"a"}},
	})
	require.NoError(t, err)
	w := worldOf(t)
	h := hostOf(t, w, func(w *ecs.World) { ecs.Register[chases](w) }, image.Renamed("follows", "chases"))
	a, c := h.Load(filepath.Join(folder, "a.world")), h.Load(filepath.Join(folder, "b.world"))
	settle(t, h)
	require.NoError(t, a.Err())
	require.NoError(t, c.Err())
	chase := ecs.Register[chases](w)
	require.Equal(t, a.Entity("a"), chase.Get(a.Entity("c")).Of)
	require.Equal(t, c.Entity("b"), chase.Get(a.Entity("a")).Of)
}

// A game with prefabs, groups, names, bits, chunk, tracked, narrow and Cleanup types.
func registerAll(w *ecs.World) {
	registerTown(w)
	ecs.Register[crowd](w)
	ecs.RegisterChunk[zone](w)
	ecs.Register[left](w, ecs.Cleanup)
	ecs.Register[glow](w, ecs.Enableable)
	ecs.Register[tracked](w, ecs.TrackRows)
	ecs.Register[wide](w, ecs.MaxRows(16))
	ecs.Register[ecs.Prefab](w)
	ecs.Register[ecs.DisabledEntity](w)
	ecs.RegisterBuffer[ecs.LinkedEntity](w)
}

type unit struct {
	Kind   string
	To     []string
	N      int
	Value  int
	Linked bool
}

func bakeUnit(c *scene.Context, v unit) error {
	e := c.Entity()
	scene.Put(c, e, Position{X: float32(v.Value)})
	switch v.Kind {
	case "prefab":
		scene.Put(c, e, ecs.Prefab{})
		group := []ecs.LinkedEntity{{Entity: e}}
		for range v.N {
			d := c.Create()
			scene.Put(c, d, ecs.Prefab{})
			scene.Put(c, d, Door{e})
			group = append(group, ecs.LinkedEntity{Entity: d})
		}
		scene.PutBuffer(c, e, group...)
	case "hidden":
		scene.Put(c, e, ecs.DisabledEntity{})
	case "cleanup":
		scene.Put(c, e, left{1})
	case "wide":
		scene.Put(c, e, wide{})
		scene.Put(c, e, tracked{2})
		scene.Put(c, e, glow{3})
	case "crowd":
		var all crowd
		for i, id := range v.To {
			all.All[i] = c.EntityOf(id)
		}
		scene.Put(c, e, all)
	case "hub":
		for _, id := range v.To {
			_ = id
		}
		list := make([]Near, 0, v.N)
		for i := range v.N {
			list = append(list, Near{c.EntityOf(fmt.Sprint("spoke-", i))})
		}
		scene.PutBuffer(c, e, list...)
	case "web":
		for i := range v.N {
			d := c.Create()
			scene.Put(c, d, Door{c.EntityOf(fmt.Sprint("spoke-", i))})
		}
	}
	return nil
}

func TestAllSorts(t *testing.T) {
	b, folder := bakeryOf(t, registerAll), t.TempDir()
	scene.AddBaker(b, "unit", bakeUnit)
	b.AddSystem("names and bits", func(w *ecs.World) error {
		g, id := ecs.Register[glow](w, ecs.Enableable), ecs.Register[scene.Identity](w)
		q := ecs.NewQuery(w, ecs.With(g))
		for _, e := range q.Entities(nil) {
			w.SetName(e, "the wide one")
			g.Disable(e)
		}
		q.Close()
		all := ecs.NewQueryOfAll(w)
		z := ecs.RegisterChunk[zone](w)
		_, err := ecs.NewChange(w, ecs.Add(z)).ApplyQuery(all)
		_ = id
		return err
	})
	objects := []scene.Object{
		{ID: "prefab", Section: "a", Value: unit{Kind: "prefab", N: 3}},
		{ID: "hidden", Section: "a", Value: unit{Kind: "hidden"}},
		{ID: "cleanup", Section: "a", Value: unit{Kind: "cleanup"}},
		{ID: "wide", Section: "a", Value: unit{Kind: "wide"}},
		{ID: "crowd", Section: "a", Value: unit{Kind: "crowd", To: []string{"far", "prefab", "hidden"}}},
		{ID: "far", Section: "b", Value: unit{Kind: "crowd", To: []string{"wide", "hidden"}}},
	}
	_, err := b.Bake(folder, objects)
	require.NoError(t, err)
	w := worldOf(t)
	h := hostOf(t, w, registerAll)
	h.LiveLink()
	var a, c *scene.Instance
	for round := range 3 {
		a, c = h.Load(filepath.Join(folder, "a.world")), h.Load(filepath.Join(folder, "b.world"))
		settle(t, h)
		require.NoError(t, a.Err())
		require.NoError(t, h.Verify())
		require.NoError(t, w.Verify())
		g := ecs.Register[glow](w, ecs.Enableable)
		require.Equal(t, "the wide one", w.Name(a.Entity("wide")))
		require.False(t, g.Enabled(a.Entity("wide")))
		require.True(t, ecs.Register[ecs.DisabledEntity](w).Has(a.Entity("hidden")))
		require.False(t, ecs.Register[ecs.DisabledEntity](w).Has(a.Entity("prefab")))
		require.Equal(t, [3]ecs.Entity{c.Entity("far"), a.Entity("prefab"), a.Entity("hidden")},
			ecs.Register[crowd](w).Get(a.Entity("crowd")).All)
		require.Equal(t, [3]ecs.Entity{a.Entity("wide"), a.Entity("hidden")},
			ecs.Register[crowd](w).Get(c.Entity("far")).All)
		clone := w.Instantiate(a.Entity("prefab"))
		require.True(t, w.Alive(clone))
		if round == 1 {
			for _, v := range []int{1, 2} {
				objects[0].Value = unit{Kind: "prefab", N: 2 + v, Value: v}
				objects[1].Value = unit{Kind: []string{"", "plain", "hidden"}[v], Value: v}
				objects[3].Value = unit{Kind: "wide", Value: v}
				_, err := b.Bake(folder, objects)
				require.NoError(t, err)
				a.Reload()
				c.Reload()
				settle(t, h)
				require.NoError(t, a.Err())
				require.NoError(t, w.Verify())
				require.NoError(t, h.Verify())
				require.Equal(t, "the wide one", w.Name(a.Entity("wide")))
				require.False(t, g.Enabled(a.Entity("wide")))
				require.Equal(t, v == 2, ecs.Register[ecs.DisabledEntity](w).Has(a.Entity("hidden")))
			}
		}
		a.Unload()
		c.Unload()
		settle(t, h)
		require.NoError(t, h.Verify())
		require.False(t, w.Alive(clone), "it has the tag")
		l := ecs.Register[left](w, ecs.Cleanup)
		q := ecs.NewQuery(w, ecs.With(l), ecs.With(ecs.Register[ecs.CleanupEntity](w)))
		for _, e := range q.Entities(nil) {
			l.Remove(e)
		}
		q.Close()
		require.Zero(t, ecs.NewQueryOfAll(w).Count())
	}
}

type (
	pairOld  struct{ A, B ecs.Entity }
	pairNew  struct{ B, A ecs.Entity }
	pairLess struct {
		N int32
		B ecs.Entity
	}
)

// TestFieldsInAnotherOrder: links between sections stay in the fields of their names when a type's
// fields are in another order, and those of a field that is gone are gone.
func TestFieldsInAnotherOrder(t *testing.T) {
	type thing struct{ A, B string }
	b, folder := bakeryOf(t, func(w *ecs.World) { ecs.Register[pairOld](w) }), t.TempDir()
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		if v.A != "" {
			scene.Put(c, c.Entity(), pairOld{c.EntityOf(v.A), c.EntityOf(v.B)})
		}
		return nil
	})
	_, err := b.Bake(folder, []scene.Object{
		{ID: "a", Section: "a", Value: thing{"b", "c"}}, {ID: "b", Section: "b", Value: thing{}}, {ID: "c", Section: "b", Value: thing{}},
	})
	require.NoError(t, err)
	load := func(register func(*ecs.World), name string) (w *ecs.World, from, b, c ecs.Entity) {
		w = worldOf(t)
		h := hostOf(t, w, register, image.Renamed("pairOld", name))
		from1, to := h.Load(filepath.Join(folder, "a.world")), h.Load(filepath.Join(folder, "b.world"))
		settle(t, h)
		require.NoError(t, from1.Err())
		return w, from1.Entity("a"), to.Entity("b"), to.Entity("c")
	}
	w, from, to, second := load(func(w *ecs.World) { ecs.Register[pairNew](w) }, "pairNew")
	require.Equal(t, pairNew{A: to, B: second}, *ecs.Register[pairNew](w).Get(from))
	w, from, _, second = load(func(w *ecs.World) { ecs.Register[pairLess](w) }, "pairLess")
	require.Equal(t, pairLess{B: second}, *ecs.Register[pairLess](w).Get(from))
}
