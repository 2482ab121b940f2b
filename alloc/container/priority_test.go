package container

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// priority returns one of few priorities, among them NaN.
func priority(p *tape) float32 {
	switch x := p.next(24); x {
	case 0:
		return float32(math.NaN())
	case 1:
		return float32(math.Inf(-1))
	default:
		return float32(x/2) - 5
	}
}

// priorityStream runs operations on a priority queue beside a sorted slice.
func priorityStream(t testing.TB, a alloc.Allocator, p *tape) {
	r := &refuser{Allocator: a}
	q, err := NewPriorityQueue[float32, uint64](r)
	require.NoError(t, err)
	defer q.Close()
	type pair struct {
		p float32
		v uint64
	}
	model, next := []pair(nil), uint64(0) // the model is sorted by priority
	add := func(p float32, v uint64) {
		i, _ := slices.BinarySearchFunc(model, p, func(a pair, p float32) int { return cmp.Compare(a.p, p) })
		model = slices.Insert(model, i, pair{p, v})
	}
	remove := func(p float32, v uint64) { // one of those of least priority
		i := slices.IndexFunc(model, func(a pair) bool { return a.v == v })
		require.GreaterOrEqual(t, i, 0)
		require.Zero(t, cmp.Compare(p, model[i].p))
		require.Zero(t, cmp.Compare(p, model[0].p))
		model = slices.Delete(model, i, i+1)
	}
	for !p.ended() {
		op := p.next(12)
		switch op {
		case 0, 1, 2, 3:
			next++
			x := priority(p)
			if err := q.Push(x, next); err == nil {
				add(x, next)
			} else {
				require.True(t, r.refuse)
				require.ErrorIs(t, err, errRefused)
			}
		case 4, 5:
			x, v, ok := q.Pop()
			require.Equal(t, len(model) > 0, ok)
			if ok {
				remove(x, v)
			}
		case 6:
			next++
			now := priority(p)
			x, v, ok := q.Replace(now, next)
			require.Equal(t, len(model) > 0, ok)
			if ok {
				remove(x, v)
				add(now, next)
			}
		case 7:
			if n := p.next(40); q.Reserve(n) == nil {
				require.GreaterOrEqual(t, q.Cap(), q.Len()+n)
			}
		case 8:
			q.Trim()
		case 9:
			r.refuse = p.next(3) == 0
		case 10:
			if p.next(8) == 0 {
				q.Clear()
				model = nil
			}
		case 11:
			n := 0
			for x, v := range q.All() {
				n++
				same := func(m pair) bool { return m.v == *v && cmp.Compare(m.p, x) == 0 }
				require.True(t, slices.ContainsFunc(model, same))
			}
			require.Len(t, model, n)
		}
		require.NoError(t, q.Verify(), "op %d", op)
		require.Equal(t, len(model), q.Len())
		x, v, ok := q.Peek()
		require.Equal(t, len(model) > 0, ok)
		if ok {
			require.Zero(t, cmp.Compare(model[0].p, x))
			require.NotNil(t, v)
		}
	}
}

func TestPriorityQueueModel(t *testing.T) { withTapes(t, 20, 500, priorityStream) }

func FuzzPriorityQueue(f *testing.F) {
	f.Add([]byte("a queue by priority"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) <= 2000 {
			runTape(t, bytes, priorityStream)
		}
	})
}

// pairs is a heap of package container/heap.
type pairs [][2]uint64

func (p pairs) Len() int           { return len(p) }
func (p pairs) Less(i, j int) bool { return p[i][0] < p[j][0] }
func (p pairs) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)        { *p = append(*p, x.([2]uint64)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

func TestPriorityQueueSorts(t *testing.T) {
	q, err := NewPriorityQueue[uint64, [3]byte](openHeap(t)) // entries of 16 bytes, in lines
	require.NoError(t, err)
	defer q.Close()
	r := rand.New(rand.NewPCG(5, 6))
	var twin pairs
	for range 20_000 {
		x := r.Uint64N(5000)
		require.NoError(t, q.Push(x, [3]byte{byte(x), byte(x >> 8), 7}))
		heap.Push(&twin, [2]uint64{x})
	}
	for twin.Len() > 0 {
		want := heap.Pop(&twin).([2]uint64)[0]
		if x, v, ok := q.Pop(); !ok || x != want || v != [3]byte{byte(x), byte(x >> 8), 7} {
			t.Fatal(x, v, want)
		}
	}
	require.Zero(t, q.Len())
}

func TestPriorityQueueDamage(t *testing.T) {
	q, err := NewPriorityQueue[int, none](openHeap(t))
	require.NoError(t, err)
	defer q.Close()
	for i := range 10 {
		require.NoError(t, q.Push(i, none{}))
	}
	q.entries()[9].p = 0
	require.ErrorContains(t, q.Verify(), "P1: entry 9 has priority 0, its parent 2 has 2")
	q.entries()[9].p = 9
	q.count = 100
	require.ErrorContains(t, q.Verify(), "P2")
	q.count = 10
	require.NoError(t, q.Verify())
}

func TestPriorityQueueBadInput(t *testing.T) {
	h := openHeap(t)
	_, err := NewPriorityQueue[string, int](h)
	require.ErrorContains(t, err, "container: NewPriorityQueue: string")
	_, err = NewPriorityQueue[int, *int](h)
	require.ErrorContains(t, err, "container: NewPriorityQueue: *int")
	q, err := NewPriorityQueue[int, int](h)
	require.NoError(t, err)
	defer q.Close()
	require.PanicsWithValue(t, "container: PriorityQueue.Reserve: n=-1 is negative", func() { q.Reserve(-1) })
	require.ErrorIs(t, q.Reserve(math.MaxInt), alloc.ErrTooBig)
	require.ErrorIs(t, q.Reserve(math.MaxInt/64), alloc.ErrTooBig)
	require.NoError(t, q.Push(1, 1))
	require.PanicsWithValue(t, "container: PriorityQueue.All: the queue changed during the loop", func() {
		for range q.All() {
			q.Replace(2, 2)
		}
	})
	for range q.All() {
		q.Clear()
		break
	}
	require.PanicsWithValue(t, "container: PriorityQueue.Len: the container was not made by its New function",
		func() { new(PriorityQueue[int, int]).Len() })
}

func TestPriorityQueueGone(t *testing.T) {
	gone(t, func(a alloc.Allocator) (func(), string, func()) {
		q, err := NewPriorityQueue[int, int](a)
		require.NoError(t, err)
		return func() { require.NoError(t, q.Push(1, 1)) }, "container: PriorityQueue.Push", q.Close
	})
}

// TestPriorityQueueTakesWhatThereIs: where twice the room is refused, it takes what one more needs.
func TestPriorityQueueTakesWhatThereIs(t *testing.T) {
	const most = 1000
	q, err := NewPriorityQueue[uint64, uint64](atMost{openHeap(t), most})
	require.NoError(t, err)
	defer q.Close()
	n := uint64(0)
	for err == nil {
		if err = q.Push(n, n); err == nil {
			n++
		}
	}
	require.ErrorIs(t, err, errRefused)
	require.Equal(t, most/16-aryPad, q.Len())
	for i := range n {
		p, v, ok := q.Pop()
		require.True(t, ok && p == i && v == i, "value %d: %d %d", i, p, v)
	}
}

func TestPriorityQueueFailures(t *testing.T) {
	everyFailure(t, func(a alloc.Allocator) error {
		q, err := NewPriorityQueue[int, large](a)
		if err != nil {
			return err
		}
		defer q.Close()
		pushed := 0
		for i := range 100 {
			if err = q.Push(i, large{byte(i)}); err != nil {
				break
			}
			pushed++
		}
		for i := range pushed {
			if x, v, ok := q.Pop(); !ok || x != i || v[0] != byte(i) {
				return fmt.Errorf("value %d is lost", i)
			}
		}
		return err
	})
}

func BenchmarkPriorityQueue(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		r := rand.New(rand.NewPCG(7, 8))
		b.Run(fmt.Sprintf("PriorityQueue, %d", n), func(b *testing.B) {
			q, err := NewPriorityQueue[uint64, uint64](openHeap(b))
			require.NoError(b, err)
			defer q.Close()
			for range n {
				_ = q.Push(r.Uint64(), 0)
			}
			b.ResetTimer()
			for range b.N {
				x, _, _ := q.Pop()
				_ = q.Push(x+r.Uint64()>>8, 0)
			}
		})
		b.Run(fmt.Sprintf("container heap, %d", n), func(b *testing.B) {
			var q pairs
			for range n {
				heap.Push(&q, [2]uint64{r.Uint64()})
			}
			b.ResetTimer()
			for range b.N {
				x := heap.Pop(&q).([2]uint64)
				heap.Push(&q, [2]uint64{x[0] + r.Uint64()>>8})
			}
		})
	}
}
