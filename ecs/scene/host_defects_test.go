package scene_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

func worldOf(t testing.TB, options ...ecs.Option) *ecs.World {
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func hostOf(t testing.TB, w *ecs.World, register func(*ecs.World), options ...image.Option) *scene.Host {
	h := scene.NewHost(w, register, options...)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

func settle(t testing.TB, h *scene.Host) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for h.Update(0) {
		time.Sleep(100 * time.Microsecond)
		require.True(t, time.Now().Before(end), "it does not settle")
	}
}

// aWhile waits until a loader has probably read.
func aWhile() { time.Sleep(100 * time.Millisecond) }

// Instances after Host.Close.
func TestInstanceAfterClose(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{{ID: "inn", Value: House{Doors: 1}}})
	require.NoError(t, err)
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	i := h.Load(filepath.Join(folder, "main.world"))
	settle(t, h)
	require.NoError(t, h.Close())
	require.Equal(t, ecs.Null, i.Entity("inn"))
	require.Equal(t, ecs.Null, h.Entity("inn"))
	i.Unload()
	require.False(t, h.Update(0))
	require.NoError(t, h.Verify())
	require.Equal(t, 2, ecs.NewQueryOfAll(w).Count())
	_ = fmt.Sprint(i.State(), i.Name(), i.Len(), i.Err(), i.Path())
}

// A host that is closed while sections arrive and leave has nothing of them in the world.
func TestCloseInEachState(t *testing.T) {
	d := newTown(1, 60)
	_, paths := bakeTown(t, d, 7)
	for steps := range 40 {
		for _, leave := range []bool{false, true} {
			w, err := ecs.NewWorld()
			require.NoError(t, err)
			h := scene.NewHost(w, registerTown)
			i := h.Load(paths["main"])
			if leave {
				settle(t, h)
				i.Unload()
			} else {
				time.Sleep(2 * time.Millisecond)
			}
			for range steps {
				h.Update(time.Nanosecond)
			}
			was := i.State()
			require.NoError(t, h.Close())
			if was != scene.Loaded {
				require.Zero(t, ecs.NewQueryOfAll(w).Count(), "%v after %d steps, %v", was, steps, i.State())
			}
			require.NoError(t, w.Verify())
			require.NoError(t, w.Close())
		}
	}
}

// Two hosts of a world do not destroy each other's sections.
func TestTwoHosts(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{
		{ID: "inn", Section: "a", Value: House{Doors: 1}}, {ID: "mill", Section: "b", Value: House{Doors: 1}},
	})
	require.NoError(t, err)
	w := worldOf(t)
	h1, h2 := hostOf(t, w, registerTown), hostOf(t, w, registerTown)
	a, c := h1.Load(filepath.Join(folder, "a.world")), h2.Load(filepath.Join(folder, "b.world"))
	settle(t, h1)
	settle(t, h2)
	a.Unload()
	settle(t, h1)
	require.NotEqual(t, ecs.Null, c.Entity("mill"))
}

// A world that was saved with a section in it, and opened, has its tag.
func TestHostOfASavedWorld(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{
		{ID: "inn", Section: "a", Value: House{Doors: 1}}, {ID: "mill", Section: "b", Value: House{Doors: 1}},
	})
	require.NoError(t, err)
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.Load(filepath.Join(folder, "a.world"))
	settle(t, h)
	path := filepath.Join(folder, "saved")
	require.NoError(t, image.SaveFile(w, path))
	again, err := image.Open(path, func(w *ecs.World) { registerTown(w); scene.Register(w) })
	require.NoError(t, err)
	defer again.Close()
	h2 := scene.NewHost(again, registerTown)
	defer h2.Close()
	i := h2.Load(filepath.Join(folder, "b.world"))
	settle(t, h2)
	i.Unload()
	settle(t, h2)
	require.Equal(t, 2, ecs.NewQueryOfAll(again).Count(), "what was saved with the world stays")
}

// A section is reloaded while links of it to another are set.
func TestReloadWhileLinksAreSet(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(n int) {
		objects := []scene.Object{
			{ID: "mill", Section: "b", Value: House{}}, {ID: "other", Section: "b", Value: House{}},
		}
		for i := range n {
			objects = append(objects, scene.Object{
				ID: fmt.Sprint("inn", i), Section: "a", Value: House{Near: []string{[]string{"mill", "other"}[i%2]}},
			})
		}
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
	}
	bake(2000)
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.LiveLink()
	a := h.Load(filepath.Join(folder, "a.world"))
	settle(t, h)
	c := h.Load(filepath.Join(folder, "b.world"))
	for c.State() != scene.Loaded {
		h.Update(time.Nanosecond)
		time.Sleep(50 * time.Microsecond)
	}
	bake(101)
	a.Reload()
	aWhile()
	settle(t, h)
	require.NoError(t, a.Err())
	near := ecs.RegisterBuffer[Near](w, ecs.Inline(2))
	for i := range 101 {
		e := a.Entity(fmt.Sprint("inn", i))
		require.Equal(t, []Near{{c.Entity([]string{"mill", "other"}[i%2])}}, near.Slice(e))
	}
}

// The world is closed while a section is read, and while it is read again.
func TestWorldClosedWhileReloading(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	d := newTown(4, 400)
	_, err := b.Bake(folder, d.objects)
	require.Error(t, err) // no files
	b = newBakery(t, scene.Files(d.files))
	_, err = b.Bake(folder, d.objects)
	require.NoError(t, err)
	for n := range 6 {
		u, err := alloc.NewUniverse(alloc.Size(256 << 20))
		require.NoError(t, err)
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		require.NoError(t, err)
		h := scene.NewHost(w, registerTown)
		h.LiveLink()
		i := h.Load(filepath.Join(folder, "main.world"))
		settle(t, h)
		i.Reload()
		time.Sleep(time.Duration(n) * 500 * time.Microsecond)
		j := h.Load(filepath.Join(folder, "east.world"))
		require.NoError(t, w.Close())
		h.Update(0)
		h.Update(0)
		require.Equal(t, scene.Failed, i.State())
		require.ErrorIs(t, j.Err(), scene.ErrHost)
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	}
}

// The game destroys, takes Identity or Tag, and then the file is read again.
func TestReloadAfterTheGame(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	x := float32(0)
	bake := func(n int) {
		objects := []scene.Object{}
		x++
		for i := range n {
			objects = append(objects, scene.Object{
				ID: fmt.Sprint("inn", i), Value: House{X: x, Doors: 1, Near: []string{fmt.Sprint("inn", (i+1)%n)}},
			})
		}
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
	}
	bake(20)
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.LiveLink()
	i := h.Load(filepath.Join(folder, "main.world"))
	settle(t, h)
	e0, e1, e2, e3 := i.Entity("inn0"), i.Entity("inn1"), i.Entity("inn2"), i.Entity("inn19")
	w.Destroy(e0)
	ecs.Register[scene.Identity](w).Remove(e1)
	_, err := ecs.NewChange(w, ecs.Remove(ecs.RegisterShared[scene.Tag](w))).Apply(e2)
	require.NoError(t, err)
	ecs.Register[Position](w).Remove(e3)
	bake(15)
	i.Reload()
	settle(t, h)
	require.NoError(t, i.Err())
	require.False(t, w.Alive(e0))
	require.NoError(t, w.Verify())
	bake(30)
	i.Reload()
	i.Reload()
	i.Unload()
	settle(t, h)
	require.Equal(t, scene.Gone, i.State())
	t.Log(ecs.NewQueryOfAll(w).Count(), w.Alive(e1), w.Alive(e2))
}

// A snapshot is restored to before the section was loaded; ids are given out again.
func TestRestoreToBefore(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{{ID: "inn", Value: House{Doors: 3}}})
	require.NoError(t, err)
	w := worldOf(t)
	h := hostOf(t, w, func(w *ecs.World) { ecs.Register[mark](w); registerTown(w) })
	m := ecs.Register[mark](w)
	arch := ecs.NewArchetype(w, m)
	s := w.Snapshot()
	defer s.Close()
	i := h.Load(filepath.Join(folder, "main.world"))
	settle(t, h)
	require.NoError(t, i.Err())
	inn := i.Entity("inn")
	require.NotEqual(t, ecs.Null, inn)
	require.NoError(t, w.Restore(s))
	var mine []ecs.Entity
	for range 50 {
		mine = append(mine, arch.Create())
	}
	require.Contains(t, mine, inn)
	require.Equal(t, ecs.Null, i.Entity("inn"), "it is an entity of the game by now")
	require.NoError(t, h.Verify())
	i.Unload()
	settle(t, h)
	require.Equal(t, 50, ecs.NewQueryOfAll(w).Count())
}

// Damaged files: each byte is turned in turn.
func TestDamagedFiles(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{
		{ID: "inn", Section: "a", Value: House{Doors: 3, Sign: "x", Near: []string{"mill"}}}, {ID: "mill", Section: "b", Value: House{}},
	})
	require.NoError(t, err)
	file, err := os.ReadFile(filepath.Join(folder, "a.world"))
	require.NoError(t, err)
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	h := scene.NewHost(w, registerTown)
	bad, good := 0, 0
	path := filepath.Join(folder, "bad.world")
	try := func(f []byte) {
		require.NoError(t, os.WriteFile(path, f, 0o600))
		i := h.Load(path)
		for h.Update(0) {
			time.Sleep(10 * time.Microsecond)
		}
		if i.Err() != nil {
			require.Equal(t, scene.Failed, i.State())
			require.True(t, errors.Is(i.Err(), image.ErrFile) || errors.Is(i.Err(), scene.ErrSection) ||
				errors.Is(i.Err(), image.ErrTypes), "%v", i.Err())
			bad++
		} else {
			good++
		}
		i.Unload()
		h.Update(0)
		require.Zero(t, ecs.NewQueryOfAll(w).Count())
	}
	step := max(len(file)/steps(60), 1)
	for n := 0; n < len(file); n += step {
		f := append([]byte(nil), file...)
		f[n] ^= 1 << (n % 8)
		try(f)
	}
	for n := 0; n < len(file); n += len(file) / steps(12) {
		try(file[:n])
	}
	t.Log(len(file), bad, good)
	require.NoError(t, image.SaveFile(w, path))
	f, err := os.ReadFile(path)
	require.NoError(t, err)
	try(f)
	require.NoError(t, h.Close())
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}

// A host in a universe with little room fails sections and leaks nothing.
func TestLittleRoom(t *testing.T) {
	d := newTown(2, 3000)
	folder := t.TempDir()
	b := newBakery(t, scene.Files(d.files))
	_, err := b.Bake(folder, d.objects)
	require.NoError(t, err)
	for size := 1 << 20; size <= 16<<20; size += 1<<20 - 7*16384 {
		u, err := alloc.NewUniverse(alloc.Size(size))
		require.NoError(t, err)
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			require.NoError(t, u.Close())
			continue
		}
		h := scene.NewHost(w, registerTown)
		if size%3 == 0 {
			h.LiveLink()
		}
		var list []*scene.Instance
		for _, n := range []string{"main", "east", "west"} {
			list = append(list, h.Load(filepath.Join(folder, n+".world")))
		}
		settle(t, h)
		text := ""
		for _, i := range list {
			if i.State() == scene.Failed {
				var limit *ecs.LimitError
				require.ErrorAs(t, i.Err(), &limit)
			}
			text += i.State().String() + " "
			i.Unload()
		}
		settle(t, h)
		t.Log(size>>20, text)
		require.Zero(t, ecs.NewQueryOfAll(w).Count())
		require.NoError(t, w.Verify())
		require.NoError(t, h.Close())
		require.NoError(t, w.Close())
		require.Zero(t, u.Stats().LiveChunks)
		require.NoError(t, u.Close())
	}
}
