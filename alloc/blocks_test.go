package alloc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/universe/memory"
)

// blocksModel is Blocks beside Go's own memory.
type blocksModel struct {
	t     *testing.T
	b     *alloc.Blocks
	live  map[alloc.BlockRef][]byte
	order []alloc.BlockRef
	stale []alloc.BlockRef
}

// step does one operation, chosen by two numbers.
func (m *blocksModel) step(op, n int) {
	pick := func() (r alloc.BlockRef, at int) {
		at = n % len(m.order)
		return m.order[at], at
	}
	switch {
	case op%8 < 4 || len(m.order) == 0:
		size, align := sizeOf(n), 1<<(op%8)
		r, err := m.b.Alloc(size, align)
		require.NoError(m.t, err)
		require.NotContains(m.t, m.live, r)
		got := m.b.Bytes(r)
		require.Len(m.t, got, size)
		fillFrom(got, n)
		m.live[r] = bytes.Clone(got)
		m.order = append(m.order, r)
	case op%8 == 4:
		data := bytes.Repeat([]byte{byte(n)}, sizeOf(n))
		r, err := m.b.Put(data)
		require.NoError(m.t, err)
		m.live[r] = data
		m.order = append(m.order, r)
	case op%8 == 5:
		r, _ := pick()
		size := sizeOf(n / 7)
		got, err := m.b.Resize(r, size)
		require.NoError(m.t, err)
		require.Len(m.t, got, size)
		keep := min(size, len(m.live[r]))
		require.True(m.t, bytes.Equal(m.live[r][:keep], got[:keep]))
		fillFrom(got, n)
		m.live[r] = bytes.Clone(got)
	case op%8 == 6:
		r, at := pick()
		m.b.Free(r)
		delete(m.live, r)
		m.order[at] = m.order[len(m.order)-1]
		m.order = m.order[:len(m.order)-1]
		m.stale = append(m.stale, r)
	default:
		m.b.Trim()
	}
}

// sizeOf makes sizes of which most are small and some are above a chunk and above a megachunk.
func sizeOf(n int) int {
	switch n % 50 {
	case 0:
		return 1<<20 + n%100_000
	case 1, 2:
		return 17_000 + n%5000
	}
	return n % 300
}

func fillFrom(b []byte, n int) {
	for i := range b {
		b[i] = byte(n + i)
	}
}

func (m *blocksModel) compare() {
	require.NoError(m.t, m.b.Verify())
	require.Equal(m.t, len(m.live), m.b.Len())
	size := 0
	for r, want := range m.live {
		require.True(m.t, bytes.Equal(want, m.b.Bytes(r)), "%v", r)
		size += len(want)
	}
	require.Equal(m.t, size, m.b.Size())
	seen := 0
	for r, got := range m.b.All() {
		seen++
		require.Contains(m.t, m.live, r)
		require.Len(m.t, got, len(m.live[r]))
	}
	require.Equal(m.t, len(m.live), seen)
	for _, r := range m.stale {
		require.Nil(m.t, m.b.Bytes(r), "freed, and told for ever")
	}
	m.compareMany()
}

// compareMany looks up all references at once, live and stale ones and some that were never handed
// out, as Bytes does one by one.
func (m *blocksModel) compareMany() {
	list := slices.Concat(m.order, m.stale, []alloc.BlockRef{{}, {Slot: 1 << 31, Generation: 1}, {Generation: 2}})
	rand.New(rand.NewPCG(7, uint64(len(list)))).Shuffle(len(list), func(i, j int) {
		list[i], list[j] = list[j], list[i]
	})
	got := make([][]byte, len(list))
	m.b.BytesMany(list, got)
	for i, r := range list {
		want := m.b.Bytes(r)
		require.Equal(m.t, want == nil, got[i] == nil, "%v", r)
		require.Equal(m.t, len(want), len(got[i]), "%v", r)
		require.True(m.t, unsafe.SliceData(want) == unsafe.SliceData(got[i]), "%v", r)
	}
}

// TestBlocksMany: FreeMany frees what Free would, and stops where Free panics; BytesMany wants
// slices of one length.
func TestBlocksMany(t *testing.T) {
	b := alloc.NewBlocks(newHeap(t))
	var refs []alloc.BlockRef
	for i := range 100 {
		r, err := b.Put([]byte{byte(i)})
		require.NoError(t, err)
		refs = append(refs, r)
	}
	require.PanicsWithValue(t, "alloc: Blocks.BytesMany: 100 references, 1 slices of bytes",
		func() { b.BytesMany(refs, make([][]byte, 1)) })
	b.BytesMany(nil, nil)
	b.FreeMany(nil)
	b.FreeMany([]alloc.BlockRef{{}, refs[0], {}})
	require.Equal(t, 99, b.Len())
	require.PanicsWithValue(t,
		"alloc: Blocks.FreeMany: place 40 of 60: the reference {40 1} names no block of these (freed before?)",
		func() { b.FreeMany(slices.Concat(refs[1:41], refs[40:60])) })
	require.Equal(t, 59, b.Len(), "those before it are free")
	require.NoError(t, b.Verify())
	b.FreeMany(refs[41:])
	require.Zero(t, b.Len())
	require.NoError(t, b.Close())
	require.PanicsWithValue(t, "alloc: Blocks.FreeMany: the blocks are closed", func() { b.FreeMany(refs[:1]) })
}

// TestBlocks runs operations against the model, on every allocator that frees in any order.
func TestBlocks(t *testing.T) {
	steps := 3000
	if testing.Short() {
		steps = 600
	}
	h := newHeap(t, alloc.Size(256<<20))
	pages, arena := alloc.NewPages(), alloc.NewArena(h)
	for name, from := range map[string]alloc.Allocator{
		"heap": h, "local": h.NewLocal(), "plain": plain{h}, "pages": pages, "arena": arena,
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			m := &blocksModel{t: t, b: alloc.NewBlocks(from), live: map[alloc.BlockRef][]byte{}}
			for i := range steps {
				m.step(random.IntN(8), random.IntN(1<<20))
				if len(m.order) > 60 {
					m.step(6, random.IntN(1<<20))
				}
				if i%10 == 0 {
					m.compare()
				}
			}
			m.compare()
			live := m.b.Len()
			err := m.b.Close()
			require.ErrorIs(t, err, alloc.ErrLeak)
			require.ErrorContains(t, err, fmt.Sprintf("%d blocks of", live))
			require.NoError(t, m.b.Close(), "a second call does nothing")
			require.NoError(t, m.b.Verify())
		})
	}
	require.NoError(t, pages.Close())
	arena.Close()
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte{0, 1, 2, 6, 0, 0, 4, 50, 1, 5, 0, 9})
	f.Fuzz(func(t *testing.T, ops []byte) {
		h := newHeap(t, alloc.Size(64<<20))
		m := &blocksModel{t: t, b: alloc.NewBlocks(h), live: map[alloc.BlockRef][]byte{}}
		for i := 0; i+2 < min(len(ops), 600); i += 3 {
			m.step(int(ops[i]), int(ops[i+1])<<8|int(ops[i+2]))
			m.compare()
		}
		for len(m.order) > 0 {
			m.step(6, 0)
		}
		require.NoError(t, m.b.Close())
		require.Zero(t, h.Stats().LiveBlocks, "nothing is lost")
	})
}

// TestBlocksRefused: a refused request changes nothing, whatever is refused.
func TestBlocksRefused(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(8<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		b := alloc.NewBlocks(h)
		var failed error
		model := map[alloc.BlockRef]int{}
		for i := range 40 {
			size := i * 1000
			r, err := b.Alloc(size, 16)
			if failed = err; err != nil {
				break
			}
			fillFrom(b.Bytes(r), i)
			model[r] = size
			if _, err = b.Resize(r, 2*size); err == nil {
				model[r] = 2 * size
			} else {
				failed = err
			}
			if failed != nil {
				break
			}
		}
		require.NoError(t, b.Verify())
		require.Equal(t, len(model), b.Len())
		for r, size := range model {
			require.Len(t, b.Bytes(r), size)
			b.Free(r)
		}
		require.NoError(t, b.Close())
		require.Zero(t, h.Stats().LiveBlocks)
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
		return failed
	}))
}

// TestBlocksMisuse: each misuse is reported by name, in every build.
func TestBlocksMisuse(t *testing.T) {
	h := newHeap(t, alloc.Size(32<<20))
	b := alloc.NewBlocks(h)
	r, err := b.Put([]byte("one"))
	require.NoError(t, err)
	b.Free(r)
	next, err := b.Put([]byte("two"))
	require.NoError(t, err)
	require.Equal(t, r.Slot, next.Slot, "the slot is used again")
	require.Nil(t, b.Bytes(r), "and the old reference names nothing")
	require.PanicsWithValue(t, "alloc: Blocks.Free: the reference {0 1} names no block of these (freed before?)",
		func() { b.Free(r) })
	require.PanicsWithValue(t, "alloc: Blocks.Resize: the reference {0 1} names no block of these (freed before?)",
		func() { b.Resize(r, 9) })
	require.PanicsWithValue(t,
		"alloc: Blocks.Resize: size=-1 align=0: want a size >= 0 and a power of two up to 1073741824",
		func() { b.Resize(next, -1) })
	require.Panics(t, func() { b.Alloc(-1, 8) })
	require.Panics(t, func() { b.Alloc(8, 3) })
	b.Free(alloc.BlockRef{})
	require.Nil(t, b.Bytes(alloc.BlockRef{Slot: 1 << 31, Generation: 1}))
	require.Nil(t, b.Bytes(alloc.BlockRef{Slot: 1, Generation: 2}))
	require.Equal(t, "two", string(b.Bytes(next)))

	_, err = b.Alloc(memory.MaxSize+1, 8)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.Equal(t, 1, b.Len())

	stack, err := alloc.NewStack(h, 1<<16)
	require.NoError(t, err)
	require.PanicsWithValue(t, "alloc: NewBlocks: the allocator frees in order (*alloc.Stack)",
		func() { alloc.NewBlocks(stack) })
	stack.Close()
	b.Free(next)
	require.NoError(t, b.Close())
	require.Nil(t, b.Bytes(next))
	require.PanicsWithValue(t, "alloc: Blocks.Put: the blocks are closed", func() { b.Put(nil) })
	require.PanicsWithValue(t, "alloc: Blocks.Free: the blocks are closed", func() { b.Free(next) })
	require.PanicsWithValue(t, "alloc: Blocks.Trim: the blocks are closed", b.Trim)
}

// TestBlocksLost: blocks of an arena that went back, or of a heap that was closed, are not read.
func TestBlocksLost(t *testing.T) {
	h := newHeap(t, alloc.Size(32<<20))
	a := alloc.NewArena(h)
	mark := a.Mark()
	b := alloc.NewBlocks(a)
	r, err := b.Put([]byte("gone"))
	require.NoError(t, err)
	inner := a.Mark()
	_, err = a.Alloc(5000, 8)
	require.NoError(t, err)
	a.Rewind(inner)
	require.Equal(t, "gone", string(b.Bytes(r)))
	a.Rewind(mark)
	const lost = ": the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)"
	require.PanicsWithValue(t, "alloc: Blocks.Bytes"+lost, func() { b.Bytes(r) })
	require.PanicsWithValue(t, "alloc: Blocks.Free"+lost, func() { b.Free(r) })
	require.PanicsWithValue(t, "alloc: Blocks.Put"+lost, func() { b.Put(nil) })
	require.PanicsWithValue(t, "alloc: Blocks.All"+lost, func() {
		for range b.All() {
		}
	})
	require.ErrorContains(t, b.Verify(), "B3")
	require.NoError(t, b.Close(), "there is nothing to free")
	a.Close()

	u, err := alloc.NewUniverse(alloc.Size(8 << 20))
	require.NoError(t, err)
	other, err := alloc.NewHeap(u)
	require.NoError(t, err)
	b = alloc.NewBlocks(other)
	r, err = b.Put([]byte("gone"))
	require.NoError(t, err)
	require.ErrorIs(t, other.Close(), alloc.ErrLeak)
	require.PanicsWithValue(t, "alloc: Blocks.Bytes"+lost, func() { b.Bytes(r) })
	require.NoError(t, b.Close())
	require.NoError(t, u.Close())
}

// TestBlocksBesideScratch: blocks that lie before a mark outlive a Rewind to it, whatever was freed
// and made smaller meanwhile.
func TestBlocksBesideScratch(t *testing.T) {
	a := alloc.NewArena(newHeap(t))
	defer a.Close()
	b := alloc.NewBlocks(a)
	var refs [3]alloc.BlockRef
	for i := range refs {
		var err error
		refs[i], err = b.Put([]byte("stays"))
		require.NoError(t, err)
	}
	for name, change := range map[string]func(){
		"Free":          func() { b.Free(refs[0]) },
		"Resize":        func() { _, _ = b.Resize(refs[1], 1) },
		"Trim":          b.Trim,
		"Alloc refused": func() { _, err := b.Alloc(1<<50, 1); require.Error(t, err) },
	} {
		mark := a.Mark()
		_, err := a.Alloc(100, 8) // another's
		require.NoError(t, err)
		change()
		a.Rewind(mark)
		require.NotPanics(t, func() { require.Equal(t, "stays", string(b.Bytes(refs[2]))) }, name)
	}
	require.NoError(t, b.Verify())
}

// panicking is an allocator that panics while a flag is set.
type panicking struct {
	alloc.Allocator
	armed bool
}

func (p *panicking) Alloc(size, align int) (unsafe.Pointer, error) {
	if p.armed {
		panic("no memory today")
	}
	return p.Allocator.Alloc(size, align)
}

// TestBlocksAllocatorPanics: there is no block when its allocator panics.
func TestBlocksAllocatorPanics(t *testing.T) {
	from := &panicking{Allocator: newHeap(t)}
	b := alloc.NewBlocks(from)
	r, err := b.Put([]byte("first"))
	require.NoError(t, err)
	b.Free(r)
	from.armed = true
	require.Panics(t, func() { _, _ = b.Put([]byte("second")) })
	from.armed = false
	require.Zero(t, b.Len())
	require.NoError(t, b.Verify())
	require.NoError(t, b.Close())
}

// TestBlockOf: blocks as slices of a type.
func TestBlockOf(t *testing.T) {
	type point struct{ X, Y float64 }
	b := alloc.NewBlocks(newHeap(t, alloc.Size(32<<20)))
	r, made, err := alloc.MakeBlock[point](b, 3)
	require.NoError(t, err)
	require.Equal(t, make([]point, 3), made)
	made[2] = point{1, 2}
	require.Equal(t, made, alloc.BlockOf[point](b, r))
	require.Len(t, alloc.BlockOf[int16](b, r), 24)

	_, err = b.Resize(r, 40)
	require.NoError(t, err)
	require.PanicsWithValue(t,
		fmt.Sprintf(
			"alloc: BlockOf: the block of 40 bytes at %p is not a slice of alloc_test.point, of 16 bytes aligned to 8",
			unsafe.SliceData(b.Bytes(r))),
		func() { alloc.BlockOf[point](b, r) })
	require.Panics(t, func() { alloc.BlockOf[*int](b, r) })
	require.Panics(t, func() { alloc.BlockOf[struct{}](b, r) })
	_, _, err = alloc.MakeBlock[string](b, 1)
	require.ErrorContains(t, err, "alloc: MakeBlock: ")
	_, _, err = alloc.MakeBlock[point](b, 1<<60)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.Panics(t, func() { alloc.MakeBlock[point](b, -1) })
	b.Free(r)
	require.Nil(t, alloc.BlockOf[point](b, r))
	empty, s, err := alloc.MakeBlock[point](b, 0)
	require.NoError(t, err)
	require.Empty(t, s)
	require.NotNil(t, alloc.BlockOf[point](b, empty), "a block of no bytes is a block")
	b.Free(empty)
	require.NoError(t, b.Close())
}

// TestBlocksInvariants: Verify names what does not hold.
func TestBlocksInvariants(t *testing.T) {
	b := alloc.NewBlocks(newHeap(t, alloc.Size(32<<20)))
	r, err := b.Alloc(100, 64)
	require.NoError(t, err)
	for _, name := range alloc.BlocksInvariants {
		undo := b.Corrupt(name)
		require.ErrorContains(t, b.Verify(), "alloc: blocks: "+name)
		undo()
		require.NoError(t, b.Verify())
	}
	b.Free(r)
	require.NoError(t, b.Close())
}

// BenchmarkBlocks: a look-up at random among a million blocks, beside a look-up in a slice of Go
// slices; Alloc and Free of 64 B.
func BenchmarkBlocks(b *testing.B) {
	h := newHeap(b, alloc.Size(1<<30))
	blocks := alloc.NewBlocks(h)
	const n = 1 << 20
	refs, plain := make([]alloc.BlockRef, n), make([][]byte, n)
	for i := range refs {
		refs[i], _ = blocks.Alloc(64, 8)
		plain[i] = make([]byte, 64)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) {
		refs[i], refs[j] = refs[j], refs[i]
		plain[i], plain[j] = plain[j], plain[i]
	})
	sum := 0
	b.Run("Bytes", func(b *testing.B) {
		for i := range b.N {
			sum += int(blocks.Bytes(refs[i%n])[0])
		}
	})
	b.Run("slices", func(b *testing.B) {
		for i := range b.N {
			sum += int(plain[i%n][0])
		}
	})
	b.Run("near/Bytes", func(b *testing.B) {
		for i := range b.N {
			sum += len(blocks.Bytes(refs[i%64]))
		}
	})
	b.Run("AllocFree", func(b *testing.B) {
		for range b.N {
			r, _ := blocks.Alloc(64, 8)
			blocks.Free(r)
		}
	})
	benchSum += uintptr(sum)
	for _, r := range refs {
		blocks.Free(r)
	}
	if err := blocks.Close(); err != nil {
		b.Fatal(err)
	}
}
