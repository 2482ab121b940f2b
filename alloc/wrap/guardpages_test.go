package wrap_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/internal/debug"
	"quarry/mmap"
)

// flakyPages are pages whose n-th call, counted down, is refused.
type flakyPages struct {
	pages wrap.Fencer
	left  *int   // calls until the refusal
	lost  bool   // a Guard that is refused stands all the same
	base  []byte // what an offset counts from
}

func (f flakyPages) fails() bool {
	*f.left--
	return *f.left == -1
}

// Guard takes the contents, as it may, when it is refused.
func (f flakyPages) Guard(offset, n int) error {
	if !f.fails() {
		return f.pages.Guard(offset, n)
	}
	if f.lost {
		if err := f.pages.Guard(offset, n); err != nil {
			return err
		}
		return &mmap.Error{Op: "Guard", Err: mmap.ErrAccess}
	}
	clear(f.base[offset : offset+n])
	return &mmap.Error{Op: "Guard", Err: mmap.ErrMemory}
}

func (f flakyPages) Unguard(offset, n int) error {
	if !f.fails() {
		return f.pages.Unguard(offset, n)
	}
	return &mmap.Error{Op: "Unguard", Err: mmap.ErrMemory}
}

// TestGuardRefusals makes each call to the pages below fail in turn: blocks keep their
// contents, what cannot be guarded is watched by canaries, and nothing that faults goes
// back to the allocator inside.
func TestGuardRefusals(t *testing.T) {
	if mmap.Guards() == mmap.GuardNone {
		t.Skip("no pages can be guarded")
	}
	for _, lost := range []bool{false, true} {
		for _, most := range []int{0, 1, 100 << 10} {
			calls := 0
			for n := 0; n <= calls; n++ {
				left := n
				t.Run(fmt.Sprintf("lost=%v most=%d call %d", lost, most, n), func(t *testing.T) {
					guardRefusal(t, &left, lost, most)
				})
				calls = max(calls, n-left)
			}
			require.Greater(t, calls, 20)
		}
	}
}

func guardRefusal(t *testing.T, left *int, lost bool, most int) {
	h := largeHeap(t)
	pages := func(p unsafe.Pointer) (wrap.Fencer, int) {
		below, offset := wrap.PagesAt(p)
		// Safe because it is the universe, whose size this is.
		base := unsafe.Slice((*byte)(unsafe.Add(p, -offset)), h.Universe().Size())
		return flakyPages{pages: below, left: left, lost: lost, base: base}, offset
	}
	g := wrap.NewGuard(h, wrap.WithPages(pages), wrap.Quarantine(most))
	var live []guardedBlock
	for i := range 8 {
		b := guardedBlock{size: 1000 + 5000*i, align: 8, mark: byte(i)}
		p, err := g.Alloc(b.size, b.align)
		require.NoError(t, err)
		b.p = p
		debug.Poison(bytesOf(p, b.size), b.mark)
		live = append(live, b)
		require.NoError(t, g.Verify())
		if i%2 == 1 {
			b = live[0]
			live = live[1:]
			require.Equal(t, b.mark, bytesOf(b.p, b.size)[b.size-1])
			g.FreeSized(b.p, b.size, b.align)
			require.NoError(t, g.Verify())
			panicsWith(t, "wrap: Guard.FreeSized: ", func() { g.FreeSized(b.p, b.size, b.align) })
		}
	}
	for _, b := range live {
		require.Equal(t, b.mark, bytesOf(b.p, b.size)[0])
		require.NotEqual(t, "-",
			(&room{t: t, a: g}).outcome(func(*room, int) string { poke(b.p, b.size); return "" }, 0))
		if g.Verify() != nil {
			poke(b.p, b.size) // it was a canary: back
		}
		g.FreeSized(b.p, b.size, b.align)
		require.NoError(t, g.Verify())
	}
	at, err := h.Alloc(1, 0)
	require.NoError(t, err)
	err = g.Close()
	if err != nil {
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.NoError(t, g.Verify())
	}
	require.NoError(t, g.Close())
	region, _, ok := mmap.RegionAt(at)
	require.True(t, ok)
	require.Zero(t, region.GuardedSize())
	h.FreeSized(at, 1, 0)
	require.Zero(t, h.Stats().LiveBlocks)
}

// thirdAndFirst are pages that refuse the third Guard, which is that of the first block's
// body, and the first Unguard.
type thirdAndFirst struct {
	pages            wrap.Fencer
	guards, unguards *int
}

func (f thirdAndFirst) Guard(offset, n int) error {
	if *f.guards++; *f.guards == 3 {
		return &mmap.Error{Op: "Guard", Err: mmap.ErrMemory}
	}
	return f.pages.Guard(offset, n)
}

func (f thirdAndFirst) Unguard(offset, n int) error {
	if *f.unguards++; *f.unguards == 1 {
		return &mmap.Error{Op: "Unguard", Err: mmap.ErrMemory}
	}
	return f.pages.Unguard(offset, n)
}

// TestGuardTellsOnce: a block that was written to after its free, and which the system did
// not let out of the quarantine at first, makes one free panic and no later one.
func TestGuardTellsOnce(t *testing.T) {
	if mmap.Guards() == mmap.GuardNone {
		t.Skip("no pages can be guarded")
	}
	var guards, unguards int
	pages := func(p unsafe.Pointer) (wrap.Fencer, int) {
		below, offset := wrap.PagesAt(p)
		return thirdAndFirst{below, &guards, &unguards}, offset
	}
	g := wrap.NewGuard(largeHeap(t), wrap.WithPages(pages), wrap.Quarantine(1))
	p := must(g.Alloc(100, 0))
	g.FreeSized(p, 100, 0)
	poke(p, 50)
	for i := range 4 {
		q := must(g.Alloc(100, 0))
		text := panicText(func() { g.FreeSized(q, 100, 0) })
		require.Equal(t, i == 0, strings.Contains(text, "50 bytes into what was the block"), text)
	}
	require.ErrorIs(t, g.Close(), wrap.ErrDamage)
}

// TestGuardInvariants breaks each invariant and sees Verify name it.
func TestGuardInvariants(t *testing.T) {
	for name, corrupt := range wrap.GuardCorruptions {
		t.Run(name, func(t *testing.T) {
			h, err := alloc.NewHeap(largeUniverse(t))
			require.NoError(t, err)
			g := wrap.NewGuard(h, wrap.Canaries())
			freed, err := g.Alloc(100, 0)
			require.NoError(t, err)
			p, err := g.Alloc(100, 0)
			require.NoError(t, err)
			g.FreeSized(freed, 100, 0)
			require.NoError(t, g.Verify())
			corrupt(g, p)
			require.ErrorContains(t, g.Verify(), "wrap: Guard: "+name[:2]+": ")
			require.ErrorIs(t, h.Close(), alloc.ErrLeak)
		})
	}
}

// TestGuardOrder: around a stack there is no quarantine, a wrong order is refused without
// harm, and Close keeps to the order.
func TestGuardOrder(t *testing.T) {
	onGuards(t, func(t *testing.T, _ bool, options ...wrap.GuardOption) {
		stack, err := alloc.NewStack(largeHeap(t), 1<<20)
		require.NoError(t, err)
		g := wrap.NewGuard(wrap.NewLimit(stack, 1<<20), append(options, wrap.Quarantine(1<<20))...)
		var all []unsafe.Pointer
		for range 4 {
			p, err := g.Alloc(100, 1)
			require.NoError(t, err)
			all = append(all, p)
		}
		debug.Poison(bytesOf(all[0], 100), 7)
		for range 2 {
			panicsWith(t, "alloc: Stack.FreeSized: ", func() { g.FreeSized(all[0], 100, 1) })
		}
		require.NoError(t, g.Verify())
		require.EqualValues(t, 7, bytesOf(all[0], 100)[99])
		require.NotEqual(t, "-",
			(&room{t: t, a: g}).outcome(func(*room, int) string { poke(all[0], 100); return "" }, 0))
		if g.Verify() != nil {
			poke(all[0], 100)
		}
		g.FreeSized(all[3], 100, 1)
		require.Equal(t, 3, stack.Len())
		require.ErrorIs(t, g.Close(), alloc.ErrLeak)
		require.Zero(t, stack.Len())
		require.NoError(t, stack.Close())
	})
}

// TestGuardAccess runs the tests of Guard again in a process whose guards are mappings.
func TestGuardAccess(t *testing.T) {
	if mmap.Guards() != mmap.GuardMark {
		t.Skip("guards are not marks here")
	}
	child := exec.Command(os.Args[0], "-test.run", "^(TestGuard|TestMisuse)", "-test.v")
	child.Env = append(os.Environ(), "QUARRY_GUARDS=access")
	out, err := child.CombinedOutput()
	if strings.Contains(string(out), "Exec format error") {
		t.Skip("this program runs on an emulator and cannot start itself")
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestGuardBudget ")
}

// TestGuardBudget makes more blocks than the system has mappings for: those without
// faults have canaries, and what is given back makes faults again.
func TestGuardBudget(t *testing.T) {
	if mmap.Guards() != mmap.GuardAccess {
		t.Skip("guards spend no mappings: TestGuardAccess")
	}
	g := wrap.NewGuard(largeHeap(t))
	over := func(p unsafe.Pointer) string {
		word := (&room{t: t, a: g}).outcome(func(*room, int) string { poke(p, 100); return "" }, 0)
		if word == "Verify" {
			poke(p, 100)
		}
		return word
	}
	var all []unsafe.Pointer
	for range 10_000 {
		p, err := g.Alloc(100, 1)
		require.NoError(t, err)
		all = append(all, p)
	}
	require.Equal(t, "fault", over(all[0]))
	if last := over(all[len(all)-1]); last == "fault" {
		t.Log("the budget has room for all of them")
	} else {
		require.Equal(t, "Verify", last)
	}
	for _, p := range all {
		g.FreeSized(p, 100, 1)
	}
	p, err := g.Alloc(100, 1)
	require.NoError(t, err)
	require.Equal(t, "fault", over(p))
	g.FreeSized(p, 100, 1)
	require.NoError(t, g.Close())
}
