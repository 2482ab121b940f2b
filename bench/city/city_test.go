package city

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
)

// small is a flight for tests.
var small = Options{Columns: 4, Rows: 3, Frames: 120, Rate: 1000}

func TestRun(t *testing.T) {
	last := 0
	plainSide, ours, err := Run(small, func(done, total int) {
		require.Equal(t, 2*small.Frames, total)
		require.Equal(t, last+1, done)
		last = done
	})
	require.NoError(t, err)
	require.Equal(t, 2*small.Frames, last)
	for _, s := range []workload.Side{plainSide, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, small.Frames, s.Ops)
		require.Len(t, s.Lines, 3)
		for _, figure := range []string{"load_max_ns", "load_p99_ns", "load_mean_ns", "spin_max_ns", "sections",
			"section_bytes", "frame_p99_ns"} {
			require.Positive(t, s.Figures[figure], figure)
		}
	}
	require.Equal(t, plainSide.Detail, ours.Detail)
	require.Equal(t, plainSide.Figures["sections"], ours.Figures["sections"])
	require.Positive(t, ours.Committed)
	_, _, err = Run(Options{Columns: 2}, nil)
	require.ErrorContains(t, err, "2 x 25 blocks")
}

// TestSpells: the figures of frames are those of the frames.
func TestSpells(t *testing.T) {
	list := spells{{3, usage{1, 2, 0, 1}}, {5, usage{4, 0, 1, 0}}, {2, usage{2, 1, 0, 0}}}
	require.Equal(t, 1, list.longest())
	require.Equal(t, spell{10, usage{7, 3, 1, 1}}, list.total())
	n, preempted := list.over(2)
	require.Equal(t, [2]int{2, 1}, [2]int{n, preempted})
	require.Equal(t, 1, list.overProcessor(2))
	clock, processor := list.times()
	require.Equal(t, []time.Duration{3, 5, 2}, clock)
	require.Equal(t, []time.Duration{1, 4, 2}, processor)
	require.Equal(t, usage{3, -2, 1, -1}, list[1].since(list[0].usage))
	require.GreaterOrEqual(t, spin(time.Microsecond).took, time.Microsecond)
}

// TestPlan: bridges lead back, but from corners to corners of tiles above and below, each road to a
// block that is there, and the flight passes most of the city and ends where nine tiles are near.
func TestPlan(t *testing.T) {
	p := plan{5, 4}
	all := map[string]Block{}
	for _, o := range p.objects() {
		all[o.ID] = o.Value.(Block)
	}
	require.Len(t, all, side*side*20)
	back := 0
	for id, b := range all {
		require.Contains(t, all, b.Road)
		if b.Bridge != "" {
			require.Contains(t, all, b.Bridge)
			if all[b.Bridge].Bridge == id { // corners lead east or west alone
				back++
			}
		}
	}
	require.Equal(t, 2*7*8*(p.rows+p.columns-2), back)
	seen := map[tile]bool{}
	for frame := range 900 {
		at := camera(frame, 900)
		require.True(t, at.inside())
		for _, n := range at.near() {
			seen[n] = true
		}
	}
	require.Greater(t, len(seen), side*side*9/10)
	require.Len(t, camera(899, 900).near(), around)
}

// TestAnswer: a building that is not right is noticed, and so is a link.
func TestAnswer(t *testing.T) {
	p, folder := plan{4, 3}, t.TempDir()
	_, err := bakeAll(p, folder)
	require.NoError(t, err)
	near := tile{3, 3}.near()
	c, err := newWorld(folder)
	require.NoError(t, err)
	for _, at := range near {
		c.load(at)
	}
	for c.update(0) {
		time.Sleep(time.Millisecond)
	}
	want := p.answer(near)
	got, err := c.answer()
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, around*12*buildings, got.Buildings)
	require.Equal(t, around*12, got.Roads)
	first := c.all.Entities(nil)[0]
	c.height.Get(first).Height++
	got, err = c.answer()
	require.NoError(t, err)
	require.NotEqual(t, want.Hash, got.Hash)
	c.height.Get(first).Height--
	c.unload(near[0])
	for c.update(0) {
		time.Sleep(time.Millisecond)
	}
	got, err = c.answer()
	require.NoError(t, err)
	require.Equal(t, p.answer(near[1:]), got)
	require.NoError(t, c.close())
}

// TestDamaged: a tile that is not there, or damaged, ends the flight.
func TestDamaged(t *testing.T) {
	p, folder := plan{4, 3}, t.TempDir()
	_, err := bakeAll(p, folder)
	require.NoError(t, err)
	_, err = writePlain(p, folder)
	require.NoError(t, err)
	first := camera(0, 120).name()
	for _, end := range []string{".world", ".plain"} {
		path := filepath.Join(folder, first+end)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		b[len(b)/2] ^= 1
		require.NoError(t, os.WriteFile(path, b, 0o644))
	}
	c, err := newWorld(folder)
	require.NoError(t, err)
	for _, c := range []city{c, newPlain(folder)} {
		f := flight{city: c, frames: 120, rate: 1000}
		require.ErrorContains(t, f.fly(func() {}), first)
		require.NoError(t, c.close())
	}
}
