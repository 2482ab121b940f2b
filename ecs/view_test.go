package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Motion is nested in Ship.
type Motion struct {
	P ecs.W[ecstest.Position]
	V ecs.R[ecstest.Velocity]
}

type Mover struct {
	Motion
	E    []ecs.Entity
	Stun ecs.R[ecstest.Stun] `ecs:"optional"`
	Hits ecs.BufferW[ecstest.Hit]
}

type viewed struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	velocity ecs.Component[ecstest.Velocity]
	stun     ecs.Component[ecstest.Stun]
	owner    ecs.Component[ecstest.Owner]
	hits     ecs.Buffer[ecstest.Hit]
	list     []ecs.Entity
}

// newViewed makes entities with Stun and without, every third with Velocity disabled.
func newViewed(t testing.TB) *viewed {
	v := &viewed{w: ecstest.NewWorld(t)}
	v.position = ecs.Register[ecstest.Position](v.w)
	v.velocity = ecs.Register[ecstest.Velocity](v.w, ecs.Enableable)
	v.stun, v.owner = ecs.Register[ecstest.Stun](v.w), ecs.Register[ecstest.Owner](v.w)
	v.hits = ecs.RegisterBuffer[ecstest.Hit](v.w, ecs.Inline(1))
	for _, a := range []*ecs.Archetype{
		ecs.NewArchetype(v.w, v.position, v.velocity, v.hits),
		ecs.NewArchetype(v.w, v.position, v.velocity, v.hits, v.stun),
		ecs.NewArchetype(v.w, v.position, v.stun),
	} {
		for range 3000 {
			e := a.Create()
			i := float64(len(v.list))
			v.list = append(v.list, e)
			v.position.Set(e, ecstest.Position{X: i, Y: -i})
			v.velocity.Set(e, ecstest.Velocity{X: i / 2, Y: 1})
			v.stun.Set(e, ecstest.Stun{Left: float32(i)})
			if len(v.list)%3 == 0 {
				v.velocity.Disable(e)
			}
		}
	}
	return v
}

// bySlices is what the twin, a view, has to do as well.
func (v *viewed) bySlices(q *ecs.Query) {
	for rows := range q.Rows() {
		p, k, s := v.position.Slice(rows), v.velocity.Slice(rows), v.stun.Slice(rows)
		for i := range rows.Each() {
			p[i].X += k[i].X
			if s != nil {
				p[i].Y += float64(s[i].Left)
			}
			v.hits.At(rows, i).Append(ecstest.Hit{By: rows.Entities()[i], Damage: int32(i)}, ecstest.Hit{Damage: 1})
		}
	}
}

func (v *viewed) byView(m *ecs.View[Mover]) {
	for rows, m := range m.Rows() {
		for i := range rows.Each() {
			m.P[i].X += m.V[i].X
			if m.Stun != nil {
				m.P[i].Y += float64(m.Stun[i].Left)
			}
			m.Hits.At(i).Append(ecstest.Hit{By: m.E[i], Damage: int32(i)}, ecstest.Hit{Damage: 1})
		}
	}
}

// state prints what entities hold, with indices for entities of either world.
func (v *viewed) state() (s []string) {
	for _, e := range v.list {
		line := fmt.Sprint(v.position.Get(e), v.velocity.Get(e), v.velocity.Enabled(e), v.stun.Get(e))
		for _, h := range v.hits.Slice(e) {
			line += fmt.Sprint(" ", h.By.Index(), h.Damage)
		}
		s = append(s, line)
	}
	return s
}

func TestViewIsSlices(t *testing.T) {
	plain, viewed := newViewed(t), newViewed(t)
	q := ecs.NewQuery(plain.w, ecs.Write(plain.position), ecs.Read(plain.velocity), ecs.Optional(ecs.Read(plain.stun)),
		ecs.Write(plain.hits))
	m := ecs.NewView[Mover](viewed.w)
	before := viewed.state()
	for range 3 {
		plain.bySlices(q)
		viewed.byView(m)
	}
	require.Equal(t, plain.state(), viewed.state())
	require.NotEqual(t, before, viewed.state())
	require.Equal(t, 4000, m.Query().Count(), "without Stun, and with; two of three are enabled")
}

func TestViewMarksWhatItWrites(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Mover](v.w)
	check := ecs.NewQuery(v.w, ecs.Read(v.position), ecs.Present(ecs.Read(v.velocity)), ecs.Read(v.hits))
	changed := func(since uint32) (p, k, h bool) {
		for rows := range check.Rows() {
			p, k, h = p || v.position.Changed(rows, since), k || v.velocity.Changed(rows, since),
				h || v.hits.Changed(rows, since)
		}
		return p, k, h
	}
	for name, use := range map[string]func(){
		"rows": func() { v.byView(m) },
		"one":  func() { m.Get(v.list[0]) },
		"batch": func() {
			batch, err := ecs.NewArchetype(v.w, v.position, v.velocity, v.hits, v.owner).CreateN(1)
			require.NoError(t, err)
			since := v.w.Version()
			v.w.Advance()
			for rows := range batch.Rows() {
				require.Nil(t, m.At(rows).Stun)
				require.False(t, v.velocity.Changed(rows, since))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "batch" {
				since := v.w.Version()
				v.w.Advance()
				p, k, h := changed(since)
				require.Equal(t, []bool{false, false, false}, []bool{p, k, h})
				use()
				p, k, h = changed(since)
				require.Equal(t, []bool{true, false, true}, []bool{p, k, h})
				return
			}
			use()
		})
	}
}

func TestViewOfOneEntity(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Mover](v.w)
	for _, i := range []int{0, 17, 2999, 3000, 4711} {
		e := v.list[i]
		one, ok := m.Get(e)
		require.True(t, ok)
		require.Equal(t, []ecs.Entity{e}, one.E)
		require.Len(t, one.P, 1)
		require.Same(t, v.position.Get(e), &one.P[0])
		require.Same(t, v.velocity.Get(e), &one.V[0])
		require.Equal(t, i >= 3000, one.Stun != nil)
		one.Hits.At(0).Append(ecstest.Hit{Damage: int32(i)})
		require.Equal(t, []ecstest.Hit{{Damage: int32(i)}}, v.hits.Slice(e))
		require.Panics(t, func() { one.Hits.At(1) })
	}
	_, ok := m.Get(v.list[7000])
	require.False(t, ok, "it has no Velocity")
	v.w.Destroy(v.list[0])
	_, ok = m.Get(v.list[0])
	require.False(t, ok)
}

// TestViewOfAList: a list gives what Get gives for each entity, with the same marks, beside a
// snapshot too; entities that are dead or lack a component give the zero view.
func TestViewOfAList(t *testing.T) {
	type Struck struct {
		Mover
		On  ecs.BitsW[ecstest.Velocity]
		Was ecs.R[ecstest.Owner] `ecs:"optional"`
	}
	v := newViewed(t)
	more, err := ecs.NewArchetype(v.w, v.position, v.velocity, v.hits, v.owner).CreateN(40_000) // far
	require.NoError(t, err)
	v.list = more.Entities(v.list)
	m := ecs.NewView[Struck](v.w)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		v.w.Destroy(v.list[r.IntN(len(v.list))])
	}
	var views []Struck
	for round := range 40 {
		list := []ecs.Entity{ecs.Null}
		for range r.IntN(100) {
			list = append(list, v.list[r.IntN(len(v.list))])
		}
		list = append(list, list[len(list)/2])
		if round%4 == 3 {
			s := v.w.Snapshot()
			defer s.Close()
		}
		since := v.w.Advance() - 1
		views = m.List(views[:min(len(views), 3)], list)
		got := views[len(views)-len(list):]
		marked := make([]bool, len(list))
		for i, e := range list {
			marked[i] = v.position.ChangedSince(e, since)
		}
		for i, e := range list {
			want, ok := m.Get(e)
			require.Equal(t, want.E, got[i].E)
			require.Equal(t, ok, marked[i] && len(got[i].P) == 1)
			if !ok {
				require.Zero(t, got[i])
				continue
			}
			require.Same(t, &want.P[0], &got[i].P[0])
			require.Same(t, &want.V[0], &got[i].V[0])
			require.Equal(t, want.Stun, got[i].Stun)
			require.Equal(t, want.Was, got[i].Was)
			require.Len(t, got[i].V, 1)
			hit := ecstest.Hit{By: e, Damage: int32(round)}
			got[i].Hits.At(0).Append(hit)
			require.Contains(t, v.hits.Slice(e), hit)
			on := v.velocity.Enabled(e)
			require.Equal(t, on, got[i].On.Enabled(0))
			if on {
				got[i].On.Disable(0)
			} else {
				got[i].On.Enable(0)
			}
			require.Equal(t, !on, v.velocity.Enabled(e))
		}
	}
	require.NoError(t, v.w.Verify())
	require.Empty(t, m.List(nil, nil))
	other := ecstest.NewWorld(t)
	require.Panics(t, func() { m.List(nil, []ecs.Entity{ecs.NewArchetype(other).Create()}) })
	zero := new(ecs.View[Struck])
	require.PanicsWithValue(t, "ecs: View.List: the view is nil or the zero value; views come from NewView",
		func() { zero.List(nil, nil) })
	defer v.w.Lend().End()
	require.PanicsWithValue(t, "ecs: View.List: the world is lent: until Borrow.End components are only read",
		func() { m.List(nil, v.list[:1]) })
}

func TestViewInAShare(t *testing.T) {
	v := newViewed(t)
	m, reader := ecs.NewView[Mover](v.w), ecs.NewView[struct{ P ecs.R[ecstest.Position] }](v.w)
	share := v.w.Lend()
	defer share.End()
	n := 0
	for rows := range reader.Query().Rows() {
		n += len(reader.At(rows).P)
	}
	require.Equal(t, len(v.list), n)
	_, ok := reader.Get(v.list[5])
	require.True(t, ok)
	require.PanicsWithValue(t, "ecs: View.Get: the world is lent: until Borrow.End components are only read",
		func() { m.Get(v.list[0]) })
}

func TestViewAllocatesNothing(t *testing.T) {
	ecstest.SkipCheckptr(t)
	v := newViewed(t)
	m := ecs.NewView[Mover](v.w)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for rows, m := range m.Rows() {
			if len(m.P) != rows.Len() || len(m.V) != len(m.E) {
				panic("lengths")
			}
		}
		m.Get(v.list[3])
	}))
}

func TestViewMisuse(t *testing.T) {
	type Unknown struct{ X int }
	type hidden struct{ P ecs.W[ecstest.Position] }
	v := newViewed(t)
	w := v.w
	for want, f := range map[string]func(){
		"field .p: it is not exported":                                   func() { ecs.NewView[struct{ p ecs.W[ecstest.Position] }](w) },
		"field .hidden: it is not exported":                              func() { ecs.NewView[struct{ hidden }](w) },
		"field .N.X: int is none of W, R, BufferW, BufferR, Bits, BitsW": func() { ecs.NewView[struct{ N struct{ X int } }](w) },
		"field .U: ecs_test.Unknown is not registered":                   func() { ecs.NewView[struct{ U ecs.R[Unknown] }](w) },
		"field .U: ecs_test.Unknown is not registered in this":           func() { ecs.NewView[struct{ U ecs.BufferR[Unknown] }](w) },
		"field .M.P: Position is the type of a field before it": func() {
			ecs.NewView[struct {
				P ecs.R[ecstest.Position]
				M Motion
			}](w)
		},
		`field .P: the tag ecs:"may" is not known`: func() {
			ecs.NewView[struct {
				P ecs.R[ecstest.Position] `ecs:"may"`
			}](w)
		},
		"field .E: only W, R, BufferW, BufferR, Bits and BitsW may be optional": func() {
			ecs.NewView[struct {
				E []ecs.Entity `ecs:"optional"`
			}](w)
		},
		"field .B: Position was not registered with ecs.Enableable": func() { ecs.NewView[struct{ B ecs.Bits[ecstest.Position] }](w) },
		"field .C: Velocity is the type of a field before it":       func() { ecs.NewView[struct{ B, C ecs.Bits[ecstest.Velocity] }](w) },
		"field .B: the column of Velocity and its Bits must both be optional": func() {
			ecs.NewView[struct {
				V ecs.R[ecstest.Velocity] `ecs:"optional"`
				B ecs.Bits[ecstest.Velocity]
			}](w)
		},
		"int is no struct":                  func() { ecs.NewView[int](w) },
		"Position is in two terms":          func() { ecs.NewView[Motion](w, ecs.With(v.position)) },
		"the view is nil or the zero value": func() { new(ecs.View[Mover]).Rows() },
		"the world is nil":                  func() { ecs.NewView[Mover](nil) },
		"declares Position to read: use ecs.Write": func() {
			m := ecs.NewView[Motion](w)
			for rows := range ecs.NewQuery(w, ecs.Read(v.position), ecs.Read(v.velocity)).Rows() {
				m.At(rows)
			}
		},
		"does not declare Velocity": func() {
			m := ecs.NewView[Motion](w)
			for rows := range ecs.NewQuery(w, ecs.Write(v.position)).Rows() {
				m.At(rows)
			}
		},
		"has no Velocity, which is not optional": func() {
			m := ecs.NewView[Motion](w)
			q := ecs.NewQuery(w, ecs.Write(v.position), ecs.Optional(ecs.Read(v.velocity)), ecs.Absent(v.hits))
			for rows := range q.Rows() {
				m.At(rows)
			}
		},
		"no longer current": func() {
			m := ecs.NewView[Motion](w)
			var kept ecs.Rows
			for rows := range m.Rows() {
				kept = rows
			}
			m.At(kept)
		},
		"opened to read": func() {
			m, _ := ecs.NewView[struct{ H ecs.BufferR[ecstest.Hit] }](w).Get(v.list[0])
			m.H.At(0).Append(ecstest.Hit{})
		},
		"no longer current: the world has changed": func() {
			m, _ := ecs.NewView[struct{ H ecs.BufferR[ecstest.Hit] }](w).Get(v.list[0])
			v.w.Destroy(v.list[1])
			m.H.At(0).Len()
		},
	} {
		ecstest.RequirePanic(t, want, f)
	}
}

// Walker has the bits of Velocity, which newViewed disables for every third entity, with
// its column beside them.
type Walker struct {
	V  ecs.R[ecstest.Velocity]
	On ecs.Bits[ecstest.Velocity]
	E  []ecs.Entity
}

func TestViewBits(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Walker](v.w)
	require.Equal(t, 6000, m.Query().Count(), "enabled or not")
	n := 0
	for rows, m := range m.Rows() {
		require.Equal(t, rows.Len(), m.On.Len())
		require.True(t, rows.Dense())
		for i, e := range m.E {
			require.Equal(t, v.velocity.Enabled(e), m.On.Enabled(i))
			if m.On.Enabled(i) {
				n++
			}
		}
		require.Panics(t, func() { m.On.Enabled(rows.Len()) })
		require.Panics(t, func() { m.On.Enabled(-1) })
	}
	require.Equal(t, 4000, n)
}

// TestViewBitsAreLive: a loop sees what is toggled inside it, where Each is a snapshot.
func TestViewBitsAreLive(t *testing.T) {
	v := newViewed(t)
	bits := ecs.NewView[struct {
		On ecs.Bits[ecstest.Velocity]
		E  []ecs.Entity
	}](v.w)
	for _, m := range bits.Rows() {
		for i, e := range m.E {
			before := m.On.Enabled(i)
			if before {
				v.velocity.Disable(e)
			} else {
				v.velocity.Enable(e)
			}
			require.Equal(t, !before, m.On.Enabled(i))
		}
	}
	for i, e := range v.list[:6000] {
		require.Equal(t, (i+1)%3 == 0, v.velocity.Enabled(e))
	}
	share := v.w.Lend()
	defer share.End()
	for rows := range bits.Query().Rows() {
		m := bits.At(rows)
		v.velocity.Enable(m.E[0])
		require.True(t, m.On.Enabled(0))
	}
}

// TestViewBitsElsewhere: of one entity, of a batch that begins inside a chunk, and where
// the type is optional.
func TestViewBitsElsewhere(t *testing.T) {
	v := newViewed(t)
	m := ecs.NewView[Walker](v.w)
	for i, e := range v.list[:6000] {
		one, ok := m.Get(e)
		require.True(t, ok)
		require.Equal(t, 1, one.On.Len())
		require.Equal(t, (i+1)%3 != 0, one.On.Enabled(0))
	}
	batch, err := ecs.NewArchetype(v.w, v.position, v.velocity, v.hits).CreateN(100)
	require.NoError(t, err)
	off := batch.Entities(nil)[70]
	v.velocity.Disable(off)
	for rows := range batch.Rows() {
		m := m.At(rows)
		for i, e := range m.E {
			require.Equal(t, e != off, m.On.Enabled(i))
		}
	}
	optional := ecs.NewView[struct {
		P  ecs.R[ecstest.Position]
		On ecs.Bits[ecstest.Velocity] `ecs:"optional"`
	}](v.w)
	require.Equal(t, 9100, optional.Query().Count())
	for rows, m := range optional.Rows() {
		require.Equal(t, v.velocity.In(rows), m.On.Len() == rows.Len())
		require.Equal(t, !v.velocity.In(rows), m.On.Len() == 0)
	}
}
