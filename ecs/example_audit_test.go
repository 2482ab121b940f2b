package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A town keeps a chronicle: what has happened to its people from one snapshot to the next.
func ExampleDiff() {
	type Purse struct{ Cents int }
	type Jailed struct{ Days int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	purse, jailed := ecs.Register[Purse](w), ecs.Register[Jailed](w)
	people := ecs.NewArchetype(w, purse)
	ann, bob, cid, dan := people.Create(), people.Create(), people.Create(), people.Create()
	for i, e := range []ecs.Entity{ann, bob, cid, dan} {
		w.SetName(e, []string{"Ann", "Bob", "Cid", "Dan"}[i])
	}
	jailed.Add(dan, Jailed{Days: 1})
	older := w.Snapshot()
	defer older.Close()

	purse.Set(ann, Purse{50})
	w.SetName(ann, "Lady Ann")
	jailed.Add(bob, Jailed{Days: 3})
	w.Destroy(cid)
	jailed.Remove(dan)
	w.SetName(people.Create(), "Eve")
	newer := w.Snapshot()
	defer newer.Close()
	d, err := ecs.Diff(older, newer)
	if err != nil || d.IsEmpty() {
		fmt.Println("nothing to write:", err)
		return
	}
	for e := range d.Born() {
		fmt.Println(newer.Name(e), "came")
	}
	for e := range d.Died() {
		fmt.Println(older.Name(e), "went")
	}
	for e, name := range d.Renamed() {
		if older.Alive(e) {
			fmt.Println(older.Name(e), "is called", name)
		}
	}
	for e, t := range d.Changed() {
		before, after := d.Values(e, t)
		fmt.Println(newer.Name(e), t, before, "->", after)
	}
	for e, t := range d.Gained() {
		_, after := d.Values(e, t)
		fmt.Println(newer.Name(e), t, after)
	}
	for e, t := range d.Lost() {
		fmt.Println(newer.Name(e), "no longer", t)
	}
	// Output:
	// Eve came
	// Cid went
	// Ann is called Lady Ann
	// Lady Ann Purse {0} -> {50}
	// Bob Jailed {3}
	// Dan no longer Jailed
}
