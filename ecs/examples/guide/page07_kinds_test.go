package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 7: values that many have in common, Go values, and copies.
func Example_kinds() {
	type Fleet struct{ Flag string }
	type Log struct{ Lines []string }

	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	fleet := ecs.RegisterShared[Fleet](w)
	log := ecs.RegisterManaged[Log](w)
	red, blue := Fleet{"red"}, Fleet{"blue"}
	ships := ecs.NewArchetype(w, position, fleet.Of(red), log)
	first, second := ships.Create(), ships.Create()
	fleet.Set(second, blue) // moves it to the chunks of blue
	reds := ecs.NewQuery(w, ecs.Read(position), ecs.Where(fleet.Of(red)))
	flag, _ := fleet.Get(second)
	fmt.Println(reds.Count(), "red;", second, "is", flag.Flag, fleet.Len(blue))

	fmt.Println(log.Get(first) == nil) // no value until somebody writes one
	log.Mut(first).Lines = append(log.Mut(first).Lines, "cast off")
	fmt.Println(log.Get(first).Lines)

	prefab := ecs.Register[ecs.Prefab](w)
	pattern := ecs.NewArchetype(w, position, prefab, fleet.Of(red)).Create()
	position.Set(pattern, Position{X: 5})
	copies, err := w.InstantiateN(pattern, 3)
	fmt.Println(copies.Len(), err, position.Values(reds, nil)) // not the pattern itself
	// Output:
	// 1 red; 2v1 is blue 1
	// true
	// [cast off]
	// 3 <nil> [{0 0} {5 0} {5 0} {5 0}]
}

// Page 7: what is left of those that were destroyed.
func Example_cleanup() {
	type Socket struct{ FD int }

	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	socket := ecs.Register[Socket](w, ecs.Cleanup)
	dying := ecs.Register[ecs.CleanupEntity](w)
	player := ecs.NewArchetype(w, position, socket).Create()
	socket.Set(player, Socket{FD: 4})

	w.Destroy(player)
	fmt.Println(w.Alive(player), position.Has(player), socket.Has(player))
	left := ecs.NewQuery(w, ecs.Read(socket), ecs.With(dying))
	for rows := range left.Rows() {
		for _, s := range socket.Slice(rows) {
			fmt.Println("close", s.FD)
		}
	}
	_, err := ecs.NewChange(w, ecs.Remove(socket)).ApplyQuery(left)
	fmt.Println(err, w.Alive(player))
	// Output:
	// true false true
	// close 4
	// <nil> false
}
