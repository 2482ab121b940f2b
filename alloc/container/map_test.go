package container

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func newMap[K comparable, V any](t testing.TB) *Map[K, V] {
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	m, err := NewMap[K, V](h)
	require.NoError(t, err)
	t.Cleanup(func() {
		m.Close()
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	})
	return m
}

func TestMapMillion(t *testing.T) {
	m := newMap[uint64, uint64](t)
	const n = 1_000_000
	for i := range uint64(n) {
		require.NoError(t, m.Set(i, i*i))
	}
	require.Equal(t, n, m.Len())
	for i := range uint64(n) {
		if v, ok := m.Get(i); !ok || v != i*i {
			t.Fatal(i)
		}
		if m.Has(i + n) {
			t.Fatal(i)
		}
	}
	seen := make([]bool, n)
	for k, v := range m.All() {
		if seen[k] || v != k*k {
			t.Fatal(k)
		}
		seen[k] = true
	}
	require.NotContains(t, seen, false)
	for i := range uint64(n) {
		if !m.Delete(i) {
			t.Fatal(i)
		}
	}
	require.Zero(t, m.Len())
}
