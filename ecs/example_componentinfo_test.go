package ecs_test

import (
	"encoding/json"
	"fmt"
	"os"

	"quarry/ecs"
)

// printed is an entity of ExampleNewQueryOfAll.
type printed struct {
	Entity     int // its index; an Entity prints with its version and world, as 1v1@6
	Components map[string]any
}

// A world is printed as JSON by code that knows none of its types.
func ExampleNewQueryOfAll() {
	type Place struct{ X, Y int }
	type Wave struct{ Height int }
	type Port string

	w, _ := ecs.NewWorld()
	defer w.Close()
	place, waves := ecs.Register[Place](w), ecs.RegisterBuffer[Wave](w)
	port := ecs.RegisterShared[Port](w)
	ship := ecs.NewArchetype(w, place, waves, port.Of("Genoa")).Create()
	place.Set(ship, Place{3, 4})
	waves.Append(ship, Wave{1}, Wave{2})
	ecs.NewArchetype(w, place).Create()

	all := ecs.NewQueryOfAll(w)
	defer all.Close()
	out := json.NewEncoder(os.Stdout)
	for rows := range all.Rows() {
		types := rows.Archetype().Components()
		for i, e := range rows.Entities() {
			p := printed{e.Index(), map[string]any{}}
			for _, c := range types {
				p.Components[fmt.Sprint(c.Kind, " ", c.Go)] = rows.Value(c.Type, i) // c.Name need not be unique
			}
			if err := out.Encode(p); err != nil {
				fmt.Println(err)
			}
		}
	}
	// Output:
	// {"Entity":1,"Components":{"buffer ecs_test.Wave":[{"Height":1},{"Height":2}],"component ecs_test.Place":{"X":3,"Y":4},"shared ecs_test.Port":"Genoa"}}
	// {"Entity":2,"Components":{"component ecs_test.Place":{"X":0,"Y":0}}}
}
