package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

type Ship struct {
	Position
	V    Velocity
	Left *Stun
	Of   *Owner
}

func TestBundleValues(t *testing.T) {
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	parent := v.list[0]
	for i, want := range []Ship{
		{Position: Position{1, 2}, V: Velocity{3, 4}},
		{Position: Position{5, 6}, Left: &Stun{7}},
		{V: Velocity{8, 9}, Of: &Owner{parent}},
		{Position: Position{1, 1}, Left: &Stun{2}, Of: &Owner{parent}},
		{Position: Position{4, 4}},
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
	e := b.Create(Ship{Left: &Stun{1}})
	q := ecs.NewQuery(v.w, ecs.Read(v.position), ecs.Read(v.velocity), ecs.Read(v.stun), ecs.Absent(v.hits))
	since := v.w.Version()
	v.w.Advance()
	changed := func() (p, s bool) {
		for rows := range q.Rows() {
			p, s = v.position.Changed(rows, since), v.stun.Changed(rows, since)
		}
		return p, s
	}
	require.False(t, b.Set(e, Ship{Position: Position{5, 5}, Of: &Owner{}}), "it has no Owner")
	got, _ := b.Get(e)
	require.Equal(t, Ship{Left: &Stun{1}}, got, "nothing is written then")
	p, s := changed()
	require.Equal(t, []bool{false, false}, []bool{p, s})

	require.True(t, b.Set(e, Ship{Position: Position{1, 2}, V: Velocity{3, 4}}))
	got, _ = b.Get(e)
	require.Equal(t, Ship{Position: Position{1, 2}, V: Velocity{3, 4}, Left: &Stun{1}}, got, "nil leaves Stun alone")
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
	first := b.Create(Ship{Left: &Stun{42}, Of: &Owner{v.list[1]}})
	for range 5000 {
		e := b.Create(Ship{Left: v.stun.Get(first), Of: v.owner.Get(first)})
		require.Equal(t, Stun{42}, *v.stun.Get(e))
		require.Equal(t, Owner{v.list[1]}, *v.owner.Get(e))
	}
}

func TestBundleAllocatesNothing(t *testing.T) {
	skipCheckptr(t)
	v := newViewed(t)
	b := ecs.NewBundle[Ship](v.w)
	stun := Stun{3}
	b.Create(Ship{Left: &stun})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e := b.Create(Ship{Left: &stun})
		b.Set(e, Ship{Left: &stun})
		v.w.Destroy(e)
		e = b.Create(Ship{V: Velocity{1, 1}})
		b.Get(e)
		v.w.Destroy(e)
	}))
}

func TestBundleMisuse(t *testing.T) {
	v := newViewed(t)
	type Unknown struct{ X int }
	b := ecs.NewBundle[Ship](v.w)
	for want, f := range map[string]func(){
		"field .p: it is not exported":                        func() { ecs.NewBundle[struct{ p Position }](v.w) },
		"field .U: ecs_test.Unknown is not registered":        func() { ecs.NewBundle[struct{ U *Unknown }](v.w) },
		"field .H: []ecs_test.Hit is not registered":          func() { ecs.NewBundle[struct{ H []Hit }](v.w) },
		"field .Q: Position is the type of a field before it": func() { ecs.NewBundle[struct{ P, Q Position }](v.w) },
		"field .P: a bundle has no tags": func() {
			ecs.NewBundle[struct {
				P Position `ecs:"optional"`
			}](v.w)
		},
		"int is no struct":                    func() { ecs.NewBundle[int](v.w) },
		"the bundle is nil or the zero value": func() { new(ecs.Bundle[Ship]).Create(Ship{}) },
		"the world is shared: until Phase.End": func() {
			defer v.w.Share().End()
			b.Set(v.list[0], Ship{})
		},
		"ecs: Bundle.Create: structural change inside a loop": func() {
			for range ecs.NewQuery(v.w).Rows() {
				b.Create(Ship{})
			}
		},
	} {
		requirePanic(t, want, f)
	}
}
