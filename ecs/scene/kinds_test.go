package scene_test

import (
	"path/filepath"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// TestVerifyNamesTheInvariant breaks each invariant of the host in turn.
func TestVerifyNamesTheInvariant(t *testing.T) {
	folder := t.TempDir()
	_, err := newBakery(t).Bake(folder, []scene.Object{{ID: "a", Value: Tower{}}, {ID: "b", Value: Tower{}}})
	require.NoError(t, err)
	g := newGame(t)
	main := g.load(filepath.Join(folder, "main.world"))[0]
	identity, tag := ecs.Register[scene.Identity](g.w), ecs.RegisterShared[scene.Tag](g.w)
	a := main.Entity("a")
	was := *identity.Get(a)
	identity.Set(a, scene.Identity{Object: 3})
	require.ErrorIs(t, g.host.Verify(), scene.ErrBroken)
	require.ErrorContains(t, g.host.Verify(), "S5")
	identity.Set(a, was)
	require.NoError(t, g.host.Verify())
	gone := g.load(filepath.Join(folder, "main.world"))[0]
	gone.Unload()
	g.settle()
	tag.Set(a, scene.Tag{Instance: gone.Number()})
	require.ErrorContains(t, g.host.Verify(), "S6")
	tag.Set(a, scene.Tag{Instance: main.Number()})
	require.NoError(t, g.host.Verify())
}

// Lever is enabled or not, Note outlives its entity.
type (
	Lever struct{ N int32 }
	Note  struct{ N int32 }
)

func registerLevers(w *ecs.World) {
	registerTown(w)
	ecs.Register[Lever](w, ecs.Enableable, ecs.TrackRows)
	ecs.Register[Note](w, ecs.Cleanup)
}

// TestSystemsDecide: what baking systems made of entities arrives as it was: disabled entities,
// prefabs, names, enable bits; entities are hidden until all parts are there.
func TestSystemsDecide(t *testing.T) {
	b, err := scene.NewBakery(registerLevers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	scene.SetPartRows(b, 4)
	scene.AddBaker(b, "lever", func(c *scene.Context, n int32) error {
		scene.Put(c, c.Entity(), Lever{n})
		scene.Put(c, c.Entity(), Note{n})
		return nil
	})
	b.AddSystem("mix", func(w *ecs.World) error {
		lever := ecs.Register[Lever](w, ecs.Enableable, ecs.TrackRows)
		for i, e := range ecs.NewQuery(w, ecs.Read(lever)).Entities(nil) {
			switch i % 5 {
			case 0:
				lever.Disable(e)
			case 1:
				w.SetName(e, "lever")
			case 2:
				ecs.Register[ecs.DisabledEntity](w).Add(e, ecs.DisabledEntity{})
			case 3:
				ecs.Register[ecs.Prefab](w).Add(e, ecs.Prefab{})
			}
		}
		return nil
	})
	var objects []scene.Object
	for i := range 23 {
		objects = append(objects, scene.Object{ID: string(rune('a' + i)), Value: int32(i)})
	}
	folder := t.TempDir()
	report, err := b.Bake(folder, objects)
	require.NoError(t, err)
	require.Equal(t, 6, report.Sections[0].Parts)
	path := filepath.Join(folder, "main.world")

	count := func(w *ecs.World, terms ...ecs.Term) int {
		q := ecs.NewQuery(w, append(terms, ecs.With(ecs.Register[scene.Identity](w)))...)
		defer q.Close()
		return q.Count()
	}
	tell := func(w *ecs.World) []int {
		lever := ecs.Register[Lever](w, ecs.Enableable, ecs.TrackRows)
		return []int{count(w), count(w, ecs.With(lever)), count(w, ecs.Disabled(lever)),
			count(w, ecs.IncludeDisabled()), count(w, ecs.IncludePrefabs()),
			count(w, ecs.IncludeDisabled(), ecs.IncludePrefabs(), ecs.With(ecs.Register[Note](w, ecs.Cleanup)))}
	}
	alone, err := image.Open(path, func(w *ecs.World) {
		registerLevers(w)
		scene.Register(w)
	})
	require.NoError(t, err)
	want := tell(alone)
	require.Equal(t, []int{14, 9, 5, 19, 18, 23}, want)
	require.NoError(t, alone.Close())

	w, err := ecs.NewWorld()
	require.NoError(t, err)
	host := scene.NewHost(w, registerLevers)
	i := host.Load(path)
	for i.State() != scene.Loaded {
		require.Zero(t, count(w), "seen before it is loaded")
		host.Update(time.Nanosecond)
		time.Sleep(50 * time.Microsecond)
	}
	require.Equal(t, want, tell(w))
	e, ok := w.Named("lever")
	require.True(t, ok && w.Alive(e))
	require.NoError(t, w.Verify())
	i.Unload()
	for host.Update(0) {
		continue
	}
	require.Equal(t, 23,
		ecs.NewQuery(w, ecs.With(ecs.Register[Note](w, ecs.Cleanup), ecs.Register[ecs.CleanupEntity](w))).Count(),
		"what outlives its entity")
	require.NoError(t, host.Close())
	require.NoError(t, w.Close())
}
