package ecs_test

import (
	"encoding/json"
	"fmt"

	"quarry/ecs"
)

// An editor shows an entity as a form and gets JSON back. Get fills the form and Set writes it; a
// form that has a type which the entity lacks is refused as a whole.
func ExampleBundle_Set() {
	type Health struct{ Points int }
	type Shield struct{ Strength int }
	type Waypoint struct{ X, Y int }
	type Form struct {
		Health Health
		Route  []Waypoint
		Shield *Shield // nil: without
	}

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	health, route := ecs.Register[Health](w), ecs.RegisterBuffer[Waypoint](w)
	ecs.Register[Shield](w)
	forms := ecs.NewBundle[Form](w)
	e := forms.Create(Form{Health: Health{100}, Route: []Waypoint{{1, 2}}})
	edit := func(text string) {
		f, _ := forms.Get(e)
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(forms.Set(e, f), *health.Get(e), route.Slice(e))
	}
	edit(`{"Health": {"Points": 80}}`)
	edit(`{"Route": [{"X": 1, "Y": 2}, {"X": 5, "Y": 2}]}`)
	edit(`{"Health": {"Points": 1}, "Shield": {"Strength": 9}}`)
	// Output:
	// true {80} [{1 2}]
	// true {80} [{1 2} {5 2}]
	// false {80} [{1 2} {5 2}]
}
