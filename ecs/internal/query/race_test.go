//go:build race

package query_test

import (
	"iter"
	"os"
	"os/exec"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// lateReader names what the process that the test starts does.
const (
	lateReader = "QUARRY_LATE_READER"
	inTime     = "in time"
)

// TestRaceOfALateReader: the race detector reports a goroutine that loops after Borrow.End, by
// Query.Rows and Query.Where, and none that ended before. The test starts itself again.
func TestRaceOfALateReader(t *testing.T) {
	if which := os.Getenv(lateReader); which != "" {
		readLate(t, which)
		return
	}
	for _, which := range []string{inTime, "Rows", "Where"} {
		run := exec.Command(os.Args[0], "-test.run=^TestRaceOfALateReader$")
		run.Env = append(os.Environ(), lateReader+"="+which)
		out, err := run.CombinedOutput()
		if which == inTime {
			require.NoError(t, err, "%s", out)
			continue
		}
		require.Error(t, err, which)
		require.Contains(t, string(out), "DATA RACE", which)
		require.Contains(t, string(out), "(*Borrow).End", which)
	}
}

// readLate has a goroutine loop beside the owner, which does nothing but end the borrow.
func readLate(t *testing.T, which string) {
	w := ecstest.NewWorld(t)
	position, cell := ecs.Register[ecstest.Position](w), ecs.RegisterShared[int](w)
	ecs.NewArchetype(w, position, cell.Of(1)).Create()
	q, one := ecs.NewQuery(w, ecs.Read(position)), cell.Of(1)
	loops := map[string]func() iter.Seq[ecs.Rows]{
		inTime: q.Rows, "Rows": q.Rows, "Where": func() iter.Seq[ecs.Rows] { return q.Where(one) },
	}
	loop := func() {
		for range loops[which]() { // a row
		}
	}
	lent := w.Lend()
	read, done := make(chan int), make(chan int)
	go func() {
		loop()
		close(read)
		if which != inTime {
			time.Sleep(20 * time.Millisecond) // the owner ends the borrow; nothing orders that and the loop
			loop()
		}
		close(done)
	}()
	<-read
	lent.End()
	<-done
}
