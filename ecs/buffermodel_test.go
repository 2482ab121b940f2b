package ecs_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// bufferModel is a buffer type beside what its entities' buffers should hold.
type bufferModel[T comparable] struct {
	b    ecs.Buffer[T]
	want map[ecs.Entity][]T
	made int // values made so far
}

func newBufferModel[T comparable](w *ecs.World, options ...ecs.TypeOption) *bufferModel[T] {
	return &bufferModel[T]{b: ecs.RegisterBuffer[T](w, options...), want: map[ecs.Entity][]T{}}
}

func (m *bufferModel[T]) fresh(n int) []T {
	m.made += n
	return values[T](m.made, n)
}

func (m *bufferModel[T]) has(e ecs.Entity) bool { _, ok := m.want[e]; return ok }

// born and gone follow structural changes.
func (m *bufferModel[T]) born(e ecs.Entity) { m.want[e] = nil }
func (m *bufferModel[T]) gone(e ecs.Entity) { delete(m.want, e) }

// toggle takes e's buffer or gives it one.
func (m *bufferModel[T]) toggle(t *testing.T, e ecs.Entity) {
	if m.has(e) {
		require.True(t, m.b.Remove(e))
		m.gone(e)
		return
	}
	require.True(t, m.b.Add(e))
	m.born(e)
}

// step does one operation on e's buffer, with elements of from's now and then.
func (m *bufferModel[T]) step(t *testing.T, r *rand.Rand, e, from ecs.Entity) {
	d, ok := m.b.Mut(e)
	require.Equal(t, m.has(e), ok)
	if !ok {
		return
	}
	want := m.want[e]
	n := len(want)
	v := m.fresh(r.IntN(1 + r.IntN(40)))
	if other := m.b.Slice(from); r.IntN(3) == 0 && len(other) > 0 && n < 2000 {
		lo := r.IntN(len(other))
		v = other[lo : lo+r.IntN(len(other)-lo+1)]
	}
	kept := slices.Clone(v) // v changes when it is of the buffer itself
	i := r.IntN(n + 1)
	j := i + r.IntN(n-i+1)
	switch r.IntN(13) {
	case 0, 1:
		d.Append(v...)
		want = append(want, kept...)
	case 2, 3:
		d.Insert(i, v...)
		want = slices.Insert(want, i, kept...)
	case 4:
		d.RemoveRange(i, j)
		want = slices.Delete(want, i, j)
	case 5:
		if n > 0 {
			d.RemoveAt(i % n)
			want = slices.Delete(want, i%n, i%n+1)
		}
	case 6:
		if n > 0 {
			d.SwapRemove(i % n)
			want[i%n] = want[n-1]
			want = want[:n-1]
		}
		i, j = i*len(want)/max(n, 1), j*len(want)/max(n, 1)
		d.SwapRemoveRange(i, j)
		last := slices.Clone(want[max(j, len(want)-(j-i)):])
		copy(want[i:], last)
		want = want[:len(want)-(j-i)]
	case 7:
		k := r.IntN(2*n + 3)
		d.Resize(k)
		want = append(slices.Clone(want[:min(k, n)]), make([]T, max(0, k-n))...)
	case 8:
		d.ResizeUninitialized(n + len(v))
		fill := m.fresh(len(v))
		copy(d.Slice()[n:], fill)
		want = append(want, fill...)
	case 9:
		d.Reserve(r.IntN(3*n + 10))
	case 10, 11:
		d.Trim()
	case 12:
		d.CopyFrom(v)
		want = kept
	}
	if len(want) > 3000 {
		d.Clear()
		want = nil
	}
	m.want[e] = want
}

func (m *bufferModel[T]) check(t *testing.T, e ecs.Entity, inline int) {
	d, ok := m.b.Get(e)
	if ok != m.has(e) {
		t.Fatalf("%v has %v: %v", e, m.b, ok)
	}
	if ok && (!slices.Equal(d.Slice(), m.want[e]) || d.Cap() < max(inline, d.Len())) {
		t.Fatalf("%v: %v with room for %d: got %v want %v", e, m.b, d.Cap(), d.Slice(), m.want[e])
	}
}

// TestBuffersFollowAModel does random operations on four types of buffers of several
// entities, which are created, destroyed and moved meanwhile.
func TestBuffersFollowAModel(t *testing.T) {
	steps := long.N(3000, 20_000) // buffers have grown, spilled and come back many times by then
	if testing.Short() {
		steps = 1000
	}
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 57))
		u := ecstest.NewUniverse(t, 8<<20)
		w := ecstest.NewWorld(t, ecs.WithUniverse(u))
		position := ecs.Register[ecstest.Position](w)
		three := newBufferModel[[3]byte](w, ecs.Inline(5))
		five := newBufferModel[[5]byte](w, ecs.Inline(0), ecs.Growth(alloc.Growth{}))
		large := newBufferModel[[42 * 3]byte](w, ecs.Inline(1), ecs.Growth(alloc.Fixed(3)))
		eight := newBufferModel[uint64](w)
		models := []interface {
			step(t *testing.T, r *rand.Rand, e, from ecs.Entity)
			toggle(t *testing.T, e ecs.Entity)
			check(t *testing.T, e ecs.Entity, inline int)
			born(e ecs.Entity)
			gone(e ecs.Entity)
		}{three, five, large, eight}
		rooms := []int{5, 0, 1, 16}
		a := ecs.NewArchetype(w, three.b, five.b, large.b, eight.b)
		var ids []ecs.Entity
		for range steps {
			switch k := r.IntN(100); {
			case len(ids) == 0 || k < 2 && len(ids) < 12:
				ids = append(ids, a.Create())
				for _, m := range models {
					m.born(ids[len(ids)-1])
				}
			case k < 4:
				i := r.IntN(len(ids))
				require.True(t, w.Destroy(ids[i]))
				for _, m := range models {
					m.gone(ids[i])
				}
				ids = slices.Delete(ids, i, i+1)
			case k < 8:
				e := ids[r.IntN(len(ids))]
				if !position.Remove(e) {
					position.Add(e, ecstest.Position{})
				}
			case k < 12:
				models[r.IntN(4)].toggle(t, ids[r.IntN(len(ids))])
			default:
				models[r.IntN(4)].step(t, r, ids[r.IntN(len(ids))], ids[r.IntN(len(ids))])
			}
			for i, m := range models {
				for _, e := range ids {
					m.check(t, e, rooms[i])
				}
			}
			require.NoError(t, w.Verify())
		}
		for _, e := range ids {
			w.Destroy(e)
		}
		require.Zero(t, w.Stats().Buffers)
	}
}
