package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/layout"
)

// arenaModel is what an arena must be: the live blocks with what is written in them,
// the temps, and at each mark how many there were of both.
type arenaModel struct {
	t      *testing.T
	r      *rand.Rand
	a      *alloc.Arena
	blocks []arenaBlock
	temps  []modelTemp
	marks  []modelMark
}

type arenaBlock struct {
	p           unsafe.Pointer
	size, align int
	fill        byte
}

type modelTemp struct {
	v    alloc.Temp[uint64]
	want uint64
	live bool
}

type modelMark struct {
	m             alloc.Mark
	blocks, temps int
	used          int
}

func TestArenaAgainstModel(t *testing.T) {
	for seed := range seeds(60) {
		h := newHeap(t, alloc.Size(16<<20))
		m := &arenaModel{t: t, r: rand.New(rand.NewPCG(seed, 0)), a: alloc.NewArena(h)}
		for range 200 {
			m.step()
			m.check()
		}
		m.a.Close()
		m.a.Close()
		require.Zero(t, h.Stats().LiveBlocks)
	}
}

// seeds are as many streams as there is time for.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return max(1, n/5)
	}
	return n
}

func (m *arenaModel) step() {
	switch k := m.r.IntN(100); {
	case k < 45:
		size, align := m.r.IntN(200), []int{0, 1, 2, 8, 16, 64, 128, 4096}[m.r.IntN(8)]
		if m.r.IntN(20) == 0 {
			size = m.r.IntN(60_000)
		}
		p := must(m.a.Alloc(size, align))
		require.Zero(m.t, uintptr(p)%uintptr(max(1, align)))
		m.add(p, size, align)
	case k < 55:
		v, err := alloc.NewTemp[uint64](m.a)
		require.NoError(m.t, err)
		require.Zero(m.t, *v.Get())
		*v.Get() = m.r.Uint64()
		m.temps = append(m.temps, modelTemp{v, *v.Get(), true})
	case k < 65 && len(m.blocks) > 0:
		m.free(m.pick())
	case k < 80 && len(m.blocks) > 0:
		m.resize(&m.blocks[m.pick()])
	case k < 88:
		m.marks = append(m.marks, modelMark{m.a.Mark(), len(m.blocks), len(m.temps), m.a.Used()})
	case k < 98 && len(m.marks) > 0:
		i := m.r.IntN(len(m.marks))
		m.a.Rewind(m.marks[i].m)
		require.Equal(m.t, m.marks[i].used, m.a.Used())
		m.cut(m.marks[i].blocks, m.marks[i].temps)
		m.marks = m.marks[:i+1]
	case k >= 98:
		keep := []int{0, 40_000, alloc.KeepAll}[m.r.IntN(3)]
		size := m.a.Size()
		m.a.Reset(keep)
		require.Zero(m.t, m.a.Used())
		require.LessOrEqual(m.t, m.a.Size(), keep)
		if keep == alloc.KeepAll {
			require.Equal(m.t, size, m.a.Size())
		}
		m.cut(0, 0)
		m.marks = m.marks[:0]
	}
}

// pick prefers the last block, which is the one that can be resized and freed.
func (m *arenaModel) pick() int {
	if m.r.IntN(2) == 0 {
		return len(m.blocks) - 1
	}
	return m.r.IntN(len(m.blocks))
}

func (m *arenaModel) add(p unsafe.Pointer, size, align int) {
	b := arenaBlock{p, size, align, byte(m.r.Uint32())}
	setAll(bytesOf(p, size), b.fill)
	m.blocks = append(m.blocks, b)
}

func setAll(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// free gives a block back; the counts of marks behind it shrink with the list.
func (m *arenaModel) free(i int) {
	b := m.blocks[i]
	m.a.FreeSized(b.p, b.size, b.align)
	m.blocks = slices.Delete(m.blocks, i, i+1)
	for j := range m.marks {
		if m.marks[j].blocks > i {
			m.marks[j].blocks--
		}
	}
}

func (m *arenaModel) resize(b *arenaBlock) {
	to := m.r.IntN(2*b.size + 50)
	old := b.size
	if !m.a.ResizeSized(b.p, b.size, b.align, to) {
		require.Greater(m.t, to, old, "a block can always be made shorter")
		return
	}
	setAll(bytesOf(b.p, to)[min(old, to):], b.fill)
	b.size = to
}

func (m *arenaModel) cut(blocks, temps int) {
	m.blocks = m.blocks[:blocks]
	for i := temps; i < len(m.temps); i++ {
		m.temps[i].live = false
	}
}

func (m *arenaModel) check() {
	require.NoError(m.t, m.a.Verify())
	for _, b := range m.blocks {
		for i, v := range bytesOf(b.p, b.size) {
			if v != b.fill {
				m.t.Fatalf("byte %d of a block of %d: got %d want %d", i, b.size, v, b.fill)
			}
		}
	}
	for _, v := range m.temps {
		require.Equal(m.t, v.live, v.v.IsLive())
		if v.live {
			require.Equal(m.t, v.want, *v.v.Get())
		} else {
			require.Contains(m.t, panicText(func() { v.v.Get() }), "alloc: Temp.Get: the uint64 at byte ")
		}
	}
}

func TestArenaRefuses(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	defer h.Free(must(h.Alloc(16<<10, 0))) // so that 16 bytes before the arena are of the universe too
	a, other := alloc.NewArena(h), alloc.NewArena(h)
	before := a.Mark()
	p := must(a.Alloc(100, 0))
	m := a.Mark()
	other.Mark()
	q := must(a.Alloc(100, 0))
	later := a.Mark()
	a.Rewind(m)
	for _, c := range []struct {
		text string
		f    func()
	}{
		{"Arena.Rewind: the mark at byte 212 is not one of this arena, which has 2,", func() { a.Rewind(later) }},
		{"Arena.Rewind: the mark at byte 100 is not one of this arena, which has 1,", func() { other.Rewind(m) }},
		{"Arena.Rewind: the mark at byte 0 is not one of this arena, which has 1,", func() { other.Rewind(before) }},
		{"Arena.FreeSized: " + fmt.Sprintf("%p", q), func() { a.FreeSized(q, 100, 0) }},
		{"was not allocated with align=64", func() { a.FreeSized(unsafe.Add(p, 16), 16, 64) }},
		{"was not allocated with align=64", func() { a.ResizeSized(unsafe.Add(p, 16), 16, 64, 8) }},
		{"of 101 bytes is not in use in this arena", func() { a.FreeSized(unsafe.Add(p, 16), 101, 0) }},
		{"Arena.ResizeSized: ", func() { a.ResizeSized(unsafe.Add(p, -16), 100, 0, 10) }},
		{"Arena.Alloc: size=-1 align=0: want", func() { _, _ = a.Alloc(-1, 0) }},
		{"Arena.Alloc: size=1 align=3: want", func() { _, _ = a.Alloc(1, 3) }},
		{"Arena.Alloc: size=1 align=-8: want", func() { _, _ = a.Alloc(1, -8) }},
		{"Arena.Reset: keep=-1 is less than 0", func() { a.Reset(-1) }},
		{"Temp.Get: this Temp of int was never made", func() { alloc.Temp[int]{}.Get() }},
	} {
		require.Contains(t, panicText(c.f), c.text)
		require.NoError(t, a.Verify())
	}
	a.FreeSized(nil, 3, 0)
	require.False(t, a.ResizeSized(p, 100, 0, 200), "it lies before a mark")
	_, err := a.Alloc(1<<62, 0)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.NoError(t, a.Verify())
	a.Rewind(before)
	require.Zero(t, a.Used())
	a.Close()
	require.Contains(t, panicText(func() { _, _ = a.Alloc(1, 0) }), "Arena.Alloc: the arena is closed")
	other.Close()
}

// TestArenaStaleWrite: in debug builds what was written to memory that was given up is
// noticed when it is handed out again.
func TestArenaStaleWrite(t *testing.T) {
	if !debug.On {
		t.Skip("debug builds only")
	}
	h := newHeap(t, alloc.Size(8<<20))
	a := alloc.NewArena(h)
	p := (*[100]byte)(must(a.Alloc(100, 0)))
	a.Reset(alloc.KeepAll)
	require.Equal(t, byte(debug.Freed), p[7])
	p[7] = 1
	require.ErrorContains(t, a.Verify(), "A4: byte 7 of block 0 was written after it was given up")
	_ = must(a.Alloc(7, 1))
	require.Contains(t, panicText(func() { _, _ = a.Alloc(1, 1) }), "byte 7 of the block at ")
	a.Close()
}

// wrapped is an allocator around another, as those of package wrap are.
type wrapped struct{ alloc.Allocator }

func (w wrapped) Unwrap() alloc.Allocator { return w.Allocator }

// TestClosedBelow: allocators that take blocks from a closed heap report it: Verify in all builds,
// Alloc at once in debug builds.
func TestClosedBelow(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(1 << 24))
	require.NoError(t, err)
	heaps := [3]*alloc.Heap{}
	for i := range heaps {
		heaps[i], err = alloc.NewHeap(u)
		require.NoError(t, err)
	}
	arena := alloc.NewArena(wrapped{heaps[0]}) // seen through a wrapper
	pool, err := alloc.NewPool[uint64](heaps[1])
	require.NoError(t, err)
	stack, err := alloc.NewStack(heaps[2], 1000)
	require.NoError(t, err)
	must(arena.Alloc(100, 0))
	_, err = pool.New()
	require.NoError(t, err)
	must(stack.Alloc(100, 0))
	require.NoError(t, arena.Verify())
	require.NoError(t, pool.Verify())
	for _, h := range heaps {
		require.ErrorIs(t, h.Close(), alloc.ErrLeak)
	}
	require.EqualError(t, arena.Verify(), "alloc: arena: A5: 1 blocks are of an allocator that is closed")
	require.EqualError(t, pool.Verify(), "alloc: pool: P6: 1 slabs are of an allocator that is closed")
	const text = ": the allocator below is closed (*alloc.Heap); close what takes blocks from it first"
	require.Equal(t,
		"alloc: Arena.Alloc: the allocator below is closed (alloc_test.wrapped); close what takes blocks from it first",
		panicText(func() { _, _ = arena.Alloc(1<<20, 0) }), "beyond the block at hand")
	if debug.On {
		require.Contains(t, panicText(func() { _, _ = arena.Alloc(1, 0) }),
			"Arena.Alloc: the allocator below is closed")
		require.Equal(t, "alloc: Pool.New"+text, panicText(func() { _, _ = pool.New() }))
		require.Equal(t, "alloc: Stack.Alloc"+text, panicText(func() { _, _ = stack.Alloc(1, 0) }))
	}
	require.NoError(t, u.Close())
}

func TestArenaVerifyNamesTheInvariant(t *testing.T) {
	for _, name := range alloc.ArenaInvariants {
		h := newHeap(t, alloc.Size(8<<20))
		a := alloc.NewArena(h)
		for range 3 {
			_, err := alloc.NewTemp[int](a)
			require.NoError(t, err)
			a.Mark()
			_ = must(a.Alloc(20_000, 0))
		}
		m := a.Mark()
		_ = must(a.Alloc(8, 0))
		a.Rewind(m)
		require.NoError(t, a.Verify())
		undo := a.Corrupt(name)
		require.ErrorContains(t, a.Verify(), name)
		undo()
		require.NoError(t, a.Verify())
		a.Close()
	}
}

// TestArenaGrows: blocks that grow, blocks that are too big for the step, and a refusal
// of the step that leaves what is needed.
func TestArenaGrows(t *testing.T) {
	h := newHeap(t, alloc.Size(16<<20))
	a := alloc.NewArena(h)
	for range 16 {
		_ = must(a.Alloc(1000, 0))
	}
	require.Equal(t, 16<<10, a.Size())
	_ = must(a.Alloc(1000, 0))
	require.Equal(t, 32<<10, a.Size())
	_ = must(a.Alloc(1<<20, 0))
	require.Equal(t, 32<<10+1<<20, a.Size())
	a.Reset(100 << 10)
	require.Equal(t, 32<<10, a.Size(), "blocks of 16 KiB stay, the one of 1 MiB does not")
	a.Close()
	u := newUniverse(t, alloc.Size(2<<20))
	a = alloc.NewArenaOf(u.Allocator(), alloc.Fixed(1<<20))
	for range 127 {
		_ = must(a.Alloc(16<<10, 0))
	}
	_, err := a.Alloc(17<<10, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.NoError(t, a.Verify())
	_ = must(a.Alloc(16<<10, 0))
	a.Close()
}

func TestTypedHelpersRefuse(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	type node struct {
		ID   int
		Next *node
	}
	_, err := alloc.New[node](h)
	var why *layout.PointerError
	require.ErrorAs(t, err, &why)
	require.Equal(t, "node.Next", why.Path)
	const rule = "; values must hold no Go pointers, for they lie outside the garbage collector's heap"
	require.EqualError(t, err, "alloc: New: node.Next is a *alloc_test.node"+rule)
	_, err = alloc.MakeSlice[string](h, 1, 2)
	require.ErrorAs(t, err, &why)
	require.EqualError(t, err, "alloc: MakeSlice: 2 values: string is a string"+rule)
	_, err = alloc.NewPool[[]int](h)
	require.ErrorAs(t, err, &why)
	require.EqualError(t, err, "alloc: NewPool: []int is a []int"+rule)
	_, err = alloc.NewTemp[map[int]int](alloc.NewArena(h))
	require.ErrorAs(t, err, &why)
	_, err = alloc.Append(h, []any(nil), nil)
	require.ErrorAs(t, err, &why)
	_, err = alloc.MakeSlice[[1 << 20]byte](h, 0, 1<<40)
	require.EqualError(t, err, "alloc: MakeSlice: 1099511627776 values: 1048576 bytes each: request over the limit")
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.Contains(t, panicText(func() { _, _ = alloc.MakeSlice[int](h, 2, 1) }),
		"MakeSlice: n=2 room=1: want 0 <= n <= room")
	require.Contains(t, panicText(func() { _, _ = alloc.MakeSlice[int](h, -1, 1) }), "MakeSlice: n=-1 room=1")
	require.Zero(t, h.Stats().LiveBlocks)
}

// scribbler writes over what is freed, and makes every slice move.
type scribbler struct{ alloc.Allocator }

func (s scribbler) ResizeSized(unsafe.Pointer, int, int, int) bool { return false }

func (s scribbler) FreeSized(p unsafe.Pointer, size, align int) {
	if p != nil {
		setAll(bytesOf(p, size), 0xEE)
	}
	s.Allocator.FreeSized(p, size, align)
}

// TestTypedSlices runs slices through Append in every allocator, beside Go's own.
func TestTypedSlices(t *testing.T) {
	type odd struct {
		A uint8
		B uint32
		C [3]uint16
	}
	h := newHeap(t, alloc.Size(16<<20))
	arena := alloc.NewArena(h)
	stack, err := alloc.NewStack(h, 1<<20)
	require.NoError(t, err)
	local := h.NewLocal()
	for _, a := range []alloc.Allocator{h, local, arena, stack, h.Universe().Allocator(), scribbler{h}} {
		v, err := alloc.New[odd](a)
		require.NoError(t, err)
		require.Zero(t, *v)
		alloc.Free(a, v)
		s, err := alloc.MakeSlice[odd](a, 3, 5)
		require.NoError(t, err)
		require.Equal(t, []int{3, 5}, []int{len(s), cap(s)})
		want := make([]odd, 3)
		for i := range 1000 {
			s, err = alloc.Append(a, s, odd{A: uint8(i)}, odd{B: uint32(i)})
			require.NoError(t, err)
			want = append(want, odd{A: uint8(i)}, odd{B: uint32(i)})
		}
		require.Equal(t, want, s)
		if a != alloc.Allocator(arena) { // which would keep the old one
			s, err = alloc.Append(a, s, s...)
			require.NoError(t, err)
			require.Equal(t, append(want, want...), s, "values of the slice itself")
		}
		alloc.FreeSlice(a, s[:1])
		empty, err := alloc.MakeSlice[odd](a, 0, 0)
		require.NoError(t, err)
		alloc.FreeSlice(a, empty)
		var none []odd
		alloc.FreeSlice(a, none)
		some, err := alloc.Append(a, none, odd{A: 9})
		require.NoError(t, err)
		alloc.FreeSlice(a, some)
		zeros, err := alloc.MakeSlice[struct{}](a, 7, 9)
		require.NoError(t, err)
		alloc.FreeSlice(a, zeros)
	}
	local.Close()
	require.Zero(t, stack.Len())
	require.NoError(t, stack.Close())
	arena.Close()
}

// TestAppendTakesWhatIsNeeded where twice as much is refused: in place, and by moving.
func TestAppendTakesWhatIsNeeded(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	stack, err := alloc.NewStack(h, 1000)
	require.NoError(t, err)
	s, err := alloc.MakeSlice[byte](stack, 300, 300)
	require.NoError(t, err)
	s, err = alloc.Append(stack, s, make([]byte, 100)...)
	require.NoError(t, err)
	require.Equal(t, 600, cap(s))
	s, err = alloc.Append(stack, s, make([]byte, 500)...)
	require.NoError(t, err)
	require.Equal(t, []int{900, 900}, []int{len(s), cap(s)})
	s, err = alloc.Append(stack, s, make([]byte, 101)...)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, []int{900, 900}, []int{len(s), cap(s)})
	alloc.FreeSlice(stack, s)
	require.NoError(t, stack.Close())
	u := h.Universe().Allocator()
	big, err := alloc.MakeSlice[byte](u, 600<<10, 600<<10)
	require.NoError(t, err)
	wall := must(u.Alloc(1, 0)) // behind it, so that it moves
	big[1] = 7
	big, err = alloc.Append(u, big, make([]byte, 300<<10)...)
	require.NoError(t, err)
	require.Equal(t, []int{900 << 10, 900 << 10, 7}, []int{len(big), cap(big), int(big[1])})
	alloc.FreeSlice(u, big)
	u.FreeSized(wall, 1, 0)
}
