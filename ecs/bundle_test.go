package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

type Ship struct {
	ecstest.Position
	V    ecstest.Velocity
	Left *ecstest.Stun
	Of   *ecstest.Owner
}

func TestBundleValues(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	parent := v.list[0]
	for i, want := range []Ship{
		{Position: ecstest.Position{X: 1, Y: 2}, V: ecstest.Velocity{X: 3, Y: 4}},
		{Position: ecstest.Position{X: 5, Y: 6}, Left: &ecstest.Stun{Left: 7}},
		{V: ecstest.Velocity{X: 8, Y: 9}, Of: &ecstest.Owner{Of: parent}},
		{Position: ecstest.Position{X: 1, Y: 1}, Left: &ecstest.Stun{Left: 2}, Of: &ecstest.Owner{Of: parent}},
		{Position: ecstest.Position{X: 4, Y: 4}},
	} {
		e := b.Create(want)
		got, ok := b.Get(e)
		require.True(t, ok)
		require.Equal(t, want, got, i)
		require.Equal(t, want.V, *v.velocity.Get(e))
		require.Equal(t, want.Left != nil, v.stun.Has(e))
		require.Equal(t, want.Of != nil, v.owner.Has(e))
		require.True(t, v.velocity.Enabled(e))
		if got.Left != nil {
			got.Left.Left = 99
			require.Equal(t, *want.Left, *v.stun.Get(e), "Get copies")
		}
	}
	require.NoError(t, v.w.Verify())
}

func TestBundleSet(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	e := b.Create(Ship{Left: &ecstest.Stun{Left: 1}})
	q := ecs.NewQuery(v.w, ecs.Read(v.position), ecs.Read(v.velocity), ecs.Read(v.stun), ecs.Absent(v.hits))
	since := v.w.Version()
	v.w.Advance()
	changed := func() (p, s bool) {
		for rows := range q.Rows() {
			p, s = v.position.Changed(rows, since), v.stun.Changed(rows, since)
		}
		return p, s
	}
	require.False(t, b.Set(e, Ship{Position: ecstest.Position{X: 5, Y: 5}, Of: &ecstest.Owner{}}), "it has no Owner")
	got, _ := b.Get(e)
	require.Equal(t, Ship{Left: &ecstest.Stun{Left: 1}}, got, "nothing is written then")
	p, s := changed()
	require.Equal(t, []bool{false, false}, []bool{p, s})

	require.True(t, b.Set(e, Ship{Position: ecstest.Position{X: 1, Y: 2}, V: ecstest.Velocity{X: 3, Y: 4}}))
	got, _ = b.Get(e)
	require.Equal(t, Ship{
		Position: ecstest.Position{X: 1, Y: 2}, V: ecstest.Velocity{X: 3, Y: 4}, Left: &ecstest.Stun{Left: 1},
	}, got, "nil leaves Stun alone")
	p, s = changed()
	require.Equal(t, []bool{true, false}, []bool{p, s})

	require.False(t, b.Set(v.list[7000], Ship{}), "it has no Velocity")
	_, ok := b.Get(v.list[7000])
	require.False(t, ok)
	v.w.Destroy(e)
	require.False(t, b.Set(e, Ship{}))
	_, ok = b.Get(e)
	require.False(t, ok)
}

// The values of another entity may be given by their address, though making room moves
// the rows that they are in.
func TestBundleOfItsOwnMemory(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	first := b.Create(Ship{Left: &ecstest.Stun{Left: 42}, Of: &ecstest.Owner{Of: v.list[1]}})
	for range 5000 {
		e := b.Create(Ship{Left: v.stun.Get(first), Of: v.owner.Get(first)})
		require.Equal(t, ecstest.Stun{Left: 42}, *v.stun.Get(e))
		require.Equal(t, ecstest.Owner{Of: v.list[1]}, *v.owner.Get(e))
	}
}

func TestBundleAllocatesNothing(t *testing.T) {
	ecstest.SkipCheckptr(t)
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	stun := ecstest.Stun{Left: 3}
	b.Create(Ship{Left: &stun})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e := b.Create(Ship{Left: &stun})
		b.Set(e, Ship{Left: &stun})
		v.w.Destroy(e)
		e = b.Create(Ship{V: ecstest.Velocity{X: 1, Y: 1}})
		b.Get(e)
		v.w.Destroy(e)
	}))
}

func TestBundleMisuse(t *testing.T) {
	v := newViewed(t)
	type Unknown struct{ X int }
	b := ecs.NewBundle[Ship](v.w)
	for want, f := range map[string]func(){
		"field .p: it is not exported":                                                          func() { ecs.NewBundle[struct{ p ecstest.Position }](v.w) },
		"field .U: ecs_test.Unknown is not registered":                                          func() { ecs.NewBundle[struct{ U *Unknown }](v.w) },
		"field .U: ecs_test.Unknown is not registered in this world: call RegisterBuffer first": func() { ecs.NewBundle[struct{ U *[]Unknown }](v.w) },
		"field .U.X: int is not registered in this world, and neither is ecs_test.Unknown around it": func() {
			ecs.NewBundle[struct{ U Unknown }](v.w)
		},
		"field .E: struct {} is not registered":            func() { ecs.NewBundle[struct{ E struct{} }](v.w) },
		"field .H: []Hit is the type of a field before it": func() { ecs.NewBundle[struct{ G, H []ecstest.Hit }](v.w) },
		"field .M.P: Position is the type of a field before it": func() {
			ecs.NewBundle[struct {
				P *ecstest.Position
				M struct{ P ecstest.Position }
			}](v.w)
		},
		"field .Q: Position is the type of a field before it": func() { ecs.NewBundle[struct{ P, Q ecstest.Position }](v.w) },
		"field .P: a bundle has no tags": func() {
			ecs.NewBundle[struct {
				P ecstest.Position `ecs:"optional"`
			}](v.w)
		},
		"field .D: CleanupEntity comes with World.Destroy; no entity is created with it": func() { ecs.NewBundle[struct{ D *ecs.CleanupEntity }](v.w) },

		"int is no struct":                    func() { ecs.NewBundle[int](v.w) },
		"the bundle is nil or the zero value": func() { new(ecs.Bundle[Ship]).Create(Ship{}) },
		"the world is lent: until Borrow.End": func() {
			defer v.w.Lend().End()
			b.Set(v.list[0], Ship{})
		},
		"ecs: Bundle.Create: structural change inside a loop": func() {
			for range ecs.NewQuery(v.w).Rows() {
				b.Create(Ship{})
			}
		},
	} {
		ecstest.RequirePanic(t, want, f)
	}
}

// Kinematic is nested in Boat: it is no component itself.
type Kinematic struct {
	P ecstest.Position
	V ecstest.Velocity
}

type Boat struct {
	Hits []ecstest.Hit // first, and behind the values in what a bundle keeps
	Kinematic
	Extra struct {
		Of   *ecstest.Owner
		Left *ecstest.Stun
	}
}

func TestBundleNests(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Boat](v.w)
	want := Boat{
		Hits: []ecstest.Hit{{By: v.list[1], Damage: 3}}, Kinematic: Kinematic{ecstest.Position{X: 1, Y: 2}, ecstest.Velocity{X: 3, Y: 4}},
	}
	want.Extra.Left = &ecstest.Stun{Left: 5}
	e := b.Create(want)
	got, ok := b.Get(e)
	require.True(t, ok)
	require.Equal(t, want, got)
	require.Equal(t, ecstest.Velocity{X: 3, Y: 4}, *v.velocity.Get(e))
	require.Equal(t, ecstest.Stun{Left: 5}, *v.stun.Get(e))
	require.False(t, v.owner.Has(e))
	want.P.X, want.Extra.Left = 9, nil
	require.True(t, b.Set(e, want))
	require.Equal(t, ecstest.Position{X: 9, Y: 2}, *v.position.Get(e))
	require.NoError(t, v.w.Verify())
}

func hitsOf(n int) (h []ecstest.Hit) {
	for i := range n {
		h = append(h, ecstest.Hit{Damage: int32(i) + 1})
	}
	return h
}

// TestBundleBuffers: slices of every length go in and come out as copies, inline (1) and
// spilled.
func TestBundleBuffers(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Boat](v.w)
	e := b.Create(Boat{})
	since := v.w.Version()
	v.w.Advance()
	q := ecs.NewQuery(v.w, ecs.Read(v.hits), ecs.Read(v.position), ecs.Absent(v.stun))
	for _, n := range []int{0, 1, 2, 100, 3, 0, 1, 5000} {
		made := b.Create(Boat{Hits: hitsOf(n)})
		require.True(t, b.Set(e, Boat{Hits: hitsOf(n)}))
		for _, e := range []ecs.Entity{made, e} {
			got, ok := b.Get(e)
			require.True(t, ok)
			require.Equal(t, hitsOf(n), got.Hits)
			if n > 0 {
				got.Hits[0].Damage = -1
				require.Equal(t, int32(1), v.hits.Slice(e)[0].Damage, "Get copies")
			}
		}
	}
	changed := false
	for rows := range q.Rows() {
		changed = changed || v.hits.Changed(rows, since)
	}
	require.True(t, changed)
	require.True(t, b.Set(e, Boat{Hits: v.hits.Slice(e)[10:20]}), "its own elements")
	require.Equal(t, hitsOf(20)[10:], v.hits.Slice(e))
	require.NoError(t, v.w.Verify())
}

func TestBundleOptionalBuffer(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[struct {
		P    ecstest.Position
		Hits *[]ecstest.Hit
	}](v.w)
	without := b.Create(struct {
		P    ecstest.Position
		Hits *[]ecstest.Hit
	}{P: ecstest.Position{X: 1, Y: 1}})
	require.False(t, v.hits.Has(without))
	got, ok := b.Get(without)
	require.True(t, ok)
	require.Nil(t, got.Hits)
	hits := hitsOf(7)
	got.Hits = &hits
	require.False(t, b.Set(without, got), "it has no buffer")
	with := b.Create(got)
	got, _ = b.Get(with)
	require.Equal(t, hitsOf(7), *got.Hits)
	got.Hits = nil
	require.True(t, b.Set(with, got))
	require.Equal(t, hitsOf(7), v.hits.Slice(with), "nil leaves the buffer alone")
}

// TestBundleOfItsOwnElements: elements of another entity may be given, though making room
// moves the rows that they are in.
func TestBundleOfItsOwnElements(t *testing.T) {
	type Target struct{ Hits []ecstest.Hit }
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	b := ecs.NewBundle[Target](w)
	first, last := b.Create(Target{hitsOf(1)}), b.Create(Target{hitsOf(9)})
	for range 3000 {
		require.Equal(t, hitsOf(1), hits.Slice(b.Create(Target{hits.Slice(first)})))
		last = b.Create(Target{hits.Slice(last)})
		require.Equal(t, hitsOf(9), hits.Slice(last))
	}
}

// TestBundleWithoutRoom: a buffer that finds no room leaves no entity behind, and an
// entity that there was as it was, with the other buffer.
func TestBundleWithoutRoom(t *testing.T) {
	type Pair struct {
		Few  []int8
		Many []int64
	}
	w := ecstest.NewWorld(t, ecs.WithUniverse(ecstest.NewUniverse(t, 2<<20)))
	few, many := ecs.RegisterBuffer[int8](w, ecs.Cleanup), ecs.RegisterBuffer[int64](w)
	b := ecs.NewBundle[Pair](w)
	big := Pair{make([]int8, 1000), make([]int64, 1<<18+1)}
	err := ecs.Try(func() { b.Create(big) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Zero(t, w.Stats().Alive)
	e := b.Create(Pair{[]int8{1}, []int64{2}})
	var ok bool
	err = ecs.Try(func() { ok = b.Set(e, big) })
	require.False(t, ok)
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorContains(t, err, "Bundle.Set")
	require.Panics(t, func() { b.Set(e, big) })
	require.Equal(t, []int8{1}, few.Slice(e))
	require.Equal(t, []int64{2}, many.Slice(e))
	require.NoError(t, w.Verify())
}

func TestBundleBuffersAllocateNothing(t *testing.T) {
	ecstest.SkipCheckptr(t)
	v := newViewed(t)
	b := ecs.NewBundle[Boat](v.w)
	one, ten := Boat{Hits: hitsOf(1)}, Boat{Hits: hitsOf(10)}
	b.Create(ten)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e := b.Create(one)
		b.Set(e, ten)
		v.w.Destroy(e)
		e = b.Create(Boat{})
		b.Get(e)
		v.w.Destroy(e)
	}))
}
