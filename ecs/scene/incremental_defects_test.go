package scene_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"quarry/ecs"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// curious is authoring data whose baker asks for all that it can ask for.
type curious struct {
	N      int
	Looks  string // at another object, which may be none
	File   string
	Leads  string
	Shape  shape
	Fails  bool
	Counts map[string]int
}

func bakeCurious(c *scene.Context, v curious) error {
	e := c.Entity()
	sum := uint64(v.N)
	if o, ok := scene.Of[curious](c, v.Looks); ok {
		sum = sum*31 + uint64(o.N) + 1
	} else if o, ok := scene.Of[Tower](c, v.Looks); ok {
		sum = sum*31 + uint64(o.X) + 7
	}
	if v.File != "" {
		if text, err := c.File(v.File); err == nil {
			sum = sum*31 + scene.ObjectID(string(text))
		}
	}
	if v.Shape != nil {
		sum = sum*31 + uint64(v.Shape.area())
	}
	if v.N%3 == 0 {
		o := c.Object()
		sum = sum*31 + scene.ObjectID(o.Section+"|"+o.Parent+"|"+o.Place)
	}
	for _, key := range slices.Sorted(maps.Keys(v.Counts)) {
		sum = sum*31 + uint64(v.Counts[key])
		scene.Put(c, c.Create(), mark{uint64(len(key))})
	}
	scene.Put(c, e, mark{sum})
	scene.Put(c, e, pals{[]string{v.Looks, v.File}})
	if v.Leads != "" {
		scene.PutBuffer(c, e, Near{c.EntityOf(v.Leads)})
	}
	if v.Fails {
		return fmt.Errorf("it is to fail")
	}
	return nil
}

// odd is curious objects that change at random.
type odd struct {
	r       *rand.Rand
	files   fstest.MapFS
	objects []scene.Object
}

func (d *odd) id() string { return fmt.Sprint("o", d.r.IntN(25)) }

func (d *odd) value() any {
	r := d.r
	if r.IntN(4) == 0 {
		return Tower{X: float32(r.IntN(9))}
	}
	v := curious{N: r.IntN(9), Looks: d.id(), Fails: r.IntN(25) == 0}
	v.File = []string{"", "a", "b"}[r.IntN(3)]
	v.Shape = []shape{nil, circle{2}, square{2}}[r.IntN(3)]
	if r.IntN(4) == 0 {
		v.Leads = d.id()
	}
	if r.IntN(3) == 0 {
		v.Counts = map[string]int{"x": r.IntN(2), d.id(): 1}
	}
	return v
}

// edit changes something.
func (d *odd) edit() {
	r := d.r
	at := 0
	if len(d.objects) > 0 {
		at = r.IntN(len(d.objects))
	}
	switch k := r.IntN(9); {
	case k < 3 || len(d.objects) == 0:
		d.objects = append(d.objects, scene.Object{
			ID: d.id(), Value: d.value(), Section: []string{"", "main", "s1", "s.2"}[r.IntN(4)],
		})
		last := d.objects[len(d.objects)-1]
		if slices.ContainsFunc(d.objects[:len(d.objects)-1], func(o scene.Object) bool { return o.ID == last.ID }) {
			d.objects = d.objects[:len(d.objects)-1]
		}
	case k == 3:
		d.objects = slices.Delete(d.objects, at, at+1)
	case k == 4:
		d.objects[at].Section = []string{"", "s1", "s.2"}[r.IntN(3)]
	case k == 5:
		d.objects[at].Value = d.value()
	case k == 6:
		d.objects[at].Parent = []string{"", d.id()}[r.IntN(2)]
	case k == 7:
		n := r.IntN(len(d.objects))
		d.objects[at], d.objects[n] = d.objects[n], d.objects[at]
		d.objects[at].Place = d.id()
	case k == 8:
		name := []string{"a", "b"}[r.IntN(2)]
		if d.files[name] == nil {
			d.files[name] = &fstest.MapFile{Data: []byte{byte(r.IntN(3))}}
		} else {
			delete(d.files, name)
		}
	}
}

// mend takes away some of what bakes fail for.
func (d *odd) mend() {
	for i := range d.objects {
		if v, ok := d.objects[i].Value.(curious); ok && d.r.IntN(2) == 0 {
			v.Fails, v.Leads = false, ""
			d.objects[i].Value = v
		}
		if d.r.IntN(2) == 0 {
			d.objects[i].Parent = ""
		}
	}
}

// TestEveryEdit: whatever is edited, and whatever bake failed before, the files are those of a full
// bake.
func TestEveryEdit(t *testing.T) {
	for seed := range uint64(steps(3)) {
		r := rand.New(rand.NewPCG(seed, 77))
		files := fstest.MapFS{"a": {Data: []byte("a")}}
		make := func(workers int) *scene.Bakery {
			b := bakeryOf(t, registerFew, scene.Files(files), scene.Workers(workers))
			scene.SetPartRows(b, 5)
			scene.AddBaker(b, "curious", bakeCurious)
			scene.AddBaker(b, "tower", func(c *scene.Context, v Tower) error {
				scene.Put(c, c.Entity(), mark{uint64(v.X)})
				return nil
			})
			b.AddSystem("longer", func(w *ecs.World) error {
				p := palsType(w)
				q := ecs.NewQuery(w, ecs.With(p))
				defer q.Close()
				for _, e := range q.Entities(nil) {
					p.Get(e).List[0] += "+"
				}
				return nil
			})
			return b
		}
		b, folder := make(8), t.TempDir()
		d := &odd{r: r, files: files}
		good, bad := 0, 0
		for range steps(30) {
			for range 1 + r.IntN(3) {
				d.edit()
			}
			before := readFolder(t, folder)
			list := slices.Clone(d.objects)
			_, err := b.Bake(folder, list)
			full := t.TempDir()
			fresh := make(1)
			_, wanted := fresh.Bake(full, list)
			require.NoError(t, fresh.Close())
			if wanted != nil {
				require.Error(t, err, "%v", wanted)
				require.EqualError(t, err, wanted.Error())
				requireSame(t, before, readFolder(t, folder))
				bad++
				d.mend()
				continue
			}
			require.NoError(t, err)
			good++
			requireSame(t, readFolder(t, full), readFolder(t, folder))
		}
		t.Log(good, bad)
	}
}

// A bakery works while a game streams its files.
func TestBakeWhileStreaming(t *testing.T) {
	d := newTown(5, 60)
	folder := t.TempDir()
	b := newBakery(t, scene.Files(d.files))
	_, err := b.Bake(folder, d.objects)
	require.NoError(t, err)
	stop, done := make(chan bool), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			d.edit()
			if _, err := b.Bake(folder, d.objects); err != nil {
				done <- err
				return
			}
		}
	}()
	w := worldOf(t)
	h := hostOf(t, w, registerTown)
	h.LiveLink()
	var list []*scene.Instance
	for n := range steps(30) {
		list = append(list, h.Load(filepath.Join(folder, []string{"main", "east", "west"}[n%3]+".world")))
		settle(t, h)
		for _, i := range list {
			if i.State() == scene.Loaded {
				require.NoError(t, i.Err())
				i.Reload()
			}
		}
		h.Update(1)
		if len(list) > 3 {
			list[0].Unload()
			list = list[1:]
		}
	}
	close(stop)
	require.NoError(t, <-done)
	settle(t, h)
	require.NoError(t, h.Verify())
	require.NoError(t, w.Verify())
}
