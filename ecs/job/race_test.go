//go:build race

package job_test

import (
	"os"
	"os/exec"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// racy names what the process that the test starts does.
const racy = "QUARRY_JOB_RACY"

// A race in a body is reported by the race detector, in Go memory and in columns alike. The
// test starts itself again, with a body that has one.
func TestRaceIsReported(t *testing.T) {
	if which := os.Getenv(racy); which != "" {
		race(t, which)
		return
	}
	for _, which := range []string{"variable", "component", "none"} {
		out, err := startRacy(which)
		if which == "none" {
			require.NoError(t, err, "%s", out)
			require.NotContains(t, out, "DATA RACE")
			continue
		}
		for try := 1; err == nil && try < 10; try++ { // on a busy machine the detector misses one run in thirty
			out, err = startRacy(which)
		}
		require.Error(t, err, "%s", out)
		require.Contains(t, out, "DATA RACE", which)
		require.Contains(t, out, "race_test.go", which)
	}
}

func startRacy(which string) (string, error) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRaceIsReported$")
	cmd.Env = append(os.Environ(), racy+"="+which)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// race runs a body on two workers at once, which write the same place, or do not.
func race(t *testing.T, which string) {
	w := newWorld(t)
	ids := w.fill(t, 1000)
	s := w.schedule(t, 2)
	m := meeting{n: 2}
	shared := [2]int{}
	var met [2]bool
	j := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Exclusive(ecs.Write(w.count))
	require.NoError(t, j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		if met[c.Worker()] {
			return
		}
		met[c.Worker()] = true
		counts, own := w.count.Lookup(c.Accessor()), c.Worker()
		m.wait()
		for range 1000 {
			switch which {
			case "variable":
				shared[0]++
			case "component":
				counts.Mut(ids[0]).N++
			case "none":
				shared[own]++
				counts.Mut(ids[own]).N++
			}
		}
	}).Complete())
}
