package journal_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// walkers is a world of a million entities of 40 bytes of which a frame changes 1 %, in pieces.
type walkers struct {
	w        *ecs.World
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	health   ecs.Component[mark]
	ids      []ecs.Entity
}

const (
	walkerCount = 1_000_000
	walkerPiece = 1_000
)

func (m *walkers) register(w *ecs.World) {
	*m = walkers{
		w: w, position: ecs.Register[position](w), velocity: ecs.Register[velocity](w), health: ecs.Register[mark](w),
	}
}

// frame writes all 40 bytes of 1 % of the entities, in pieces of walkerPiece that follow one
// another.
func (m *walkers) frame(number int) {
	const pieces = walkerCount / 100 / walkerPiece
	for piece := range pieces {
		at := piece*(walkerCount/pieces) + number*walkerPiece*7%(walkerCount/pieces-walkerPiece)
		for i, e := range m.ids[at : at+walkerPiece] {
			x := float64(number) + float64(i)/3
			m.position.Set(e, position{x, x + 1})
			m.velocity.Set(e, velocity{1 / (x + 1), 2 / (x + 1)})
			m.health.Set(e, mark{int64(number*walkerCount + i)})
		}
	}
}

// BenchmarkJournal: 60 frames a second of which each changes 1 % of a million entities, with and
// without a journal; core-% is the difference of the time that the process ran. Then the journal,
// with at least 600 records, is opened.
func BenchmarkJournal(b *testing.B) {
	const frames, rate = 600, 60
	folder := filepath.Join(b.TempDir(), "walkers")
	var m walkers
	j, err := journal.Open(folder, m.register, journal.CompactAt(0))
	require.NoError(b, err)
	batch, err := ecs.NewArchetype(m.w, m.position, m.velocity, m.health).CreateN(walkerCount)
	require.NoError(b, err)
	m.ids = batch.Entities(nil)
	require.NoError(b, j.Commit())
	require.NoError(b, j.Rebase())
	run := func(commit bool) time.Duration {
		before, begin := processTime(b), time.Now()
		for number := range frames {
			m.frame(number)
			if commit {
				require.NoError(b, j.Commit())
			}
			time.Sleep(time.Until(begin.Add(time.Duration(number+1) * time.Second / rate)))
		}
		return processTime(b) - before
	}
	b.Run("60Hz", func(b *testing.B) {
		for b.Loop() {
			plain := run(false)
			require.NoError(b, j.Rebase())
			with := run(true)
			require.NoError(b, j.Sync())
			b.ReportMetric(float64(with-plain)/float64(frames*time.Second/rate)*100, "core-%")
			b.ReportMetric(float64(with-plain)/frames/1e3, "us/frame")
			b.ReportMetric(float64(plain)/frames/1e3, "us/plain")
		}
	})
	b.Run("commit", func(b *testing.B) {
		number := 0
		for b.Loop() {
			number++
			m.frame(number)
			require.NoError(b, j.Commit())
			require.NoError(b, j.Sync())
		}
	})
	hash := m.w.Hash()
	s := j.Status()
	b.Log(s.Joined, "commits joined")
	require.NoError(b, j.Close())
	require.NoError(b, m.w.Close())
	b.Run(fmt.Sprintf("open/commits=%d/MiB=%d", s.Committed-s.Base, s.LogBytes>>20), func(b *testing.B) {
		for b.Loop() {
			before := processTime(b)
			j, err := journal.Open(folder, m.register)
			require.NoError(b, err)
			b.StopTimer()
			b.ReportMetric(float64(processTime(b)-before)/1e6, "cpu-ms")
			require.Equal(b, hash, m.w.Hash())
			require.NoError(b, j.Close())
			require.NoError(b, m.w.Close())
			b.StartTimer()
		}
	})
}
