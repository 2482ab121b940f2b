package wrap_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

func TestLimit(t *testing.T) {
	l := wrap.NewLimit(newHeap(t), 1000)
	p := must(l.Alloc(600, 0))
	_, err := l.Alloc(401, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.EqualError(t, err, "wrap: Limit: 401 bytes more would be 1001 of 1000: full")
	_, err = l.Alloc(math.MaxInt, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.True(t, l.ResizeSized(p, 600, 0, 620))
	require.False(t, l.ResizeSized(p, 620, 0, 1001))
	require.False(t, l.ResizeSized(p, 620, 0, 900), "the heap cannot")
	require.Equal(t, 620, l.Live())
	require.True(t, l.ResizeSized(p, 620, 0, 600))
	q := must(l.Alloc(400, 0))
	require.Equal(t, 1000, l.Live())
	l.FreeSized(q, 400, 0)
	l.FreeSized(nil, 400, 0)
	require.Contains(t, panicText(func() { l.FreeSized(q, 400, 0) }), "freed twice?")
	l.FreeSized(p, 600, 0)
	require.Zero(t, l.Live())
	_, err = wrap.NewLimit(wrap.NewFail(newHeap(t), alloc.FailAt(1)), 10).Alloc(10, 0)
	require.ErrorIs(t, err, alloc.ErrInjected)
	require.Contains(t, panicText(func() { wrap.NewLimit(nil, -1) }), "wrap: NewLimit: bytes=-1 is less than 0")
}

// TestLimitHolds: what is live never exceeds the limit, for any caller.
func TestLimitHolds(t *testing.T) {
	inner := wrap.NewLimit(newHeap(t), math.MaxInt)
	l := wrap.NewLimit(inner, 5000)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2000 {
				size := (i*37 + g*101) % 3000
				p, err := l.Alloc(size, 0)
				if err != nil {
					continue
				}
				if live := inner.Live(); live > 5000 {
					t.Errorf("%d bytes are live", live)
				}
				l.FreeSized(p, size, 0)
			}
		})
	}
	all.Wait()
	require.Zero(t, l.Live())
	require.Zero(t, inner.Live())
}

func TestFail(t *testing.T) {
	f := alloc.FailFrom(3)
	a := wrap.NewFail(newHeap(t), f)
	p := must(a.Alloc(100, 0))
	require.True(t, a.ResizeSized(p, 100, 0, 110))
	require.False(t, a.ResizeSized(p, 110, 0, 100))
	_, err := a.Alloc(7, 0)
	require.ErrorIs(t, err, alloc.ErrInjected)
	require.ErrorContains(t, err, "wrap: Fail: block of 7 bytes: ")
	require.Equal(t, []int{4, 2}, []int{f.Asked(), f.Refused()})
	a.FreeSized(p, 110, 0)
}
