package scene_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/scene"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// game is a world that loads sections of the town.
type game struct {
	t    testing.TB
	w    *ecs.World
	host *scene.Host
}

func newGame(t testing.TB) *game {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	g := &game{t, w, scene.NewHost(w, registerTown)}
	t.Cleanup(func() {
		require.NoError(t, g.host.Close())
		require.NoError(t, w.Close())
	})
	return g
}

// settle updates until nothing is under way.
func (g *game) settle() {
	for g.host.Update(0) {
		time.Sleep(50 * time.Microsecond)
	}
	g.verify()
}

func (g *game) verify() {
	require.NoError(g.t, g.w.Verify())
	require.NoError(g.t, g.host.Verify())
}

// load loads sections and waits.
func (g *game) load(paths ...string) (list []*scene.Instance) {
	for _, p := range paths {
		list = append(list, g.host.Load(p))
	}
	g.settle()
	for _, i := range list {
		require.NoError(g.t, i.Err())
		require.Equal(g.t, scene.Loaded, i.State())
	}
	return list
}

// known is how an entity is called whatever its id.
func known(w *ecs.World, e ecs.Entity) string {
	if e == ecs.Null {
		return "null"
	}
	id := ecs.Register[scene.Identity](w).Get(e)
	if id == nil {
		return "null" // it was of a section that is gone
	}
	return fmt.Sprintf("%x.%d", id.Object, id.Sub)
}

// imprint describes all entities of sections, by Identity: values, types, and where links lead.
func imprint(w *ecs.World) map[string]string {
	all := map[string]string{}
	identity := ecs.Register[scene.Identity](w)
	position, door, near := ecs.Register[Position](w), ecs.Register[Door](w), ecs.RegisterBuffer[Near](w, ecs.Inline(2))
	lit := ecs.Register[Lit](w)
	street := ecs.RegisterShared[Street](w)
	sign := signType(w)
	guard := ecs.RegisterSparse[Guard](w)
	area := ecs.Register[Area](w)
	h := hierarchy.New(w)
	defer h.Close()
	q := ecs.NewQuery(w, ecs.Read(identity))
	defer q.Close()
	for _, e := range q.Entities(nil) {
		text := ""
		if p := position.Get(e); p != nil {
			text += fmt.Sprint("at ", *p)
		}
		if d := door.Get(e); d != nil {
			text += " door of " + known(w, d.House)
		}
		for _, n := range near.Slice(e) {
			text += " near " + known(w, n.Entity)
		}
		if lit.Has(e) {
			text += " lit"
		}
		if s, ok := street.Get(e); ok {
			text += " in " + s.Name
		}
		if s := sign.Get(e); s != nil {
			text += " sign " + s.Text
		}
		if g := guard.Get(e); g != nil {
			text += " guards " + known(w, g.Of) + " then " + known(w, g.Next)
		}
		if a := area.Get(e); a != nil {
			text += fmt.Sprint(" area ", *a)
		}
		text += " under " + known(w, h.Parent(e))
		for c := range h.Children(e) {
			text += " over " + known(w, c)
		}
		key := known(w, e)
		for all[key] != "" {
			key += "'"
		}
		all[key] = text
	}
	return all
}

// requireImprint compares worlds, and prints a few of the entities that differ.
func requireImprint(t testing.TB, want, got *ecs.World) {
	a, b := imprint(want), imprint(got)
	var differ []string
	for key := range a {
		if a[key] != b[key] {
			differ = append(differ, fmt.Sprintf("%s: %s, not %s", key, b[key], a[key]))
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			differ = append(differ, key+" too much")
		}
	}
	slices.Sort(differ)
	require.Empty(t, differ[:min(len(differ), 5)])
}

// bakeTown bakes a town whose parts are small, and returns the paths of its sections.
func bakeTown(t testing.TB, d *town, rows int) (folder string, paths map[string]string) {
	folder = t.TempDir()
	b := newBakery(t, scene.Files(d.files))
	scene.SetPartRows(b, rows)
	report, err := b.Bake(folder, d.objects)
	require.NoError(t, err)
	paths = map[string]string{}
	for _, s := range report.Sections {
		paths[s.Name] = s.Path
	}
	return folder, paths
}

// TestLoadAndUnload: sections in parts come and go in any order; what is there is that of a world
// into which only those were loaded, links included.
func TestLoadAndUnload(t *testing.T) {
	for seed := range uint64(steps(3)) {
		d := newTown(seed, 80)
		_, paths := bakeTown(t, d, 7)
		require.Len(t, paths, 3)
		names := []string{"main", "east", "west"}
		r := rand.New(rand.NewPCG(seed, 9))
		g := newGame(t)
		there := map[string]*scene.Instance{}
		for range steps(30) {
			name := names[r.IntN(3)]
			if i := there[name]; i != nil {
				i.Unload()
				delete(there, name)
			} else {
				there[name] = g.host.Load(paths[name])
			}
			for range r.IntN(40) {
				g.host.Update(time.Nanosecond)
				require.NoError(t, g.host.Verify()) // not the world's, whose universe loaders use
			}
			if r.IntN(3) > 0 {
				continue
			}
			g.settle()
			fresh := newGame(t)
			for name := range there {
				fresh.load(paths[name])
			}
			requireImprint(t, fresh.w, g.w)
		}
		for _, i := range g.host.Instances() {
			i.Unload()
		}
		g.settle()
		require.Zero(t, ecs.NewQueryOfAll(g.w).Count())
	}
}

// TestInstances: a section that is loaded twice is there twice, and links of each copy stay in it;
// links of others lead to the first, and to the second when the first goes.
func TestInstances(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	_, err := b.Bake(folder, []scene.Object{
		{ID: "inn", Section: "a", Value: House{X: 1, Doors: 2, Near: []string{"mill"}}},
		{ID: "mill", Section: "b", Value: House{X: 2, Near: []string{"inn"}}},
	})
	require.NoError(t, err)
	g := newGame(t)
	near := ecs.RegisterBuffer[Near](g.w, ecs.Inline(2))
	door := ecs.Register[Door](g.w)
	list := g.load(filepath.Join(folder, "a.world"), filepath.Join(folder, "a.world"), filepath.Join(folder, "b.world"))
	first, second, mill := list[0].Entity("inn"), list[1].Entity("inn"), g.host.Entity("mill")
	require.NotEqual(t, first, second)
	require.Equal(t, first, g.host.Entity("inn"))
	require.Equal(t, []Near{{mill}}, near.Slice(first))
	require.Equal(t, []Near{{mill}}, near.Slice(second))
	require.Equal(t, []Near{{first}}, near.Slice(mill))
	for _, i := range list[:2] {
		d := i.EntityOf(scene.Identity{Object: scene.ObjectID("inn"), Sub: 1})
		require.Equal(t, i.Entity("inn"), door.Get(d).House)
	}
	list[0].Unload()
	g.settle()
	require.Equal(t, []Near{{second}}, near.Slice(mill))
	require.Equal(t, scene.Gone, list[0].State())
	require.Equal(t, ecs.Null, list[0].Entity("inn"))
	list[2].Unload()
	g.settle()
	g.load(filepath.Join(folder, "b.world"))
	require.Equal(t, []Near{{g.host.Entity("mill")}}, near.Slice(second))
	require.True(t, g.w.Alive(g.host.Entity("mill")))
	require.Equal(t, []string{"a", "b"}, []string{list[1].Name(), g.host.Instances()[1].Name()})
}

// TestReload: random edits of the town are brought to a world in which the game has changed other
// things, which stay.
func TestReload(t *testing.T) {
	for seed := range uint64(steps(3)) {
		d := newTown(seed, 50)
		folder := t.TempDir()
		b := newBakery(t, scene.Files(d.files))
		scene.SetPartRows(b, 9)
		bake := func() {
			_, err := b.Bake(folder, d.objects)
			require.NoError(t, err)
		}
		bake()
		g := newGame(t)
		g.host.LiveLink()
		byName := map[string]*scene.Instance{}
		for _, name := range []string{"main", "east", "west"} {
			byName[name] = g.load(filepath.Join(folder, name+".world"))[0]
		}
		note := ecs.Register[struct{ Of scene.Identity }](g.w)
		for step := range steps(15) {
			before := map[scene.Identity]ecs.Entity{}
			identity := ecs.Register[scene.Identity](g.w)
			q := ecs.NewQuery(g.w, ecs.Read(identity))
			for _, e := range q.Entities(nil) {
				id := *identity.Get(e)
				id.Local = 0
				before[id] = e
				if step == 0 {
					note.Add(e, struct{ Of scene.Identity }{id})
				}
			}
			q.Close()
			for range 1 + d.r.IntN(3) {
				d.edit()
			}
			bake()
			for _, i := range byName {
				i.Reload()
			}
			g.settle()
			fresh := newGame(t)
			for name, i := range byName {
				require.NoError(t, i.Err())
				fresh.load(filepath.Join(folder, name+".world"))
			}
			requireImprint(t, fresh.w, g.w)
			for id, e := range before { // ids stay, and what the game added
				if g.w.Alive(e) && step == 0 {
					require.Equal(t, id, note.Get(e).Of)
				}
				if g.w.Alive(e) {
					now := *identity.Get(e)
					require.Equal(t, id, scene.Identity{Object: now.Object, Sub: now.Sub})
				}
			}
		}
	}
}

// TestReloadBeforeLinks: a section is loaded, and before others lead to it one of those gets a
// newer file, in which its entities have other numbers.
func TestReloadBeforeLinks(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(pubs ...string) {
		objects := []scene.Object{
			{ID: "mill", Section: "b", Value: House{}}, {ID: "farm", Section: "b", Value: House{}},
		}
		for _, id := range pubs {
			near := []string{"mill"}
			if id == "pub" {
				near = []string{"farm"}
			}
			objects = append(objects, scene.Object{ID: id, Section: "a", Value: House{Near: near}})
		}
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
	}
	bake("inn", "pub", "bar", "club")
	g := newGame(t)
	g.host.LiveLink()
	a := g.load(filepath.Join(folder, "a.world"))[0]
	other := g.host.Load(filepath.Join(folder, "b.world"))
	for other.State() != scene.Loaded {
		g.host.Update(time.Nanosecond)
		time.Sleep(50 * time.Microsecond)
	}
	// A step each: links of others come next.
	bake("pub")
	a.Reload()
	time.Sleep(100 * time.Millisecond) // if the file is read by then, it comes first
	g.settle()
	near := ecs.RegisterBuffer[Near](g.w, ecs.Inline(2))
	require.Equal(t, []Near{{g.host.Entity("farm")}}, near.Slice(g.host.Entity("pub")))
	require.Equal(t, 3, ecs.NewQuery(g.w, ecs.With(ecs.Register[scene.Identity](g.w))).Count())
}

// TestReloadOfLess: an edit that takes a tag away, and nothing else, is brought to the world.
func TestReloadOfLess(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(lit bool) {
		_, err := b.Bake(folder, []scene.Object{{ID: "inn", Section: "a", Value: House{X: 1, Lit: lit}}})
		require.NoError(t, err)
	}
	bake(true)
	g := newGame(t)
	g.host.LiveLink()
	a := g.load(filepath.Join(folder, "a.world"))[0]
	require.True(t, ecs.Register[Lit](g.w).Has(a.Entity("inn")))
	bake(false)
	a.Reload()
	g.settle()
	require.False(t, ecs.Register[Lit](g.w).Has(a.Entity("inn")))
}

// steps returns the steps or seeds of a test. A fifth of them, the short form, is still several
// edits in a row, each brought to files or worlds that earlier ones have changed.
func steps(n int) int { return long.N(max(n/5, 1), n) }
