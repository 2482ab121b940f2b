package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Who is stunned keeps Walk, switched off: loops that ask for it pass the row by, and
// nothing moves in memory. A new component is switched on, so the type with the bit
// is one that should work from the start: Walk and not Stun.
func ExampleEnableable() {
	type Position struct{ X int }
	type Walk struct{ Speed, Stunned int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, walk := ecs.Register[Position](w), ecs.Register[Walk](w, ecs.Enableable)
	units := ecs.NewArchetype(w, position, walk)
	ant, bee, cat := units.Create(), units.Create(), units.Create()
	for _, e := range []ecs.Entity{ant, bee, cat} {
		walk.Set(e, Walk{Speed: e.Index()})
	}
	walking := ecs.NewQuery(w, ecs.Write(position), ecs.Read(walk))
	stunned := ecs.NewQuery(w, ecs.Disabled(ecs.Write(walk)))
	step := func() {
		for rows := range stunned.Rows() {
			k := walk.Slice(rows)
			for i := range rows.Each() { // not range k: it has the rows that walk too
				if k[i].Stunned--; k[i].Stunned == 0 {
					walk.Enable(rows.Entities()[i])
				}
			}
		}
		for rows := range walking.Rows() {
			p, k := position.Slice(rows), walk.Slice(rows)
			for i := range rows.Each() {
				p[i].X += k[i].Speed
			}
		}
		fmt.Println(walking.Count(), "walk", *position.Get(ant), *position.Get(bee), *position.Get(cat))
	}
	step()
	walk.Mut(bee).Stunned = 2
	walk.Disable(bee)
	step()
	step()
	fmt.Println(walk.DisableQuery(walking), "fall")
	step()
	fmt.Println(walk.EnableQuery(stunned), "rise")
	step()
	// Output:
	// 3 walk {1} {2} {3}
	// 2 walk {2} {2} {6}
	// 3 walk {3} {4} {9}
	// 3 fall
	// 0 walk {3} {4} {9}
	// 3 rise
	// 3 walk {4} {6} {12}
}
