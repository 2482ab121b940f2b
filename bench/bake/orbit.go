package bake

import (
	"fmt"

	"quarry/bench/orbits"
	"quarry/ecs/scene"
)

// Orbit is authoring data: a row of a catalogue.
type Orbit struct{ orbits.Elements }

// Body is what an orbit becomes.
type Body struct{ orbits.Elements }

func bakeOrbit(c *scene.Context, o Orbit) error {
	scene.Put(c, c.Entity(), Body(o))
	return o.Check()
}

// belt returns a catalogue as authoring data of a section.
func belt(bodies []orbits.Elements) []scene.Object {
	list := make([]scene.Object, len(bodies))
	for i, b := range bodies {
		list[i] = scene.Object{ID: bodyID(i), Section: "belt", Place: fmt.Sprintf("row %d", i), Value: Orbit{b}}
	}
	return list
}

func bodyID(row int) string { return fmt.Sprintf("body-%d", row) }
