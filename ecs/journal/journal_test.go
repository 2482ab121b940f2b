package journal_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// villagers is the world of tests of journals: all that happens in a frame follows from the state
// and the number of the frame, so that two that had the same state go on alike.
type villagers struct {
	w        *ecs.World
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	items    ecs.Buffer[item]
	mark     ecs.Sparse[mark]
	resting  ecs.Component[resting]
	moving   *ecs.Query
}

type (
	position struct{ X, Y float64 }
	velocity struct{ X, Y float64 }
	item     struct{ Kind, Count int32 }
	mark     struct{ N int64 }
	resting  struct{ Since int64 }
)

func (m *villagers) register(w *ecs.World) {
	*m = villagers{
		w: w, position: ecs.Register[position](w), velocity: ecs.Register[velocity](w), items: ecs.RegisterBuffer[item](w),
		mark: ecs.RegisterSparse[mark](w), resting: ecs.Register[resting](w, ecs.Enableable),
	}
	m.moving = ecs.NewQuery(w, ecs.Write(m.position), ecs.Read(m.velocity))
}

// frame makes some changes of each kind.
func (m *villagers) frame(number uint64) {
	dice := rand.New(rand.NewPCG(number, 7))
	var all []ecs.Entity
	for rows := range m.moving.Rows() {
		all = append(all, rows.Entities()...)
	}
	for range 1 + dice.IntN(4) {
		n := 1 + dice.IntN(40)
		batch, err := ecs.NewArchetype(m.w, m.position, m.velocity).CreateN(n)
		if err != nil {
			panic(err)
		}
		for rows := range batch.Rows() {
			for i, p := range m.position.Slice(rows) {
				m.position.Slice(rows)[i] = position{p.X + float64(i), float64(number)}
			}
		}
	}
	for len(all) > 1500 { // so that the world stays small
		m.w.Destroy(all[len(all)-1])
		all = all[:len(all)-1]
	}
	pick := func() ecs.Entity { return all[dice.IntN(len(all))] }
	for range min(len(all), 20) {
		e := pick()
		if !m.w.Alive(e) {
			continue
		}
		switch dice.IntN(8) {
		case 0:
			m.w.Destroy(e)
		case 1:
			_ = m.mark.Add(e, mark{int64(number)})
		case 2:
			if !m.items.Has(e) {
				_ = m.items.Add(e)
			}
			if b, ok := m.items.Mut(e); ok {
				b.Append(make([]item, dice.IntN(30))...)
			}
		case 3:
			m.w.SetName(e, []string{"smith", "baker", "", "miller"}[dice.IntN(4)])
		case 4:
			if !m.resting.Has(e) {
				_ = m.resting.Add(e, resting{int64(number)})
			} else if dice.IntN(2) == 0 {
				m.resting.Enable(e)
			} else {
				m.resting.Disable(e)
			}
		default:
			m.position.Set(e, position{dice.Float64(), dice.Float64()})
		}
	}
}

// TestJournalKeepsTheLastCommit: a world that is journaled, closed and opened again is what it was,
// many times, with compactions in between, and has the same future.
func TestJournalKeepsTheLastCommit(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "town")
	var model villagers
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	model.register(w)
	number := uint64(0)
	for round := range 8 {
		var m villagers
		j, err := journal.Open(folder, m.register, journal.SyncEvery(5*time.Millisecond), journal.CompactAt(0))
		require.NoError(t, err)
		require.Equal(t, number, j.Opened().Commit)
		require.Equal(t, round == 0, j.Opened().New)
		require.NoError(t, m.w.Verify())
		require.Equal(t, model.w.Hash(), m.w.Hash(), round)
		for k := range 10 + round {
			number++
			m.frame(number)
			model.frame(number)
			require.NoError(t, j.Commit())
			if k == 5 && round%2 == 1 {
				require.NoError(t, j.Sync())
				j.Compact()
			}
			if k == 8 && round%3 == 2 {
				require.NoError(t, j.Rebase())
				number++ // a commit of the same state
			}
		}
		if round%4 == 3 {
			require.Eventually(t, func() bool { s := j.Status(); return !s.Compacting && s.Base > 0 }, 5*time.Second,
				time.Millisecond)
			require.NoError(t, j.Status().Compaction)
		}
		require.NoError(t, j.Sync())
		require.Equal(t, number, j.Acknowledged())
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
		list, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, list, 3, "%v", list)
	}
	require.NoError(t, w.Close())
}
