package world_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// ordering is a world under random changes, and what each type's order version is to be.
type ordering struct {
	t          testing.TB
	w          *ecs.World
	random     *rand.Rand
	position   ecs.Component[ecstest.Position]
	velocity   ecs.Component[ecstest.Velocity]
	stun       ecs.Component[ecstest.Stun] // Enableable
	team       ecs.Shared[int]
	types      []ecs.Type
	want       []uint32 // by type
	archetypes []*ecs.Archetype
	stunned    *ecs.Query
	live       []ecs.Entity
}

func newOrdering(t testing.TB) *ordering {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	o := &ordering{t: t, w: w, random: rand.New(rand.NewPCG(54, 29)), position: ecs.Register[ecstest.Position](w),
		velocity: ecs.Register[ecstest.Velocity](w),
		stun:     ecs.Register[ecstest.Stun](w, ecs.Enableable), team: ecs.RegisterShared[int](w)}
	o.types = []ecs.Type{o.position, o.velocity, o.stun, o.team}
	o.want = make([]uint32, len(o.types))
	o.archetypes = []*ecs.Archetype{ecs.NewArchetype(w, o.position), ecs.NewArchetype(w, o.position, o.velocity),
		ecs.NewArchetype(w, o.velocity, o.stun), ecs.NewArchetype(w, o.stun)}
	o.stunned = ecs.NewQuery(w, ecs.Present(o.stun), ecs.Without(o.velocity))
	return o
}

func (o *ordering) one() ecs.Entity { return o.live[o.random.IntN(len(o.live))] }

// of returns the types of an entity.
func (o *ordering) of(e ecs.Entity) []ecs.Type {
	at, ok := o.w.Locate(e)
	require.True(o.t, ok)
	return slices.DeleteFunc(slices.Clone(o.types), func(x ecs.Type) bool { return !at.Archetype.Has(x) })
}

// around returns the types of an entity before and after f.
func (o *ordering) around(e ecs.Entity, f func()) []ecs.Type {
	before := o.of(e)
	f()
	return append(before, o.of(e)...)
}

// create and destroy some, and return the types of their rows.
func (o *ordering) create() []ecs.Type {
	b, err := o.archetypes[o.random.IntN(len(o.archetypes))].CreateN(1 + o.random.IntN(700))
	require.NoError(o.t, err)
	o.live = b.Entities(o.live)
	return o.of(o.live[len(o.live)-1])
}

func (o *ordering) destroy() (touched []ecs.Type) {
	for range min(len(o.live)-1, 400) {
		i, last := o.random.IntN(len(o.live)), len(o.live)-1
		touched = append(touched, o.of(o.live[i])...)
		o.w.Destroy(o.live[i])
		o.live[i], o.live = o.live[last], o.live[:last]
	}
	return touched
}

// share gives, changes or takes the value of one entity.
func (o *ordering) share() []ecs.Type {
	e, v := o.one(), o.random.IntN(3)
	now, has := o.team.Get(e)
	switch {
	case !has:
		return o.around(e, func() { o.team.Add(e, v) })
	case o.random.IntN(2) == 0:
		return o.around(e, func() { o.team.Remove(e) })
	case now != v:
		return o.around(e, func() { o.team.Set(e, v) })
	}
	return nil
}

// hand makes whole archetypes change hands.
func (o *ordering) hand() (touched []ecs.Type) {
	for _, e := range o.stunned.Entities(nil) {
		touched = append(touched, o.of(e)...)
	}
	if touched != nil {
		_, err := ecs.NewChange(o.w, ecs.Add(o.velocity)).ApplyQuery(o.stunned)
		require.NoError(o.t, err)
		touched = append(touched, o.velocity)
	}
	return touched
}

func (o *ordering) swap() []ecs.Type {
	e, f := o.one(), o.one()
	at, _ := o.w.Locate(e)
	if to, _ := o.w.Locate(f); e == f || at.Archetype != to.Archetype {
		return nil
	}
	o.w.SwapComponents(e, f)
	return o.of(e)
}

// shrink may move rows between chunks, of types that it does not return.
func (o *ordering) shrink(version uint32) {
	o.w.Shrink(0)
	for i, x := range o.types {
		if v := o.w.OrderVersion(x); v != o.want[i] {
			require.Equal(o.t, version, v)
			o.want[i] = v
		}
	}
}

// TestOrderVersion does random changes of a world beside a model: after each, the types of the rows
// that came, went or changed places have the version of then, and all others have theirs of before.
// Archetypes of values come and are retired meanwhile.
func TestOrderVersion(t *testing.T) {
	o := newOrdering(t)
	for range 3000 {
		version := o.w.Advance()
		var touched []ecs.Type
		switch k := o.random.IntN(40); {
		case len(o.live) < 20 || k < 4:
			touched = o.create()
		case k < 8:
			touched = o.destroy()
		case k < 16:
			e := o.one()
			touched = o.around(e, func() {
				if !o.velocity.Remove(e) {
					o.velocity.Add(e, ecstest.Velocity{})
				}
			})
		case k < 17:
			touched = o.hand()
		case k < 28:
			touched = o.share()
		case k < 32:
			touched = o.swap()
		case k < 36: // nothing comes or goes
			o.position.Set(o.one(), ecstest.Position{})
			o.stun.Disable(o.one())
		default:
			o.shrink(version)
		}
		for i, x := range o.types {
			if slices.Contains(touched, x) {
				o.want[i] = version
			}
			require.Equal(t, o.want[i], o.w.OrderVersion(x), "%v", x)
		}
	}
	require.Zero(t, o.w.OrderVersion(ecs.Register[ecstest.Health](o.w)), "no entity ever had it")
}

// TestOrderVersionOfValues: a shared value has an order version of its own, which does not go back
// when its archetype is retired.
func TestOrderVersionOfValues(t *testing.T) {
	w := ecstest.NewWorld(t)
	team := ecs.RegisterShared[int](w)
	red, blue := team.Of(1), team.Of(2)
	base := ecs.NewArchetype(w)
	e, f := base.Create(), base.Create()
	one := w.Advance()
	team.Add(e, 1)
	two := w.Advance()
	team.Add(f, 2)
	require.Equal(t, one, w.OrderVersion(red))
	require.Equal(t, two, w.OrderVersion(blue))
	require.Equal(t, two, w.OrderVersion(team))
	three := w.Advance()
	w.Destroy(e)
	require.Equal(t, three, w.OrderVersion(red))
	require.Equal(t, two, w.OrderVersion(blue))
	w.Advance()
	w.Shrink(0)
	require.Equal(t, three, w.OrderVersion(red), "its archetype is gone, its version is not")
	other := ecstest.NewWorld(t)
	ecstest.RequirePanic(t, "ecs: World.OrderVersion: ", func() { other.OrderVersion(team) })
	ecstest.RequirePanic(t, "ecs: World.OrderVersion: a type is nil", func() { w.OrderVersion(nil) })
}

// TestOrderVersionOfRestore: rows that Restore takes away have gone, also where none is left and
// where their archetype came after the snapshot.
func TestOrderVersionOfRestore(t *testing.T) {
	type after struct{}
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	p, later := ecs.Register[int64](w), ecs.Register[after](w)
	a := ecs.NewArchetype(w, p)
	s := w.Snapshot()
	for _, create := range []func(){
		func() { a.Create() },
		func() { a.Create(); a.Create() },
		func() { later.Add(a.Create(), after{}) },
	} {
		w.Advance()
		create()
		before := w.OrderVersion(p)
		w.Advance()
		require.NoError(t, w.Restore(s))
		require.NotEqual(t, before, w.OrderVersion(p))
		require.NoError(t, w.Verify())
	}
}
