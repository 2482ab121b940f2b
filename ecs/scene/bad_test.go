package scene_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// TestBadObjects: errors in authoring data are reported by object, place and baker, no file
// changes, and the next bake is as if nothing had been.
func TestBadObjects(t *testing.T) {
	house := func(id string, h House) scene.Object {
		return scene.Object{ID: id, Place: "t.json:" + id, Value: h}
	}
	under := func(id, parent string) scene.Object {
		o := house(id, House{})
		o.Parent = parent
		return o
	}
	elsewhere := house("b", House{})
	elsewhere.Section = "east"
	for name, c := range map[string]struct {
		objects []scene.Object
		want    string
	}{
		"no id": {[]scene.Object{{Value: House{}}}, "object : object 0 has no id"},
		"twice": {[]scene.Object{house("a", House{}), house("a", House{})}, "object a (t.json:a): its id is that of a (t.json:a) too"},
		"section": {[]scene.Object{{ID: "a", Section: "../x", Value: House{}}},
			`object a: section "../x": a section is named by letters, digits, _ and - and dots inside`},
		"device": {[]scene.Object{{ID: "a", Section: "Con", Value: House{}}}, `object a: section "Con": Windows takes the name for a device`},
		"case": {[]scene.Object{house("a", House{}), {ID: "b", Section: "Main", Value: House{}}},
			`object b: section "Main": it is named as "main" of a (t.json:a) but for the case of letters: on some systems both are one file`},
		"no parent":      {[]scene.Object{under("a", "z")}, `object a (t.json:a): its parent "z" is no object`},
		"own parent":     {[]scene.Object{under("a", "a")}, "object a (t.json:a): it is its own ancestor: a under a"},
		"cycle":          {[]scene.Object{under("a", "b"), under("b", "c"), under("c", "b")}, "object b (t.json:b): it is its own ancestor: b under c under b"},
		"parent's":       {[]scene.Object{under("a", "b"), elsewhere}, "object a (t.json:a): its parent b (t.json:b) is in section east, it is in main"},
		"no baker":       {[]scene.Object{{ID: "a", Value: 3}}, "object a: no baker takes a int"},
		"nil":            {[]scene.Object{{ID: "a"}}, "object a: no baker takes a <nil>"},
		"leads nowhere":  {[]scene.Object{house("a", House{Near: []string{"z"}})}, `object a (t.json:a): baker house: it leads to "z", which is no object`},
		"file":           {[]scene.Object{house("a", House{Sign: "none.txt"})}, "object a (t.json:a): baker house: open none.txt: file does not exist"},
		"bad":            {[]scene.Object{{ID: "a", Value: Bad{"error"}}}, "object a: baker bad: as it says"},
		"panic":          {[]scene.Object{{ID: "a", Value: Bad{"panic"}}}, "object a: baker bad: it panicked: as it says"},
		"not registered": {[]scene.Object{{ID: "a", Value: Bad{"type"}}}, "object a: baker bad: it panicked: scene: Put: scene_test.Bad is not registered"},
		"own type":       {[]scene.Object{{ID: "a", Value: Bad{"own"}}}, "object a: baker bad: it panicked: scene: Put: scene.Identity is given by the bake"},
		"foreign":        {[]scene.Object{{ID: "a", Value: Bad{"foreign"}}}, "object a: baker bad: it panicked: scene: Put: null is no entity of object a"},
		"entity": {[]scene.Object{{ID: "a", Value: Bad{"entity"}}},
			"object a: baker bad: its Door has entity 7v1, which is neither one of the object nor from EntityOf"},
		"buffer": {[]scene.Object{{ID: "a", Value: Bad{"buffer"}}},
			"object a: baker bad: it panicked: scene: PutBuffer: scene_test.Position is not registered"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			b := newBakery(t, scene.Files(signs))
			addBad(b)
			good := []scene.Object{house("a", House{X: 1, Doors: 1}), house("b", House{Near: []string{"a"}})}
			_, err := b.Bake(folder, good)
			require.NoError(t, err)
			before := readFolder(t, folder)
			_, err = b.Bake(folder, c.objects)
			require.EqualError(t, err, "scene: Bakery.Bake: "+c.want)
			var of *scene.Error
			require.ErrorAs(t, err, &of)
			if strings.Contains(c.want, "panicked") {
				require.Contains(t, string(of.Stack), "bad_test.go")
			}
			requireSame(t, before, readFolder(t, folder))
			report, err := b.Bake(folder, good)
			require.NoError(t, err)
			require.Zero(t, report.Baked)
			require.False(t, report.Sections[0].Written)
		})
	}
}

// Bad is authoring data whose baker does wrong.
type Bad struct{ How string }

var kept *scene.Context

func addBad(b *scene.Bakery) {
	scene.AddBaker(b, "bad", func(c *scene.Context, v Bad) error {
		switch v.How {
		case "error":
			return errors.New("as it says")
		case "panic":
			panic("as it says")
		case "type":
			scene.Put(c, c.Entity(), v)
		case "own":
			scene.Put(c, c.Entity(), scene.Identity{})
		case "foreign":
			scene.Put(c, ecs.Null, Position{})
		case "buffer":
			scene.PutBuffer(c, c.Entity(), Position{})
		case "keep":
			kept = c
		case "entity":
			w, err := ecs.NewWorld()
			if err != nil {
				return err
			}
			var e ecs.Entity
			for range 7 {
				e = ecs.NewArchetype(w).Create()
			}
			scene.Put(c, c.Entity(), Door{e})
			return w.Close()
		}
		return nil
	})
}

// TestContextIsKept: a context ends with its baker.
func TestContextIsKept(t *testing.T) {
	b := newBakery(t)
	addBad(b)
	_, err := b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: Bad{"keep"}}})
	require.NoError(t, err)
	require.PanicsWithValue(t, "scene: Context.Create: the baker has returned, or the context is nil",
		func() { kept.Create() })
}

// TestBadBakers: bakers that could not work are refused when they are added.
func TestBadBakers(t *testing.T) {
	b := newBakery(t)
	type hidden struct {
		A []struct{ b int }
	}
	require.PanicsWithValue(t,
		"scene: AddBaker: JSON does not show scene_test.hidden.A.b, so changes of it would not be noticed", func() {
			scene.AddBaker(b, "hidden", func(*scene.Context, hidden) error { return nil })
		})
	require.PanicsWithValue(t, "scene: AddBaker: scene_test.House has a baker already, house", func() {
		scene.AddBaker(b, "other", bakeHouse)
	})
	require.PanicsWithValue(t, "scene: AddBaker: house is the name of the baker of scene_test.House too", func() {
		scene.AddBaker(b, "house", func(*scene.Context, int) error { return nil })
	})
}

// TestBadJSON: errors have the line, the object and the field; those of several objects come at
// once.
func TestBadJSON(t *testing.T) {
	b := newBakery(t)
	for input, want := range map[string]string{
		"":                    "in:1: no list of objects: EOF",
		"{}":                  "in:1: a list of objects begins with [, not {",
		"[\n{\"id\": \"a\"},": "object a (in:2): there is no baker \"\"\nin:2: EOF",
		"[] []":               "in:1: something follows the list",
		"[\n\n" + ` {"id": "a", "baker": "house", "value": {"Hight": 3}},` + "\n" +
			` {"id": "b", "baker": "house", "value": {"X": "x"}}]`: "" +
			"object a (in:3): baker house: json: unknown field \"Hight\"\n" +
			"object b (in:4): baker house: json: cannot unmarshal string into Go struct field House.X of type float32",
		"[{\"idd\": \"a\"}]": "in:1: json: unknown field \"idd\"",
		"[{\"id\": }]":       "in:1: invalid character '}' looking for beginning of value",
	} {
		_, err := b.ReadJSON("in", strings.NewReader(input))
		require.EqualError(t, err, "scene: Bakery.ReadJSON: "+want, input)
	}
	list, err := b.ReadJSON("in",
		strings.NewReader(`[{"id": "a", "baker": "tower"}, {"id": "b", "parent": "a", "section": "s", "baker": "tower", "value": {"X": 2}}]`))
	require.NoError(t, err)
	require.Equal(t, []scene.Object{
		{ID: "a", Place: "in:1", Value: Tower{}}, {ID: "b", Place: "in:1", Parent: "a", Section: "s", Value: Tower{X: 2}},
	}, list)
}

// TestSystemsThatFail: a baking system that fails or panics ends the bake by its name.
func TestSystemsThatFail(t *testing.T) {
	for want, run := range map[string]func(*ecs.World) error{
		"section main: baking system s: no":              func(*ecs.World) error { return errors.New("no") },
		"section main: baking system s: it panicked: no": func(*ecs.World) error { panic("no") },
	} {
		b := newBakery(t)
		b.AddSystem("s", run)
		folder := t.TempDir()
		_, err := b.Bake(folder, []scene.Object{{ID: "a", Value: Tower{}}})
		require.EqualError(t, err, "scene: Bakery.Bake: "+want)
		require.Empty(t, readFolder(t, folder))
	}
}

// TestBadFolder: a folder that is not there is the system's error.
func TestBadFolder(t *testing.T) {
	b := newBakery(t)
	_, err := b.Bake(filepath.Join(t.TempDir(), "none"), []scene.Object{{ID: "a", Value: Tower{}}})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// fail loads a section and returns the error that it must fail with.
func (g *game) fail(path string) error {
	i := g.host.Load(path)
	g.settle()
	require.Equal(g.t, scene.Failed, i.State())
	require.Error(g.t, i.Err())
	require.NotContains(g.t, g.host.Instances(), i)
	return i.Err()
}

// TestBadFiles: sections that cannot be loaded fail by name, and the world is as it was.
func TestBadFiles(t *testing.T) {
	_, paths := bakeTown(t, newTown(1, 30), 5)
	g := newGame(t)
	g.load(paths["east"])
	hash := g.w.Hash()
	require.ErrorIs(t, g.fail("none.world"), os.ErrNotExist)

	good, err := os.ReadFile(paths["main"])
	require.NoError(t, err)
	broken := filepath.Join(t.TempDir(), "broken.world")
	for _, at := range []int{0, 9, 4200, len(good) / 2, len(good) - 1} {
		bad := append([]byte(nil), good...)
		bad[at] ^= 4
		require.NoError(t, os.WriteFile(broken, bad, 0o644))
		err := g.fail(broken)
		require.ErrorIs(t, err, image.ErrFile)
		require.ErrorContains(t, err, "scene: "+broken)
	}
	require.NoError(t, os.WriteFile(broken, good[:len(good)/3], 0o644))
	require.ErrorIs(t, g.fail(broken), image.ErrFile)

	w, err := ecs.NewWorld()
	require.NoError(t, err)
	registerTown(w)
	require.NoError(t, image.SaveFile(w, broken)) // a world, but no section
	require.NoError(t, w.Close())
	require.ErrorIs(t, g.fail(broken), scene.ErrSection)

	few, err := ecs.NewWorld()
	require.NoError(t, err)
	host := scene.NewHost(few, func(w *ecs.World) { ecs.Register[Position](w) })
	i := host.Load(paths["main"]) // types are missing
	for host.Update(0) {
		time.Sleep(time.Millisecond)
	}
	require.ErrorIs(t, i.Err(), image.ErrTypes)
	require.NoError(t, errors.Join(host.Close(), few.Close()))
	require.Equal(t, hash, g.w.Hash())
}

// TestUnloadEarly: a section that is unloaded while it is read, or arrives, leaves nothing.
func TestUnloadEarly(t *testing.T) {
	_, paths := bakeTown(t, newTown(2, 60), 4)
	g := newGame(t)
	for updates := range 30 {
		i := g.host.Load(paths["main"])
		for range updates {
			g.host.Update(time.Nanosecond)
			if updates%2 == 0 {
				time.Sleep(200 * time.Microsecond)
			}
		}
		i.Unload()
		i.Unload()
		require.Equal(t, scene.Leaving, i.State())
		g.settle()
		require.Equal(t, scene.Gone, i.State())
		require.NoError(t, i.Err())
		require.Zero(t, ecs.NewQueryOfAll(g.w).Count())
	}
}

// TestClosed: hosts and worlds that are closed while sections load end them by name, and all memory
// goes back.
func TestClosed(t *testing.T) {
	_, paths := bakeTown(t, newTown(2, 60), 4)
	for updates := range 12 {
		for _, worldFirst := range []bool{false, true} {
			w, err := ecs.NewWorld()
			require.NoError(t, err)
			host := scene.NewHost(w, registerTown)
			list := []*scene.Instance{host.Load(paths["main"]), host.Load(paths["east"])}
			for range updates {
				host.Update(time.Nanosecond)
			}
			if worldFirst {
				early := w.Close()
				for _, err := range []error{early} {
					if err != nil {
						require.ErrorIs(t, err, alloc.ErrInUse)
					}
				}
				host.Update(0)
			}
			require.NoError(t, host.Close())
			require.NoError(t, host.Close())
			require.NoError(t, w.Close())
			for _, i := range list {
				if i.State() != scene.Loaded {
					require.Equal(t, scene.Failed, i.State())
					require.ErrorIs(t, i.Err(), scene.ErrHost)
				}
			}
			require.Panics(t, func() { host.Load(paths["main"]) })
			require.False(t, host.Update(0))
		}
	}
}

// TestRegisterPanics: a function that panics in a loader fails the section.
func TestRegisterPanics(t *testing.T) {
	_, paths := bakeTown(t, newTown(2, 10), 4)
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	calls := 0
	host := scene.NewHost(w, func(w *ecs.World) {
		registerTown(w)
		if calls++; calls > 1 {
			panic("no")
		}
	})
	i := host.Load(paths["main"])
	for host.Update(0) {
		time.Sleep(time.Millisecond)
	}
	require.EqualError(t, i.Err(), "scene: "+paths["main"]+": the loader panicked: no")
	require.NoError(t, errors.Join(host.Close(), w.Close()))
}

// TestScarce: a host without room for a section refuses it, whatever the step at which memory runs
// out, and has what it had.
func TestScarce(t *testing.T) {
	_, paths := bakeTown(t, newTown(3, 400), 64)
	failed, loaded := 0, 0
	for size := 2; size <= 12; size++ {
		u, err := alloc.NewUniverse(alloc.Size(size << 20))
		require.NoError(t, err)
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		require.NoError(t, err)
		g := &game{t, w, scene.NewHost(w, registerTown)}
		for range 4 {
			before := ecs.NewQueryOfAll(w).Count()
			i := g.host.Load(paths["main"])
			g.settle()
			if i.State() == scene.Loaded {
				loaded++
				continue
			}
			failed++
			var limit *ecs.LimitError
			require.True(t, errors.As(i.Err(), &limit) || errors.Is(i.Err(), ecs.ErrLimit) ||
				errors.Is(i.Err(), alloc.ErrFull), i.Err())
			require.Equal(t, before, ecs.NewQueryOfAll(w).Count())
		}
		require.NoError(t, errors.Join(g.host.Close(), w.Close(), u.Close()))
	}
	t.Log(failed, "failed,", loaded, "loaded")
	require.NotZero(t, failed)
	require.NotZero(t, loaded)
}
