package layout_test

import (
	"errors"
	"fmt"
	"reflect"

	"quarry/layout"
)

// The drawing of the package doc.
func ExamplePlan() {
	plan, err := layout.New([]layout.Column{
		{Name: "Entity", Size: 8, Align: 8},
		{Name: "Position", Size: 16, Align: 8},
		{Name: "Velocity", Size: 16, Align: 8},
	}, layout.Options{CacheLine: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 16384 B chunk, 64 B lines, 408 rows of 40 B, 99.6 % used
	// offset   bytes     pad  column
	//      0    3264       0  Entity 408 x 8 B
	//   3264    6528       0  Position 408 x 16 B
	//   9792    6528       0  Velocity 408 x 16 B
	//  16320       -      64  free
	// beside the chunk: 12 B of versions, 0 B of enable masks
}

func ExamplePointerFree() {
	type Weapon struct {
		Damage int32
		Name   string
	}
	err := layout.PointerFree(reflect.TypeFor[Weapon]())
	fmt.Println(err)
	var pointer *layout.PointerError
	if errors.As(err, &pointer) && pointer.Kind == "string" {
		fmt.Println("in", pointer.Type.Name(), "an id of a text must take the place of", pointer.Path)
	}
	// Output:
	// Weapon.Name is a string
	// in Weapon an id of a text must take the place of Weapon.Name
}

// A chunk of ticks: where its columns lie, what is left of it, and what Go keeps beside it.
func ExampleNew() {
	columns := []layout.Column{
		{Name: "Time", Size: 8, Align: 8},
		{Name: "Price", Size: 4, Align: 4, Enableable: true},
	}
	plan, err := layout.New(columns, layout.Options{ChunkSize: 64 << 10, MaxRows: 1000, CacheLine: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Rows, "rows of", plan.RowSize, "bytes, at most", plan.RowLimit)
	for _, c := range plan.Places {
		fmt.Println(c.Name, "begins at", c.Offset, "and takes", c.Bytes)
	}
	versions, masks := plan.Beside()
	fmt.Println(plan.Used(), "of", plan.ChunkSize, "used,", plan.Free(), "free,", versions+masks, "beside")

	columns[1].Align = 3
	_, err = layout.New(columns, layout.Options{})
	fmt.Println(errors.Is(err, layout.ErrColumn))
	// Output:
	// 1000 rows of 12 bytes, at most 1000
	// Time begins at 0 and takes 8000
	// Price begins at 8000 and takes 4032
	// 12000 of 65536 used, 53504 free, 136 beside
	// true
}

// Rows without a column are laid out as if they had it, so a chunk passes from one kind of rows to
// the other without a copy.
func ExamplePlan_Narrow() {
	var memory [4]layout.Placement // of one plan after another
	plan, err := layout.NewIn(memory[:0], []layout.Column{
		{Name: "Entity", Size: 8, Align: 8},
		{Name: "Velocity", Size: 16, Align: 8},
		{Name: "Position", Size: 16, Align: 8},
	}, layout.Options{CacheLine: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	entity, position := plan.Places[0].Offset, plan.Places[2].Offset
	still := plan.Narrow([]int{entity, position}, nil)
	for _, c := range still.Places {
		fmt.Println(c.Offset, c.Name, c.Hole)
	}
	fmt.Println(plan.RowSize, still.RowSize, plan.Rows == still.Rows)
	// Output:
	// 0 Entity false
	// 3264 Velocity true
	// 9792 Position false
	// 40 24 true
}

// The bytes of a value that are data, without its padding, and those that name an account.
func ExampleFields() {
	type Account uint64
	type Order struct {
		Side  uint8
		Price float64
		By    Account
	}
	for _, f := range layout.Fields(reflect.TypeFor[Order](), reflect.TypeFor[Account]()) {
		fmt.Println(f.Offset, f.Size, f.Marked)
	}
	// Output:
	// 0 1 false
	// 8 8 false
	// 16 8 true
}
