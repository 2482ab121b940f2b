package transform_test

import (
	"errors"
	"fmt"
	"math"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/transform"
)

// rounded returns a vector without what rotations leave behind the point.
func rounded(v transform.Vec3) [3]float64 {
	round := func(x float32) float64 { return math.Round(float64(x)*1000)/1000 + 0 }
	return [3]float64{round(v.X), round(v.Y), round(v.Z)}
}

// A ship has turned to the left: where it sees a tower, and where its lookout is.
func ExampleLocal() {
	ship := transform.At(10, 0, 0).Rotate(transform.AxisAngle(transform.Vec3{Y: 1}, math.Pi/2))
	tower := transform.Vec3{X: 10, Z: -5}
	fmt.Println("the tower, from the ship:", rounded(ship.Inverse().Point(tower)))
	lookout := ship.Mul(transform.At(2, 8, 0)) // as the ship carries it
	fmt.Println("the lookout:", rounded(lookout.Position))
	heeled := ship.RotateX(math.Pi / 2)
	fmt.Println("a mast of 8, heeled:", rounded(heeled.Point(transform.Vec3{Y: 8})))
	// Output:
	// the tower, from the ship: [5 0 0]
	// the lookout: [10 8 -2]
	// a mast of 8, heeled: [18 0 0]
}

// A wheel turns in steps: their product loses its length over time, so it is made 1 again.
func ExampleQuat() {
	step := transform.AxisAngle(transform.Vec3{Z: 1}, math.Pi/6)
	wheel := transform.NoRotation
	for range 3 {
		wheel = step.Mul(wheel).Normalize()
	}
	spoke := transform.Vec3{X: 1}.Scale(2)
	tip := wheel.Rotate(spoke)
	fmt.Println(rounded(tip), rounded(tip.Add(transform.Vec3{X: 5}))) // on its axle, and on the road
	fmt.Println(rounded(wheel.Conjugate().Rotate(tip)))
	// Output:
	// [0 2 0] [5 2 0]
	// [2 0 0]
}

// A wall is one shape, stretched along one axis by a matrix that comes before its Local.
func ExampleTransforms_PostType() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	t := transform.New(hierarchy.New(w))
	wall := ecs.NewArchetype(w, t.LocalType(), t.PostType(), t.MatrixType()).Create()
	t.LocalType().Set(wall, transform.At(100, 0, 0))
	stretched := transform.Identity
	stretched[0] = 20
	t.PostType().Set(wall, transform.Post{Matrix: stretched})
	t.Update()
	fmt.Println(t.MatrixType().Get(wall).Matrix.Point(transform.Vec3{X: 1, Y: 1}))

	t.MatrixType().Mut(wall).Matrix[12] = 0 // matrices are to be read
	fmt.Println(errors.Is(t.Verify(), transform.ErrStale))
	// Output:
	// {120 1 0}
	// true
}
