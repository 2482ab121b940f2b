package scene_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

type (
	mark   struct{ N uint64 }
	padded struct {
		A uint8
		B uint64
	}
	fellow struct{ Of ecs.Entity }
	pals   struct{ List []string }
)

// registerFew registers types of these tests.
func registerFew(w *ecs.World) {
	hierarchy.New(w)
	ecs.Register[mark](w)
	ecs.Register[padded](w)
	ecs.RegisterShared[fellow](w)
	ecs.RegisterBuffer[Near](w, ecs.Inline(0))
	palsType(w)
}

func palsType(w *ecs.World) ecs.Managed[pals] {
	return ecs.RegisterManaged[pals](w, ecs.Codec(
		func(b []byte, v *pals) ([]byte, error) { return append(b, strings.Join(v.List, ",")...), nil },
		func(b []byte, v *pals) error { v.List = strings.Split(string(b), ","); return nil }))
}

func bakeryOf(t testing.TB, register func(*ecs.World), options ...scene.Option) *scene.Bakery {
	b, err := scene.NewBakery(register, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// requireFull compares a folder with what a fresh bakery makes.
func requireFull(t testing.TB, folder string, fresh *scene.Bakery, objects []scene.Object) {
	t.Helper()
	full := t.TempDir()
	_, err := fresh.Bake(full, objects)
	require.NoError(t, err)
	requireSame(t, readFolder(t, full), readFolder(t, folder))
}

// What a baker sees by Context.Object is asked for, too.
func TestObjectIsAskedFor(t *testing.T) {
	type thing struct{ N int }
	make := func() *scene.Bakery {
		b := bakeryOf(t, registerFew)
		scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
			o := c.Object()
			scene.Put(c, c.Entity(), mark{scene.ObjectID(o.Section + o.Parent + o.Place)})
			return nil
		})
		return b
	}
	b, folder := make(), t.TempDir()
	objects := []scene.Object{
		{ID: "a", Section: "s", Value: thing{}}, {ID: "b", Section: "s", Value: thing{}}, {ID: "c", Value: thing{}},
	}
	for _, edit := range []func(){func() {}, func() { objects[0].Section = "" }, func() { objects[0].Parent = "c" },
		func() { objects[2].Place = "there" }} {
		edit()
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
		requireFull(t, folder, make(), objects)
	}
}

// An object that EntityOf was called for goes, though no value leads to it.
func TestTargetThatNoValueHasGoes(t *testing.T) {
	type thing struct{ To string }
	b, folder := bakeryOf(t, registerFew), t.TempDir()
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		if v.To != "" {
			c.EntityOf(v.To)
		}
		return nil
	})
	objects := []scene.Object{{ID: "a", Value: thing{"b"}}, {ID: "b", Value: thing{}}}
	_, err := b.Bake(folder, objects)
	require.NoError(t, err)
	_, err = b.Bake(folder, objects[:1])
	require.ErrorContains(t, err, `"b", which is no object`)
}

// Bakings that fail at a rename leave files of the new state; the next bake knows.
func TestRenameFails(t *testing.T) {
	type thing struct{ N int }
	b, folder := bakeryOf(t, registerFew), t.TempDir()
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		scene.Put(c, c.Entity(), mark{uint64(v.N)})
		return nil
	})
	bake := func(n int) error {
		_, err := b.Bake(folder, []scene.Object{
			{ID: "a", Section: "a", Value: thing{n}}, {ID: "b", Section: "b", Value: thing{n}},
		})
		return err
	}
	require.NoError(t, bake(1))
	want := readFolder(t, folder)
	path := filepath.Join(folder, "b.world")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
	require.Error(t, bake(2))
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, bake(1))
	requireSame(t, want, readFolder(t, folder))
	// A directory that has a file's name is no file.
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
	require.Error(t, bake(1))
}

// A baker's test that calls FailNow ends the baker's goroutine, not the program.
func TestBakerCallsGoexit(t *testing.T) {
	type thing struct{ N int }
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		if v.N == 1 {
			runtime.Goexit()
		}
		return nil
	})
	_, err := b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: thing{1}}, {ID: "b", Value: thing{2}}})
	var e *scene.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "a", e.Object)
}

type badJSON struct{ N int }

func (badJSON) MarshalJSON() ([]byte, error) { panic("no") }

func TestMarshalPanics(t *testing.T) {
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "thing", func(c *scene.Context, v badJSON) error { return nil })
	_, err := b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: badJSON{1}}})
	var e *scene.Error
	require.ErrorAs(t, err, &e)
}

type shape interface{ area() float64 }
type (
	circle struct{ R float64 }
	square struct{ R float64 }
)

func (c circle) area() float64 { return c.R * 3 }
func (c square) area() float64 { return c.R * c.R }

// Changes of authoring data that look alike in JSON are changes.
func TestContentThatJSONDoesNotTell(t *testing.T) {
	type any1 struct{ S any }
	type sh struct{ S shape }
	type Inner struct{ X int }
	type shadowed struct {
		Inner
		X int
	}
	type omit struct {
		A *int  `json:",omitempty"`
		B []int `json:",omitempty"`
	}
	try := func(name string, add func(*scene.Bakery), a, c any) {
		t.Run(name, func(t *testing.T) {
			b, folder := bakeryOf(t, registerFew), t.TempDir()
			var refused any
			func() { defer func() { refused = recover() }(); add(b) }()
			if refused != nil {
				t.Log(refused)
				return
			}
			for n, v := range []any{a, c} {
				report, err := b.Bake(folder, []scene.Object{{ID: "a", Value: v}})
				require.NoError(t, err)
				require.Equal(t, 1, report.Baked, "bake %d", n)
			}
		})
	}
	try("interface", func(b *scene.Bakery) {
		scene.AddBaker(b, "x", func(c *scene.Context, v sh) error { return nil })
	}, sh{circle{2}}, sh{square{2}})
	try("any", func(b *scene.Bakery) {
		scene.AddBaker(b, "x", func(c *scene.Context, v any1) error { return nil })
	}, any1{int(1)}, any1{float64(1)})
	try("shadowed", func(b *scene.Bakery) {
		scene.AddBaker(b, "x", func(c *scene.Context, v shadowed) error { return nil })
	}, shadowed{Inner{1}, 1}, shadowed{Inner{2}, 1})
	try("utf8", func(b *scene.Bakery) {
		scene.AddBaker(b, "x", func(c *scene.Context, v struct{ S string }) error { return nil })
	}, struct{ S string }{"\xff"}, struct{ S string }{"\xfe"})
	try("omit", func(b *scene.Bakery) {
		scene.AddBaker(b, "x", func(c *scene.Context, v omit) error { return nil })
	}, omit{}, omit{B: []int{}})
}

// A value with NaN or of odd maps and pointers is reported, or baked.
func TestOddContent(t *testing.T) {
	type odd struct {
		M map[string]*odd
		F float64
		P *odd
	}
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "odd", func(c *scene.Context, v odd) error { return nil })
	loop := &odd{}
	loop.P = loop
	_, err := b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: *loop}})
	require.Error(t, err)
	_, err = b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: odd{M: map[string]*odd{"a": nil, "b": {F: 1}}}}})
	require.NoError(t, err)
	_, err = b.Bake(t.TempDir(), []scene.Object{{ID: "a", Value: odd{F: math.NaN()}}})
	require.NoError(t, err)
}

// The bytes between the fields of a value are no part of it.
func TestPadding(t *testing.T) {
	type thing struct{ N int }
	var files []map[string][]byte
	for _, fill := range []byte{0, 0xAA} {
		b, folder := bakeryOf(t, registerFew), t.TempDir()
		scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
			p := new(padded)
			raw := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
			for i := range raw {
				raw[i] = fill
			}
			p.A, p.B = 1, 2
			scene.Put(c, c.Entity(), *p)
			return nil
		})
		_, err := b.Bake(folder, []scene.Object{{ID: "a", Value: thing{}}})
		require.NoError(t, err)
		files = append(files, readFolder(t, folder))
	}
	requireSame(t, files[0], files[1])
}

// A placeholder in a shared value would be in the file.
func TestEntityInASharedValue(t *testing.T) {
	type thing struct{ N int }
	b, folder := bakeryOf(t, registerFew), t.TempDir()
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		scene.Put(c, c.Entity(), fellow{c.Entity()})
		return nil
	})
	_, err := b.Bake(folder, []scene.Object{{ID: "a", Value: thing{}}})
	require.ErrorContains(t, err, "shared")
}

// A system that writes into a managed value leaves the records alone.
func TestSystemWritesManagedValues(t *testing.T) {
	type thing struct{ N int }
	make := func() *scene.Bakery {
		b := bakeryOf(t, registerFew)
		scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
			scene.Put(c, c.Entity(), pals{[]string{"x", "y"}})
			return nil
		})
		b.AddSystem("longer", func(w *ecs.World) error {
			p := palsType(w)
			q := ecs.NewQuery(w, ecs.With(p))
			for _, e := range q.Entities(nil) {
				p.Get(e).List[0] += "+"
			}
			return nil
		})
		return b
	}
	b, folder := make(), t.TempDir()
	objects := []scene.Object{{ID: "a", Value: thing{1}}, {ID: "b", Value: thing{1}}}
	for range 3 {
		objects[1].Value = thing{objects[1].Value.(thing).N + 1}
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
		requireFull(t, folder, make(), objects)
	}
}

// Systems that do what they should not.
func TestBadSystems(t *testing.T) {
	type thing struct{ N int }
	for name, run := range map[string]func(*ecs.World) error{
		"tag": func(w *ecs.World) error {
			q := ecs.NewQueryOfAll(w)
			_, err := ecs.NewChange(w, ecs.Put(ecs.RegisterShared[scene.Tag](w).Of(scene.Tag{
				Instance: 3, Part: 2,
			}))).ApplyQuery(q)
			return err
		},
		"part": func(w *ecs.World) error {
			q := ecs.NewQueryOfAll(w)
			_, err := ecs.NewChange(w, ecs.Put(ecs.RegisterShared[scene.Tag](w).Of(scene.Tag{Part: 2}))).ApplyQuery(q)
			return err
		},
		"close": func(w *ecs.World) error { return w.Close() },
		"panic in a loop": func(w *ecs.World) error {
			for range ecs.NewQueryOfAll(w).Rows() {
				panic("here")
			}
			return nil
		},
		"cleanup": func(w *ecs.World) error {
			type left struct{ N int }
			l := ecs.Register[left](w, ecs.Cleanup)
			q := ecs.NewQueryOfAll(w)
			e := q.Entities(nil)[0]
			l.Add(e, left{1})
			w.Destroy(e)
			return nil
		},
		"goexit": func(w *ecs.World) error { return errors.New("plain") },
	} {
		t.Run(name, func(t *testing.T) {
			b, folder := bakeryOf(t, registerFew), t.TempDir()
			scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error { return nil })
			b.AddSystem("bad", run)
			_, err := b.Bake(folder, []scene.Object{{ID: "a", Value: thing{}}, {ID: "b", Value: thing{}}})
			require.Error(t, err)
			require.Empty(t, readFolder(t, folder))
		})
	}
}

// Systems that do what is odd, but allowed: the section can be loaded.
func TestOddSystems(t *testing.T) {
	type thing struct{ N int }
	for name, run := range map[string]func(*ecs.World) error{
		"destroy all": func(w *ecs.World) error { w.DestroyQuery(ecs.NewQueryOfAll(w)); return nil },
		"clear":       func(w *ecs.World) error { w.Clear(); return nil },
		"cleanup that lives": func(w *ecs.World) error {
			type left struct{ N int }
			l := ecs.Register[left](w, ecs.Cleanup)
			l.Add(ecs.NewQueryOfAll(w).Entities(nil)[0], left{1})
			return nil
		},
		"identity": func(w *ecs.World) error {
			id := ecs.Register[scene.Identity](w)
			for _, e := range ecs.NewQueryOfAll(w).Entities(nil) {
				id.Remove(e)
			}
			return nil
		},
		"disabled and prefab": func(w *ecs.World) error {
			d, p := ecs.Register[ecs.DisabledEntity](w), ecs.Register[ecs.Prefab](w)
			l := ecs.NewQueryOfAll(w).Entities(nil)
			d.Add(l[0], ecs.DisabledEntity{})
			p.Add(l[1], ecs.Prefab{})
			return nil
		},
		"open query": func(w *ecs.World) error { ecs.NewQueryOfAll(w); w.Snapshot(); return nil },
		"foreign": func(w *ecs.World) error {
			o, err := ecs.NewWorld()
			if err != nil {
				return err
			}
			defer o.Close()
			e := ecs.NewArchetype(o).Create()
			n := ecs.RegisterBuffer[Near](w, ecs.Inline(0))
			x := ecs.NewArchetype(w, n).Create()
			m, _ := n.Mut(x)
			return ecs.Try(func() { m.CopyFrom([]Near{{e}}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, folder := bakeryOf(t, registerFew), t.TempDir()
			scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error { return nil })
			b.AddSystem("bad", run)
			report, err := b.Bake(folder, []scene.Object{{ID: "a", Value: thing{}}, {ID: "b", Value: thing{}}})
			require.NoError(t, err)
			w, err := ecs.NewWorld()
			require.NoError(t, err)
			h := scene.NewHost(w, func(w *ecs.World) {
				registerFew(w)
				type left struct{ N int }
				ecs.Register[left](w, ecs.Cleanup)
			})
			i := h.Load(filepath.Join(folder, "main.world"))
			for h.Update(0) {
				time.Sleep(50 * time.Microsecond)
			}
			require.NoError(t, i.Err())
			require.Equal(t, scene.Loaded, i.State())
			require.Equal(t, report.Sections[0].Entities, i.Len())
			i.Unload()
			h.Update(0)
			require.NoError(t, h.Verify())
			require.NoError(t, h.Close())
			require.NoError(t, w.Close())
		})
	}
}

// Folders in which nothing can be written, and the one that has no name.
func TestFolders(t *testing.T) {
	type thing struct{ N int }
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error { return nil })
	objects := []scene.Object{{ID: "a", Value: thing{}}}
	_, err := b.Bake(filepath.Join(t.TempDir(), "none"), objects)
	require.ErrorIs(t, err, os.ErrNotExist)
	t.Chdir(t.TempDir())
	_, err = b.Bake("", objects)
	require.NoError(t, err)
	require.FileExists(t, "main.world")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, entries, 1)
	report, err := b.Bake("", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"main.world"}, report.Removed)
}

func TestBakersMisbehave(t *testing.T) {
	type thing struct {
		N  int
		To string
	}
	var kept *scene.Context
	var other ecs.Entity
	b := bakeryOf(t, registerFew, scene.Files(fstest.MapFS{"empty": {}}))
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error {
		switch v.N {
		case 1:
			kept, other = c, c.Entity()
		case 2:
			panic(errors.New("boo"))
		case 3:
			scene.Put(c, other, mark{})
		case 4:
			scene.Put(c, c.Entity(), struct{ Q int }{})
		case 5:
			scene.Put(c, c.Entity(), scene.Tag{})
		case 6:
			scene.PutBuffer(c, c.Entity(), Near{other})
		case 7:
			kept.Entity()
		case 8:
			scene.PutBuffer(c, c.Entity(), Near{ecs.Entity{}})
			scene.PutBuffer(c, c.Entity(), Near{c.EntityOf(v.To)})
		case 9:
			scene.Put(c, ecs.Null, mark{})
		case 10:
			_, err := c.File("empty")
			if err != nil {
				return err
			}
			_, err = c.File("../x")
			return err
		}
		return nil
	})
	one := scene.Object{ID: "one", Value: thing{N: 1}}
	_, err := b.Bake(t.TempDir(), []scene.Object{one})
	require.NoError(t, err)
	require.Panics(t, func() { kept.Entity() })
	for n := 2; n <= 10; n++ {
		folder := t.TempDir()
		_, err = b.Bake(folder, []scene.Object{one, {ID: "bad\n\"", Place: "x:1", Value: thing{N: n, To: "none"}}})
		var e *scene.Error
		require.ErrorAs(t, err, &e, "%d", n)
		require.Empty(t, readFolder(t, folder))
	}
}

// An object that leads to many, and one that makes many.
func TestManyOfAnObject(t *testing.T) {
	type many struct{ Lead, Make int }
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "many", func(c *scene.Context, v many) error {
		list := make([]Near, 0, v.Lead)
		for i := range v.Lead {
			list = append(list, Near{c.EntityOf(fmt.Sprint("object-", i))})
		}
		scene.PutBuffer(c, c.Entity(), list...)
		for range v.Make {
			scene.Put(c, c.Create(), mark{1})
		}
		return nil
	})
	n := 30000
	objects := make([]scene.Object, 0, n)
	for i := range n {
		objects = append(objects, scene.Object{ID: fmt.Sprint("object-", i), Section: "other", Value: many{}})
	}
	objects = append(objects, scene.Object{ID: "hub", Value: many{n, 100000}})
	folder := t.TempDir()
	report, err := b.Bake(folder, objects)
	require.NoError(t, err)
	require.Equal(t, 30000, report.Sections[0].Entities)
	require.Equal(t, []int{100001, 30000}, []int{report.Sections[1].Entities, report.Sections[1].Links})
}

// TestReadJSONOdd: any input but a list of known objects is an error with the line, and gives no
// objects.
func TestReadJSONOdd(t *testing.T) {
	type thing struct{ N int }
	b := bakeryOf(t, registerFew)
	scene.AddBaker(b, "thing", func(c *scene.Context, v thing) error { return nil })
	for input, want := range map[string]string{
		"[":        "in:1: the list does not end: EOF",
		"[]x":      "in:1: something follows the list",
		"\ufeff[]": "in:1: no list of objects: invalid character",
		`[null]`:   `in:1): there is no baker ""`,
		`[{"id":"a","baker":"thing","value":{"N":1}}`:    "in:1: the list does not end: EOF",
		`[{"id":"a","baker":"thing","value":{"N":1}},]`:  "in:1: invalid character ']'",
		`[{"id":"a","baker":"thing","value":{"N":1.5}}]`: "object a (in:1): baker thing: json: cannot unmarshal number 1.5",
		strings.Repeat("[", 100000):                      "exceeded max depth",
	} {
		list, err := b.ReadJSON("in", strings.NewReader(input))
		require.Empty(t, list)
		require.ErrorContains(t, err, want, "%.60q", input)
	}
	for input, want := range map[string][]scene.Object{
		"[]": nil,
		`[{"id":"a","baker":"thing","value":null}]`: {{ID: "a", Place: "in:1", Value: thing{}}},
		// As encoding/json takes the last.
		`[{"id":"a","id":"b","baker":"thing"}]`: {{ID: "b", Place: "in:1", Value: thing{}}},
	} {
		list, err := b.ReadJSON("in", strings.NewReader(input))
		require.NoError(t, err)
		require.Equal(t, want, list)
	}
}
