package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Switcher has the bits of Velocity to switch, with its column to read beside them.
type Switcher struct {
	V  ecs.R[ecstest.Velocity]
	On ecs.BitsW[ecstest.Velocity]
	E  []ecs.Entity
}

// TestViewSwitches: a view switches the bits of its rows, which all who ask see at once. It marks a
// chunk when it switches a bit of it, with the version of then, and not before.
func TestViewSwitches(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Switcher](v.w)
	require.Equal(t, "query(Present Write Velocity)", m.Query().String())
	require.Equal(t, 6000, m.Query().Count(), "enabled or not")
	changed := ecs.NewQuery(v.w, ecs.Present(v.velocity), ecs.Changed(v.velocity))
	for range changed.Rows() {
	}
	for _, m := range m.Rows() {
		for i, e := range m.E {
			require.Equal(t, v.velocity.Enabled(e), m.On.Enabled(i))
		}
	}
	require.Zero(t, changed.Count(), "nothing was switched")
	first := 0 // rows of the first chunk
	for rows, m := range m.Rows() {
		first = rows.Len()
		for range changed.Rows() { // advances the version
		}
		for i, e := range m.E {
			was := v.velocity.Enabled(e)
			if was {
				m.On.Disable(i)
				m.On.Disable(i)
			} else {
				m.On.Enable(i)
			}
			require.Equal(t, !was, m.On.Enabled(i))
			require.Equal(t, !was, v.velocity.Enabled(e))
		}
		break
	}
	require.Equal(t, first, changed.Count(), "one chunk was switched")
	on := 0
	for i, e := range v.list[:6000] {
		require.Equal(t, (i+1)%3 == 0 == (i < first), v.velocity.Enabled(e))
		if v.velocity.Enabled(e) {
			on++
		}
	}
	require.Equal(t, on, ecs.NewQuery(v.w, ecs.With(v.velocity)).Count(), "the counts of bits are right")
}

// TestViewSwitchesElsewhere: of one entity, of a batch that begins inside a chunk, and where the
// type is optional.
func TestViewSwitchesElsewhere(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Switcher](v.w)
	one, ok := m.Get(v.list[70])
	require.True(t, ok)
	require.Equal(t, 1, one.On.Len())
	one.On.Disable(0)
	require.False(t, v.velocity.Enabled(v.list[70]))
	require.PanicsWithValue(t, "ecs: BitsW.Enable: row 1 is not in [0, 1)", func() { one.On.Enable(1) })
	require.PanicsWithValue(t, "ecs: BitsW.Enabled: row -1 is not in [0, 1)", func() { one.On.Enabled(-1) })

	batch, err := ecs.NewArchetype(v.w, v.position, v.velocity, v.hits).CreateN(100)
	require.NoError(t, err)
	list := batch.Entities(nil)
	for rows := range batch.Rows() {
		m := m.At(rows)
		for i := range m.E {
			if i%7 == 0 {
				m.On.Disable(i)
			}
		}
	}
	for i, e := range list {
		require.Equal(t, i%7 != 0, v.velocity.Enabled(e))
	}

	optional := ecs.NewView[struct {
		P  ecs.R[ecstest.Position]
		On ecs.BitsW[ecstest.Velocity] `ecs:"optional"`
	}](v.w)
	for rows, m := range optional.Rows() {
		require.Equal(t, v.velocity.In(rows), m.On.Len() == rows.Len())
		if m.On.Len() == 0 {
			require.PanicsWithValue(t, "ecs: BitsW.Enable: row 0 is not in [0, 0)", func() { m.On.Enable(0) })
		}
	}
	reads := ecs.NewQuery(v.w, ecs.Read(v.velocity))
	require.PanicsWithValue(t, "ecs: View.At: query(Read Velocity) declares Velocity to read: use ecs.Write", func() {
		for rows := range reads.Rows() {
			m.At(rows)
		}
	})
	ecstest.RequirePanic(t, "field .S: Position was not registered with ecs.Enableable",
		func() { ecs.NewView[struct{ S ecs.BitsW[ecstest.Position] }](v.w) })
	ecstest.RequirePanic(t, "field .D: Velocity is the type of a field before it", func() {
		ecs.NewView[struct {
			B ecs.Bits[ecstest.Velocity]
			D ecs.BitsW[ecstest.Velocity]
		}](v.w)
	})
	share := v.w.Lend()
	defer share.End()
	ecstest.RequirePanic(t, "the world is lent", func() { m.Get(v.list[0]) })
}

// TestStaleSwitches: bits that were kept over a structural change, a borrow, or the world's end
// switch nothing and panic, and those of a row that is gone do not count it.
func TestStaleSwitches(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	velocity := ecs.Register[ecstest.Velocity](w, ecs.Enableable)
	a := ecs.NewArchetype(w, velocity)
	a.Create()
	e := a.Create()
	view := ecs.NewView[struct{ On ecs.BitsW[ecstest.Velocity] }](w)
	m, _ := view.Get(e)
	share := w.Lend()
	ecstest.RequirePanic(t, "ecs: BitsW.Disable: the world is lent", func() { m.On.Disable(0) })
	share.End()
	m.On.Disable(0)
	w.Destroy(e)
	const stale = ": the view of a Velocity is no longer current: the world has changed since it was taken"
	ecstest.RequirePanic(t, "ecs: BitsW.Enable"+stale, func() { m.On.Enable(0) })
	ecstest.RequirePanic(t, "ecs: BitsW.Disable"+stale, func() { m.On.Disable(0) })
	ecstest.RequirePanic(t, "ecs: BitsW.Enabled"+stale, func() { m.On.Enabled(0) })
	_, err = a.CreateN(10)
	require.NoError(t, err)
	require.NoError(t, w.Verify())
	m, _ = view.Get(a.Create())
	require.NoError(t, w.Close())
	ecstest.RequirePanic(t, "ecs: BitsW.Enable: ", func() { m.On.Enable(0) })
}

// TestEnabledAtOfNamedTypes: a loop may ask for the bits of types that its query requires, whatever
// else it may do with them, and of no others. So a query with Present reads the type.
func TestEnabledAtOfNamedTypes(t *testing.T) {
	v := newViewed(t)
	for _, c := range []struct {
		term ecs.Term
		rows int
	}{
		{ecs.Present(v.velocity), 6000}, {ecs.With(v.velocity), 4000}, {ecs.Disabled(v.velocity), 2000},
		{ecs.Present(ecs.Read(v.velocity)), 6000}, {ecs.Present(v.velocity, v.hits), 6000},
	} {
		q, n := ecs.NewQuery(v.w, c.term), 0
		for rows := range q.Rows() {
			for i := range rows.Each() {
				require.Equal(t, v.velocity.Enabled(rows.Entities()[i]), v.velocity.EnabledAt(rows, i))
				n++
			}
		}
		require.Equal(t, c.rows, n, q.String())
		access := q.Access()
		writer := ecs.NewQuery(v.w, ecs.Write(v.velocity))
		require.Equal(t, []string{"Velocity"}, v.w.Conflicts(access, writer.Access()), q.String())
	}
	for want, term := range map[string]ecs.Term{
		"ecs: Component.EnabledAt: query(Any Velocity) does not declare Velocity": ecs.Any(v.velocity),
		"ecs: Component.EnabledAt: query(Optional Velocity) does not declare":     ecs.Optional(v.velocity),
		"ecs: Component.EnabledAt: query(Without Velocity) does not declare":      ecs.Without(v.velocity),
	} {
		ecstest.RequirePanic(t, want, func() {
			for rows := range ecs.NewQuery(v.w, term).Rows() {
				v.velocity.EnabledAt(rows, 0)
			}
		})
	}
	named := ecs.NewQuery(v.w, ecs.Present(v.velocity))
	for want, f := range map[string]func(ecs.Rows){
		"ecs: Component.Slice: query(Present Velocity) does not declare Velocity: say ecs.Present(ecs.Read(Velocity))": func(r ecs.Rows) {
			v.velocity.Slice(r)
		},
		"ecs: Component.ReadOnly: query(Present Velocity) does not declare Velocity": func(r ecs.Rows) { v.velocity.ReadOnly(r) },
		"ecs: Component.In: query(Present Velocity) does not declare Velocity":       func(r ecs.Rows) { v.velocity.In(r) },
		"ecs: Component.Changed: query(Present Velocity) does not declare Velocity":  func(r ecs.Rows) { v.velocity.Changed(r, 1) },
		"ecs: Component.EnableAt: query(Present Velocity) does not declare Velocity: say ecs.Present(ecs.Write(Velocity))": func(r ecs.Rows) {
			v.velocity.EnableAt(r, 0)
		},
		"ecs: Component.EnabledAt: row 3000 is not in [0, ": func(r ecs.Rows) { v.velocity.EnabledAt(r, 3000) },
	} {
		ecstest.RequirePanic(t, want, func() {
			for rows := range named.Rows() {
				f(rows)
			}
		})
	}
}
