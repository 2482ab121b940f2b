package journal_test

import (
	"fmt"
	"os"
	"time"

	"quarry/ecs"
	"quarry/ecs/journal"
)

// What a dashboard shows of a journal, and what was found when it was opened.
func ExampleJournal_Status() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	var score ecs.Component[int64]
	register := func(w *ecs.World) { score = ecs.Register[int64](w) }

	j, err := journal.Open(folder, register, journal.SyncNever()) // the system decides when
	if err != nil {
		panic(err)
	}
	fmt.Println("new:", j.Opened().New)
	players := ecs.NewArchetype(j.World(), score)
	for range 3 {
		players.Create()
		if err := j.Commit(); err != nil {
			panic(err)
		}
	}
	if err := j.Sync(); err != nil {
		panic(err)
	}
	s := j.Status()
	fmt.Println(s.Committed, "committed,", s.Written, "written,", s.Acknowledged, "on the disk, from base", s.Base)
	fmt.Println("records:", s.Committed-s.Joined > 0, s.BaseBytes > 0, s.LogBytes > 0)
	fmt.Println("new base:", s.Compacting, s.Compaction, "failed:", s.Err)
	fmt.Println(j.Close(), j.World().Close())

	j, err = journal.Open(folder, register, journal.SyncEvery(time.Second))
	if err != nil {
		panic(err)
	}
	o := j.Opened()
	fmt.Println("base", o.Base, "converted:", o.Converted, "cut:", o.Cut, o.Why)
	fmt.Println(j.Close(), j.World().Close())
	// Output:
	// new: true
	// 3 committed, 3 written, 3 on the disk, from base 0
	// records: true true true
	// new base: false <nil> failed: <nil>
	// <nil> <nil>
	// base 0 converted: false cut: 0 <nil>
	// <nil> <nil>
}
