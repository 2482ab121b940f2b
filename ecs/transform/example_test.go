package transform_test

import (
	"fmt"
	"math"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/transform"
	"quarry/layout"
)

// The rows of the drawing in the package comment.
func Example_drawing() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	t := transform.New(hierarchy.New(w))
	plan := ecs.NewArchetype(w, t.LocalType(), t.MatrixType()).Plan()
	if plan.CacheLine != 64 {
		plan, _ = layout.New([]layout.Column{
			{Name: "Entity", Size: 8, Align: 4}, {Name: "Local", Size: 32, Align: 4}, {Name: "LocalToWorld", Size: 64, Align: 4},
		}, layout.Options{CacheLine: 64})
	}
	fmt.Print(plan)
	// Output:
	// 16384 B chunk, 64 B lines, 157 rows of 104 B, 99.7 % used
	// offset   bytes     pad  column
	//      0    1256      24  Entity 157 x 8 B
	//   1280    5024      32  Local 157 x 32 B
	//   6336   10048       0  LocalToWorld 157 x 64 B
	// beside the chunk: 12 B of versions, 0 B of enable masks
}

// A gun on a ship that turns.
func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	h := hierarchy.New(w)
	t := transform.New(h)
	parts := ecs.NewArchetype(w, t.LocalType(), t.MatrixType())
	ship, gun := parts.Create(), parts.Create()
	t.LocalType().Set(ship, transform.At(3, 0, 0))
	t.LocalType().Set(gun, transform.At(0, 0, 2))
	if err := h.SetParent(gun, ship); err != nil {
		panic(err)
	}
	fmt.Println(t.Update(), t.MatrixType().Get(gun).Matrix.Position())
	l := t.LocalType().Mut(ship)
	*l = l.RotateY(math.Pi / 2)
	n, at := t.Update(), t.MatrixType().Get(gun).Matrix.Position()
	fmt.Printf("%d %.3f\n", n, at)
	fmt.Println(t.Update())
	// Output:
	// 2 {3 0 2}
	// 2 {5.000 0.000 0.000}
	// 0
}
