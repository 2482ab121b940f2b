package undo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
	"quarry/internal/debug"
)

func TestRun(t *testing.T) {
	calls := 0
	plain, ours, err := Run(Options{Things: 600, Steps: 60, Named: 2}, func(done, total int) {
		calls++
		require.Equal(t, calls, done)
		require.Equal(t, 360, total)
	})
	require.NoError(t, err)
	require.Equal(t, 360, calls)
	for _, s := range []workload.Side{plain, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, 180, s.Ops)
		for _, figure := range []string{"edit_ns", "back_ns", "forth_ns", "heap"} {
			require.Positive(t, s.Figures[figure], figure)
		}
		require.Len(t, s.Lines, 1)
	}
	require.Positive(t, ours.Figures["kept"])
	require.Zero(t, plain.Figures["kept"])
}

// TestStatesInAnyOrder goes to states at random, edits from there, and finds by name.
func TestStatesInAnyOrder(t *testing.T) {
	a, p := newAuthor(1), new(plain)
	s, err := newScene()
	require.NoError(t, err)
	edits := a.begin(400)
	var digests, hashes []uint64
	var named []map[string]int
	for range 40 {
		p.apply(edits)
		s.apply(edits)
		s.save()
		digests, hashes = append(digests, p.digest()), append(hashes, s.world.Hash())
		require.Equal(t, p.digest(), s.digest())
		require.NoError(t, s.world.Verify())
		names := map[string]int{}
		for n, t := range p.things {
			if t != nil {
				names[t.name] = n
			}
		}
		named = append(named, names)
		edits = a.step()
	}
	require.NotEqual(t, digests[0], digests[1])
	require.NotNil(t, p.things[len(p.things)-1])
	for range 100 {
		to := a.random.IntN(len(digests))
		require.NoError(t, s.to(to))
		require.NoError(t, s.world.Verify())
		require.Equal(t, digests[to], s.digest(), "state %d", to)
		require.Equal(t, hashes[to], s.world.Hash(), "state %d", to)
		for name, n := range named[to] {
			e, ok := s.world.Named(name)
			require.True(t, ok)
			require.Equal(t, n, s.number.Get(e).N)
		}
		_, ok := s.world.Named(p.things[len(p.things)-1].name)
		require.Equal(t, to == len(digests)-1, ok, "the last thing is in the last state alone")
		if a.random.IntN(3) == 0 { // what comes now is not a state
			for _, e := range edits {
				if e.what == move || e.what == path {
					s.apply([]edit{e})
				}
			}
		}
	}
	require.NoError(t, s.close())
}

// TestDigest: a change of anything that a thing has is seen, on both sides.
func TestDigest(t *testing.T) {
	p := new(plain)
	s, err := newScene()
	require.NoError(t, err)
	seen := map[uint64]bool{0: true}
	for _, e := range []edit{
		{what: create, n: 3, x: 1, y: 2, name: "a"}, {what: move, n: 3, x: 1, y: 3}, {what: rename, n: 3, name: "b"},
		{what: light, n: 3, x: 1}, {what: path, n: 3, x: 4}, {what: path, n: 3, x: 5}, {what: mark, n: 3}, {what: create, n: 4},
	} {
		p.apply([]edit{e})
		s.apply([]edit{e})
		require.False(t, seen[p.digest()], "%+v", e)
		require.Equal(t, p.digest(), s.digest(), "%+v", e)
		seen[p.digest()] = true
	}
	for range 8 {
		p.back()
	}
	require.Zero(t, p.digest())
	require.NoError(t, s.close())
}

// TestAllocations: with no names, a step with its state allocates two objects on the Go heap, for
// the snapshot, once as many states as are kept have been; going back and forth allocates nothing.
func TestAllocations(t *testing.T) {
	if debug.On {
		t.Skip("debug builds check more, and allocate")
	}
	const kept, warm, timed = 20, 300, 50
	a := newAuthor(-1)
	s, err := newScene()
	require.NoError(t, err)
	s.apply(a.begin(2000))
	s.ids = slices.Grow(s.ids, 4000)
	var steps [][]edit
	for range warm + timed + 1 {
		steps = append(steps, a.step())
	}
	next := 0
	step := func() {
		if len(s.states) == kept {
			s.states[0].Close()
			copy(s.states, s.states[1:])
			s.states = s.states[:kept-1]
		}
		s.apply(steps[next])
		s.save()
		next++
	}
	for range warm {
		step()
	}
	require.LessOrEqual(t, testing.AllocsPerRun(timed, step), 2.0)
	walk := func() {
		for at := kept - 1; at > -kept; at-- {
			if err := s.to(max(at, -at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	walk()
	require.Zero(t, testing.AllocsPerRun(5, walk))
	require.NoError(t, s.close())
}

// BenchmarkStep has the steps of Run for benchstat: an op is an edit with its state, while 1,000
// states are kept of which the oldest is closed, or a step back or forth among them.
func BenchmarkStep(b *testing.B) {
	for _, named := range []int{16, -1} {
		a := newAuthor(named)
		s, err := newScene()
		require.NoError(b, err)
		s.apply(a.begin(thingsFull))
		s.save()
		for range stepsFull {
			s.apply(a.step())
			s.save()
		}
		name := fmt.Sprintf("named=%d/", max(thingsFull/named, 0))
		b.Run(name+"back and forth", func(b *testing.B) {
			b.ReportAllocs()
			at, by := len(s.states)-1, -1
			for b.Loop() {
				if at += by; at == 0 || at == len(s.states)-1 {
					by = -by
				}
				require.NoError(b, s.to(at))
			}
			b.ReportMetric(float64(s.kept())/stepsFull, "kept-B/state")
			require.NoError(b, s.to(len(s.states)-1))
		})
		b.Run(name+"edit", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.states[0].Close()
				s.states = append(s.states[:0], s.states[1:]...)
				s.apply(a.step())
				s.save()
			}
		})
		require.NoError(b, s.close())
	}
}
