package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/universe/mapping"
	"quarry/mmap"
)

var _ alloc.Allocator = (*alloc.Pages)(nil)

func newPages(t testing.TB, options ...alloc.Option) *alloc.Pages {
	t.Helper()
	p := alloc.NewPages(options...)
	t.Cleanup(func() {
		require.NoError(t, p.Verify())
		require.NoError(t, p.Close())
	})
	return p
}

func TestPagesOfEveryAlignment(t *testing.T) {
	p := newPages(t)
	for _, size := range []int{0, 1, 4096, 2 << 20, 2<<20 + 1} {
		for _, align := range []int{0, 1, 16, 4096, 64 << 10, 2 << 20, 8 << 20} {
			at, err := p.Alloc(size, align)
			require.NoError(t, err)
			require.Zero(t, uintptr(at)%uintptr(max(align, 1)))
			b := bytesOf(at, size)
			for i := range b {
				b[i] = 1
			}
			require.NoError(t, p.Verify())
			require.Equal(t, 1, p.Stats().LiveBlocks)
			require.GreaterOrEqual(t, p.Stats().LiveBytes, size)
			p.FreeSized(at, size, align)
			require.Zero(t, p.Stats(), "it goes back at once")
		}
	}
}

func TestPagesRefuse(t *testing.T) {
	p := newPages(t)
	gone, keep := must(p.Alloc(5000, 0)), must(p.Alloc(3<<20, 0))
	for uintptr(keep)%(1<<30) == 0 { // it has every alignment
		held := keep
		keep = must(p.Alloc(3<<20, 0))
		p.FreeSized(held, 3<<20, 0)
	}
	p.FreeSized(gone, 5000, 0)
	p.FreeSized(nil, 5, 0)
	var local [64]byte
	none := int(uintptr(keep)&-uintptr(keep)) << 1 // the least alignment that keep does not have
	for _, c := range []struct {
		op, text string
		f        func()
	}{
		{"Alloc", "size=-1 align=0: want a size >= 0", func() { _, _ = p.Alloc(-1, 0) }},
		{"Alloc", "size=1 align=3: want a size >= 0 and a power", func() { _, _ = p.Alloc(1, 3) }},
		{"ResizeSized", "size=-2 align=0: want", func() { p.ResizeSized(keep, 3<<20, 0, -2) }},
		{"ResizeSized", "has 3145728 bytes: it was not allocated with size=1 align=0", func() { p.ResizeSized(keep, 1, 0, 5) }},
		{"ResizeSized", "is not a block of these pages", func() { p.ResizeSized(nil, 1, 0, 5) }},
		{"FreeSized", "has 3145728 bytes: it was not allocated with size=3145727 align=0", func() { p.FreeSized(keep, 3<<20-1, 0) }},
		{"FreeSized", fmt.Sprintf("it was not allocated with size=3145728 align=%d", none), func() { p.FreeSized(keep, 3<<20, none) }},
		{"FreeSized", "size=3145728 align=-8: want", func() { p.FreeSized(keep, 3<<20, -8) }},
		{"FreeSized", "points 8 bytes into a block of 4194304 bytes", func() { p.FreeSized(unsafe.Add(keep, 8), 3<<20, 0) }},
		{"FreeSized", "is not a block of these pages", func() { p.FreeSized(gone, 5000, 0) }},
		{"FreeSized", "is not a block of these pages", func() { p.FreeSized(unsafe.Pointer(&local), 64, 0) }},
	} {
		text := panicText(c.f)
		require.Contains(t, text, "alloc: Pages."+c.op+": ")
		require.Contains(t, text, c.text)
		require.NoError(t, p.Verify())
	}
	for _, size := range []int{1<<46 + 1, math.MaxInt} {
		_, err := p.Alloc(size, 0)
		require.ErrorIs(t, err, alloc.ErrTooBig)
		require.False(t, p.ResizeSized(keep, 3<<20, 0, size))
	}
	p.FreeSized(keep, 3<<20, 1<<16)
}

// TestPagesFreedFault: a read of a freed block faults.
func TestPagesFreedFault(t *testing.T) {
	p := newPages(t)
	at := must(p.Alloc(100, 0))
	b := bytesOf(at, 100)
	p.FreeSized(at, 100, 0)
	err := mmap.Guarded(func() { b[5]++ })
	var fault *mmap.FaultError
	require.Equal(t, mmap.Real, errors.As(err, &fault), "%v", err)
}

// TestPagesRetain: a freed block serves the next one, until there are too many.
func TestPagesRetain(t *testing.T) {
	p := newPages(t, alloc.Retain(4<<20))
	script := &alloc.Script{}
	p.FailMappings(script)
	p.FreeSized(must(p.Alloc(100_000, 0)), 100_000, 0)
	calls := script.Calls
	for range 10 {
		p.FreeSized(must(p.Alloc(100_000, 0)), 100_000, 0)
	}
	require.Equal(t, calls, script.Calls)
	require.Equal(t, alloc.HeapStats{Kept: 2 << 20}, p.Stats())
	p.FreeSized(must(p.Alloc(9<<20, 0)), 9<<20, 0)
	require.Equal(t, 2<<20, p.Stats().Kept)
	require.Empty(t, script.Hints)
	small := newPages(t, alloc.SmallPages())
	small.FailMappings(script)
	small.FreeSized(must(small.Alloc(100_000, 0)), 100_000, 0)
	require.Equal(t, []mmap.Hint{mmap.SmallPages}, script.Hints)
}

// TestPagesSmall: a small block has small pages, reads zero, faults when it was freed, and its
// mapping serves the next small block, not a larger one. It does not grow beyond small in place.
func TestPagesSmall(t *testing.T) {
	p := newPages(t)
	script := &alloc.Script{}
	p.FailMappings(script)
	most := mapping.SmallBytes
	block := must(p.AllocZeroed(100, 64))
	require.True(t, p.ResizeSized(block, 100, 64, most))
	require.False(t, mmap.Real && p.ResizeSized(block, most, 64, most+1))
	bytes := unsafe.Slice((*byte)(block), most)
	for i := range bytes {
		require.Zero(t, bytes[i])
		bytes[i] = 1
	}
	require.True(t, p.ResizeSized(block, most, 64, 100))
	if mmap.Real {
		require.Equal(t, []mmap.Hint{mmap.SmallPages}, script.Hints)
	}
	p.FreeSized(block, 100, 64)
	require.Equal(t, alloc.HeapStats{}, p.Stats())
	require.NoError(t, p.Verify())
	large := must(p.Alloc(most+1, 0))
	again := must(p.AllocZeroed(most, 0))
	if mmap.Guards() == mmap.GuardMark {
		require.Equal(t, block, again)
	}
	for _, b := range unsafe.Slice((*byte)(again), most) {
		require.Zero(t, b, "what a block that was larger had written is gone")
	}
	p.FreeSized(large, most+1, 0)
	p.FreeSized(again, most, 0)
	var many []unsafe.Pointer
	for range 40 {
		many = append(many, must(p.Alloc(1, 0)))
	}
	for _, b := range many {
		p.FreeSized(b, 1, 0)
	}
	require.Panics(t, func() { p.FreeSized(many[39], 1, 0) })
	require.NoError(t, p.Verify())
	require.NoError(t, p.Close())
}

// pagesStream is a stream of operations beside a model, with a pattern in each block. It
// goes on after a refusal, with nothing lost, and leaves no block.
func pagesStream(t *testing.T, p *alloc.Pages, seed uint64, steps int) {
	m := heapModel{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	base := committed() - p.CommittedBytes()
	for range steps {
		size := m.rng.IntN(3 << 20)
		switch op := m.rng.IntN(4); {
		case len(m.live) < 4 && op < 2:
			at, err := p.Alloc(size, 64)
			if err != nil {
				require.ErrorIs(t, err, errNoMemory)
				break
			}
			b := modelBlock{p: at, size: size, mark: byte(m.rng.Uint32())}
			m.fill(b)
			m.live = append(m.live, b)
		case len(m.live) > 0 && op == 2:
			b := &m.live[m.rng.IntN(len(m.live))]
			if p.ResizeSized(b.p, b.size, 64, size) {
				m.check(*b, min(size, b.size))
				b.size = size
				m.fill(*b)
			}
		case len(m.live) > 0 && op == 3:
			last := len(m.live) - 1
			m.check(m.live[last], m.live[last].size)
			p.FreeSized(m.live[last].p, m.live[last].size, 64)
			m.live = m.live[:last]
		}
		require.NoError(t, p.Verify())
		require.Equal(t, len(m.live), p.Stats().LiveBlocks)
		require.Equal(t, base+p.CommittedBytes(), committed())
	}
	for _, b := range m.live {
		m.check(b, b.size)
		p.FreeSized(b.p, b.size, 64)
	}
	require.Zero(t, p.Stats().LiveBlocks)
}

func TestPagesModel(t *testing.T) {
	for _, retain := range []int{0, 6 << 20} {
		pagesStream(t, newPages(t, alloc.Retain(retain)), uint64(retain), 100)
	}
}

// pagesProgram allocates, grows and shrinks, and checks after each step that nothing was
// lost and that the budget counts what is committed beside base.
func pagesProgram(t *testing.T, p *alloc.Pages, base int64) {
	check := func() {
		require.NoError(t, p.Verify())
		require.Equal(t, base+p.CommittedBytes(), committed())
	}
	for range 2 {
		size := 9 << 20
		at, err := p.Alloc(size, 0)
		check()
		if err != nil {
			require.ErrorIs(t, err, errNoMemory)
			require.Zero(t, p.Stats().LiveBlocks)
			continue
		}
		for _, to := range []int{1 << 20, 5 << 20, 7 << 20, 2 << 20, 8 << 20} {
			if p.ResizeSized(at, size, 0, to) {
				size = to
			}
			check()
			require.GreaterOrEqual(t, p.Stats().Mapped, size)
		}
		p.FreeSized(at, size, 0)
		check()
	}
	require.Zero(t, p.Stats().LiveBlocks)
}

// TestPagesEveryRefusal makes the k-th call of the layer below fail, for every k.
func TestPagesEveryRefusal(t *testing.T) {
	for k, more := 1, true; more; k++ {
		base, p := committed(), alloc.NewPages()
		script := &alloc.Script{FailAt: k, Err: errNoMemory}
		p.FailMappings(script)
		pagesProgram(t, p, base)
		if err := p.Close(); err != nil {
			require.ErrorIs(t, err, errNoMemory)
			require.ErrorContains(t, err, "alloc: Pages.Close: ")
			require.NoError(t, p.Close())
		}
		require.Equal(t, base, committed())
		more = script.Calls >= k
		require.True(t, more || k > 10, "%d calls", script.Calls)
	}
}

func TestPagesCloseCountsLeaks(t *testing.T) {
	p := alloc.NewPages()
	at := must(p.Alloc(5, 0))
	err := p.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "alloc: Pages.Close: 1 blocks of ")
	require.NoError(t, p.Close())
	for op, f := range map[string]func(){
		"Alloc":       func() { _, _ = p.Alloc(1, 0) },
		"ResizeSized": func() { p.ResizeSized(at, 5, 0, 6) },
		"FreeSized":   func() { p.FreeSized(at, 5, 0) },
	} {
		require.Equal(t, "alloc: Pages."+op+": the Pages are closed", panicText(f))
	}
}

func TestPagesOfTwoGoroutines(t *testing.T) {
	p := newPages(t, alloc.Retain(2<<20))
	var both sync.WaitGroup
	for g := range 2 {
		both.Go(func() {
			for i := range 50 {
				size := 1000 * (i + 1)
				at, err := p.Alloc(size, 0)
				if err != nil {
					t.Error(err)
					return
				}
				bytesOf(at, size)[size-1] = byte(g)
				p.ResizeSized(at, size, 0, size)
				p.FreeSized(at, size, 0)
			}
		})
	}
	both.Wait()
	require.LessOrEqual(t, p.Stats().Kept, 2<<20)
}

// Plain pages are for few, large blocks, and for those that must fault when they are
// used after they were freed.
func ExamplePages() {
	pages := alloc.NewPages()
	p, err := pages.Alloc(64<<20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Safe because the block has 64 MiB and is used no longer than it lives.
	b := unsafe.Slice((*byte)(p), 64<<20)
	fmt.Println(b[12_345_678], pages.ResizeSized(p, 64<<20, 0, 20<<20), pages.Stats().LiveBytes>>20)
	pages.FreeSized(p, 20<<20, 0)
	fmt.Println(pages.Stats().LiveBlocks, pages.Close())
	// Output:
	// 0 true 20
	// 0 <nil>
}
