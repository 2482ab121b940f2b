package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Factories make goods by their recipes, until their stores are full. The view has the buffers of
// each row beside its columns: recipes to read, goods to write.
func ExampleBufferW() {
	type Step struct{ Makes int }
	type Good int
	type Store struct{ Room int }
	type Factory struct {
		Store  ecs.R[Store]
		Recipe ecs.BufferR[Step]
		Goods  ecs.BufferW[Good]
	}
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	store := ecs.Register[Store](w)
	recipes, goods := ecs.RegisterBuffer[Step](w), ecs.RegisterBuffer[Good](w)
	plants := ecs.NewArchetype(w, store, recipes, goods)
	for i := range 2 {
		plant := plants.Create()
		store.Set(plant, Store{Room: 3 + 10*i})
		recipes.Append(plant, Step{Makes: 7}, Step{Makes: 8})
	}
	factories := ecs.NewView[Factory](w)
	for range 2 {
		for rows, f := range factories.Rows() {
			for i := range rows.Each() {
				made := f.Goods.At(i)
				for _, step := range f.Recipe.At(i).Slice() {
					if made.Len() < f.Store[i].Room {
						made.Append(Good(step.Makes))
					}
				}
				fmt.Println(rows.Entities()[i], "has", made.Slice())
			}
		}
	}
	// Output:
	// 1v1 has [7 8]
	// 2v1 has [7 8]
	// 1v1 has [7 8 7]
	// 2v1 has [7 8 7 8]
}
