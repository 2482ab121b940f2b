package inspect_test

import (
	"fmt"
	"os"

	"quarry/ecs"
	"quarry/ecs/inspect"
)

// An archetype of many entities and one of a single entity, which lies in a small chunk.
func ExampleWriteOccupancy() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }

	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	ecs.NewArchetype(w, position).Create()
	if _, err := ecs.NewArchetype(w, position, velocity).CreateN(1600); err != nil {
		fmt.Println(err)
		return
	}
	if err := inspect.WriteOccupancy(os.Stdout, w); err != nil {
		fmt.Println(err)
	}
	// Output:
	// rows  B a row  chunks  KiB  reserve  used  types
	//   1600       40       1   64        0  97 %  [Position Velocity]
	//      1       24       1    2        0   1 %  [Position]
	//   1601       39       2   66        0  94 %  all
}

// Two ships are written as CSV and as JSON lines, by code that knows none of their types.
func Example() {
	type Place struct{ X, Y float64 }
	type Crate struct{ Goods, Tons int }
	type Port string

	w, _ := ecs.NewWorld()
	defer w.Close()
	place, crates := ecs.Register[Place](w), ecs.RegisterBuffer[Crate](w)
	ships := ecs.NewArchetype(w, place, crates, ecs.RegisterShared[Port](w).Of("Genoa"))
	ships.Create()
	e := ships.Create()
	w.SetName(e, "Aurora")
	place.Set(e, Place{X: 0.5, Y: -3})
	crates.Append(e, Crate{7, 20}, Crate{8, 1})

	for _, write := range []func() error{
		func() error { return inspect.WriteCSV(os.Stdout, ships) },
		func() error { return inspect.WriteJSON(os.Stdout, ships) },
	} {
		if err := write(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// entity,name,Place.X,Place.Y,[]Crate,Port
	// 1v1,,0,0,[],Genoa
	// 2v1,Aurora,0.5,-3,"[{""Goods"":7,""Tons"":20},{""Goods"":8,""Tons"":1}]",Genoa
	// {"entity":"1v1","name":"","Place.X":0,"Place.Y":0,"[]Crate":[],"Port":"Genoa"}
	// {"entity":"2v1","name":"Aurora","Place.X":0.5,"Place.Y":-3,"[]Crate":[{"Goods":7,"Tons":20},{"Goods":8,"Tons":1}],"Port":"Genoa"}
}
