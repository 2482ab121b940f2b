package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A goroutine loads a train while the owner runs frames. It reserves ids, so that each car can name
// the next before either is alive, and releases the ids that the train does not need.
func ExampleWorld_Reserve() {
	type Car struct{ Next ecs.Entity }
	type train struct {
		ids  []ecs.Entity
		cars []Car
		err  error
	}

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	car := ecs.Register[Car](w)
	loaded := make(chan train)
	go func() {
		ids := make([]ecs.Entity, 10) // enough for any train
		if err := w.Reserve(ids); err != nil {
			loaded <- train{err: err}
			return
		}
		t := train{cars: make([]Car, 4)} // read from a file
		t.ids = ids[:len(t.cars)]
		for i := range t.cars[1:] {
			t.cars[i].Next = t.ids[i+1]
		}
		w.Unreserve(ids[len(t.cars):])
		loaded <- t
	}()
	t := <-loaded
	if t.err != nil {
		fmt.Println(t.err)
		return
	}
	fmt.Println(w.Stats().Reserved, "reserved,", w.Alive(t.ids[0]))
	batch, err := ecs.NewArchetype(w, car).CreateReserved(t.ids)
	if err != nil {
		fmt.Println(err)
		return
	}
	for rows := range batch.Rows() {
		t.cars = t.cars[copy(car.Slice(rows), t.cars):]
	}
	n := 0
	for e := t.ids[0]; w.Alive(e); e = car.Get(e).Next {
		n++
	}
	fmt.Println(w.Stats().Reserved, "reserved,", n, "cars in a row")
	// Output:
	// 4 reserved, false
	// 0 reserved, 4 cars in a row
}
