package system_test

import (
	"context"
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"
)

// A reader beside the frames takes one snapshot after another. It finds a ship by its name, and
// loops over what was written since the snapshot before.
func ExamplePublished() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	place := ecs.Register[position](w)
	ships := ecs.NewArchetype(w, place)
	raft, barge := ships.Create(), ships.Create()
	w.SetName(raft, "raft")
	w.SetName(barge, "barge")
	moved := ecs.NewQuery(w, ecs.Read(place), ecs.Changed(place))
	systems := system.New(w)
	defer systems.Close()
	snapshots, frame := systems.Snapshots(), make(chan position) // what the owner writes before the next frame
	done := make(chan bool)
	go func() {
		defer close(done)
		since := uint32(0)
		for _, p := range []position{{X: 1}, {}, {X: 2}} {
			frame <- p
			s, err := snapshots.Take(context.Background())
			if err != nil {
				fmt.Println(err)
				return
			}
			n := 0
			for rows := range s.RowsSince(moved, since) {
				n += rows.Len()
			}
			e, _ := s.Named("raft")
			fmt.Println(n, "may have moved;", s.Name(e), "at", place.Lookup(s.Snapshot).Get(e).X)
			since = s.Version()
			s.Release()
		}
	}()
	for reading := true; reading; {
		select {
		case p := <-frame:
			if p != (position{}) {
				place.Set(raft, p)
			}
		case <-done:
			reading = false
		default:
			time.Sleep(time.Millisecond)
		}
		if err := systems.Step(time.Second / 60); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 2 may have moved; raft at 1
	// 0 may have moved; raft at 1
	// 2 may have moved; raft at 2
}
