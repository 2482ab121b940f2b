package container

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// openHeap returns a heap that must have no blocks left when the test ends.
func openHeap(t testing.TB, options ...alloc.Option) *alloc.Heap {
	t.Helper()
	u, err := alloc.NewUniverse(options...)
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	})
	return h
}

var errRefused = errors.New("refused on purpose")

// refuser refuses allocations while a flag is set. It is no Reallocator, so blocks move.
type refuser struct {
	alloc.Allocator
	refuse bool
}

func (r *refuser) Alloc(size, align int) (unsafe.Pointer, error) {
	if r.refuse {
		return nil, errRefused
	}
	return r.Allocator.Alloc(size, align)
}

func (r *refuser) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return !r.refuse && r.Allocator.ResizeSized(p, size, align, to)
}

func (r *refuser) Unwrap() alloc.Allocator { return r.Allocator }

// atMost refuses blocks of more than most bytes.
type atMost struct {
	alloc.Allocator
	most int
}

func (a atMost) Alloc(size, align int) (unsafe.Pointer, error) {
	if size > a.most {
		return nil, errRefused
	}
	return a.Allocator.Alloc(size, align)
}

func (a atMost) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	return to <= a.most && a.Allocator.ResizeSized(p, size, align, to)
}

// A tape is a stream of choices; at its end all are 0.
type tape struct{ rest []byte }

func (p *tape) next(n int) int {
	if len(p.rest) == 0 {
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return int(b) % n
}

func (p *tape) ended() bool { return len(p.rest) == 0 }

// withTapes runs a stream of operations on random tapes over several allocators.
func withTapes(t *testing.T, tapes, length int, run func(t testing.TB, from alloc.Allocator, p *tape)) {
	r := rand.New(rand.NewPCG(1, 2))
	if testing.Short() {
		tapes = (tapes + 2) / 3
	}
	for range tapes {
		bytes := make([]byte, length)
		for i := range bytes {
			bytes[i] = byte(r.Uint32())
		}
		runTape(t, bytes, run)
	}
}

// runTape runs a stream over a heap, whose blocks end in guard bytes, and over an arena.
func runTape(t testing.TB, bytes []byte, run func(t testing.TB, from alloc.Allocator, p *tape)) {
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	guard := wrap.NewGuard(h, wrap.Canaries())
	run(t, guard, &tape{bytes})
	require.NoError(t, guard.Verify())
	require.NoError(t, guard.Close())
	arena := alloc.NewArena(h)
	run(t, arena, &tape{bytes})
	arena.Close()
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
}

// gone runs f after each way in which an allocator gives up a container's blocks.
func gone(t *testing.T, make func(alloc.Allocator) (use func(), name string, end func())) {
	lost := ": the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)"
	h := openHeap(t)
	arena := alloc.NewArena(h)
	defer arena.Close()
	_, err := arena.Alloc(8, 8)
	require.NoError(t, err)
	before := arena.Mark()
	use, name, end := make(arena)
	use()
	arena.Rewind(before)
	require.PanicsWithValue(t, name+lost, use)
	end()
	use, name, end = make(arena)
	use()
	arena.Reset(0)
	require.PanicsWithValue(t, name+lost, use)
	end()

	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	closed, err := alloc.NewHeap(u)
	require.NoError(t, err)
	use, name, end = make(closed)
	use()
	require.ErrorIs(t, closed.Close(), alloc.ErrLeak)
	require.PanicsWithValue(t, name+lost, use)
	end()
	require.NoError(t, u.Close())

	use, name, end = make(h)
	use()
	end()
	require.Panics(t, use)
	end()

	stack, err := alloc.NewStack(h, 1<<20)
	require.NoError(t, err)
	require.PanicsWithValue(t, "container: New"+strings.Split(name[len("container: "):], ".")[0]+
		": the allocator frees in order (*alloc.Stack), a container does not", func() { make(stack) })
	require.NoError(t, stack.Close())
}

// everyFailure runs f with every allocation refused in turn.
func everyFailure(t *testing.T, f func(a alloc.Allocator) error) {
	t.Helper()
	require.NoError(t, alloc.CheckEveryFailure(func(failures *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(64<<20), alloc.InjectFailures(failures))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		if err != nil {
			return errors.Join(err, u.Close())
		}
		return errors.Join(f(h), h.Close(), u.Close())
	}), "of the heap")
	require.NoError(t, alloc.CheckEveryFailure(func(failures *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(64 << 20))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		if err != nil {
			return errors.Join(err, u.Close())
		}
		return errors.Join(f(wrap.NewFail(h, failures)), h.Close(), u.Close())
	}), "of every block")
}
