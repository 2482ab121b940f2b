package guide_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"
)

// Page 17: the past of a world: snapshots, restores, forks and deltas.
func Example_snapshot() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	fleet, _ := ecs.NewArchetype(w, position).CreateN(1000)
	fill(fleet, position, 0)
	ships := fleet.Entities(nil)
	all := ecs.NewQuery(w, ecs.Write(position))

	before := w.Snapshot()
	for rows := range all.Rows() {
		for i := range position.Slice(rows) {
			position.Slice(rows)[i].X += 0.5
		}
	}
	w.Destroy(ships[7])
	made := ecs.NewArchetype(w, position).Create()
	after := w.Snapshot()
	fmt.Println(position.Get(ships[3]).X, w.Alive(ships[7]), w.Alive(made))

	fmt.Println(w.Restore(before))
	fmt.Println(position.Get(ships[3]).X, w.Alive(ships[7]), w.Alive(made))

	sum := 0.0
	for rows := range after.Rows(all) { // any goroutine may do this
		for _, p := range position.Slice(rows) {
			sum += p.X
		}
	}
	then := position.Lookup(after)
	fmt.Println(sum, then.Get(ships[3]).X, then.Get(ships[7]), after.Alive(made))

	delta, _ := ecs.Diff(before, after)
	for e := range delta.Died() {
		fmt.Println(e == ships[7], "died")
	}
	var message bytes.Buffer
	fmt.Println(ecs.EncodeDelta(&message, delta))

	replica, _ := before.Fork() // a world of its own
	defer replica.Close()
	fmt.Println(replica.ApplyDelta(&message), replica.Hash() == after.Hash())
	fmt.Println(replica.ApplyDelta(bytes.NewReader(nil)))

	systems := system.New(w)
	defer systems.Close()
	asked, snapshots := make(chan int), systems.Snapshots()
	go func() { // such as an HTTP handler
		s, err := snapshots.Take(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		defer s.Release()
		asked <- s.Count(all)
	}()
	for counted := false; !counted; {
		_ = systems.Update()
		select {
		case n := <-asked:
			fmt.Println(n, "ships")
			counted = true
		case <-time.After(time.Millisecond): // until the next frame
		}
	}
	before.Close()
	after.Close()
	// Output:
	// 3.5 false true
	// <nil>
	// 3 true false
	// 499992.5 3.5 <nil> true
	// true died
	// <nil>
	// <nil> true
	// ecs: World.ApplyDelta: delta refused: it is cut: EOF
	// 1000 ships
}

// Page 17: Go values of the past.
func Example_snapshotManaged() {
	type Log struct{ Lines []string }

	w, _ := ecs.NewWorld()
	defer w.Close()
	log := ecs.RegisterManaged[Log](w, ecs.CopyWith(func(from *Log) Log {
		return Log{Lines: slices.Clone(from.Lines)}
	}))
	ship := ecs.NewArchetype(w, log).Create()
	log.Set(ship, Log{Lines: []string{"cast off"}})

	before := w.Snapshot() // one call of the function for each value
	log.Get(ship).Lines[0] = "sunk"
	fmt.Println(log.Get(ship).Lines, log.Lookup(before).Get(ship).Lines)
	fmt.Println(w.Restore(before), log.Get(ship).Lines)
	before.Close()
	// Output:
	// [sunk] [cast off]
	// <nil> [cast off]
}

// Page 17: a ring of snapshots, for rollback.
func Example_snapshotRing() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	ship := ecs.NewArchetype(w, position).Create()

	const depth = 4
	var ring [depth]*ecs.Snapshot // the states before the last four frames
	input := [6]float64{1, 1, 1, 1, 1, 1}
	play := func(frame int) {
		if s := ring[frame%depth]; s != nil {
			s.Renew() // takes the place of the state before frame-4
		} else {
			ring[frame%depth] = w.Snapshot()
		}
		position.Mut(ship).X += input[frame]
	}
	for frame := range input {
		play(frame)
	}
	fmt.Println(position.Get(ship).X)

	late := 3 // the frame of an input that arrives now, from another player
	input[late] = 10
	fmt.Println(w.Restore(ring[late%depth]))
	for frame := late; frame < len(input); frame++ {
		play(frame) // with a new state before it
	}
	fmt.Println(position.Get(ship).X)
	// Output:
	// 6
	// <nil>
	// 15
}
