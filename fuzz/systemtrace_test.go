package fuzz

import (
	"bytes"
	"io"
	"runtime/trace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	events "golang.org/x/exp/trace"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// region is a region of a trace, with the regions around it on the same goroutine.
type region struct {
	path      string
	from, end events.Time
}

// A frame's trace, read back event by event: a region for each system inside its group's region, in
// the order of update, and a region for each job on the goroutine that ran it.
func TestTraceOfAFrame(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	position := ecs.Register[[2]float64](w)
	_, err = ecs.NewArchetype(w, position).CreateN(1000)
	require.NoError(t, err)
	systems := system.New(w, system.Jobs(job.Workers(2), job.Inline(0)))
	systems.Add("second", system.Make(func(s *system.State) func() {
		j := s.For(s.Query(ecs.Write(position))).Named("second's job")
		body := func(*job.Ctx, ecs.Rows) { time.Sleep(time.Millisecond) }
		return func() { j.Parallel(body) }
	}))
	systems.Add("first", system.Func(func(*system.State) { time.Sleep(time.Millisecond) }), system.Before("second"))

	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err)
	}
	require.NoError(t, systems.Step(time.Second))
	trace.Stop()
	require.NoError(t, systems.Close())
	require.NoError(t, w.Close())

	regions := readRegions(t, &b)
	const simulation = "/system root/system Simulation"
	first, second := regions[simulation+"/system first"], regions[simulation+"/system second"]
	require.Len(t, first, 1)
	require.Len(t, second, 1)
	require.GreaterOrEqual(t, first[0].end.Sub(first[0].from), time.Millisecond)
	require.LessOrEqual(t, first[0].end, second[0].from)
	require.Len(t, regions[simulation+"/system BeginSimulation"], 1)
	jobs := 0
	for _, list := range regions {
		for _, r := range list {
			if len(r.path) >= 13 && r.path[len(r.path)-13:] == "/second's job" {
				jobs++
				require.GreaterOrEqual(t, r.from, second[0].from)
			}
		}
	}
	require.Positive(t, jobs)
}

// readRegions returns the completed regions of a trace, by path.
func readRegions(t *testing.T, from io.Reader) map[string][]region {
	reader, err := events.NewReader(from)
	require.NoError(t, err)
	open := map[events.GoID][]region{}
	found := map[string][]region{}
	for {
		e, err := reader.ReadEvent()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		g := e.Goroutine()
		switch e.Kind() {
		case events.EventRegionBegin:
			path := "/" + e.Region().Type
			if n := len(open[g]); n > 0 {
				path = open[g][n-1].path + path
			}
			open[g] = append(open[g], region{path: path, from: e.Time()})
		case events.EventRegionEnd:
			n := len(open[g])
			require.Positive(t, n)
			last := open[g][n-1]
			last.end = e.Time()
			open[g] = open[g][:n-1]
			found[last.path] = append(found[last.path], last)
		}
	}
}
