package ecs_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/debug"
)

// tracking is a world whose types track rows, all but velocity, beside a list of what was written
// when, by entity.
type tracking struct {
	t        *testing.T
	w        *ecs.World
	r        *rand.Rand
	position ecs.Component[Position]
	stun     ecs.Component[Stun]
	hits     ecs.Buffer[Hit]
	names    ecs.Managed[[]string]
	velocity ecs.Component[Velocity]
	makers   []*ecs.Archetype
	all      []ecs.Entity
	written  map[ecs.Entity]*[4]uint32 // by tracked type: position, stun, hits, names
	writes   *ecs.Query                // position and hits
	marks    *ecs.Query                // stun, present
	new      *ecs.Query                // Changed position or stun, masked
	view     *ecs.View[trackedView]
	bundle   *ecs.Bundle[trackedBundle]
	double   *ecs.Change // adds velocity
}

type trackedView struct {
	P ecs.W[Position]
	S ecs.BitsW[Stun]
	E []ecs.Entity
}

type trackedBundle struct {
	P *Position
	H *[]Hit
}

func newTracking(t *testing.T) *tracking {
	w := newWorld(t)
	m := &tracking{t: t, w: w, r: rand.New(rand.NewPCG(3, 5)), written: map[ecs.Entity]*[4]uint32{},
		position: ecs.Register[Position](w, ecs.TrackRows), stun: ecs.Register[Stun](w, ecs.Enableable, ecs.TrackRows),
		hits: ecs.RegisterBuffer[Hit](w, ecs.TrackRows), names: ecs.RegisterManaged[[]string](w, ecs.TrackRows), velocity: ecs.Register[Velocity](w)}
	m.makers = []*ecs.Archetype{ecs.NewArchetype(w, m.position, m.stun), ecs.NewArchetype(w, m.position, m.hits, m.names, m.stun),
		ecs.NewArchetype(w, m.hits, m.velocity), ecs.NewArchetype(w, m.position, m.velocity)}
	m.writes = ecs.NewQuery(w, ecs.Optional(ecs.Write(m.position)), ecs.Write(m.hits), ecs.Optional(ecs.Write(m.names)))
	m.marks = ecs.NewQuery(w, ecs.Present(ecs.Write(m.stun)), ecs.Write(m.position))
	m.new = ecs.NewQuery(w, ecs.Changed(m.position, m.stun).Masked(), ecs.Optional(ecs.Read(m.position)))
	m.view = ecs.NewView[trackedView](w)
	m.bundle = ecs.NewBundle[trackedBundle](w)
	m.double = ecs.NewChange(w, ecs.Add(m.velocity))
	return m
}

func (m *tracking) types() []ecs.Type { return []ecs.Type{m.position, m.stun, m.hits, m.names} }

// wrote notes that an entity's tracked types, or all if none is named, were written now.
func (m *tracking) wrote(e ecs.Entity, types ...int) {
	one := m.written[e]
	if one == nil {
		one = new([4]uint32)
		m.written[e] = one
	}
	if len(types) == 0 {
		types = []int{0, 1, 2, 3}
	}
	for _, i := range types {
		one[i] = m.w.Version()
	}
}

func (m *tracking) wroteAll(list []ecs.Entity, types ...int) {
	for _, e := range list {
		m.wrote(e, types...)
	}
}

func (m *tracking) any() ecs.Entity {
	if len(m.all) == 0 {
		return ecs.Null
	}
	return m.all[m.r.IntN(len(m.all))]
}

func (m *tracking) some() (list []ecs.Entity) {
	for range 1 + m.r.IntN(20) {
		list = append(list, m.any())
	}
	return list
}

// having returns the entities of a list that have a type.
func having(list []ecs.Entity, t interface{ Has(ecs.Entity) bool }) []ecs.Entity {
	return slices.DeleteFunc(slices.Clone(list), func(e ecs.Entity) bool { return !t.Has(e) })
}

// structural makes a structural change.
func (m *tracking) structural(op int) {
	switch e := m.any(); op {
	case 0:
		e = m.makers[m.r.IntN(4)].Create()
		m.all = append(m.all, e)
		m.wrote(e)
	case 1:
		batch, err := m.makers[m.r.IntN(4)].CreateN(1 + m.r.IntN(600))
		require.NoError(m.t, err)
		m.wroteAll(batch.Entities(nil))
		m.all = batch.Entities(m.all)
		m.w.Advance()
		for rows := range batch.Rows() { // a batch's columns are written when they are opened
			if m.position.In(rows) && m.r.IntN(2) == 0 {
				m.position.Slice(rows)
				m.wroteAll(rows.Entities(), 0)
			}
		}
	case 2:
		m.w.Destroy(e)
		m.forget()
	case 3:
		if m.velocity.Remove(e) || m.velocity.Add(e, Velocity{}) {
			m.wrote(e)
		}
	case 4:
		list := m.some()
		m.wroteAll(slices.DeleteFunc(slices.Clone(list), m.velocity.Has))
		m.double.ApplyList(list)
	case 5:
		m.w.DestroyList(m.some())
		m.forget()
	case 6:
		a, b := m.any(), m.any()
		of, _ := m.w.Locate(a)
		if with, _ := m.w.Locate(b); of.Archetype == with.Archetype && a != b && m.w.SwapComponents(a, b) {
			m.wroteAll([]ecs.Entity{a, b})
		}
	case 7:
		m.w.Trim()
	case 8:
		q := ecs.NewQuery(m.w, ecs.With(m.position), ecs.Absent(m.velocity))
		m.wroteAll(q.Entities(nil))
		m.double.ApplyQuery(q)
		q.Close()
	default:
		c, err := m.w.InstantiateN(e, 1+m.r.IntN(5))
		require.NoError(m.t, err)
		m.wroteAll(c.Entities(nil))
		m.all = c.Entities(m.all)
	}
}

func (m *tracking) forget() {
	m.all = slices.DeleteFunc(m.all, func(e ecs.Entity) bool {
		if m.w.Alive(e) {
			return false
		}
		delete(m.written, e)
		return true
	})
}

// one writes one entity.
func (m *tracking) one(op int) {
	e, list := m.any(), m.some()
	switch op {
	case 0:
		if m.position.Set(e, Position{}) {
			m.wrote(e, 0)
		}
	case 1:
		if m.position.Mut(e) != nil {
			m.wrote(e, 0)
		}
	case 2:
		if m.stun.Has(e) {
			require.True(m.t, m.stun.Disable(e))
			require.False(m.t, m.stun.Enabled(e))
			if m.r.IntN(2) == 0 {
				require.True(m.t, m.stun.Enable(e))
			}
			m.wrote(e, 1)
		}
	case 3:
		if d, ok := m.hits.Mut(e); ok {
			d.Append(Hit{})
			m.wrote(e, 2)
		}
	case 4:
		if m.names.Set(e, []string{"a"}) {
			m.wrote(e, 3)
		}
	case 5:
		m.wroteAll(having(list, m.position), 0)
		m.position.MutList(nil, list)
	case 6:
		m.wroteAll(having(list, m.stun), 1)
		m.stun.EnableList(list)
	case 7:
		if v, ok := m.view.Get(e); ok {
			m.wrote(e, 0)
			v.S.Disable(0)
			m.wrote(e, 1)
		}
	default:
		v := trackedBundle{P: &Position{}}
		if m.r.IntN(2) == 0 {
			v.H = &[]Hit{{}}
		}
		if m.bundle.Set(e, v) {
			if m.wrote(e, 0); v.H != nil {
				m.wrote(e, 2)
			}
		}
	}
}

// loop writes many rows.
func (m *tracking) loop(op int) {
	switch op {
	case 0:
		for rows := range m.writes.Rows() {
			if p := m.position.Slice(rows); p != nil {
				m.wroteAll(rows.Entities(), 0)
			}
			i := m.r.IntN(rows.Len())
			m.hits.At(rows, i)
			m.wrote(rows.Entities()[i], 2)
			if m.names.In(rows) {
				m.names.At(rows, i)
				m.wrote(rows.Entities()[i], 3)
			}
		}
	case 1:
		for rows := range m.marks.Rows() {
			i := m.r.IntN(rows.Len())
			m.position.ReadOnly(rows)[i].X++
			m.position.MarkAt(rows, i)
			m.wrote(rows.Entities()[i], 0)
			i = m.r.IntN(rows.Len())
			m.stun.EnableAt(rows, i)
			m.wrote(rows.Entities()[i], 1)
		}
	case 2:
		q := ecs.NewQuery(m.w, ecs.With(m.stun))
		m.wroteAll(q.Entities(nil), 1)
		m.stun.DisableQuery(q)
		q.Close()
		m.w.Advance()
		q = ecs.NewQuery(m.w, ecs.Present(m.stun))
		m.wroteAll(q.Entities(nil), 1)
		m.stun.EnableQuery(q)
		q.Close()
	case 3:
		q := ecs.NewQuery(m.w, ecs.With(m.stun), ecs.Write(m.position))
		m.wroteAll(q.Entities(nil), 0)
		require.NoError(m.t, m.position.SetValues(q, make([]Position, q.Count())))
		q.Close()
	case 4:
		for rows, v := range m.view.Rows() {
			m.wroteAll(v.E, 0)
			i := m.r.IntN(rows.Len())
			v.S.Enable(i)
			m.wrote(v.E[i], 1)
		}
	case 5:
		m.lent()
	default:
		for rows := range m.marks.Rows() {
			m.position.Mark(rows)
			m.wroteAll(rows.Entities(), 0)
		}
	}
}

// lent writes the rows of a borrow, and one entity by look-up.
func (m *tracking) lent() {
	q := ecs.NewQuery(m.w, ecs.Present(ecs.Write(m.stun)))
	l := lend(q, "job track", ecs.Write(m.position))
	l.borrow.Begin()
	r := l.borrow.Accessor()
	for i, part := range l.borrow.Split(nil, 64) {
		rows, ok := r.Rows(part)
		require.True(m.t, ok)
		switch at := m.r.IntN(rows.Len()); i % 3 {
		case 0:
			m.stun.Slice(rows)
			m.wroteAll(rows.Entities(), 1)
		case 1:
			m.stun.DisableAt(rows, at)
			m.wrote(rows.Entities()[at], 1)
		default:
			e := rows.Entities()[at]
			if m.position.Lookup(r).Set(e, Position{}) {
				m.wrote(e, 0)
				require.True(m.t, m.position.Lookup(r).ChangedSince(e, m.w.Version()-1))
			}
		}
	}
	r.Done()
	l.end()
	q.Close()
}

// check compares the versions of all rows, by entity and by row, and what a masked loop shows.
func (m *tracking) check(text string) {
	require.NoError(m.t, m.w.Verify(), text)
	want := []ecs.Entity{}
	now := m.w.Version()
	for _, e := range m.all {
		v := m.written[e]
		for i, h := range []interface {
			Has(ecs.Entity) bool
			ChangedSince(ecs.Entity, uint32) bool
		}{m.position, m.stun, m.hits, m.names} {
			if has := h.Has(e); h.ChangedSince(e, v[i]-1) != has || h.ChangedSince(e, v[i]) != (has && v[i] == 0) {
				require.Failf(m.t, text, "%v of %v: want version %d, now %d", m.types()[i], e, v[i], now)
			}
		}
		if m.position.Has(e) && v[0] == now || m.stun.Has(e) && v[1] == now {
			want = append(want, e)
		}
	}
	m.new.SetSince(now - 1)
	require.ElementsMatch(m.t, want, m.new.Entities(nil), text)
	require.Equal(m.t, len(want), m.new.Count(), text)
	e := m.any()
	require.Equal(m.t, slices.Contains(want, e), m.new.Matches(e), text)
	for rows := range m.new.Rows() {
		for i := range rows.Each() {
			at := m.position.ChangedAt(rows, i, now-1)
			require.Equal(m.t, m.position.In(rows) && m.written[rows.Entities()[i]][0] == now, at, text)
		}
	}
}

// TestRowVersionsAgainstModel: every kind of write marks the rows that it is about, and no others,
// whatever moves the rows meanwhile.
func TestRowVersionsAgainstModel(t *testing.T) {
	m := newTracking(t)
	steps := 700
	if testing.Short() || debug.On {
		steps = 150
	}
	for range 8 {
		m.structural(0)
	}
	m.structural(1)
	for step := range steps {
		m.w.Advance()
		kind, op := m.r.IntN(3), 0
		switch kind {
		case 0:
			if op = m.r.IntN(10); op == 1 && len(m.all) > 3000 {
				m.w.DestroyList(slices.Clone(m.all[:2500]))
				m.forget()
			}
			m.structural(op)
		case 1:
			op = m.r.IntN(9)
			m.one(op)
		default:
			op = m.r.IntN(7)
			m.loop(op)
		}
		for len(m.all) < 4 {
			m.structural(0)
		}
		m.check(fmt.Sprintf("step %d, kind %d, op %d", step, kind, op))
	}
}

// TestMaskedWithOtherTerms: a chunk that another term passes is shown whole, and only rows that
// were written else.
func TestMaskedWithOtherTerms(t *testing.T) {
	w := newWorld(t)
	position, velocity, marked := ecs.Register[Position](w, ecs.TrackRows), ecs.Register[Velocity](w), ecs.RegisterSparse[Marked](w)
	list := createEach(ecs.NewArchetype(w, position, velocity), 100)
	marked.Add(list[7], Marked{})
	only := ecs.NewQuery(w, ecs.Changed(position).Masked())
	require.Equal(t, "query(Changed Position masked)", only.String())
	either := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(velocity))
	ordered := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Ordered())
	sparse := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(marked))
	all := []*ecs.Query{only, either, ordered, sparse}
	counts := func() (n [4]int) {
		for i, q := range all {
			n[i] = q.Count()
			require.Equal(t, n[i] > 0, !q.Empty())
			for range q.Rows() { // Since moves to now
			}
			require.Zero(t, q.Count())
		}
		return n
	}
	require.Equal(t, [4]int{100, 100, 100, 100}, counts(), "a query that never ran sees everything")
	position.Set(list[5], Position{})
	require.Equal(t, [4]int{1, 1, 1, 1}, counts())
	velocity.Set(list[5], Velocity{})
	require.Equal(t, [4]int{0, 100, 0, 0}, counts())
	marked.Set(list[7], Marked{})
	require.Equal(t, [4]int{0, 0, 0, 100}, counts())
	w.Destroy(list[3])
	require.Equal(t, [4]int{0, 0, 99, 0}, counts(), "the row that filled the gap was not written")
	e := ecs.NewArchetype(w, position, velocity).Create()
	require.Equal(t, [4]int{1, 100, 100, 1}, counts(), "a row that came")
	require.True(t, only.Since() != 0 && !only.Matches(e))
	position.Mut(e)
	require.True(t, only.Matches(e))
	require.Equal(t, 1, w.DestroyQuery(only))
	require.False(t, w.Alive(e))
}

// TestRowVersionsOfATag: a type without fields has versions of rows too, and so has a copy of the
// world.
func TestRowVersionsOfATag(t *testing.T) {
	w := newWorld(t)
	type Walks struct{}
	walks := ecs.Register[Walks](w, ecs.Enableable, ecs.TrackRows)
	list := createEach(ecs.NewArchetype(w, walks), 200)
	now := w.Advance()
	walks.Disable(list[150])
	require.True(t, walks.ChangedSince(list[150], now-1))
	require.False(t, walks.ChangedSince(list[149], now-1))
	require.True(t, ecs.InfoOf(walks).TrackRows)
	c, err := w.Clone()
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	again := ecs.Register[Walks](c, ecs.Enableable, ecs.TrackRows)
	e, _ := c.Entity(list[3].Index(), list[3].Version())
	require.True(t, again.ChangedSince(e, 0))
	since := c.Advance()
	again.Enable(e)
	require.True(t, again.ChangedSince(e, since-1))
	require.NoError(t, c.Verify())
}

// TestTrackRowsMisuse: broken contracts panic by name.
func TestTrackRowsMisuse(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w, ecs.TrackRows), ecs.Register[Velocity](w)
	e := ecs.NewArchetype(w, position, velocity).Create()
	reads := ecs.NewQuery(w, ecs.Read(position))
	inLoop := func(f func(ecs.Rows)) func() {
		return func() {
			for rows := range reads.Rows() {
				f(rows)
			}
		}
	}
	for want, f := range map[string]func(){
		"ecs: Register[Position]: registered before with other options":                                            func() { ecs.Register[Position](w) },
		"ecs: Register[Velocity]: registered before with other options":                                            func() { ecs.Register[Velocity](w, ecs.TrackRows) },
		"ecs: RegisterSparse[int8]: the only option of sparse types is Enableable":                                 func() { ecs.RegisterSparse[int8](w, ecs.TrackRows) },
		"ecs: RegisterShared[int8]: the only option of shared types is Cleanup":                                    func() { ecs.RegisterShared[int8](w, ecs.TrackRows) },
		"ecs: RegisterChunk[int8]: the only option of chunk types is Merge":                                        func() { ecs.RegisterChunk[int8](w, ecs.TrackRows) },
		"ecs: Term.Masked: Changed(Position, Velocity): Velocity was not registered with ecs.TrackRows":            func() { ecs.Changed(position, velocity).Masked() },
		"ecs: Component.MarkAt: query(Read Position) declares Position to read: use ecs.Write":                     inLoop(func(rows ecs.Rows) { position.MarkAt(rows, 0) }),
		"ecs: Component.MarkAt: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write":         inLoop(func(rows ecs.Rows) { velocity.MarkAt(rows, 0) }),
		"ecs: Component.MarkAt: row 1 is not in [0, 1)":                                                            inLoop(func(rows ecs.Rows) { position.MarkAt(rows, 1) }),
		"ecs: Component.ChangedAt: row -1 is not in [0, 1)":                                                        inLoop(func(rows ecs.Rows) { position.ChangedAt(rows, -1, 0) }),
		"ecs: Component.ChangedSince: the handle is the zero value; handles come from Register and RegisterBuffer": func() { ecs.Component[Position]{}.ChangedSince(e, 0) },
		"ecs: Component.ChangedAt: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write":      inLoop(func(rows ecs.Rows) { velocity.ChangedAt(rows, 0, 0) }),
	} {
		require.PanicsWithValue(t, want, f)
	}
	share := w.Share()
	require.True(t, position.ChangedSince(e, 0))
	require.PanicsWithValue(t, "ecs: Component.Mut: the world is shared: until Borrow.End components are only read", func() { position.Mut(e) })
	require.PanicsWithValue(t, "ecs: Component.MutList: the world is shared: until Borrow.End components are only read", func() { position.MutList(nil, []ecs.Entity{e}) })
	share.End()
	now := w.Advance()
	velocity.Mut(e)
	require.True(t, velocity.ChangedSince(e, now-1), "without TrackRows the chunk tells")
	require.False(t, position.ChangedSince(e, now-1))
	inLoop(func(rows ecs.Rows) { require.False(t, position.ChangedAt(rows, 0, now-1)) })()
}

// TestRowVersionsOfSharedBits: while the world is shared any goroutine may switch the bit of any
// row, the same one too.
func TestRowVersionsOfSharedBits(t *testing.T) {
	w := newWorld(t)
	stun := ecs.Register[Stun](w, ecs.Enableable, ecs.TrackRows)
	list := createEach(ecs.NewArchetype(w, stun), 130)
	q := ecs.NewQuery(w, ecs.Changed(stun).Masked())
	for range q.Rows() {
	}
	share := w.Share()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				stun.Disable(list[i])
				stun.ChangedSince(list[i], q.Since())
			}
			for rows := range share.Rows(q) {
				require.GreaterOrEqual(t, rows.Count(), 100, "goroutine %d", g)
			}
		})
	}
	wg.Wait()
	share.End()
	require.Equal(t, 100, q.Count())
	require.ElementsMatch(t, list[:100], q.Entities(nil))
}

// TestRowVersionsAtTheWrap: versions compare by distance, and 0 is none.
func TestRowVersionsAtTheWrap(t *testing.T) {
	w := newWorld(t)
	position := ecs.Register[Position](w, ecs.TrackRows)
	w.SetVersion(1<<32 - 2)
	list := createEach(ecs.NewArchetype(w, position), 70)
	q := ecs.NewQuery(w, ecs.Changed(position).Masked())
	for i := range 5 {
		for range q.Rows() {
		}
		position.Set(list[i], Position{})
		require.Equal(t, []ecs.Entity{list[i]}, q.Entities(nil), "since %d now %d", q.Since(), w.Version())
	}
}

// ran lets a query's loop run to its end, so Since moves to now.
func ran(q *ecs.Query) {
	for range q.Rows() {
	}
}

// TestMaskedBesideAnUnmaskedTermOfATrackedType: a chunk that passes by another Changed term is shown
// whole, also if that term's type tracks rows.
func TestMaskedBesideAnUnmaskedTermOfATrackedType(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w, ecs.TrackRows), ecs.Register[Velocity](w, ecs.TrackRows)
	list := createEach(ecs.NewArchetype(w, position, velocity), 100)
	q := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(velocity))
	ran(q)
	velocity.Set(list[5], Velocity{})
	require.Equal(t, 100, q.Count())
	require.True(t, q.Matches(list[5]) && q.Matches(list[6]))
}

// TestAtOfNoRowOfATrackedType: At of a row that is not there names it, and marks no row, neither of
// the chunk nor of another part of it.
func TestAtOfNoRowOfATrackedType(t *testing.T) {
	w := newWorld(t)
	hits, names := ecs.RegisterBuffer[Hit](w, ecs.TrackRows), ecs.RegisterManaged[[]string](w, ecs.TrackRows)
	list := createEach(ecs.NewArchetype(w, hits, names), 100)
	q := ecs.NewQuery(w, ecs.Write(hits), ecs.Write(names))
	now := w.Advance()
	for _, i := range []int{-1, 100, math.MaxInt, math.MinInt} {
		for rows := range q.Rows() {
			require.PanicsWithValue(t, fmt.Sprintf("ecs: Buffer.At: row %d is not in [0, 100)", i), func() { hits.At(rows, i) })
			require.PanicsWithValue(t, fmt.Sprintf("ecs: Managed.At: row %d is not in [0, 100)", i), func() { names.At(rows, i) })
		}
	}
	l := lend(q, "job track")
	l.borrow.Begin()
	r := l.borrow.Accessor()
	rows, ok := r.Rows(l.borrow.Split(nil, 64)[1])
	require.True(t, ok)
	require.PanicsWithValue(t, "ecs: Buffer.At: row -1 is not in [0, 36)", func() { hits.At(rows, -1) })
	r.Done()
	l.end()
	for _, e := range list {
		require.False(t, hits.ChangedSince(e, now-1) || names.ChangedSince(e, now-1))
	}
}

// TestMaskedByChunkList: the rows of a list match by the Since of the time when it was made,
// whatever ran meanwhile.
func TestMaskedByChunkList(t *testing.T) {
	w := newWorld(t)
	position := ecs.Register[Position](w, ecs.TrackRows)
	list := createEach(ecs.NewArchetype(w, position), 100)
	q, other := ecs.NewQuery(w, ecs.Changed(position).Masked()), ecs.NewQuery(w, ecs.Changed(position).Masked())
	ran(q)
	position.Set(list[5], Position{})
	chunks := q.Chunks(ecs.ChunkList{})
	count := func(all iter.Seq[ecs.Rows]) (n int) {
		for rows := range all {
			n += rows.Count()
		}
		return n
	}
	require.Equal(t, 1, count(chunks.Rows()))
	ran(other)
	require.Zero(t, other.Count())
	require.Equal(t, 1, count(chunks.Rows()))
	require.Equal(t, 100, ecs.NewQuery(w, ecs.Changed(position).Masked()).Count())
	require.Equal(t, 1, count(chunks.Rows()))
	share := w.Share()
	require.Equal(t, 1, count(share.RowsIn(chunks)))
	require.Equal(t, 1, count(share.Rows(q)))
	share.End()
	ran(q)
	require.Equal(t, 1, count(chunks.Rows()))
}

// TestTrackRowsAtAChunkBoundary: a row that comes and goes at the end of a chunk takes no Go memory.
func TestTrackRowsAtAChunkBoundary(t *testing.T) {
	w := newWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[Position](w, ecs.TrackRows)
	a := ecs.NewArchetype(w, position)
	_, err := a.CreateN(2 * a.Plan().Rows)
	require.NoError(t, err)
	require.Equal(t, 2, a.Chunks())
	require.Zero(t, testing.AllocsPerRun(50, func() {
		e := a.Create()
		require.Equal(t, 3, a.Chunks())
		w.Destroy(e)
	}))
}
