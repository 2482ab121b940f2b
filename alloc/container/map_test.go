package container

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// newMap returns a map on a heap that the test's end checks for leaks.
func newMap[K comparable, V any](t testing.TB) *Map[K, V] {
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	m, err := NewMap[K, V](h)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !m.closed {
			m.Close()
		}
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	})
	return m
}

// sameAsModel fails unless the map has the model's entries, by each way to read it.
func sameAsModel[K, V comparable](t testing.TB, m *Map[K, V], model map[K]V) {
	require.NoError(t, m.Verify())
	require.Equal(t, len(model), m.Len())
	left := len(model)
	for key, value := range m.All() {
		want, ok := model[key]
		if key == key {
			require.True(t, ok, "%v", key)
			require.Equal(t, want, value)
		}
		left--
	}
	require.Zero(t, left)
	var keys []K
	for key, want := range model {
		keys = append(keys, key)
		got, ok := m.Get(key)
		if key == key && (!ok || got != want || *m.At(key) != want || !m.Has(key)) {
			t.Fatalf("key %v: %v, %v; the model has %v", key, got, ok, want)
		}
	}
	values, found := make([]V, len(keys)), make([]bool, len(keys))
	m.GetMany(keys, values, found)
	for i, key := range keys {
		if want, ok := model[key]; found[i] != ok || ok && values[i] != want {
			t.Fatalf("GetMany, key %v: %v, %v", key, values[i], found[i])
		}
	}
}

// mapStep makes a change, chosen by op, to a map and to its model.
func mapStep[K, V comparable](t testing.TB, m *Map[K, V], model map[K]V, op int, key K, value V) {
	switch want, ok := model[key]; op % 16 {
	case 0, 1, 2, 3, 4, 5:
		require.NoError(t, m.Set(key, value))
		model[key] = value
	case 6, 7:
		got, added, err := m.GetOrAdd(key)
		require.NoError(t, err)
		require.Equal(t, !ok, added)
		require.Equal(t, want, *got)
		*got, model[key] = value, value
	case 8, 9, 10, 11, 12:
		require.Equal(t, ok, m.Delete(key))
		delete(model, key)
	case 13:
		got, has := m.Get(key)
		require.Equal(t, ok, has)
		require.Equal(t, want, got)
	case 14:
		require.NoError(t, m.Trim())
	case 15:
		switch op / 16 % 16 {
		case 0:
			m.Clear()
			clear(model)
		case 1:
			require.NoError(t, m.Reserve(op/256%500))
		}
	}
}

// stream changes a map and a model at random, and compares them now and then.
func stream[K, V comparable](t *testing.T, kept uint64, keyOf func(int) K, valueOf func(int) V) {
	r := rand.New(rand.NewPCG(1, 2))
	m, model := newMap[K, V](t), map[K]V{}
	m.kept, m.step = kept, 1
	steps := 4000
	if testing.Short() {
		steps = 800
	}
	for i := range steps {
		keys := 20 << (i / 256 % 6) // the map grows and shrinks
		mapStep(t, m, model, r.IntN(1<<16), keyOf(r.IntN(keys)), valueOf(r.Int()))
		require.NoError(t, m.Verify())
		if i%64 == 0 {
			sameAsModel(t, m, model)
		}
	}
	sameAsModel(t, m, model)
}

type padded struct {
	a int8
	_ int16
	b float64
	c bool
}

type kilobytes [1500]byte

func TestMapModel(t *testing.T) {
	number := func(i int) uint64 { return uint64(i) }
	all := ^uint64(0)
	t.Run("int", func(t *testing.T) { stream(t, all, func(i int) int { return i }, number) })
	t.Run("uint32", func(t *testing.T) {
		stream(t, all, func(i int) uint32 { return uint32(i) }, func(i int) uint32 { return uint32(i) })
	})
	t.Run("int16", func(t *testing.T) {
		stream(t, all, func(i int) int16 { return int16(i) }, func(i int) [3]byte { return [3]byte{byte(i)} })
	})
	t.Run("float64", func(t *testing.T) {
		stream(t, all, func(i int) float64 {
			if i == 0 {
				return math.Copysign(0, -1)
			}
			return float64(i/2) / 2
		}, number)
	})
	t.Run("NaN", func(t *testing.T) { stream(t, all, nanOrNumber, number) })
	t.Run("padding", func(t *testing.T) {
		stream(t, all, func(i int) padded { return padded{int8(i), 0, float64(i / 3), i%2 == 0} }, number)
	})
	t.Run("array", func(t *testing.T) { stream(t, all, func(i int) [5]int32 { return [5]int32{4: int32(i)} }, number) })
	t.Run("no bytes", func(t *testing.T) {
		stream(t, all, func(int) [0]byte { return [0]byte{} }, number)
		stream(t, all, func(i int) int { return i }, func(int) struct{} { return struct{}{} })
		stream(t, all, func(int) struct{} { return struct{}{} }, func(int) struct{} { return struct{}{} })
	})
	t.Run("large", func(t *testing.T) {
		stream(t, all, func(i int) int32 { return int32(i) }, func(i int) kilobytes { return kilobytes{1499: byte(i)} })
		stream(t, all, func(i int) int32 { return int32(i) },
			func(i int) [3]kilobytes { return [3]kilobytes{2: {byte(i)}} })
	})
	for _, kept := range []uint64{0, 1, 0xFFFF, 0x3FF, 0xFF << 56, 3 << 62, 0x7F << 57, 1 << 63} {
		t.Run(fmt.Sprintf("bits of the hash: %#x", kept),
			func(t *testing.T) { stream(t, kept, func(i int) int { return i }, number) })
	}
}

func nanOrNumber(i int) float64 {
	if i%4 == 0 {
		return math.NaN()
	}
	return float64(i)
}

func TestMapMillion(t *testing.T) {
	m := newMap[uint64, uint64](t)
	n := uint64(1_000_000)
	if testing.Short() {
		n = 50_000
	}
	for i := range n {
		if err := m.Set(i, i*i); err != nil {
			t.Fatal(err)
		}
	}
	require.Equal(t, int(n), m.Len())
	require.NoError(t, m.Verify())
	for i := range n {
		if v, ok := m.Get(i); !ok || v != i*i || m.Has(i+n) {
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
	for i := range n {
		if i%16 != 0 && !m.Delete(i) {
			t.Fatal(i)
		}
	}
	require.NoError(t, m.Trim())
	require.NoError(t, m.Verify())
	require.Equal(t, int(n/16), m.Len())
	require.Less(t, m.held(), int(n/16*40))
	for i := range n {
		if m.Has(i) != (i%16 == 0) {
			t.Fatal(i)
		}
		m.Delete(i)
	}
	require.NoError(t, m.Trim())
	require.Zero(t, m.held())
}

// held returns the bytes of the map's blocks.
func (t *tables) held() int {
	bytes := 0
	if t.depth() > 0 {
		bytes = wordBytes << t.depth()
	}
	if t.next != nil {
		bytes += 2 * wordBytes << t.depth()
	}
	for i := uint64(0); i < 1<<t.depth(); i++ {
		h := i << 1 << t.shift
		if t.class(h) != 0 {
			tab, n := t.table(h)
			if d := t.meta(tab, n).depth; i&(1<<(t.depth()-d)-1) == 0 {
				bytes += t.bytes(n)
			}
		}
	}
	return bytes
}

func TestMapReserve(t *testing.T) {
	for _, n := range []int{1, 7, 8, 500, 5000, 100_000} {
		m := newMap[int, int](t)
		require.NoError(t, m.Reserve(n))
		require.NoError(t, m.Verify())
		held := m.held()
		for i := range n {
			require.NoError(t, m.Set(i, i))
		}
		require.NoError(t, m.Verify())
		require.InDelta(t, held, m.held(), float64(held)/50, "%d", n)
		require.Less(t, held, 40*n+300)
		require.NoError(t, m.Reserve(-1))
		require.ErrorIs(t, m.Reserve(math.MaxInt), alloc.ErrTooBig)
		require.NoError(t, m.Reserve(n/2))
	}
}

// TestMapReserveAfterRemovals: room that removals have left unusable counts for nothing.
func TestMapReserveAfterRemovals(t *testing.T) {
	m := newMap[int, int](t)
	r := &refuser{Allocator: m.from}
	m.source = newSource("NewMap", r)
	const n = 600
	for i := range n {
		require.NoError(t, m.Set(i, i))
	}
	for i := range n {
		m.Delete(i)
	}
	require.NoError(t, m.Reserve(n))
	r.refuse = true
	for i := range n {
		require.NoError(t, m.Set(n+i, i), "entry %d", i)
	}
	require.NoError(t, m.Verify())
}

// TestMapFloats: as in Go's map, 0 and -0 are one key, and a NaN is another each time.
func TestMapFloats(t *testing.T) {
	m := newMap[float64, int](t)
	minus := math.Copysign(0, -1)
	require.NoError(t, m.Set(0, 1))
	require.NoError(t, m.Set(minus, 2))
	require.Equal(t, 1, m.Len())
	for key, value := range m.All() {
		require.True(t, math.Signbit(key))
		require.Equal(t, 2, value)
	}
	for i := range 2000 {
		require.NoError(t, m.Set(math.NaN(), i))
	}
	require.Equal(t, 2001, m.Len())
	require.False(t, m.Has(math.NaN()))
	require.False(t, m.Delete(math.NaN()))
	require.NoError(t, m.Verify())
	seen := map[int]bool{}
	for key, value := range m.All() {
		if key != key {
			require.False(t, seen[value])
			seen[value] = true
		}
	}
	require.Len(t, seen, 2000)
	m.Clear()
	require.Zero(t, m.Len())
	require.Zero(t, m.held())
}

// TestMapVerify breaks each invariant.
func TestMapVerify(t *testing.T) {
	full := func(n int) *Map[int32, [40]byte] {
		m := newMap[int32, [40]byte](t)
		for i := range int32(n) {
			require.NoError(t, m.Set(i, [40]byte{}))
		}
		require.NoError(t, m.Verify())
		return m
	}
	slots := func(m *Map[int32, [40]byte]) (all []*slot[int32, [40]byte]) {
		tab, n := m.table(0)
		m.eachLive(tab, n, func(s *slot[int32, [40]byte]) { all = append(all, s) })
		return all
	}
	word := func(m *Map[int32, [40]byte], g int) *uint64 {
		tab, _ := m.table(0)
		return (*uint64)(unsafe.Add(tab, g*int(m.stride)))
	}
	restore := func(m *Map[int32, [40]byte], text string, p *uint64, bad uint64) {
		was := *p
		*p = bad
		require.ErrorContains(t, m.Verify(), text)
		*p = was
		require.NoError(t, m.Verify())
	}
	m := full(10_000)
	p := (*uint64)(m.directory)
	restore(m, "invariant 1", p, *p+1)
	restore(m, "invariant 1", p, *p|63)
	tab, n := m.table(0)
	m.meta(tab, n).live++
	require.ErrorContains(t, m.Verify(), "invariant 2")
	m.meta(tab, n).live--
	m.count++
	require.ErrorContains(t, m.Verify(), "invariant 2")
	m.count--
	m.meta(tab, n).depth++
	require.Error(t, m.Verify())
	m.meta(tab, n).depth--
	all := slots(m)
	key := all[0].key
	all[0].key = -1
	require.ErrorContains(t, m.Verify(), "invariant 3")
	all[0].key = key
	w := word(m, 0)
	for g := 1; *w&free != 0; g++ { // no key is in the first slot
		w = word(m, g)
	}
	restore(m, "invariant 3", w, *w^1)
	for g := range int(n) { // a group that was passed is no longer marked
		if w := word(m, g); *w>>passedShift != 0 {
			restore(m, "invariant 3", w, *w<<8>>8)
			break
		}
	}

	m = full(3)
	all = slots(m)
	all[1].key = all[0].key
	setByte(word(m, 0), 1, *word(m, 0)&tagBits)
	require.ErrorContains(t, m.Verify(), "invariant 4")

	big := newMap[int, [1024]byte](t)
	require.NoError(t, big.Set(1, [1024]byte{}))
	tab, _ = big.table(0)
	restore2 := (*uint64)(tab)
	was := *restore2
	*restore2 &^= 0xFF << 40
	require.ErrorContains(t, big.Verify(), "invariant 5")
	*restore2 = was
	require.NoError(t, big.Verify())
}
