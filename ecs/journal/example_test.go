package journal_test

import (
	"fmt"
	"os"

	"quarry/ecs"
	"quarry/ecs/journal"
)

// A world lives in a folder. Whatever ends the program, it goes on from the last commit.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	var score ecs.Component[int64]
	register := func(w *ecs.World) { score = ecs.Register[int64](w) }

	j, err := journal.Open(folder, register, journal.SyncEach())
	if err != nil {
		panic(err)
	}
	batch, err := ecs.NewArchetype(j.World(), score).CreateN(1)
	if err != nil {
		panic(err)
	}
	player := batch.Entities(nil)[0]
	for points := range int64(3) {
		score.Set(player, 10*points)
		fmt.Println(j.Commit(), j.Acknowledged())
	}
	score.Set(player, 99) // not committed
	fmt.Println(j.Close(), j.World().Close())

	j, err = journal.Open(folder, register)
	if err != nil {
		panic(err)
	}
	fmt.Println(j.Opened().Records, "records, score", *score.Get(player))
	fmt.Println(j.Close(), j.World().Close())
	// Output:
	// <nil> 1
	// <nil> 2
	// <nil> 3
	// <nil> <nil>
	// 3 records, score 20
	// <nil> <nil>
}
