package worldfile_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Types of equal sizes, which differ in a row by nothing but their names.
type (
	likeA  struct{ X int32 }
	likeB  struct{ X float32 }
	likeC  struct{ X uint32 }
	likeD  struct{ X [2]int16 }
	likeE  struct{ X [4]int8 }
	likeAA struct{ X, Y int32 }
	likeBB struct{ X, Y float32 }
)

// likes is a world with such types.
type likes struct {
	a  ecs.Component[likeA]
	b  ecs.Component[likeB]
	c  ecs.Component[likeC]
	d  ecs.Component[likeD]
	e  ecs.Component[likeE]
	aa ecs.Buffer[likeAA]
	bb ecs.Buffer[likeBB]
}

// register registers the types in an order.
func (m *likes) register(w *ecs.World, order []int) (types []ecs.Type) {
	types = make([]ecs.Type, 7)
	for _, i := range order {
		switch i {
		case 0:
			m.a = ecs.Register[likeA](w, ecs.Enableable)
			types[i] = m.a
		case 1:
			m.b = ecs.Register[likeB](w, ecs.Enableable)
			types[i] = m.b
		case 2:
			m.c = ecs.Register[likeC](w)
			types[i] = m.c
		case 3:
			m.d = ecs.Register[likeD](w)
			types[i] = m.d
		case 4:
			m.e = ecs.Register[likeE](w)
			types[i] = m.e
		case 5:
			m.aa = ecs.RegisterBuffer[likeAA](w, ecs.Inline(2))
			types[i] = m.aa
		case 6:
			m.bb = ecs.RegisterBuffer[likeBB](w, ecs.Inline(2))
			types[i] = m.bb
		}
	}
	return types
}

// TestImageOfAnotherOrder: types that are registered in another order than in the world that was
// saved have their own columns, also where these are as wide as others, and what is saved again
// has.
func TestImageOfAnotherOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 60 {
		var m likes
		w := ecstest.NewWorld(t)
		types := m.register(w, r.Perm(7))
		k := 2 + r.IntN(6)
		var some []ecs.Type
		for _, i := range r.Perm(7)[:k] {
			some = append(some, types[i])
		}
		batch, err := ecs.NewArchetype(w, some...).CreateN(1 + r.IntN(40))
		require.NoError(t, err)
		all := batch.Entities(nil)
		for i, e := range all {
			n := 1 + i
			m.a.Set(e, likeA{int32(n)})
			m.b.Set(e, likeB{float32(2 * n)})
			m.c.Set(e, likeC{uint32(3 * n)})
			m.d.Set(e, likeD{[2]int16{int16(4 * n), 4}})
			m.e.Set(e, likeE{[4]int8{5, int8(n), 5, 5}})
			if m.aa.Has(e) {
				m.aa.Append(e, make([]likeAA, n%5)...)
				m.aa.Append(e, likeAA{int32(6 * n), 6})
			}
			if m.bb.Has(e) {
				m.bb.Append(e, likeBB{float32(7 * n), 7})
			}
			if i%3 == 0 {
				m.b.Disable(e)
			}
		}
		s := w.Snapshot()
		f := ecstest.NewFile(t, s)
		for range 2 {
			var o likes
			x, err := door.OpenImage(f, func(w *ecs.World) { o.register(w, r.Perm(7)) }, nil)
			require.NoError(t, err)
			require.NoError(t, x.Verify())
			for _, e := range all {
				require.Equal(t, m.a.Get(e), o.a.Get(e))
				require.Equal(t, m.b.Get(e), o.b.Get(e))
				require.Equal(t, m.c.Get(e), o.c.Get(e))
				require.Equal(t, m.d.Get(e), o.d.Get(e))
				require.Equal(t, m.e.Get(e), o.e.Get(e))
				require.Equal(t, m.aa.Slice(e), o.aa.Slice(e))
				require.Equal(t, m.bb.Slice(e), o.bb.Slice(e))
				require.Equal(t, m.b.Enabled(e), o.b.Enabled(e))
				require.Equal(t, m.a.Enabled(e), o.a.Enabled(e))
			}
			again := x.Snapshot()
			f = ecstest.NewFile(t, again)
			again.Close()
			require.NoError(t, x.Close())
		}
		s.Close()
		require.NoError(t, w.Close())
	}
}
