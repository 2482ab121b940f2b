package guide_test

import (
	"fmt"
	"sync"

	"quarry/ecs"
)

// Page 12: other goroutines read the world.
func Example_share() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	ships := ecs.NewArchetype(w, position)
	batch, _ := ships.CreateN(1000)
	at := 0.0
	for rows := range batch.Rows() {
		for i := range position.Slice(rows) {
			position.Slice(rows)[i].X = at
			at++
		}
	}
	all := ecs.NewQuery(w, ecs.Read(position))
	lent := w.Lend()
	sums := [2]float64{}
	var readers sync.WaitGroup
	for i := range sums {
		readers.Go(func() {
			for rows := range all.Rows() {
				for _, p := range position.ReadOnly(rows) {
					sums[i] += p.X
				}
			}
		})
	}
	fmt.Println(caught(func() { ships.Create() }))
	readers.Wait()
	lent.End()
	fmt.Println(sums, ships.Create())
	// Output:
	// ecs: Archetype.Create: the world is lent; call Borrow.End first
	// [499500 499500] 1001v1
}

// Page 12: a world of its own for a goroutine that takes its time.
func Example_clone() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	ship := ecs.NewArchetype(w, position).Create()
	position.Set(ship, Position{X: 1})
	then, err := w.Clone()
	if err != nil {
		fmt.Println(err)
		return
	}
	saved := make(chan Position)
	go func() {
		defer then.Close()
		position := ecs.Register[Position](then) // handles belong to one world
		ship, _ := then.Entity(ship.Index(), ship.Version())
		saved <- *position.Get(ship)
	}()
	position.Set(ship, Position{X: 2}) // meanwhile
	fmt.Println(<-saved, *position.Get(ship))
	// Output:
	// {1 0} {2 0}
}
