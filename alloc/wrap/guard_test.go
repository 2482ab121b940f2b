package wrap_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/internal/debug"
	"quarry/internal/guard"
	"quarry/mmap"
)

// largeUniverse is a universe that is closed, empty, at the end of the test.
func largeUniverse(t testing.TB) *alloc.Universe {
	t.Helper()
	size := 256 << 20
	if !mmap.Real {
		size = 64 << 20
	}
	u, err := alloc.NewUniverse(alloc.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

// largeHeap is a heap that is closed, without leaks, at the end of the test.
func largeHeap(t testing.TB) *alloc.Heap {
	t.Helper()
	h, err := alloc.NewHeap(largeUniverse(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// poke changes the byte at an offset from a block.
func poke(p unsafe.Pointer, offset int) {
	// Safe because the byte lies in memory of the universe under test, or faults.
	*(*byte)(unsafe.Add(p, offset)) ^= 'A'
}

// guardModes are the ways in which a Guard works in this build.
func guardModes() map[string][]wrap.GuardOption {
	all := map[string][]wrap.GuardOption{"canaries": {wrap.Canaries()}}
	if mmap.Guards() != mmap.GuardNone {
		all["pages"] = nil
	}
	return all
}

func onGuards(t *testing.T, test func(t *testing.T, faults bool, options ...wrap.GuardOption)) {
	for name, options := range guardModes() {
		t.Run(name, func(t *testing.T) { test(t, name == "pages", options...) })
	}
}

// TestGuardModel runs a stream of blocks of all sizes and alignments over several
// allocators: they keep what is written to them, lie apart, aligned and in front of
// their zones, and all memory comes back.
func TestGuardModel(t *testing.T) {
	insides := map[string]func(t *testing.T) alloc.Allocator{
		"heap":     func(t *testing.T) alloc.Allocator { return largeHeap(t) },
		"universe": func(t *testing.T) alloc.Allocator { return largeUniverse(t).Allocator() },
		"local": func(t *testing.T) alloc.Allocator {
			l := largeHeap(t).NewLocal()
			t.Cleanup(l.Close)
			return l
		},
		"arena": func(t *testing.T) alloc.Allocator {
			a := alloc.NewArena(largeHeap(t))
			t.Cleanup(a.Close)
			return a
		},
		"guard": func(t *testing.T) alloc.Allocator {
			g := wrap.NewGuard(largeHeap(t), wrap.Zone(100))
			t.Cleanup(func() { require.NoError(t, g.Close()) })
			return g
		},
	}
	for name, inside := range insides {
		t.Run(name, func(t *testing.T) {
			onGuards(t, func(t *testing.T, _ bool, options ...wrap.GuardOption) {
				for _, most := range []int{0, 64 << 10, 1 << 20} {
					g := wrap.NewGuard(inside(t), append(options, wrap.Quarantine(most))...)
					guardStream(t, g, rand.New(rand.NewPCG(1, uint64(most))))
					require.NoError(t, g.Close())
					require.NoError(t, g.Close())
				}
			})
		})
	}
}

type guardedBlock struct {
	p           unsafe.Pointer
	size, align int
	mark        byte
}

func guardStream(t *testing.T, g *wrap.Guard, random *rand.Rand) {
	var live []guardedBlock
	aligns := []int{0, 1, 2, 8, 16, 64, 4096, 16384, 65536}
	steps := 400
	if testing.Short() {
		steps = 100
	}
	for step := range steps {
		if len(live) < 20 || random.IntN(2) == 0 {
			b := guardedBlock{
				size: int(math.Exp2(random.Float64()*18)) - 1, align: aligns[random.IntN(len(aligns))], mark: byte(step),
			}
			p, err := g.Alloc(b.size, b.align)
			require.NoError(t, err)
			require.Zero(t, uintptr(p)%uintptr(max(b.align, 1)))
			memory := bytesOf(p, b.size)
			for _, at := range []int{0, b.size / 2, b.size - 1} {
				if at >= 0 && b.size > 0 {
					require.EqualValues(t, debug.Fresh, memory[at])
				}
			}
			debug.Poison(memory, b.mark)
			b.p = p
			live = append(live, b)
		} else {
			i := random.IntN(len(live))
			b := live[i]
			live = slices.Delete(live, i, i+1)
			for _, c := range bytesOf(b.p, b.size) {
				if c != b.mark {
					require.Equal(t, b.mark, c)
				}
			}
			require.True(t, g.ResizeSized(b.p, b.size, b.align, b.size))
			require.False(t, g.ResizeSized(b.p, b.size, b.align, b.size+1))
			g.FreeSized(b.p, b.size, b.align)
			require.True(t, g.Explain(uintptr(b.p)) == nil || g.Explain(uintptr(b.p)).Freed || b.size == 0)
		}
		if step%16 == 0 {
			require.NoError(t, g.Verify())
		}
	}
	for _, b := range live {
		g.FreeSized(b.p, b.size, b.align)
	}
	g.FreeSized(nil, 1, 0)
}

// TestGuardTouch touches bytes around a block, live and freed, on a Guard with faults:
// each is an error with the place and both stacks.
func TestGuardTouch(t *testing.T) {
	if mmap.Guards() == mmap.GuardNone {
		t.Skip("no pages can be guarded: TestGuardDamage")
	}
	g := wrap.NewGuard(largeHeap(t))
	page := mmap.PageSize()
	for _, size := range []int{0, 1, 16, 100, 4096, 70000} {
		p, err := g.Alloc(size, 1)
		require.NoError(t, err)
		check := func(offset int, freed bool, text string) {
			t.Helper()
			err := g.Run(func() { poke(p, offset) })
			var e *wrap.GuardError
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, mmap.ErrFault)
			require.NotErrorIs(t, err, wrap.ErrDamage)
			require.Equal(t, []int{size, 1}, []int{e.Size, e.Align})
			require.Equal(t, []uintptr{uintptr(p), guard.Fault(uintptr(p) + uintptr(offset))}, []uintptr{
				e.Block, e.Addr,
			})
			require.Equal(t, int(e.Addr-uintptr(p)), e.Where())
			require.Equal(t, freed, e.Freed)
			if e.Where() == offset { // else the system has reported the page only
				require.ErrorContains(t, err, text)
			}
			require.ErrorContains(t, err, "allocated at\n\tquarry/alloc/wrap_test.TestGuardTouch\n")
		}
		check(size, false, "touch at")
		check(size, false, "0 bytes behind the end of the block")
		check(size+page-1, false, " bytes behind the end of the block")
		first := -(roundUp(size, page) - size) - 1 // the last byte of the zone in front
		check(first, false, "before the block")
		check(first-page+1, false, "before the block")
		require.NoError(t, g.Run(func() { clear(bytesOf(p, size)) }))
		require.NoError(t, g.Verify())
		g.FreeSized(p, size, 1)
		if size > 0 {
			check(0, true, "0 bytes into what was the block")
			check(size-1, true, "freed at")
		}
		check(size, true, "0 bytes behind the end of what was the block")
		require.NoError(t, g.Verify())
	}
	other, err := mmap.Reserve(mmap.Granule)
	require.NoError(t, err)
	err = g.Run(func() { *(*byte)(other.Base()) = 1 }) // Safe because it faults, which is the test.
	var e *wrap.GuardError
	require.ErrorIs(t, err, mmap.ErrFault)
	require.NotErrorAs(t, err, &e)
	require.NoError(t, other.Release())
	require.NoError(t, g.Close())
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// TestGuardDamage writes around blocks, live and freed, on a Guard without faults: what
// frees, Verify and Close find has the place and the stacks.
func TestGuardDamage(t *testing.T) {
	for _, size := range []int{0, 1, 16, 100, 70000} {
		for _, offset := range []int{-256, -1, size, size + 1, size + 255} {
			t.Run(fmt.Sprintf("%d at %d", size, offset), func(t *testing.T) {
				g := wrap.NewGuard(largeHeap(t), wrap.Canaries())
				p, err := g.Alloc(size, 16)
				require.NoError(t, err)
				poke(p, offset)
				var e *wrap.GuardError
				require.ErrorAs(t, g.Verify(), &e)
				require.ErrorIs(t, e, wrap.ErrDamage)
				require.Equal(t, []int{offset, 1, size}, []int{e.Where(), e.Bytes, e.Size})
				require.False(t, e.Freed)
				require.PanicsWithValue(t, "wrap: Guard.FreeSized: "+strings.TrimPrefix(e.Error(), "wrap: Guard: "),
					func() { g.FreeSized(p, size, 16) })
				poke(p, offset) // and back
				require.NoError(t, g.Verify())
				g.FreeSized(p, size, 16)
				require.NoError(t, g.Verify())
				poke(p, offset)
				err = g.Close()
				require.ErrorAs(t, err, &e)
				require.ErrorIs(t, err, wrap.ErrDamage)
				require.NotErrorIs(t, err, alloc.ErrLeak)
				require.True(t, e.Freed)
			})
		}
	}
}

// TestGuardQuarantine: a block that was written to after it was freed is reported by the free that
// makes it leave, and by Close.
func TestGuardQuarantine(t *testing.T) {
	g := wrap.NewGuard(largeHeap(t), wrap.Canaries(), wrap.Quarantine(64<<10))
	p, err := g.Alloc(1000, 0)
	require.NoError(t, err)
	g.FreeSized(p, 1000, 0)
	bytesOf(p, 1000)[17], bytesOf(p, 1000)[20] = 1, 2
	told := 0
	for range 100 {
		q, err := g.Alloc(1000, 0)
		require.NoError(t, err)
		func() {
			defer func() {
				if text := recover(); text != nil {
					told++
					require.Contains(t, text, "write to 4 bytes at")
					require.Contains(t, text, "17 bytes into what was the block of 1000 bytes")
				}
			}()
			g.FreeSized(q, 1000, 0)
		}()
	}
	require.Equal(t, 1, told)
	require.ErrorIs(t, g.Verify(), wrap.ErrDamage)
	require.ErrorIs(t, g.Close(), wrap.ErrDamage)
}

// TestGuardQuarantineOrder: a block leaves when as many bytes as the quarantine has were freed
// after it, whatever its own size.
func TestGuardQuarantineOrder(t *testing.T) {
	const total = 256 + 64 + 256
	for most, stay := range map[int]int{1: 1, total: 1, total + 1: 2, 3 * total: 3, 3*total + 1: 4} {
		h := largeHeap(t)
		g := wrap.NewGuard(h, wrap.Canaries(), wrap.Quarantine(most))
		var all []unsafe.Pointer
		for range 10 {
			p, err := g.Alloc(50, 0)
			require.NoError(t, err)
			all = append(all, p)
		}
		for i, p := range all {
			g.FreeSized(p, 50, 0)
			waiting := 0
			for j, q := range all {
				if e := g.Explain(uintptr(q)); e != nil && e.Freed {
					require.LessOrEqual(t, i-stay, j, "the oldest goes first")
					waiting++
				}
			}
			require.Equal(t, min(i+1, stay), waiting, "%d bytes", most)
			require.Equal(t, len(all)-i-1+waiting, h.Stats().LiveBlocks)
		}
		require.NoError(t, g.Close())
	}
}

// TestGuardContract calls FreeSized and ResizeSized with pointers that are not blocks, and with
// sizes of other blocks.
func TestGuardContract(t *testing.T) {
	onGuards(t, func(t *testing.T, _ bool, options ...wrap.GuardOption) {
		g := wrap.NewGuard(largeHeap(t), options...)
		p, err := g.Alloc(100, 8)
		require.NoError(t, err)
		local := new(int64)
		for text, f := range map[string]func(){
			"is not a block but 1 bytes into the block of 100 bytes aligned to 8": func() { g.FreeSized(unsafe.Add(p, 1), 99, 1) },
			"is not a block of this Guard":                                        func() { g.FreeSized(unsafe.Pointer(local), 8, 8) },
			"size=99 align=8 for the block of 100 bytes":                          func() { g.FreeSized(p, 99, 8) },
			"size=100 align=16 for the block of 100 bytes":                        func() { g.FreeSized(p, 100, 16) },
			"size=101 align=8 for the block of 100 bytes":                         func() { g.ResizeSized(p, 101, 8, 100) },
			"Guard.ResizeSized: size=-1 align=8":                                  func() { g.ResizeSized(p, 100, 8, -1) },
			"Guard.Alloc: size=-1 align=8":                                        func() { _, _ = g.Alloc(-1, 8) },
			"Guard.Alloc: size=1 align=3":                                         func() { _, _ = g.Alloc(1, 3) },
		} {
			panicsWith(t, text, f)
			panicsWith(t, "wrap: Guard.", f)
		}
		require.NoError(t, g.Verify())
		g.FreeSized(p, 100, 8)
		panicsWith(t, "wrap: Guard.FreeSized: freed twice: the block of 100 bytes", func() { g.FreeSized(p, 100, 8) })
		panicsWith(t, "freed at\n\tquarry/alloc/wrap_test.TestGuardContract", func() { g.FreeSized(p, 100, 8) })
		_, err = g.Alloc(math.MaxInt-1, 0)
		require.ErrorIs(t, err, alloc.ErrTooBig)
		_, err = g.Alloc(math.MaxInt-3*mmap.PageSize(), 0)
		require.ErrorIs(t, err, alloc.ErrTooBig)

		_, err = g.Alloc(10, 0)
		require.NoError(t, err)
		err = g.Close()
		require.ErrorIs(t, err, alloc.ErrLeak)
		require.ErrorContains(t, err, "1 blocks of 10 bytes")
		require.ErrorContains(t, err, "wrap_test.TestGuardContract")
		panicsWith(t, "Guard.Alloc: the Guard is closed", func() { _, _ = g.Alloc(1, 1) })
		panicsWith(t, "Guard.FreeSized: the Guard is closed", func() { g.FreeSized(p, 100, 8) })
	})
	panicsWith(t, "wrap: Zone: bytes=-1", func() { wrap.Zone(-1) })
	panicsWith(t, "wrap: Quarantine: bytes=-1", func() { wrap.Quarantine(-1) })
}

func panicsWith(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		require.Contains(t, recover(), text)
	}()
	f()
}

// TestGuardFull: a refusal inside gives the quarantine up before it is the caller's.
func TestGuardFull(t *testing.T) {
	onGuards(t, func(t *testing.T, _ bool, options ...wrap.GuardOption) {
		l := wrap.NewLimit(largeHeap(t), 1<<20)
		g := wrap.NewGuard(l, append(options, wrap.Quarantine(1<<30))...)
		for range 20 {
			p, err := g.Alloc(200<<10, 0)
			require.NoError(t, err)
			g.FreeSized(p, 200<<10, 0)
		}
		_, err := g.Alloc(2<<20, 0)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.Zero(t, l.Live(), "the quarantine has been given up")
		require.NoError(t, g.Close())

		g = wrap.NewGuard(largeHeap(t), options...)
		p, err := g.Alloc(1, 1)
		require.NoError(t, err)
		g.FreeSized(p, 1, 1)
		_, err = g.Alloc(1<<50, 0)
		require.ErrorIs(t, err, alloc.ErrTooBig)
		require.NotNil(t, g.Explain(uintptr(p)), "what can never be had does not empty the quarantine")
		require.NoError(t, g.Close())
	})
}

// TestGuardGoroutines allocates, frees and verifies from several goroutines.
func TestGuardGoroutines(t *testing.T) {
	onGuards(t, func(t *testing.T, _ bool, options ...wrap.GuardOption) {
		g := wrap.NewGuard(largeHeap(t), append(options, wrap.Quarantine(256<<10))...)
		var all sync.WaitGroup
		for id := range 4 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(id)))
				for range 100 {
					size := random.IntN(10000)
					p, err := g.Alloc(size, 0)
					if err != nil {
						t.Error(err)
						return
					}
					debug.Poison(bytesOf(p, size), byte(id))
					runtime.Gosched()
					g.FreeSized(p, size, 0)
					if err := g.Verify(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.NoError(t, g.Close())
	})
}
