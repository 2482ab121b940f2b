package guide_test

import (
	"fmt"
	"math"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/transform"
)

// Page 20: transforms.
func Example_transform() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	h := hierarchy.New(w)
	t := transform.New(h)
	local, matrix := t.LocalType(), t.MatrixType()

	parts := ecs.NewArchetype(w, local, matrix)
	arm, hand := parts.Create(), parts.Create()
	local.Set(arm, transform.At(10, 0, 0))
	local.Set(hand, transform.At(2, 0, 0)) // as the arm sees it
	h.SetParent(hand, arm)
	fmt.Println(t.Update(), matrix.Get(hand).Matrix.Position())

	l := local.Mut(arm)
	*l = l.RotateZ(math.Pi / 2).ScaleBy(3)
	fmt.Printf("%d %.2f\n", t.Update(), matrix.Get(hand).Matrix.Position())
	l = local.Mut(hand)
	*l = l.Translate(transform.Vec3{X: 1})
	fmt.Println(t.Update(), t.Update())

	local.Set(arm, transform.Local{Position: transform.Vec3{X: 10}})
	t.Update()
	fmt.Println(matrix.Get(hand).Matrix.Position())
	// Output:
	// 2 {12 0 0}
	// 2 {10.00 6.00 0.00}
	// 1 0
	// {10 0 0}
}
