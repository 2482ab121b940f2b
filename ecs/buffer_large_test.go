package ecs_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"
	"quarry/internal/long"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// page is an element of which a hundred MiB are soon written and hashed.
type page [1024]byte

// pages returns n pages that differ from each other and from pages of other seeds.
func pages(seed, n int) []page {
	p := make([]page, n)
	for i := range p {
		p[i][0], p[i][1], p[i][2], p[i][1023] = byte(i), byte(i>>8), byte(i>>16), byte(seed)
	}
	return p
}

// sizesOf are numbers of pages around 1 MiB, and of 20 MiB where there is memory for a few such
// buffers, 100 MiB in the long form.
func sizesOf() []int {
	if mmap.Real && !testing.Short() {
		return []int{1 << 10, 1<<10 + 1, 5 << 10, long.N(20, 100) << 10}
	}
	return []int{1 << 10, 1<<10 + 1, 5 << 10}
}

// TestBehaviour57_LargeBuffers goes above 1 MiB in all ways to write, and with its entity through
// moves of rows, copies, clones and other worlds.
func TestBehaviour57_LargeBuffers(t *testing.T) {
	for _, n := range sizesOf() {
		w, b, e := solo[page](t, 1)
		position := ecs.Register[ecstest.Position](w)
		want := pages(1, n)
		same := func(b ecs.Buffer[page], e ecs.Entity) {
			t.Helper()
			require.True(t, slices.Equal(want, b.Slice(e)))
		}
		b.Append(e, want[:n/2]...)
		for i := n / 2; i < n; i += 700 {
			require.NoError(t, ecs.Try(func() { mut(t, b, e).Append(want[i:min(i+700, n)]...) }))
		}
		same(b, e)
		position.Add(e, ecstest.Position{X: 1, Y: 2})
		other := ecs.NewArchetype(w, b, position).Create()
		w.Destroy(other)
		same(b, e)
		require.NoError(t, w.Verify())
		require.GreaterOrEqual(t, w.Stats().Spilled, n<<10)

		twin := w.Instantiate(e)
		same(b, twin)
		mut(t, b, twin).Slice()[n-1][7] = 1
		same(b, e)
		require.Equal(t, 2, w.Stats().Buffers)
		mut(t, b, twin).Insert(n/2, b.Slice(twin)[n/3:n/2]...)
		require.True(t, slices.Equal(want[n/3:n/2], b.Slice(twin)[n/2:n/2+n/2-n/3]))
		mut(t, b, twin).RemoveRange(n/2, n/2+n/2-n/3)
		mut(t, b, twin).SwapRemove(0)
		require.Equal(t, byte(1), b.Slice(twin)[0][7])
		w.Destroy(twin)
		require.Equal(t, 1, w.Stats().Buffers)

		clone, err := w.Clone()
		require.NoError(t, err)
		require.Equal(t, w.Hash(), clone.Hash())
		cloned, _ := clone.Entity(e.Index(), e.Version())
		same(ecs.RegisterBuffer[page](clone, ecs.Inline(1)), cloned)
		require.NoError(t, clone.Verify())
		into := ecstest.NewWorld(t) // in a universe of its own
		moved, err := into.MoveAll(clone)
		require.NoError(t, err)
		same(ecs.RegisterBuffer[page](into, ecs.Inline(1)), moved.Of(cloned))
		require.Zero(t, clone.Stats().Buffers)
		require.NoError(t, clone.Close())
		beside := ecstest.NewWorld(t, ecs.WithUniverse(w.Universe()))
		moved, err = beside.MoveAll(w)
		require.NoError(t, err)
		there, at := ecs.RegisterBuffer[page](beside, ecs.Inline(1)), moved.Of(e)
		same(there, at)
		require.Zero(t, w.Stats().Buffers)

		d := mut(t, there, at)
		d.Resize(n / 3)
		require.True(t, beside.Shrink(0))
		require.Less(t, there.SpilledSize(at), n/3<<10+1<<14)
		want = want[:n/3]
		same(there, at)
		mut(t, there, at).Resize(1)
		mut(t, there, at).Trim()
		want = want[:1]
		same(there, at)
		require.Zero(t, beside.Stats().Spilled)
	}
}

// TestBehaviour57_TheLongestBuffer has most of a universe, and is refused one element more than any
// buffer there may have, by the name of the limit.
func TestBehaviour57_TheLongestBuffer(t *testing.T) {
	u := ecstest.NewUniverse(t, 8<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u))
	b := ecs.RegisterBuffer[[3]byte](w, ecs.Inline(3))
	e := ecs.NewArchetype(w, b).Create()
	const most = 8 << 20 / 3
	d := mut(t, b, e)
	d.Reserve(1 << 19) // in the first megachunks, where it grows
	d.Resize(d.Cap())
	for d.Cap() < most*9/10 {
		d.Resize(d.Cap())
		require.NoError(t, ecs.Try(func() { d.Append([3]byte{9}) }), "%d", d.Cap())
	}
	n := d.Len()
	d.Slice()[0] = value[[3]byte](9)
	for op, f := range map[string]func(need int) error{
		"Append":              func(need int) error { return ecs.Try(func() { d.Append(make([][3]byte, need-n)...) }) },
		"Insert":              func(need int) error { return ecs.Try(func() { d.Insert(7, make([][3]byte, need-n)...) }) },
		"Resize":              func(need int) error { return ecs.Try(func() { d.Resize(need) }) },
		"ResizeUninitialized": func(need int) error { return ecs.Try(func() { d.ResizeUninitialized(need) }) },
		"Reserve":             func(need int) error { return ecs.Try(func() { d.Reserve(need) }) },
		"CopyFrom":            func(need int) error { return ecs.Try(func() { d.CopyFrom(make([][3]byte, need)) }) },
	} {
		err := f(most + 1)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.EqualError(t, err, "ecs: DynamicBuffer."+op+": the limit is 8388608 bytes of a buffer")
		err = f(most) // the entity's own chunk is in the universe too
		require.ErrorIs(t, err, alloc.ErrFull)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.ErrorContains(t, err, "ecs: DynamicBuffer."+op+": alloc: Local.")
	}
	for _, need := range []int{math.MaxUint32 + 1, math.MaxInt} {
		for _, err := range []error{
			ecs.Try(func() { d.Resize(need) }), ecs.Try(func() { d.Reserve(need) }),
			ecs.Try(func() { d.ResizeUninitialized(need) }),
		} {
			require.ErrorContains(t, err, ": the limit is 4294967295 elements of a buffer")
		}
	}
	require.PanicsWithError(t, "ecs: DynamicBuffer.Reserve: the limit is 8388608 bytes of a buffer",
		func() { d.Reserve(most + 1) })
	require.Equal(t, n, d.Len())
	require.Equal(t, value[[3]byte](9), d.Slice()[0])
	require.Equal(t, [3]byte{9}, d.Slice()[n-1])
	require.NoError(t, w.Verify())
	require.PanicsWithError(t, "ecs: RegisterBuffer[uint16]: the limit is 1048576 bytes of inline elements",
		func() { ecs.RegisterBuffer[uint16](w, ecs.Inline(1<<62)) })
}

// TestBehaviour57_AsManyElementsAsThereCanBe has 2^32 - 1 elements of a byte, of which few pages
// are touched.
func TestBehaviour57_AsManyElementsAsThereCanBe(t *testing.T) {
	if !mmap.Real || debug.On {
		t.Skip("needs 8 GiB of memory that is not touched")
	}
	w, b, e := solo[byte](t, 0)
	d := mut(t, b, e)
	if err := ecs.Try(func() { d.ResizeUninitialized(math.MaxUint32) }); errors.Is(err, alloc.ErrCommit) ||
		errors.Is(err, alloc.ErrFull) {
		t.Skip(err)
	}
	require.Equal(t, math.MaxUint32, d.Len())
	require.Equal(t, math.MaxUint32, d.Cap(), "the block has a byte more")
	s := d.Slice()
	s[0], s[math.MaxUint32-1] = 1, 2
	require.EqualError(t, ecs.Try(func() { d.Append(3) }),
		"ecs: DynamicBuffer.Append: the limit is 4294967295 elements of a buffer")
	require.EqualError(t, ecs.Try(func() { d.Insert(0, 3) }),
		"ecs: DynamicBuffer.Insert: the limit is 4294967295 elements of a buffer")
	require.NoError(t, w.Verify())
	require.Same(t, unsafe.SliceData(s), unsafe.SliceData(d.Slice()))
	require.Equal(t, []byte{1, 2}, []byte{d.Slice()[0], d.Slice()[math.MaxUint32-1]})
	d.Resize(2 << 20)
	d.Trim()
	require.Equal(t, 2<<20, d.Cap())
	require.Same(t, unsafe.SliceData(s), unsafe.SliceData(d.Slice()))
	d.Append(4)
	require.Equal(t, byte(4), d.Slice()[2<<20])
}

// refusedLarge grows, copies, moves and clones large buffers in universes that refuse by s.
func refusedLarge(s *alloc.Failures, asked map[string]int) error {
	u, err := alloc.NewUniverse(alloc.Size(48<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	r := &ecstest.Refusals{Failures: s, Asked: asked, Worlds: []*ecs.World{w}}
	b := ecs.RegisterBuffer[page](w, ecs.Inline(1))
	var e ecs.Entity
	err = ecs.Try(func() { e = ecs.NewArchetype(w, b).Create() })
	if err != nil {
		return errors.Join(err, w.Close(), u.Close())
	}
	buffer := func() ecs.DynamicBuffer[page] {
		d, _ := b.Mut(e)
		return d
	}
	r.Try("TryAppend", func() error { return ecs.Try(func() { buffer().Append(pages(1, 1<<10+9)...) }) })
	r.Try("TryInsert", func() error {
		d := buffer()
		return ecs.Try(func() { d.Insert(min(3, d.Len()), d.Slice()...) })
	})
	r.Try("TryCopyFrom", func() error { return ecs.Try(func() { buffer().CopyFrom(pages(2, 3<<10)) }) })
	r.Try("TryReserve", func() error { return ecs.Try(func() { buffer().Reserve(5 << 10) }) })
	r.Try("TryResize", func() error { return ecs.Try(func() { buffer().Resize(6 << 10) }) })
	r.TryValues("TryInstantiate", func() error { err := ecs.Try(func() { w.Instantiate(e) }); return err })
	buffer().Resize(min(buffer().Len(), 1<<10+3))
	buffer().Trim()
	r.TryValues("Clone", func() error {
		c, err := w.Clone(ecs.WithUniverse(u))
		if err != nil {
			return err
		}
		return errors.Join(c.Verify(), c.Close())
	})
	return errors.Join(r.First, w.Close(), u.Verify(), u.Close())
}

// TestEveryFailureOfLargeBuffers: whichever request for memory is refused, alone or with all after
// it, the world is as before the call that it was for, and nothing is lost.
func TestEveryFailureOfLargeBuffers(t *testing.T) {
	asked := map[string]int{}
	require.NoError(t, refusedLarge(&alloc.Failures{}, asked))
	for _, name := range []string{"TryAppend", "TryInsert", "TryCopyFrom", "TryResize", "TryInstantiate", "Clone"} {
		require.Positive(t, asked[name], "%s asks for memory: %v", name, asked)
	}
	require.NoError(t, ecstest.CheckFailures(func(s *alloc.Failures) error { return refusedLarge(s, asked) }))
}

// TestLargeBuffersUnderABudget: memory is refused in the middle of growth, and the buffer keeps its
// elements; where doubling is too much, what is needed is taken.
func TestLargeBuffersUnderABudget(t *testing.T) {
	w, b, e := solo[page](t, 0)
	d := mut(t, b, e)
	d.CopyFrom(pages(1, 3<<10))
	before, err := alloc.SetBudget(alloc.Budget{OffHeap: alloc.ReadBudget().Committed + 4<<20})
	require.NoError(t, err)
	defer func() { _, _ = alloc.SetBudget(before) }()
	hash := w.Hash()
	require.ErrorIs(t, ecs.Try(func() { d.Resize(30 << 10) }), alloc.ErrBudget)
	require.ErrorIs(t, ecs.Try(func() { d.Insert(1, make([]page, 30<<10)...) }), alloc.ErrBudget)
	require.Equal(t, hash, w.Hash())
	require.NoError(t, w.Verify())
	for n := 3 << 10; n < 5<<10; n++ {
		require.NoError(t, ecs.Try(func() { d.Append(page{7}) }))
	}
	require.True(t, slices.Equal(pages(1, 3<<10), d.Slice()[:3<<10]))
	require.Equal(t, page{7}, d.Slice()[5<<10-1])
}

// TestLargeBuffersOfABorrow: goroutines of a borrow grow buffers above 1 MiB, each its own.
func TestLargeBuffersOfABorrow(t *testing.T) {
	w := ecstest.NewWorld(t)
	b := ecs.RegisterBuffer[page](w, ecs.Inline(0))
	ids := ecstest.CreateEach(ecs.NewArchetype(w, b), 3*64)
	l := ecstest.Lend(ecs.NewQuery(w, ecs.Write(b)), "job grow")
	ecstest.Begin(l.Borrow)
	var all sync.WaitGroup
	for i, part := range ecstest.Split(l.Borrow, nil, 64) {
		all.Go(func() {
			r := ecstest.AccessorOf(l.Borrow)
			rows, ok := ecstest.RowsOf(r, part)
			if !ok {
				panic("a part without rows")
			}
			d := b.At(rows, 5)
			for n := 0; n < 2<<10; n += 512 {
				d.Append(pages(i, 2<<10)[n : n+512]...)
			}
			ecstest.Done(r)
		})
	}
	all.Wait()
	l.Borrow.End()
	for i := range 3 {
		require.True(t, slices.Equal(pages(i, 2<<10), b.Slice(ids[64*i+5])))
	}
	require.Equal(t, 3, w.Stats().Buffers)
}
