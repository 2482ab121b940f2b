package scene_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/scene"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// A town whose objects have all that a baker can give: components, tags, buffers, shared, managed
// and sparse values, links within an object, to others, and to other sections.

type (
	Position struct{ X, Y float32 }
	Door     struct{ House ecs.Entity }
	Near     struct{ Entity ecs.Entity }
	Lit      struct{}
	Street   struct{ Name string }
	Sign     struct{ Text string }
	Guard    struct{ Of, Next ecs.Entity }
	Area     struct{ Min, Max Position }
)

// House is authoring data.
type House struct {
	X, Y   float32
	Doors  int
	Street string
	Sign   string   // the text, or of a file
	Near   []string // ids of other objects
	Guards string   // id of an object; its height is looked at
	Lit    bool
}

// Tower is authoring data of another type.
type Tower struct{ X, Height float32 }

// registerTown registers the types of the game.
func registerTown(w *ecs.World) {
	hierarchy.New(w)
	ecs.Register[Position](w)
	ecs.Register[Door](w)
	ecs.RegisterBuffer[Near](w, ecs.Inline(2))
	ecs.Register[Lit](w)
	ecs.RegisterShared[Street](w)
	signType(w)
	ecs.RegisterSparse[Guard](w)
	ecs.Register[Area](w)
}

// signType registers Sign.
func signType(w *ecs.World) ecs.Managed[Sign] {
	return ecs.RegisterManaged[Sign](w, ecs.Codec(
		func(b []byte, v *Sign) ([]byte, error) { return append(b, v.Text...), nil },
		func(b []byte, v *Sign) error { v.Text = string(b); return nil }))
}

// signs are the files of the town.
var signs = fstest.MapFS{"inn.txt": {Data: []byte("The Inn")}, "shop.txt": {Data: []byte("Shop")}}

func bakeHouse(c *scene.Context, h House) error {
	e := c.Entity()
	scene.Put(c, e, Position{h.X, h.Y})
	if h.Street != "" {
		scene.Put(c, e, Street{h.Street})
	}
	if h.Lit {
		scene.Put(c, e, Lit{})
	}
	near := make([]Near, 0, len(h.Near))
	for _, id := range h.Near {
		near = append(near, Near{c.EntityOf(id)})
	}
	scene.PutBuffer(c, e, near...)
	for i := range h.Doors {
		d := c.Create()
		scene.Put(c, d, Door{e})
		scene.Put(c, d, Position{h.X + float32(i), h.Y})
		if h.Guards != "" {
			scene.Put(c, d, Guard{Of: c.EntityOf(h.Guards), Next: d})
		}
	}
	if h.Guards != "" {
		if t, ok := scene.Of[Tower](c, h.Guards); ok {
			scene.Put(c, e, Area{Max: Position{t.X, t.Height}})
		}
	}
	if filepath.Ext(h.Sign) == ".txt" {
		text, err := c.File(h.Sign)
		if err != nil {
			return err
		}
		scene.Put(c, e, Sign{string(text)})
	} else if h.Sign != "" {
		scene.Put(c, e, Sign{h.Sign})
	}
	return nil
}

func newBakery(t testing.TB, options ...scene.Option) *scene.Bakery {
	b, err := scene.NewBakery(registerTown, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	scene.AddBaker(b, "house", bakeHouse)
	scene.AddBaker(b, "tower", func(c *scene.Context, v Tower) error {
		scene.Put(c, c.Entity(), Position{v.X, v.Height})
		return nil
	})
	return b
}

// readFolder returns the files of a folder.
func readFolder(t testing.TB, folder string) map[string][]byte {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = b
	}
	return all
}

// requireSame compares folders without printing megabytes.
func requireSame(t testing.TB, want, got map[string][]byte) {
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name := range want {
		require.True(t, string(want[name]) == string(got[name]), "%s differs", name)
	}
}

// town is objects that change at random.
type town struct {
	r       *rand.Rand
	objects []scene.Object
	files   fstest.MapFS
	next    int
}

func newTown(seed uint64, n int) *town {
	d := &town{r: rand.New(rand.NewPCG(seed, 1)), files: maps.Clone(signs)}
	for range n {
		d.add()
	}
	return d
}

func (d *town) anyID() string { return d.objects[d.r.IntN(len(d.objects))].ID }

func (d *town) value() any {
	if d.r.IntN(4) == 0 || len(d.objects) == 0 {
		return Tower{d.r.Float32(), d.r.Float32()}
	}
	h := House{X: d.r.Float32(), Doors: d.r.IntN(4), Street: []string{"", "High", "Low"}[d.r.IntN(3)],
		Lit: d.r.IntN(2) == 0}
	h.Sign = []string{"", "inn.txt", "shop.txt", "plain"}[d.r.IntN(4)]
	for range d.r.IntN(4) {
		h.Near = append(h.Near, d.anyID())
	}
	if d.r.IntN(3) == 0 {
		h.Guards = d.anyID()
	}
	return h
}

func (d *town) add() {
	d.next++
	o := scene.Object{
		ID: fmt.Sprint("object-", d.next), Place: fmt.Sprint("town:", d.next), Section: []string{"", "east", "west"}[d.r.IntN(3)],
	}
	o.Value = d.value()
	if len(d.objects) > 0 && d.r.IntN(3) == 0 {
		if p := d.objects[d.r.IntN(len(d.objects))]; p.Section == o.Section {
			o.Parent = p.ID
		}
	}
	d.objects = slices.Insert(d.objects, d.r.IntN(len(d.objects)+1), o)
}

// remove takes an object away, and all that leads to it.
func (d *town) remove(id string) {
	for i := range d.objects {
		o := &d.objects[i]
		if h, ok := o.Value.(House); ok {
			h.Near = slices.DeleteFunc(slices.Clone(h.Near), func(to string) bool { return to == id })
			if h.Guards == id {
				h.Guards = ""
			}
			o.Value = h
		}
		if o.Parent == id {
			o.Parent = ""
		}
	}
	d.objects = slices.DeleteFunc(d.objects, func(o scene.Object) bool { return o.ID == id })
}

// edit changes something.
func (d *town) edit() {
	i := d.r.IntN(len(d.objects))
	switch d.r.IntN(6) {
	case 0:
		d.add()
	case 1:
		if len(d.objects) > 5 {
			d.remove(d.objects[i].ID)
		}
	case 2:
		d.objects[i].Value = d.value()
	case 3:
		if h, ok := d.objects[i].Value.(House); ok {
			h.X++
			d.objects[i].Value = h
		}
	case 4:
		if o := &d.objects[i]; o.Parent == "" &&
			!slices.ContainsFunc(d.objects, func(c scene.Object) bool { return c.Parent == o.ID }) {
			o.Section = []string{"", "east", "west"}[d.r.IntN(3)]
		}
	case 5:
		d.files["inn.txt"] = &fstest.MapFile{Data: fmt.Append(nil, "Inn ", d.r.IntN(5))}
	}
}

// TestIncremental: after random edits the files of a bakery that has baked before are those of a
// full bake by another number of workers, byte for byte, and fewer objects are baked.
func TestIncremental(t *testing.T) {
	seeds, steps := uint64(long.N(1, 2)), long.N(5, 15) // a town that was edited four times
	for seed := range seeds {
		d := newTown(seed, 60)
		folder := t.TempDir()
		b := newBakery(t, scene.Files(d.files), scene.Workers(3))
		addAreas(b)
		all, few := 0, 0
		for step := range steps {
			report, err := b.Bake(folder, d.objects)
			require.NoError(t, err)
			if step > 0 {
				all, few = all+report.Objects, few+report.Baked
			}
			full, fresh := t.TempDir(), newBakery(t, scene.Files(d.files), scene.Workers(1))
			addAreas(fresh)
			whole, err := fresh.Bake(full, d.objects)
			require.NoError(t, err)
			require.Equal(t, whole.Objects, whole.Baked)
			requireSame(t, readFolder(t, full), readFolder(t, folder))
			for range 1 + d.r.IntN(3) {
				d.edit()
			}
		}
		require.Less(t, few*2, all)
		require.NotZero(t, few)
	}
}

// addAreas adds a baking system that sees all of a section, makes an entity and copies one.
func addAreas(b *scene.Bakery) {
	b.AddSystem("areas", func(w *ecs.World) error {
		position, area := ecs.Register[Position](w), ecs.Register[Area](w)
		q := ecs.NewQuery(w, ecs.Read(position))
		var all Area
		for rows := range q.Rows() {
			for _, p := range position.Slice(rows) {
				all.Max.X = max(all.Max.X, p.X)
			}
		}
		list := q.Entities(nil)
		if len(list) == 0 {
			return errors.New("nothing there")
		}
		w.Instantiate(list[0])
		e := ecs.NewArchetype(w, area).Create()
		area.Set(e, all)
		return nil
	})
}
