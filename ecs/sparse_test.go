package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// sparseModel is what a world of three types must have. Values are by entity.
type sparseModel struct {
	w       *ecs.World
	pos     ecs.Component[ecstest.Position]
	tag     ecs.Component[ecstest.Velocity]
	kept    ecs.Component[Kept]
	burning ecs.Sparse[ecstest.Burning]
	marked  ecs.Sparse[ecstest.Marked]
	all     map[ecs.Entity]*sparseEntity
	order   []ecs.Entity // living entities, for choosing one
}

type Kept struct{ N int32 }

type sparseEntity struct {
	hasTag, hasKept bool
	burning         *ecstest.Burning
	marked          *ecstest.Marked
	off             bool // the mark is disabled
}

func newSparseModel(t *testing.T, w *ecs.World) *sparseModel {
	return &sparseModel{w: w, pos: ecs.Register[ecstest.Position](w), tag: ecs.Register[ecstest.Velocity](w),
		kept:    ecs.Register[Kept](w, ecs.Cleanup),
		burning: ecs.RegisterSparse[ecstest.Burning](w), marked: ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable),
		all: map[ecs.Entity]*sparseEntity{}}
}

func (m *sparseModel) enter(e ecs.Entity, s sparseEntity) {
	m.all[e] = &s
	m.order = append(m.order, e)
}

func (m *sparseModel) leave(e ecs.Entity) {
	delete(m.all, e)
	m.order = slices.DeleteFunc(m.order, func(f ecs.Entity) bool { return e == f })
}

// check compares look-ups, the sets, and loops over queries with the model.
func (m *sparseModel) check(t *testing.T) {
	t.Helper()
	require.NoError(t, m.w.Verify())
	burning, marked := 0, 0
	for e, want := range m.all {
		b, k := m.burning.Get(e), m.marked.Get(e)
		require.Equal(t, want.burning != nil, b != nil, e)
		require.Equal(t, want.burning != nil, m.burning.Has(e))
		if b != nil {
			require.Equal(t, *want.burning, *b, e)
			burning++
		}
		require.Equal(t, want.marked != nil, k != nil, e)
		require.Equal(t, want.marked != nil && !want.off, m.marked.Enabled(e))
		if k != nil {
			require.Equal(t, *want.marked, *k, e)
			marked++
		}
	}
	require.Equal(t, burning, m.burning.Len())
	require.Equal(t, marked, m.marked.Len())
	values := m.burning.Values()
	require.Len(t, values, burning)
	for i, e := range m.burning.Entities() {
		require.Equal(t, *m.all[e].burning, values[i])
	}
	n := 0
	for e, v := range m.burning.All() {
		require.Equal(t, *m.all[e].burning, *v)
		n++
	}
	require.Equal(t, burning, n)
	m.checkQueries(t)
}

// checkQueries compares every kind of term.
func (m *sparseModel) checkQueries(t *testing.T) {
	t.Helper()
	on := func(s *sparseEntity) bool { return s.marked != nil && !s.off }
	for _, c := range []struct {
		terms []ecs.Term
		want  func(s *sparseEntity) bool
	}{
		{[]ecs.Term{ecs.Read(m.burning)}, func(s *sparseEntity) bool { return s.burning != nil }},
		{[]ecs.Term{ecs.Write(m.marked)}, on},
		{[]ecs.Term{ecs.With(m.burning, m.marked)}, func(s *sparseEntity) bool { return s.burning != nil && on(s) }},
		{[]ecs.Term{ecs.Without(m.marked)}, func(s *sparseEntity) bool { return !on(s) }},
		{[]ecs.Term{ecs.Absent(m.marked)}, func(s *sparseEntity) bool { return s.marked == nil }},
		{[]ecs.Term{ecs.Present(m.marked)}, func(s *sparseEntity) bool { return s.marked != nil }},
		{[]ecs.Term{ecs.Disabled(m.marked)}, func(s *sparseEntity) bool { return s.marked != nil && s.off }},
		{[]ecs.Term{ecs.Any(m.burning, m.marked)}, func(s *sparseEntity) bool { return s.burning != nil || on(s) }},
		{[]ecs.Term{ecs.Any(m.tag, m.marked)}, func(s *sparseEntity) bool { return s.hasTag || on(s) }},
		{[]ecs.Term{ecs.Optional(ecs.Read(m.burning)), ecs.With(m.tag)}, func(s *sparseEntity) bool { return s.hasTag }},
		{[]ecs.Term{ecs.With(m.tag), ecs.Read(m.burning), ecs.Without(m.marked)}, func(s *sparseEntity) bool { return s.hasTag && s.burning != nil && !on(s) }},
	} {
		q := ecs.NewQuery(m.w, c.terms...)
		want := map[ecs.Entity]bool{}
		for e, s := range m.all {
			if c.want(s) {
				want[e] = true
			}
			require.Equal(t, c.want(s), q.Matches(e), "%v of %v", q, e)
		}
		got := map[ecs.Entity]bool{}
		for rows := range q.Rows() {
			for i := range rows.Each() {
				e := rows.Entities()[i]
				require.False(t, got[e])
				got[e] = true
			}
		}
		require.Equal(t, want, got, "%v", q)
		require.Equal(t, len(want), q.Count(), "%v", q)
		checkDrivers(t, q)
		ecstest.RequireSame(t, slices.Collect(keysOf(want)), q.Entities(nil), "%v", q)
		q.Close()
	}
	q := ecs.NewQuery(m.w, ecs.Optional(ecs.Read(m.burning), ecs.Read(m.marked)))
	for rows := range q.Rows() {
		column := m.burning.Column(rows)
		for i, e := range rows.Entities() {
			s := m.all[e]
			require.Equal(t, m.burning.At(rows, i), column.At(i))
			require.Equal(t, m.burning.Get(e), column.At(i))
			if v := rows.Value(m.marked, i); s.marked == nil {
				require.Nil(t, v)
			} else {
				require.Equal(t, *s.marked, v)
				require.Equal(t, v, m.w.Value(e, m.marked))
			}
		}
	}
	q.Close()
}

func keysOf(set map[ecs.Entity]bool) func(func(ecs.Entity) bool) {
	return func(yield func(ecs.Entity) bool) {
		for e := range set {
			if !yield(e) {
				return
			}
		}
	}
}

// step makes one random change, in the world and in the model.
func (m *sparseModel) step(t *testing.T, r *rand.Rand) {
	e := m.pick(r)
	s := m.all[e]
	switch op := r.IntN(16); {
	case op < 2 || s == nil:
		types := []ecs.Type{m.pos}
		if r.IntN(2) == 0 {
			types = append(types, m.tag)
		}
		if r.IntN(4) == 0 {
			types = append(types, m.kept)
		}
		e := ecs.NewArchetype(m.w, types...).Create()
		m.enter(e, sparseEntity{
			hasTag: slices.Contains(types, ecs.Type(m.tag)), hasKept: slices.Contains(types, ecs.Type(m.kept)),
		})
	case op < 5:
		v := ecstest.Burning{Heat: r.Float64(), For: 1}
		require.Equal(t, s.burning == nil, m.burning.Add(e, v))
		if s.burning == nil {
			s.burning = &v
		}
	case op < 7:
		v := ecstest.Marked{By: m.pick(r)}
		require.Equal(t, s.marked == nil, m.marked.Add(e, v))
		if s.marked == nil {
			s.marked, s.off = &v, false
		}
	case op == 7:
		require.Equal(t, s.burning != nil, m.burning.Remove(e))
		s.burning = nil
	case op == 8:
		require.Equal(t, s.marked != nil, m.marked.Remove(e))
		s.marked, s.off = nil, false
	default:
		m.stepEntity(t, r, e, op)
	}
}

// pick returns a living entity, or Null.
func (m *sparseModel) pick(r *rand.Rand) ecs.Entity {
	if len(m.order) == 0 {
		return ecs.Null
	}
	return m.order[r.IntN(len(m.order))]
}

// stepEntity is step for changes other than new entities and entries.
func (m *sparseModel) stepEntity(t *testing.T, r *rand.Rand, e ecs.Entity, op int) {
	s := m.all[e]
	switch op {
	case 9:
		on := r.IntN(2) == 0
		if on {
			require.Equal(t, s.marked != nil, m.marked.Enable(e))
		} else {
			require.Equal(t, s.marked != nil, m.marked.Disable(e))
		}
		s.off = s.marked != nil && !on
	case 10:
		v := ecstest.Burning{Heat: r.Float64(), For: 2}
		require.Equal(t, s.burning != nil, m.burning.Set(e, v))
		if s.burning != nil {
			s.burning = &v
		}
	case 11:
		require.True(t, m.w.Destroy(e))
		m.leave(e)
		if s.hasKept { // it stays, without its entries
			require.False(t, m.burning.Has(e))
			require.False(t, m.marked.Has(e))
			require.PanicsWithValue(t,
				fmt.Sprintf(
					"ecs: Sparse.Add: %v was destroyed, only its Cleanup types are left; it gets no sparse Burning", e),
				func() { m.burning.Add(e, ecstest.Burning{}) })
			require.True(t, m.kept.Remove(e))
		}
	case 12:
		copied := *s
		copied.hasKept = false
		f := m.w.Instantiate(e)
		if s.marked != nil {
			v := *s.marked
			if v.By == e {
				v.By = f
			}
			copied.marked = &v
		}
		m.enter(f, copied)
	case 13:
		m.change(t, r)
	case 14:
		if f := m.pick(r); sameTypes(m, e, f) && e != f {
			require.True(t, m.w.SwapComponents(e, f))
			m.all[e], m.all[f] = m.all[f], m.all[e]
		}
	case 15:
		if s.hasTag {
			require.True(t, m.tag.Remove(e))
		} else {
			require.True(t, m.tag.Add(e, ecstest.Velocity{}))
		}
		s.hasTag = !s.hasTag
	}
}

func sameTypes(m *sparseModel, e, f ecs.Entity) bool {
	a, b := m.all[e], m.all[f]
	return a.hasTag == b.hasTag && a.hasKept == b.hasKept
}

// change applies a change of dense and sparse types to one entity, to a list or to a query's.
func (m *sparseModel) change(t *testing.T, r *rand.Rand) {
	c := ecs.NewChange(m.w, ecs.Add(m.burning, m.tag), ecs.Remove(m.marked))
	list := slices.Clone(m.order)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:r.IntN(min(len(list), 5)+1)]
	switch r.IntN(3) {
	case 0:
		_, err := c.ApplyList(list)
		require.NoError(t, err)
	case 1:
		q := ecs.NewQuery(m.w, ecs.Read(m.marked), ecs.Without(m.burning))
		list = q.Entities(nil)
		_, err := c.ApplyQuery(q)
		require.NoError(t, err)
		q.Close()
	case 2:
		for _, e := range list {
			s := m.all[e]
			changed, err := c.Apply(e)
			require.NoError(t, err)
			require.Equal(t, s.burning == nil || !s.hasTag || s.marked != nil, changed)
		}
	}
	for _, e := range list {
		s := m.all[e]
		if s.burning == nil {
			s.burning = &ecstest.Burning{}
		}
		s.hasTag, s.marked, s.off = true, nil, false
	}
}

// TestSparseModel compares streams of operations with the model.
func TestSparseModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		w := ecstest.NewWorld(t)
		m := newSparseModel(t, w)
		r := rand.New(rand.NewPCG(seed, 29))
		for range 300 {
			m.step(t, r)
			m.check(t)
		}
		hash := w.Hash()
		c, err := w.Clone()
		require.NoError(t, err)
		require.Equal(t, hash, c.Hash())
		m.checkCopy(t, c)
		m.checkMove(t)
		require.NoError(t, c.Close())
		require.NoError(t, w.Close())
	}
}

// checkCopy compares a clone with the model.
func (m *sparseModel) checkCopy(t *testing.T, c *ecs.World) {
	require.NoError(t, c.Verify())
	burning, marked := ecs.RegisterSparse[ecstest.Burning](c), ecs.RegisterSparse[ecstest.Marked](c, ecs.Enableable)
	for e, s := range m.all {
		twin := ecstest.TwinIn(c, e)
		require.Equal(t, s.burning != nil, burning.Has(twin))
		if s.burning != nil {
			require.Equal(t, *s.burning, *burning.Get(twin))
		}
		if s.marked != nil {
			by := marked.Get(twin).By // an entity that may be dead by now
			require.Equal(t, []any{s.marked.By.Index(), s.marked.By.Version()}, []any{by.Index(), by.Version()})
			require.Equal(t, c.Alive(by), m.w.Alive(s.marked.By))
			require.Equal(t, !s.off, marked.Enabled(twin))
		}
	}
}

// checkMove moves the burning entities to another world, and then the rest.
func (m *sparseModel) checkMove(t *testing.T) {
	to := ecstest.NewWorld(t)
	burning := m.burning.Len()
	q := ecs.NewQuery(m.w, ecs.With(m.burning))
	moved, err := to.MoveQuery(q)
	require.NoError(t, err)
	require.Equal(t, burning, moved.Len())
	require.Zero(t, m.burning.Len())
	require.NoError(t, m.w.Verify())
	require.NoError(t, to.Verify())
	there, marks := ecs.RegisterSparse[ecstest.Burning](to), ecs.RegisterSparse[ecstest.Marked](to, ecs.Enableable)
	for e, s := range m.all {
		f := moved.Of(e)
		require.Equal(t, s.burning != nil, f != ecs.Null)
		if f == ecs.Null {
			continue
		}
		require.Equal(t, *s.burning, *there.Get(f))
		require.Equal(t, s.marked != nil, marks.Has(f))
		if s.marked != nil {
			require.Equal(t, !s.off, marks.Enabled(f))
			require.Equal(t, moved.Of(s.marked.By), marks.Get(f).By)
		}
	}
	_, err = to.MoveAll(m.w)
	require.NoError(t, err)
	require.Zero(t, m.marked.Len())
	require.NoError(t, m.w.Verify())
	require.NoError(t, to.Verify())
	require.NoError(t, to.Close())
}

// TestSparseListOfItsSet: the list of a change may be the entities of a set that the change moves.
func TestSparseListOfItsSet(t *testing.T) {
	type burn struct{ D, R int }
	type mark struct{ D int32 }
	for _, n := range []int{10, 4000, 30_000} {
		for _, removes := range []bool{false, true} {
			w := ecstest.NewWorld(t)
			burns, marks := ecs.RegisterSparse[burn](w), ecs.RegisterSparse[mark](w)
			batch, err := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)).CreateN(5 * n / 2)
			require.NoError(t, err)
			for _, e := range batch.Entities(nil)[:n] {
				burns.Add(e, burn{})
			}
			change, left := ecs.NewChange(w, ecs.Add(burns), ecs.Add(marks)), n
			if removes {
				change, left = ecs.NewChange(w, ecs.Remove(burns), ecs.Add(marks)), 0
			}
			_, err = change.ApplyList(burns.Entities())
			require.NoError(t, err)
			require.NoError(t, w.Verify())
			require.Equal(t, []int{left, n}, []int{burns.Len(), marks.Len()})
		}
	}
}
