package scene_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/scene"
)

// Authoring data of a town, and what is made of it.
type (
	Cottage struct{ X, Y float32 }
	Board   struct{ Cottage, File string }
	Words   struct{ Text blob.String }
	Hangs   struct {
		Words blob.Blob[Words]
		At    ecs.Entity
	}
)

// A sign takes its place from the house it hangs at, and its text from a file: when one of these
// changes, it is baked anew.
func ExampleOf() {
	folder, err := os.MkdirTemp("", "scene")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	texts := fstest.MapFS{"inn.txt": {Data: []byte("The Inn")}}
	b, err := scene.NewBakery(func(w *ecs.World) {
		ecs.Register[Place](w)
		ecs.Register[Hangs](w)
		blob.Register(w)
	}, scene.Files(texts), scene.Workers(2))
	if err != nil {
		panic(err)
	}
	defer b.Close()
	scene.AddBaker(b, "house", func(c *scene.Context, h Cottage) error {
		scene.Put(c, c.Entity(), Place{X: h.X, Z: h.Y})
		return nil
	})
	scene.AddBaker(b, "sign", func(c *scene.Context, s Board) error {
		house, ok := scene.Of[Cottage](c, s.Cottage)
		if !ok {
			return fmt.Errorf("%s hangs at no house", c.Object().ID)
		}
		text, err := c.File(s.File)
		if err != nil {
			return err
		}
		words := blob.NewBuilder[Words]()
		blob.SetString(words, &words.Root().Text, string(text))
		scene.Put(c, c.Entity(), Place{X: house.X, Y: 3, Z: house.Y})
		scene.Put(c, c.Entity(), Hangs{scene.AddBlob(c, words), c.EntityOf(s.Cottage)})
		return nil
	})
	objects := []scene.Object{
		{ID: "inn", Section: "houses", Value: Cottage{X: 3}},
		{ID: "inn sign", Section: "signs", Value: Board{Cottage: "inn", File: "inn.txt"}, Place: "town.json:2"},
	}
	report, err := b.Bake(folder, objects)
	if err != nil {
		panic(err)
	}
	for _, s := range report.Sections {
		fmt.Println(filepath.Base(s.Path), s.Objects, "object in", s.Parts, "part,", s.Links, "links")
	}

	objects[1].Value = Board{Cottage: "mill"}
	_, err = b.Bake(folder, objects)
	var failed *scene.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Object, "of", failed.Place, "-", failed.Err, len(failed.Stack))
	}
	report, err = b.Bake(folder, objects[:1])
	if err != nil {
		panic(err)
	}
	fmt.Println("removed", filepath.Base(report.Removed[0]))
	// Output:
	// houses.world 1 object in 1 part, 0 links
	// signs.world 1 object in 1 part, 1 links
	// inn sign of town.json:2 - inn sign hangs at no house 0
	// removed signs.world
}

// bakeStreet bakes a street of two lamps into a folder, and returns the path of its file.
func bakeStreet(folder string, register func(*ecs.World)) string {
	b, err := scene.NewBakery(register)
	if err != nil {
		panic(err)
	}
	defer b.Close()
	scene.AddBaker(b, "lamp", func(c *scene.Context, l Lamp) error {
		scene.Put(c, c.Entity(), Place{X: l.X})
		return nil
	})
	_, err = b.Bake(folder, []scene.Object{
		{ID: "lamp-1", Section: "street", Value: Lamp{X: 10}},
		{ID: "lamp-2", Section: "street", Value: Lamp{X: 20}},
	})
	if err != nil {
		panic(err)
	}
	return filepath.Join(folder, "street.world")
}

// A street comes and goes while frames go on, and each of its entities is known by an Identity.
func ExampleInstance_State() {
	folder, err := os.MkdirTemp("", "scene")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	register := func(w *ecs.World) { ecs.Register[Place](w) }
	path := bakeStreet(folder, register)
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	host := scene.NewHost(w, register)
	host.Check(func(section *ecs.World) error { // in a loader, of the section alone
		if n := ecs.NewQuery(section, ecs.With(ecs.Register[Place](section))).Count(); n > 100 {
			return fmt.Errorf("%d places are too many", n)
		}
		return nil
	})
	street := host.Load(path)
	frame := func() {
		host.Update(time.Millisecond)
		switch street.State() {
		case scene.Reading, scene.Arriving, scene.Leaving: // a bar on the screen
			time.Sleep(time.Millisecond)
		case scene.Failed:
			fmt.Println(street.Err())
		}
	}
	for street.State() != scene.Loaded {
		frame()
	}
	lamp := host.Entity("lamp-2")
	identity, tags := ecs.Register[scene.Identity](w), ecs.RegisterShared[scene.Tag](w)
	id, tag := *identity.Get(lamp), scene.Tag{}
	tag, _ = tags.Get(lamp)
	fmt.Println(filepath.Base(street.Path()), street.EntityOf(id) == lamp, id.Local < uint32(street.Len()))
	fmt.Println(tag.Instance == street.Number(), "part", tag.Part)

	identity.Mut(lamp).Object = 7 // a write breaks what the host knows
	fmt.Println(errors.Is(host.Verify(), scene.ErrBroken))
	identity.Set(lamp, id)
	for street.Unload(); street.State() != scene.Gone; {
		frame()
	}
	again := host.Load(path)
	if err := host.Close(); err != nil {
		panic(err)
	}
	fmt.Println(w.Alive(lamp), errors.Is(again.Err(), scene.ErrHost))
	// Output:
	// street.world true true
	// true part 0
	// true
	// false true
}
