package guide_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/ecs"
	"quarry/ecs/scene"
)

// Spot is where a lamp of page 21 stands, Wire where its current comes from.
type (
	Spot struct{ X, Y float32 }
	Wire struct{ From ecs.Entity }
)

// Lamp is what people write, and a baker reads.
type Lamp struct {
	X, Y float32
	From string
}

func types(w *ecs.World) {
	ecs.Register[Spot](w)
	ecs.Register[Wire](w)
}

// Page 21: scenes.
func Example_scene() {
	folder, _ := os.MkdirTemp("", "guide")
	defer os.RemoveAll(folder)

	bakery, _ := scene.NewBakery(types)
	defer bakery.Close()
	scene.AddBaker(bakery, "lamp", func(c *scene.Context, l Lamp) error {
		e := c.Entity()
		scene.Put(c, e, Spot{l.X, l.Y})
		if l.From != "" {
			scene.Put(c, e, Wire{c.EntityOf(l.From)})
		}
		return nil
	})

	text := `[
	{"id": "plant", "section": "north", "baker": "lamp", "value": {"X": 1}},
	{"id": "lamp",  "section": "south", "baker": "lamp", "value": {"X": 2, "From": "plant"}}]`
	objects, _ := bakery.ReadJSON("lamps.json", strings.NewReader(text))
	report, err := bakery.Bake(folder, objects)
	fmt.Println(report.Baked, len(report.Sections), err)
	report, _ = bakery.Bake(folder, objects)
	fmt.Println(report.Baked, report.Sections[0].Written)

	w, _ := ecs.NewWorld()
	defer w.Close()
	spot, wire := ecs.Register[Spot](w), ecs.Register[Wire](w)
	host := scene.NewHost(w, types)
	defer host.Close()
	south := host.Load(filepath.Join(folder, "south.world"))
	for south.State() != scene.Loaded {
		host.Update(time.Millisecond) // once a frame
		time.Sleep(time.Millisecond)  // the rest of the frame
	}
	lamp := south.Entity("lamp")
	fmt.Println(*spot.Get(lamp), wire.Get(lamp).From)

	north := host.Load(filepath.Join(folder, "north.world"))
	for host.Update(time.Millisecond) { // there is more to do
		time.Sleep(time.Millisecond)
	}
	fmt.Println(*spot.Get(wire.Get(lamp).From))

	north.Unload()
	for host.Update(time.Millisecond) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(north.State(), w.Alive(wire.Get(lamp).From), w.Alive(lamp))

	_, err = bakery.ReadJSON("lamps.json", strings.NewReader(strings.Replace(text, "X", "Z", 1)))
	fmt.Println(err)
	objects[0].ID = "mill"
	_, err = bakery.Bake(folder, objects)
	fmt.Println(err)
	// Output:
	// 2 2 <nil>
	// 0 false
	// {2 0} null
	// {1 0}
	// gone false true
	// scene: Bakery.ReadJSON: object plant (lamps.json:2): baker lamp: json: unknown field "Z"
	// scene: Bakery.Bake: object lamp (lamps.json:3): baker lamp: it leads to "plant", which is no object
}
