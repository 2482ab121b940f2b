package ecs_test

import (
	"fmt"
	"strings"

	"quarry/ecs"
)

// Entities keep what the garbage collector must see, here a log and who it is sent to, in
// managed components. A log stays where it is while its entity's row moves.
func ExampleManaged() {
	type Position struct{ X int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position := ecs.Register[Position](w)
	log, send := ecs.RegisterManaged[strings.Builder](w), ecs.RegisterManaged[func(string)](w)
	walkers := ecs.NewArchetype(w, position, log)
	walker := walkers.Create()
	text := log.Mut(walker) // an empty one: there was none

	loop := ecs.NewQuery(w, ecs.Write(position), ecs.Write(log))
	for range 3 {
		for rows := range loop.Rows() {
			p := position.Slice(rows)
			for i := range p {
				p[i].X += 2
				fmt.Fprintf(log.At(rows, i), "at %d. ", p[i].X)
			}
		}
	}
	fmt.Println(send.Add(walker, func(s string) { fmt.Println("sent:", s) })) // the row moves
	text.WriteString("Sending.")
	(*send.Get(walker))(log.Get(walker).String())
	w.Destroy(walker) // and the collector may have both
	fmt.Println(log.Get(walker) == nil)
	// Output:
	// true
	// sent: at 2. at 4. at 6. Sending.
	// true
}
