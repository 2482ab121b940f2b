package container

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// bitsetStream runs operations on two sets beside maps of Go.
func bitsetStream(t testing.TB, a alloc.Allocator, p *tape) {
	r := &refuser{Allocator: a}
	sets := [2]*Bitset{NewBitset(r), NewBitset(r)}
	models := [2]map[int]bool{{}, {}}
	defer sets[0].Close()
	defer sets[1].Close()
	for !p.ended() {
		op, at := p.next(13), p.next(2)
		b, m, other, om := sets[at], models[at], sets[1-at], models[1-at]
		i := p.next(256)*p.next(20) + p.next(64)
		n := p.next(200)
		refused := func(err error) bool {
			if err != nil {
				require.True(t, r.refuse)
				require.ErrorIs(t, err, errRefused)
			}
			return err != nil
		}
		switch op {
		case 0, 1:
			if !refused(b.Set(i)) {
				m[i] = true
			}
		case 2:
			require.Equal(t, m[i], b.Clear(i))
			delete(m, i)
		case 3:
			if !refused(b.SetRange(i, n)) {
				for j := range n {
					m[i+j] = true
				}
			}
		case 4:
			b.ClearRange(i, n)
			for j := range n {
				delete(m, i+j)
			}
		case 5:
			b.And(other)
			maps.DeleteFunc(m, func(i int, _ bool) bool { return !om[i] })
		case 6:
			b.AndNot(other)
			maps.DeleteFunc(m, func(i int, _ bool) bool { return om[i] })
		case 7:
			if !refused(b.Or(other)) {
				maps.Copy(m, om)
			}
		case 8:
			b.Trim()
		case 9:
			r.refuse = p.next(3) == 0
		case 10:
			if p.next(8) == 0 {
				b.Reset()
				clear(m)
			}
		case 11:
			bitsetReads(t, b, m)
		case 12:
			count := 0
			for j := range n {
				if m[i+j] {
					count++
				}
			}
			require.Equal(t, count, b.CountRange(i, n))
		}
		require.NoError(t, b.Verify(), "op %d", op)
		require.Equal(t, len(m), b.Count(), "op %d", op)
		require.Equal(t, m[i], b.Has(i))
	}
	for i := range sets {
		bitsetReads(t, sets[i], models[i])
	}
}

func bitsetReads(t testing.TB, b *Bitset, m map[int]bool) {
	want := slices.Sorted(maps.Keys(m))
	require.Equal(t, want, slices.Collect(b.Ones()))
	var runs []int
	for first, n := range b.Runs() {
		require.False(t, b.Has(first-1) || b.Has(first+n))
		for i := range n {
			runs = append(runs, first+i)
		}
	}
	require.Equal(t, want, runs)
}

func TestBitsetModel(t *testing.T) { withTapes(t, 20, 600, bitsetStream) }

func FuzzBitset(f *testing.F) {
	f.Add([]byte("a set of numbers"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) <= 2000 {
			runTape(t, bytes, bitsetStream)
		}
	})
}

func TestBitsetLoopsSeeChanges(t *testing.T) {
	b := NewBitset(openHeap(t))
	defer b.Close()
	require.NoError(t, b.SetRange(0, 3))
	var seen []int
	for i := range b.Ones() {
		seen = append(seen, i)
		switch i {
		case 0:
			b.Clear(1)
			require.NoError(t, b.Set(100_000)) // the block moves
		case 100_000:
			b.Reset()
			b.Trim()
		}
	}
	require.Equal(t, []int{0, 2, 100_000}, seen)
	require.NoError(t, b.SetRange(10, 20))
	for first, n := range b.Runs() {
		require.Equal(t, []int{10, 20}, []int{first, n})
		b.Reset()
		b.Trim()
	}
	require.Panics(t, func() {
		require.NoError(t, b.Set(1))
		for range b.Ones() {
			b.Close()
		}
	})
}

func TestBitsetBadInput(t *testing.T) {
	b := NewBitset(openHeap(t))
	defer b.Close()
	require.PanicsWithValue(t, "container: Bitset.Set: first=-1 n=1: want numbers from 0 on", func() { b.Set(-1) })
	require.PanicsWithValue(t, "container: Bitset.SetRange: first=1 n=-1: want numbers from 0 on",
		func() { b.SetRange(1, -1) })
	require.PanicsWithValue(t, "container: Bitset.ClearRange: first=-1 n=1: want numbers from 0 on",
		func() { b.ClearRange(-1, 1) })
	require.PanicsWithValue(t, "container: Bitset.CountRange: first=-1 n=1: want numbers from 0 on",
		func() { b.CountRange(-1, 1) })
	require.PanicsWithValue(t, fmt.Sprintf("container: Bitset.SetRange: first=%d n=2: want numbers from 0 on",
		math.MaxInt), func() { b.SetRange(math.MaxInt, 2) })
	require.Error(t, b.Set(math.MaxInt))
	require.Error(t, b.SetRange(1, math.MaxInt))
	require.False(t, b.Has(-1) || b.Clear(-1) || b.Has(math.MaxInt) || b.Clear(math.MaxInt))
	b.ClearRange(5, math.MaxInt-5)
	require.Zero(t, b.CountRange(5, math.MaxInt-5))
	i, ok := b.Next(-5)
	require.Equal(t, []any{-1, false}, []any{i, ok})
	require.NoError(t, b.Set(70))
	i, ok = b.Next(math.MinInt)
	require.Equal(t, []any{70, true}, []any{i, ok})
	_, ok = b.Next(math.MaxInt)
	require.False(t, ok)
	require.NoError(t, b.Or(b))
	b.And(b)
	require.Equal(t, 1, b.Count())
	require.Len(t, b.Words(), 8)
	b.AndNot(b)
	require.Zero(t, b.Count())
	b.count = 3
	require.ErrorContains(t, b.Verify(), "B1: 0 bits are set, the count is 3")
	b.count = 0
	require.PanicsWithValue(t, "container: Bitset.Count: the container was not made by its New function",
		func() { new(Bitset).Count() })
	require.PanicsWithValue(t, "container: Bitset.Or: the container was not made by its New function",
		func() { b.Or(new(Bitset)) })
}

func TestBitsetGone(t *testing.T) {
	gone(t, func(a alloc.Allocator) (func(), string, func()) {
		b := NewBitset(a)
		return func() { require.NoError(t, b.Set(100)) }, "container: Bitset.Set", b.Close
	})
}

func TestBitsetFailures(t *testing.T) {
	everyFailure(t, func(a alloc.Allocator) (err error) {
		b, c := NewBitset(a), NewBitset(a)
		defer b.Close()
		defer c.Close()
		n := 0
		for i := 0; i < 10_000; i += 100 {
			if err = b.Set(i); err != nil {
				break
			}
			n++
		}
		if err == nil {
			if err = c.Or(b); err != nil && c.Count() != 0 || err == nil && c.Count() != n {
				return fmt.Errorf("%d numbers, after %v", c.Count(), err)
			}
		}
		if b.Count() != n {
			return fmt.Errorf("%d numbers of %d", b.Count(), n)
		}
		return err
	})
}

func BenchmarkBitset(b *testing.B) {
	h := openHeap(b)
	x, y := NewBitset(h), NewBitset(h)
	defer x.Close()
	defer y.Close()
	const n = 1 << 20
	for i := 0; i < n; i += 3 {
		_ = x.Set(i)
		_ = y.Set(i * 5 % n)
	}
	b.Run("Set", func(b *testing.B) {
		for i := range b.N {
			_ = x.Set(i % n / 3 * 3)
		}
	})
	b.Run("Has", func(b *testing.B) {
		hits := 0
		for i := range b.N {
			if x.Has(i % n) {
				hits++
			}
		}
	})
	b.Run("Or of 1 Mi", func(b *testing.B) {
		for range b.N {
			_ = x.Or(y)
		}
	})
	b.Run("Ones of 1 Mi", func(b *testing.B) {
		sum := 0
		for range b.N {
			for i := range x.Ones() {
				sum += i
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*x.Count()), "ns/bit")
	})
}

var _ alloc.Allocator = (*refuser)(nil)
