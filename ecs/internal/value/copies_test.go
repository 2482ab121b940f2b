package value_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
)

// savedRows is a copy of a store beside the rows of then and what their values were.
type savedRows struct {
	s    *value.Store[string]
	rows []value.Slot
	want []string
	next []value.Slot // that a store in this state hands out
}

// save makes a copy of the rows' store in the memory of another one.
func (m *slowRows) save(in value.Managed) savedRows {
	m.s.Save(in)
	c := savedRows{s: in.(*value.Store[string]), rows: slices.Clone(m.rows), want: slices.Clone(m.want)}
	for i := range c.want {
		if c.rows[i] != 0 {
			c.want[i] += "'"
		}
	}
	c.next = nextSlots(m.s)
	return c
}

// nextSlots returns the slots that a store hands out next, and gives them back.
func nextSlots(s *value.Store[string]) []value.Slot {
	rows := make([]value.Slot, 20)
	for i := range rows {
		s.Make(&rows[i])
	}
	s.Release(rows)
	return rows
}

// check compares the copy with what it should be.
func (c savedRows) check(t *testing.T) {
	require.NoError(t, c.s.Verify(groups(c.rows)))
	for i, n := range c.rows {
		if n != 0 {
			require.Equal(t, c.want[i], *c.s.Get(n))
		}
	}
}

// restore puts the store back to a copy of a copy, whose values show that.
func (m *slowRows) restore(c savedRows, stage value.Managed) {
	c.s.Save(stage)
	m.s.Restore(stage)
	stage.Clear()
	m.rows, m.want, m.at = slices.Clone(c.rows), slices.Clone(c.want), m.at[:0]
	for i, n := range m.rows {
		if n != 0 {
			m.want[i] += "'"
		}
		m.at = append(m.at, m.s.Get(n))
	}
}

// TestCopiesAgreeWithTwin takes a store and some copies of it through random rows, and back.
func TestCopiesAgreeWithTwin(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := newRows(t)
		m.s.CopyWith(func(from *string) string { return *from + "'" })
		require.True(t, m.s.Copies())
		stage := m.s.Fresh()
		var copies []savedRows
		for range 300 {
			i, n := m.part(r)
			switch op := r.IntN(8); {
			case op == 0:
				k := r.IntN(200)
				m.add(make([]value.Slot, k), make([]string, k))
			case op == 1:
				for at := i; at < i+n; at++ {
					m.set(at)
				}
			case op == 2:
				m.end(i, n)
			case op == 3:
				m.s.Trim()
			case op == 4 && len(copies) < 4:
				copies = append(copies, m.save(m.s.Fresh()))
			case op == 5 && len(copies) > 0: // in the memory of an older copy
				at := r.IntN(len(copies))
				copies[at] = m.save(copies[at].s)
			case op == 6 && len(copies) > 0:
				c := copies[r.IntN(len(copies))]
				m.restore(c, stage)
				m.check()
				require.Equal(t, c.next, nextSlots(m.s), "the slots that came next then")
			case op == 7 && r.IntN(10) == 0:
				m.s.Clear()
				m.rows, m.want, m.at = nil, nil, nil
			}
			m.check()
			for _, c := range copies {
				c.check(t)
			}
		}
	}
}

// TestRestoreKeepsPlaces: a pointer to a value that was there shows what a restore brings, and one
// to a value that came since shows zero.
func TestRestoreKeepsPlaces(t *testing.T) {
	s, rows := value.NewStore[string](), make([]value.Slot, 2)
	s.CopyWith(func(from *string) string { return *from })
	old := s.Make(&rows[0])
	*old = "then"
	c := s.Fresh()
	s.Save(c)
	since := s.Make(&rows[1])
	*old, *since = "now", "since"
	s.Restore(c)
	require.Equal(t, []string{"then", ""}, []string{*old, *since})
}

// TestSaveCallsOncePerValue: free slots and slots that were never handed out cost no call, and a
// store of them none.
func TestSaveCallsOncePerValue(t *testing.T) {
	calls := 0
	s, rows := value.NewStore[int](), make([]value.Slot, 130)
	s.CopyWith(func(from *int) int { calls++; return *from })
	s.Save(s.Fresh())
	require.Zero(t, calls)
	for i := range rows {
		s.Make(&rows[i])
	}
	s.Release(rows[5:70])
	s.Save(s.Fresh())
	require.Equal(t, 65, calls)
	s.Release(rows[:5])
	s.Release(rows[70:])
	s.Save(s.Fresh())
	require.Equal(t, 65, calls)
}

// TestSaveAllocatesOnce: a copy in the memory of another one, and a restore, take no memory.
func TestSaveAllocatesOnce(t *testing.T) {
	s, rows := value.NewStore[int](), make([]value.Slot, 3000)
	s.CopyWith(func(from *int) int { return *from })
	for i := range rows {
		s.Make(&rows[i])
	}
	c := s.Fresh()
	pass := func() {
		s.Save(c)
		s.Release(rows[1000:])
		s.Restore(c)
		c.Clear()
	}
	pass()
	require.Zero(t, testing.AllocsPerRun(10, pass))
}

// TestClearedCopiesAreCollected: the collector frees the objects of a copy when that is cleared or
// made anew, and the objects of a value that a restore ends.
func TestClearedCopiesAreCollected(t *testing.T) {
	var made, gone atomic.Int32
	track := func() *[64]byte {
		p := new([64]byte)
		made.Add(1)
		runtime.AddCleanup(p, func(int) { gone.Add(1) }, 0)
		return p
	}
	s, rows := value.NewStore[*[64]byte](), make([]value.Slot, 600)
	s.CopyWith(func(**[64]byte) *[64]byte { return track() })
	for i := range rows[:300] {
		*s.Make(&rows[i]) = track()
	}
	c, other := s.Fresh(), s.Fresh()
	s.Save(c)
	s.Save(other)
	for i := range rows {
		*s.Make(&rows[i]) = track()
	}
	s.Restore(c) // ends 600 values and shares the 300 of c
	c.Clear()
	s.Save(other) // ends 300 copies
	want := made.Load() - 600
	for deadline := time.Now().Add(time.Minute); gone.Load() < want && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, want, gone.Load())
	runtime.KeepAlive(s)
	runtime.KeepAlive(c)
	runtime.KeepAlive(other)
}
