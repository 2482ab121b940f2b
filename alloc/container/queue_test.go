package container

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// queueStream runs operations on a queue beside a slice.
func queueStream[T comparable](from func(uint64) T) func(t testing.TB, a alloc.Allocator, p *tape) {
	return func(t testing.TB, a alloc.Allocator, p *tape) {
		r := &refuser{Allocator: a}
		q, err := NewQueue[T](r)
		require.NoError(t, err)
		defer q.Close()
		var model []T
		next := uint64(0)
		fresh := func() T { next++; return from(next) }
		for !p.ended() {
			op := p.next(16)
			queueStep(t, op, q, r, p, fresh, &model)
			require.NoError(t, q.Verify(), "op %d", op)
			require.Equal(t, len(model), q.Len(), "op %d", op)
			if len(model) > 0 {
				require.True(t, *q.Front() == model[0] && *q.Back() == model[len(model)-1], "op %d", op)
			} else {
				require.True(t, q.Front() == nil && q.Back() == nil)
			}
			if p.next(8) == 0 || p.ended() {
				for i, v := range q.All() {
					require.True(t, *v == model[i] && q.At(i) == v, "op %d element %d", op, i)
				}
			}
		}
		r.refuse = false
	}
}

func queueStep[T comparable](t testing.TB, op int, q *Queue[T], r *refuser, p *tape, fresh func() T, model *[]T) {
	m := *model
	defer func() { *model = m }()
	switch op {
	case 0, 1, 2:
		for range p.next(6) + 1 {
			v := fresh()
			if err := q.PushBack(v); err == nil {
				m = append(m, v)
			} else {
				require.True(t, r.refuse)
				require.ErrorIs(t, err, errRefused)
			}
		}
	case 3, 4:
		for range p.next(6) + 1 {
			v := fresh()
			if err := q.PushFront(v); err == nil {
				m = slices.Insert(m, 0, v)
			} else {
				require.ErrorIs(t, err, errRefused)
			}
		}
	case 5, 6:
		for range p.next(8) + 1 {
			v, ok := q.PopFront()
			require.Equal(t, len(m) > 0, ok)
			if ok {
				require.True(t, v == m[0])
				m = m[1:]
			}
		}
	case 7, 8:
		for range p.next(8) + 1 {
			v, ok := q.PopBack()
			require.Equal(t, len(m) > 0, ok)
			if ok {
				require.True(t, v == m[len(m)-1])
				m = m[:len(m)-1]
			}
		}
	case 9:
		more := make([]T, p.next(40))
		for i := range more {
			more[i] = fresh()
		}
		if err := q.PushSlice(more); err == nil {
			m = append(m, more...)
		}
	case 10: // its own elements
		for part := range q.Parts() {
			own := slices.Clone(part)
			if err := q.PushSlice(part); err == nil {
				m = append(m, own...)
			}
			break
		}
	case 11:
		to := make([]T, p.next(40))
		n := q.PopSlice(to)
		require.Equal(t, min(len(to), len(m)), n)
		require.True(t, slices.Equal(m[:n], to[:n]))
		m = m[n:]
	default:
		queueRoom(t, op, q, r, p, fresh, &m)
	}
}

// queueRoom does the operations on a queue's room, and clears it.
func queueRoom[T comparable](t testing.TB, op int, q *Queue[T], r *refuser, p *tape, fresh func() T, model *[]T) {
	m := *model
	defer func() { *model = m }()
	switch op {
	case 12:
		n := p.next(60)
		if err := q.Reserve(n); err == nil {
			require.GreaterOrEqual(t, q.Cap(), len(m)+n)
			was := r.refuse
			r.refuse = true
			for range n { // reserved: none is refused
				v := fresh()
				require.NoError(t, q.PushBack(v))
				m = append(m, v)
			}
			r.refuse = was
		}
	case 13:
		q.Trim()
	case 14:
		r.refuse = p.next(3) == 0
	case 15:
		if p.next(4) == 0 {
			q.Clear()
			m = nil
		}
		var parts []T
		for part := range q.Parts() {
			parts = append(parts, part...)
		}
		require.True(t, slices.Equal(parts, m))
	}
}

type (
	mid   [100]uint64  // 16 in a segment
	large [3000]byte   // 4
	huge  [20_000]byte // 1
	none  struct{}
)

func queueStreams() map[string]func(t testing.TB, a alloc.Allocator, p *tape) {
	return map[string]func(t testing.TB, a alloc.Allocator, p *tape){
		"4 bytes":    queueStream(func(i uint64) uint32 { return uint32(i) }),
		"800 bytes":  queueStream(func(i uint64) mid { return mid{i, 99: i} }),
		"3000 bytes": queueStream(func(i uint64) large { return large{byte(i), byte(i >> 8), 2999: byte(i)} }),
		"20000":      queueStream(func(i uint64) huge { return huge{byte(i), byte(i >> 8), 19_999: byte(i)} }),
		"nothing":    queueStream(func(uint64) none { return none{} }),
	}
}

func TestQueueModel(t *testing.T) {
	for name, run := range queueStreams() {
		t.Run(name, func(t *testing.T) { withTapes(t, 6, 400, run) })
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte("a queue of words"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 1000 {
			return
		}
		for _, run := range queueStreams() {
			runTape(t, bytes, run)
		}
	})
}

// TestQueueLong fills many segments from both ends, and empties them.
func TestQueueLong(t *testing.T) {
	h := openHeap(t)
	q, err := NewQueue[uint64](h)
	require.NoError(t, err)
	defer q.Close()
	const n = 200_000
	for i := range uint64(n) {
		require.NoError(t, q.PushBack(n+i))
		require.NoError(t, q.PushFront(n-1-i))
	}
	require.NoError(t, q.Verify())
	for i, v := range q.All() {
		if *v != uint64(i) {
			t.Fatal(i, *v)
		}
	}
	full := h.Stats().LiveBytes
	for i := range uint64(n) {
		if v, ok := q.PopFront(); !ok || v != i {
			t.Fatal(i, v)
		}
		if v, ok := q.PopBack(); !ok || v != 2*n-1-i {
			t.Fatal(i, v)
		}
	}
	require.NoError(t, q.Verify())
	require.Less(t, h.Stats().LiveBytes, full/50, "memory comes back as the queue empties")
	q.Trim()
	require.Zero(t, h.Stats().LiveBytes)

	r := rand.New(rand.NewPCG(3, 4)) // a queue that travels
	var first, last uint64
	for range 300_000 {
		if r.IntN(100) < 50 {
			require.NoError(t, q.PushBack(last))
			last++
		} else if v, ok := q.PopFront(); ok {
			if v != first {
				t.Fatal(v, first)
			}
			first++
		}
	}
	require.NoError(t, q.Verify())
}

func TestQueueDamage(t *testing.T) {
	h := openHeap(t)
	damaged := func(want string, n int, f func(s *segments)) {
		t.Helper()
		q, err := NewQueue[large](h)
		require.NoError(t, err)
		for range n {
			require.NoError(t, q.PushBack(large{}))
		}
		require.NoError(t, q.Verify())
		sound := q.s
		sound.dir, sound.spare = slices.Clone(q.s.dir), slices.Clone(q.s.spare)
		f(&q.s)
		require.ErrorContains(t, q.Verify(), want)
		q.s = sound
		q.Close()
	}
	damaged("Q1", 3, func(s *segments) { s.room = 3 })
	damaged("Q2", 3, func(s *segments) { s.mask = 7 })
	damaged("Q2", 3, func(s *segments) { s.head = 4 })
	damaged("Q3", 3, func(s *segments) { s.count = 5 })
	damaged("Q3", 3, func(s *segments) { s.dir[0] = nil })
	damaged("Q4", 20, func(s *segments) { s.dir[1] = nil })
	damaged("Q4", 20, func(s *segments) { s.dir[1] = s.dir[0] })
	damaged("Q4", 20, func(s *segments) { s.count = 0 })
	damaged("Q5", 20, func(s *segments) { s.spare = append(s.spare, s.dir[0]) })
}

func TestQueueBadInput(t *testing.T) {
	h := openHeap(t)
	_, err := NewQueue[string](h)
	require.ErrorContains(t, err, "container: NewQueue: string")
	q, err := NewQueue[int](h)
	require.NoError(t, err)
	defer q.Close()
	require.PanicsWithValue(t, "container: Queue.At: i=0 of 0 elements", func() { q.At(0) })
	require.PanicsWithValue(t, "container: Queue.Reserve: n=-1 is negative", func() { q.Reserve(-1) })
	require.ErrorIs(t, q.Reserve(math.MaxInt), alloc.ErrTooBig)
	require.NoError(t, q.PushSlice(nil))
	require.Zero(t, q.PopSlice(nil))
	require.Zero(t, h.Stats().LiveBytes)
	require.PanicsWithValue(t, "container: Queue.Len: the container was not made by its New function",
		func() { new(Queue[int]).Len() })
	new(Queue[int]).Close()
	for range q.All() {
		t.Fatal("no elements")
	}
	require.NoError(t, q.PushSlice([]int{1, 2, 3}))
	var seen []int
	for i, v := range q.All() { // by position
		seen = append(seen, *v)
		if i == 0 {
			q.PopFront()
			require.NoError(t, q.PushBack(4))
		}
	}
	require.Equal(t, []int{1, 3, 4}, seen)
	require.Panics(t, func() {
		for range q.All() {
			q.Close()
		}
	})
}

func TestQueueGone(t *testing.T) {
	gone(t, func(a alloc.Allocator) (func(), string, func()) {
		q, err := NewQueue[int](a)
		require.NoError(t, err)
		return func() { require.NoError(t, q.PushBack(1)) }, "container: Queue.PushBack", q.Close
	})
}

func TestQueueFailures(t *testing.T) {
	everyFailure(t, func(a alloc.Allocator) error {
		q, err := NewQueue[large](a)
		if err != nil {
			return err
		}
		defer q.Close()
		var model []byte
		for i := range byte(30) {
			if err = q.PushBack(large{i}); err != nil {
				break
			}
			model = append(model, i)
		}
		if err == nil {
			had := len(q.s.spare)
			err = q.PushSlice(make([]large, 20))
			if err != nil && len(q.s.spare) != had {
				return fmt.Errorf("%d spare segments, %d before a refusal", len(q.s.spare), had)
			}
			if err == nil {
				model = append(model, make([]byte, 20)...)
			}
		}
		for i := range model {
			if v, ok := q.PopFront(); !ok || v[0] != model[i] {
				return fmt.Errorf("element %d is lost", i)
			}
		}
		if q.Len() > 0 {
			return fmt.Errorf("%d elements too many", q.Len())
		}
		return err
	})
}

func BenchmarkQueue(b *testing.B) {
	q, err := NewQueue[uint64](openHeap(b))
	require.NoError(b, err)
	defer q.Close()
	b.Run("PushBack and PopFront of 1,000", func(b *testing.B) {
		for i := 0; i < b.N; i += 1000 {
			for j := range uint64(1000) {
				_ = q.PushBack(j)
			}
			for range 1000 {
				q.PopFront()
			}
		}
	})
	b.Run("PushBack and PopFront of 1,000,000", func(b *testing.B) {
		for i := 0; i < b.N; i += 1_000_000 {
			for j := range uint64(1_000_000) {
				_ = q.PushBack(j)
			}
			for range 1_000_000 {
				q.PopFront()
			}
		}
	})
}
