package scene_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// The game clears the world, moves entities away and adds types, in each state of a section.
func TestGameBetweenUpdates(t *testing.T) {
	d := newTown(3, 60)
	_, paths := bakeTown(t, d, 7)
	for steps := range steps(12) {
		for kind := range 4 {
			w, err := ecs.NewWorld()
			require.NoError(t, err)
			h := scene.NewHost(w, registerTown)
			i, j := h.Load(paths["main"]), h.Load(paths["east"])
			time.Sleep(time.Millisecond)
			for range steps {
				h.Update(time.Nanosecond)
			}
			switch kind {
			case 0:
				w.Clear()
				a := ecs.NewArchetype(w, ecs.Register[Area](w))
				for range 30 {
					a.Create()
				}
			case 1:
				other, err := ecs.NewWorld()
				require.NoError(t, err)
				registerTown(other)
				scene.Register(other)
				_, err = other.MoveQuery(ecs.NewQueryOfAll(w))
				require.NoError(t, err)
				require.NoError(t, other.Close())
			case 2:
				for n, e := range ecs.NewQueryOfAll(w).Entities(nil) {
					switch n % 4 {
					case 0:
						w.Destroy(e)
					case 1:
						ecs.Register[zone](w).Add(e, zone{1})
					case 2:
						w.Instantiate(e)
					case 3:
						ecs.Register[Position](w).Remove(e)
					}
				}
			case 3:
				i.Unload()
				i = h.Load(paths["main"])
				i.Unload()
				i = h.Load(paths["main"])
			}
			settle(t, h)
			require.NoError(t, i.Err())
			require.NoError(t, j.Err())
			require.NoError(t, h.Verify())
			require.NoError(t, w.Verify())
			i.Unload()
			j.Unload()
			settle(t, h)
			require.NoError(t, h.Verify())
			if kind != 0 {
				require.Zero(t, ecs.NewQueryOfAll(w).Count())
			}
			require.NoError(t, h.Close())
			require.NoError(t, w.Close())
		}
	}
}

// Files that are not world files, types that the program does not have, and functions that panic in
// a loader.
func TestLoadersRefuse(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{{ID: "inn", Value: House{Doors: 1, Lit: true}}})
	require.NoError(t, err)
	path := filepath.Join(folder, "main.world")
	w := worldOf(t)
	h := hostOf(t, w, func(w *ecs.World) { ecs.Register[Position](w) })
	i := h.Load(path)
	settle(t, h)
	require.ErrorIs(t, i.Err(), image.ErrTypes)
	i = h.Load(folder)
	settle(t, h)
	require.Error(t, i.Err())
	i = h.Load(filepath.Join(folder, "none"))
	settle(t, h)
	require.ErrorIs(t, i.Err(), os.ErrNotExist)
	i.Unload()
	i.Unload()
	require.Equal(t, scene.Failed, i.State())
	var calls atomic.Int32
	h2 := hostOf(t, worldOf(t), func(w *ecs.World) {
		registerTown(w)
		if calls.Add(1) > 1 {
			panic(errors.New("boo"))
		}
	})
	i = h2.Load(path)
	settle(t, h2)
	require.ErrorContains(t, i.Err(), "boo")
}

// A value that is no number has not changed when it is read again.
func TestReloadOfNaN(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(x float32) {
		_, err := b.Bake(folder, []scene.Object{
			{ID: "inn", Value: House{X: float32(math.NaN())}}, {ID: "mill", Value: House{X: x}},
		})
		require.NoError(t, err)
	}
	bake(1)
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.LiveLink()
	i := h.Load(filepath.Join(folder, "main.world"))
	settle(t, h)
	p := ecs.Register[Position](w)
	p.Set(i.Entity("inn"), Position{5, 5})
	bake(2)
	i.Reload()
	settle(t, h)
	require.Equal(t, float32(2), p.Get(i.Entity("mill")).X)
	require.Equal(t, Position{5, 5}, *p.Get(i.Entity("inn")), "the game's change stays")
}

// A reload that finds no room leaves the world as it was, with managed values too.
func TestReloadGoesOnAfterFailures(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(sign string) {
		_, err := b.Bake(folder, []scene.Object{{ID: "inn", Value: House{Sign: sign}}})
		require.NoError(t, err)
	}
	bake("one")
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.LiveLink()
	path := filepath.Join(folder, "main.world")
	i := h.Load(path)
	settle(t, h)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, good[:len(good)/2], 0o600))
	i.Reload()
	i.Reload()
	settle(t, h)
	require.ErrorIs(t, i.Err(), image.ErrFile)
	require.NoError(t, os.Remove(path))
	i.Reload()
	settle(t, h)
	require.ErrorIs(t, i.Err(), os.ErrNotExist)
	bake("two")
	i.Reload()
	settle(t, h)
	require.NoError(t, i.Err())
	require.Equal(t, "two", signType(w).Get(i.Entity("inn")).Text)
}
