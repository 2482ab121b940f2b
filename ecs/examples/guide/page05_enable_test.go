package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 5: bits that switch components on and off, and types without fields.
func Example_enable() {
	type Sail struct{ Area float64 }
	type Pirate struct{}

	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	sail := ecs.Register[Sail](w, ecs.Enableable)
	pirate := ecs.Register[Pirate](w)
	batch, _ := ecs.NewArchetype(w, position, sail).CreateN(3)
	ships := batch.Entities(nil)
	ecs.NewArchetype(w, position, sail, pirate).Create()
	sail.Disable(ships[1])
	fmt.Println(sail.Has(ships[1]), sail.Enabled(ships[1]))

	sailing := ecs.NewQuery(w, ecs.Write(position), ecs.Read(sail))
	furled := ecs.NewQuery(w, ecs.Disabled(sail), ecs.Without(pirate))
	for rows := range sailing.Rows() {
		p := position.Slice(rows)
		fmt.Println(rows.Archetype(), rows.Len(), "rows,", rows.Count(), "match; dense:", rows.Dense())
		for i := range rows.Each() { // not range p, which has the furled ones too
			p[i].X++
		}
	}
	fmt.Println(position.Get(ships[0]).X, position.Get(ships[1]).X)

	storm := ecs.NewQuery(w, ecs.Present(sail), ecs.Without(pirate))
	fmt.Println(sail.DisableQuery(storm), "furl,", furled.Count(), "are furled,", sailing.Count(), "sails")
	fmt.Println(sail.EnableQuery(furled), "set sail")
	fmt.Println(caught(func() { pirate.Enable(ships[0]) }))
	// Output:
	// true false
	// [Position Sail] 3 rows, 2 match; dense: false
	// [Position Sail Pirate] 1 rows, 1 match; dense: true
	// 1 0
	// 3 furl, 3 are furled, 1 sails
	// 3 set sail
	// ecs: Component.Enable: Pirate was not registered with ecs.Enableable
}
