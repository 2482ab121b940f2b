package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// tracking is a world whose types track rows, all but velocity, beside a list of what was written
// when, by entity.
type tracking struct {
	t        *testing.T
	w        *ecs.World
	r        *rand.Rand
	position ecs.Component[ecstest.Position]
	stun     ecs.Component[ecstest.Stun]
	hits     ecs.Buffer[ecstest.Hit]
	names    ecs.Managed[[]string]
	velocity ecs.Component[ecstest.Velocity]
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
	P ecs.W[ecstest.Position]
	S ecs.BitsW[ecstest.Stun]
	E []ecs.Entity
}

type trackedBundle struct {
	P *ecstest.Position
	H *[]ecstest.Hit
}

func newTracking(t *testing.T) *tracking {
	w := ecstest.NewWorld(t)
	m := &tracking{t: t, w: w, r: rand.New(rand.NewPCG(3, 5)), written: map[ecs.Entity]*[4]uint32{},
		position: ecs.Register[ecstest.Position](w, ecs.TrackRows), stun: ecs.Register[ecstest.Stun](w, ecs.Enableable, ecs.TrackRows),
		hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.TrackRows), names: ecs.RegisterManaged[[]string](w, ecs.TrackRows),
		velocity: ecs.Register[ecstest.Velocity](w)}
	m.makers = []*ecs.Archetype{ecs.NewArchetype(w, m.position, m.stun),
		ecs.NewArchetype(w, m.position, m.hits, m.names, m.stun),
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
		if m.velocity.Remove(e) || m.velocity.Add(e, ecstest.Velocity{}) {
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
		if m.position.Set(e, ecstest.Position{}) {
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
			d.Append(ecstest.Hit{})
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
		v := trackedBundle{P: &ecstest.Position{}}
		if m.r.IntN(2) == 0 {
			v.H = &[]ecstest.Hit{{}}
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
		require.NoError(m.t, m.position.SetValues(q, make([]ecstest.Position, q.Count())))
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
	l := ecstest.Lend(q, "job track", ecs.Write(m.position))
	ecstest.Begin(l.Borrow)
	r := ecstest.AccessorOf(l.Borrow)
	for i, part := range ecstest.Split(l.Borrow, nil, 64) {
		rows, ok := ecstest.RowsOf(r, part)
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
			if m.position.Lookup(r).Set(e, ecstest.Position{}) {
				m.wrote(e, 0)
				require.True(m.t, m.position.Lookup(r).ChangedSince(e, m.w.Version()-1))
			}
		}
	}
	ecstest.Done(r)
	l.End()
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
	ecstest.RequireSame(m.t, want, m.new.Entities(nil), text)
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
	t.Parallel()
	m := newTracking(t)
	steps := long.N(150, 700) // of 26 kinds, so each kind of write occurs
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
