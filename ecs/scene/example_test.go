package scene_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/ecs"
	"quarry/ecs/scene"
	"quarry/layout"
)

// Place is where something of the example stands.
type Place struct{ X, Y, Z float32 }

// The rows of the drawing in the package comment.
func Example_drawing() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	scene.Register(w)
	plan := ecs.NewArchetype(w, ecs.Register[Position](w), ecs.Register[scene.Identity](w)).Plan()
	if plan.CacheLine != 64 {
		plan, _ = layout.New([]layout.Column{
			{Name: "Entity", Size: 8, Align: 4}, {Name: "Identity", Size: 16, Align: 8}, {Name: "Position", Size: 8, Align: 4},
		}, layout.Options{CacheLine: 64})
	}
	fmt.Print(plan)
	// Output:
	// 16384 B chunk, 64 B lines, 512 rows of 32 B, 100.0 % used
	// offset   bytes     pad  column
	//      0    4096       0  Entity 512 x 8 B
	//   4096    8192       0  Identity 512 x 16 B
	//  12288    4096       0  Position 512 x 8 B
	// beside the chunk: 12 B of versions, 0 B of enable masks
}

// Lamp is authoring data of the example.
type Lamp struct{ X float32 }

// A street of lamps is baked, loaded and unloaded.
func Example() {
	folder, err := os.MkdirTemp("", "scene")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	register := func(w *ecs.World) { ecs.Register[Place](w) }

	b, err := scene.NewBakery(register)
	if err != nil {
		panic(err)
	}
	defer b.Close()
	scene.AddBaker(b, "lamp", func(c *scene.Context, l Lamp) error {
		scene.Put(c, c.Entity(), Place{X: l.X})
		return nil
	})
	objects, err := b.ReadJSON("street.json", strings.NewReader(`[
		{"id": "lamp-1", "section": "street", "baker": "lamp", "value": {"X": 10}},
		{"id": "lamp-2", "section": "street", "baker": "lamp", "value": {"X": 20}}]`))
	if err != nil {
		panic(err)
	}
	report, err := b.Bake(folder, objects)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Baked, "objects,", report.Sections[0].Name, report.Sections[0].Entities, "entities")

	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	host := scene.NewHost(w, register)
	street := host.Load(filepath.Join(folder, "street.world"))
	for host.Update(time.Millisecond) {
		time.Sleep(time.Millisecond) // a frame
	}
	fmt.Println(street.State(), *ecs.Register[Place](w).Get(street.Entity("lamp-2")))
	street.Unload()
	for host.Update(time.Millisecond) {
	}
	fmt.Println(street.State(), ecs.NewQueryOfAll(w).Count())

	_, err = b.ReadJSON("street.json", strings.NewReader(`[
		{"id": "lamp-1", "section": "street", "baker": "lamp", "value": {"Y": 10}}]`))
	fmt.Println(err)
	if err := errors.Join(host.Close(), w.Close()); err != nil {
		panic(err)
	}
	// Output:
	// 2 objects, street 2 entities
	// loaded {20 0 0}
	// gone 0
	// scene: Bakery.ReadJSON: object lamp-1 (street.json:2): baker lamp: json: unknown field "Y"
}
