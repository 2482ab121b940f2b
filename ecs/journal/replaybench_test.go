package journal_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// BenchmarkReplay opens a journal with many small records, each of one entity of a million: one
// whose health was set, or one that was made, or made for one that died; and some large ones, each
// of the positions of all.
func BenchmarkReplay(b *testing.B) {
	for _, kind := range [...]struct {
		name    string
		records int
		change  func(m *walkers, dice *rand.Rand)
	}{
		{"set", 100_000, func(m *walkers, dice *rand.Rand) {
			m.health.Set(m.ids[dice.IntN(walkerCount)], mark{dice.Int64()})
		}},
		{"create", 1_000, func(m *walkers, dice *rand.Rand) { m.create() }},
		{"renew", 1_000, func(m *walkers, dice *rand.Rand) {
			at := dice.IntN(walkerCount)
			m.w.Destroy(m.ids[at])
			m.ids[at] = m.create()
		}},
		{"move", 12, func(m *walkers, dice *rand.Rand) { m.move(dice.Float64()) }},
	} {
		b.Run(fmt.Sprint(kind.name, "/records=", kind.records), func(b *testing.B) {
			folder := filepath.Join(b.TempDir(), "walkers")
			var m walkers
			j, err := journal.Open(folder, m.register, journal.CompactAt(0), journal.SyncNever())
			require.NoError(b, err)
			batch, err := ecs.NewArchetype(m.w, m.position, m.velocity, m.health).CreateN(walkerCount)
			require.NoError(b, err)
			m.ids = batch.Entities(nil)
			require.NoError(b, j.Rebase())
			dice := rand.New(rand.NewPCG(1, 2))
			for range kind.records {
				kind.change(&m, dice)
				require.NoError(b, j.Commit())
				for s := j.Status(); s.Committed > s.Written+2; s = j.Status() { // so that none joins
					time.Sleep(10 * time.Microsecond)
				}
			}
			require.NoError(b, j.Sync())
			hash, s := m.w.Hash(), j.Status()
			require.Zero(b, s.Joined)
			require.NoError(b, j.Close())
			require.NoError(b, m.w.Close())
			b.ResetTimer()
			for b.Loop() {
				j, err := journal.Open(folder, m.register)
				require.NoError(b, err)
				b.StopTimer()
				require.Equal(b, kind.records, j.Opened().Records)
				require.Equal(b, hash, m.w.Hash())
				require.NoError(b, j.Close())
				require.NoError(b, m.w.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(s.LogBytes)/float64(kind.records), "B/record")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N)/float64(s.LogBytes)*8e6, "ms/8MB")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(kind.records), "us/record")
		})
	}
}

// move moves all entities.
func (m *walkers) move(x float64) {
	q := ecs.NewQuery(m.w, ecs.Write(m.position))
	for rows := range q.Rows() {
		p := m.position.Slice(rows)
		for i := range p {
			p[i].X, p[i].Y = p[i].X+x, p[i].Y-x
		}
	}
	q.Close()
}

// create makes an entity like the others.
func (m *walkers) create() ecs.Entity {
	return ecs.NewArchetype(m.w, m.position, m.velocity, m.health).Create()
}
