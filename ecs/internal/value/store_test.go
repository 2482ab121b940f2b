package value_test

import (
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
	"quarry/internal/long"
)

// slowRows are the rows of one store beside the values that they should have.
type slowRows struct {
	t     *testing.T
	s     *value.Store[string]
	rows  []value.Slot
	want  []string  // "" where there is none
	at    []*string // where the value must stay; nil where there is none
	count int
}

func newRows(t *testing.T) *slowRows { return &slowRows{t: t, s: value.NewStore[string]()} }

// groups yields the rows in two groups.
func groups(rows []value.Slot) iter.Seq2[string, []value.Slot] {
	return func(yield func(string, []value.Slot) bool) {
		half := len(rows) / 2
		_ = yield("the first half", rows[:half]) && yield("the second half", rows[half:])
	}
}

func (m *slowRows) check() {
	require.NoError(m.t, m.s.Verify(groups(m.rows)))
	for i, n := range m.rows {
		p := m.s.Get(n)
		require.Equal(m.t, n == 0, p == nil)
		require.True(m.t, p == m.at[i] && p == (*string)(m.s.At(n)), "a value stays where it is")
		if p != nil {
			require.Equal(m.t, m.want[i], *p)
		}
	}
}

// add adds rows with others' slots, or none, that have values of their own.
func (m *slowRows) add(slots []value.Slot, want []string) {
	for i, n := range slots {
		m.rows, m.want, m.at = append(m.rows, n), append(m.want, want[i]), append(m.at, m.s.Get(n))
	}
}

// set gives a row a value, which is zero when it is new.
func (m *slowRows) set(i int) {
	m.count++
	p := m.s.Make(&m.rows[i])
	require.Equal(m.t, m.want[i], *p, "what a row had, or zero")
	*p = strconv.Itoa(m.count)
	m.want[i], m.at[i] = *p, p
}

// end takes some rows out.
func (m *slowRows) end(i, n int) {
	m.s.Release(m.rows[i : i+n])
	m.rows, m.want, m.at = slices.Delete(m.rows, i, i+n), slices.Delete(m.want, i, i+n), slices.Delete(m.at, i, i+n)
}

// part returns a range of rows.
func (m *slowRows) part(r *rand.Rand) (i, n int) {
	i = r.IntN(len(m.rows) + 1)
	return i, r.IntN(min(100, len(m.rows)-i) + 1)
}

// TestStoreAgreesWithTwin takes two stores of a type through random rows, copies and moves.
func TestStoreAgreesWithTwin(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		both := []*slowRows{newRows(t), newRows(t)}
		for range long.N(120, 400) { // each of the 7 operations a dozen times
			m, other := both[0], both[1]
			i, n := m.part(r)
			switch r.IntN(7) {
			case 0:
				k := r.IntN(200)
				m.add(make([]value.Slot, k), make([]string, k))
			case 1:
				for at := i; at < i+n; at++ {
					m.set(at)
				}
			case 2:
				m.end(i, n)
			case 3:
				rows := slices.Clone(m.rows[i : i+n])
				m.s.Clone(rows)
				m.add(rows, m.want[i:i+n])
			case 4:
				rows := slices.Clone(m.rows[i : i+n])
				other.s.Copy(m.s, rows)
				other.add(rows, m.want[i:i+n])
			case 5:
				rows, want := slices.Clone(m.rows[i:i+n]), slices.Clone(m.want[i:i+n])
				other.s.Move(m.s, rows)
				other.add(rows, want)
				m.rows, m.want, m.at = slices.Delete(m.rows, i, i+n), slices.Delete(m.want, i, i+n),
					slices.Delete(m.at, i, i+n)
			case 6:
				m.s.Trim()
			}
			m.check()
			other.check()
			slices.Reverse(both)
		}
	}
}

// TestSlotsComeBackInOrder: rows that went together and come together have values in their order.
func TestSlotsComeBackInOrder(t *testing.T) {
	m := newRows(t)
	m.add(make([]value.Slot, 5), make([]string, 5))
	for i := range m.rows {
		m.set(i)
	}
	before := slices.Clone(m.rows)
	m.s.Release(m.rows)
	clear(m.rows)
	for i := range m.rows {
		m.s.Make(&m.rows[i])
	}
	require.Equal(t, before, m.rows)
}

// TestPagesComeAndGo: Trim gives back the pages at the end that hold no value, Drop all.
func TestPagesComeAndGo(t *testing.T) {
	m := newRows(t)
	require.Equal(t, 256, m.s.PageLen())
	m.add(make([]value.Slot, 1000), make([]string, 1000))
	for i := range m.rows {
		m.set(i)
	}
	require.Equal(t, 4, m.s.Pages())
	m.end(300, 700)
	m.end(10, 20)
	require.Equal(t, 4, m.s.Pages(), "kept for those that come")
	m.s.Trim()
	require.Equal(t, 2, m.s.Pages())
	m.check()
	m.end(0, len(m.rows))
	m.s.Trim()
	require.Zero(t, m.s.Pages())
	m.add(make([]value.Slot, 1), make([]string, 1))
	m.set(0)
	m.check()
	m.s.Drop()
	require.Zero(t, m.s.Pages())
	require.NoError(t, m.s.Verify(groups(nil)))
	require.Zero(t, m.s.Fresh().(*value.Store[string]).Pages())
}

// TestPagesFitTheirValues: a page has 256 values, fewer when they are large, and one at least.
func TestPagesFitTheirValues(t *testing.T) {
	require.Equal(t, 256, value.NewStore[struct{}]().PageLen())
	require.Equal(t, 256, value.NewStore[[64]byte]().PageLen())
	require.Equal(t, 128, value.NewStore[[65]byte]().PageLen())
	require.Equal(t, 1, value.NewStore[[16 << 10]byte]().PageLen())
	require.Equal(t, 1, value.NewStore[[1 << 20]byte]().PageLen())
}

// TestEndedValuesAreCollected: the collector gets what a value led to.
func TestEndedValuesAreCollected(t *testing.T) {
	s, rows := value.NewStore[*[64]byte](), make([]value.Slot, 10)
	var gone atomic.Int32
	for i := range rows {
		p := new([64]byte)
		runtime.AddCleanup(p, func(int) { gone.Add(1) }, 0)
		*s.Make(&rows[i]) = p
	}
	s.Release(rows)
	for deadline := time.Now().Add(time.Minute); gone.Load() < 10 && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, int32(10), gone.Load())
	runtime.KeepAlive(s)
}

// TestStoreVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestStoreVerifyNamesTheInvariant(t *testing.T) {
	m := newRows(t)
	m.add(make([]value.Slot, 3), make([]string, 3))
	for i := range m.rows {
		m.set(i)
	}
	m.end(1, 1)
	m.check()
	for _, name := range []string{"S1 lost", "S1 free twice", "S1 free of none", "S1 free of more", "S1 free in use",
		"S1 forgotten",
		"S2", "S2 part", "S3", "S3 ahead"} {
		restore := m.s.Corrupt(name, m.want[0])
		require.ErrorContains(t, m.s.Verify(groups(m.rows)), "value: "+name[:2]+":", name)
		restore()
		m.check()
	}
	for _, bad := range []value.Slot{0, 2, 3, 4} { // lost, free, another row's, never given
		old := m.rows[0]
		m.rows[0] = bad
		require.ErrorContains(t, m.s.Verify(groups(m.rows)), "value: S1:", bad)
		m.rows[0] = old
		m.check()
	}
}
