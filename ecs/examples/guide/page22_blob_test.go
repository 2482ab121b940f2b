package guide_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/blob"
)

// Curve is what plants of one kind have in common.
type Curve struct {
	Name   blob.String
	Points blob.Array[Point]
	Peak   blob.Ref[Point]
}

// Point is a height at an age.
type Point struct{ Age, Height float32 }

// Page 22: blobs.
func Example_blob() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	type Plant struct {
		Age   float32
		Curve blob.Blob[Curve]
	}
	plant := ecs.Register[Plant](w)

	blobs, _ := blob.NewStore(w, blob.Type[Curve]())
	b := blob.NewBuilder[Curve]()
	c := b.Root()
	blob.SetString(b, &c.Name, "oak")
	points := blob.Allocate(b, &c.Points, 3)
	copy(points, []Point{{0, 0}, {40, 25}, {200, 22}})
	blob.Point(b, &c.Peak, &points[1])
	oak, _ := blob.Add(blobs, b)
	again, _ := blob.Add(blobs, b)
	fmt.Println(oak == again, oak.Count(blobs))

	plants := ecs.NewArchetype(w, plant)
	for age := range 3 {
		plant.Set(plants.Create(), Plant{float32(age * 30), oak})
	}
	q := ecs.NewQuery(w, ecs.Read(plant))
	for rows := range q.Rows() {
		for _, p := range plant.Slice(rows) {
			c := p.Curve.Get(blobs)
			fmt.Println(&c.Name, p.Age, c.Points.Len(), c.Peak.Get().Height)
		}
	}

	fmt.Println(blobs.Sweep(), oak.Count(blobs))
	w.DestroyQuery(q)
	fmt.Println(blobs.Sweep(), oak.Get(blobs) == nil)

	other, _ := blob.NewStore(w)
	_, _ = blob.Add(blobs, b)
	fmt.Println(other.Check() != nil, blobs.Check())
	// Output:
	// true 2
	// oak 0 3 25
	// oak 30 3 25
	// oak 60 3 25
	// 0 3
	// 1 true
	// true <nil>
}
