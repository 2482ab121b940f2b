package guide_test

import (
	"fmt"
	"os"
	"path/filepath"

	"quarry/ecs"
	"quarry/ecs/journal"
)

// Page 19: journals.
func Example_journal() {
	parent, _ := os.MkdirTemp("", "guide")
	defer os.RemoveAll(parent)
	folder := filepath.Join(parent, "port")

	var here port
	j, err := journal.Open(folder, here.register)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := j.World()
	ships, _ := ecs.NewArchetype(w, here.position).CreateN(1000)
	flagship := ships.Entities(nil)[7]
	for range 3 {
		here.position.Mut(flagship).X++ // a frame
		fmt.Println(j.Commit())
	}
	fmt.Println(j.Sync(), j.Acknowledged())

	j.Compact()                   // a new base, in the background
	fmt.Println(w.Close() != nil) // the journal is open: it goes first
	fmt.Println(j.Close(), w.Close())

	var there port
	j, err = journal.Open(folder, there.register, journal.SyncEach())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Opened().Commit, there.position.Get(flagship).X)

	copies, old := filepath.Join(parent, "copies"), port{}
	commit, err := j.Backup(copies)
	fmt.Println(commit, err)
	_, err = journal.Check(copies)
	fmt.Println(err)
	past, _, err := journal.View(copies, old.register)
	fmt.Println(old.position.Get(flagship).X, err)
	past.Close()

	j.Close()
	j.World().Close()
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// <nil> 3
	// true
	// <nil> <nil>
	// 3 3
	// 3 <nil>
	// <nil>
	// 3 <nil>
}
