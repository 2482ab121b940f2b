package alloc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// newUniverse makes a universe that must be empty and sound at the test's end.
func newUniverse(t testing.TB, options ...alloc.Option) *alloc.Universe {
	t.Helper()
	u, err := alloc.NewUniverse(options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, u.Verify())
		require.NoError(t, u.Close())
	})
	return u
}

func TestAllocGivesWritableMemory(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20))
	first, got, err := u.Alloc(3)
	require.NoError(t, err)
	require.Equal(t, 3, got)
	b := u.Bytes(first, 3)
	require.Len(t, b, 3*alloc.ChunkSize)
	for i := range b {
		b[i] = byte(i)
	}
	p := u.Pointer(first)
	require.Zero(t, uintptr(p)%alloc.ChunkSize, "chunks are aligned to their size")
	c, ok := u.IndexOf(unsafe.Add(p, 2*alloc.ChunkSize+17))
	require.True(t, ok)
	require.Equal(t, first+2, c)
	_, ok = u.IndexOf(unsafe.Pointer(&got))
	require.False(t, ok)
	s := u.Stats()
	require.Equal(t, alloc.Stats{Reserved: 8 << 20, Committed: mmap.Granule, Live: 3 * alloc.ChunkSize,
		LiveChunks: 3, LongestRun: 64, FreeRuns: [7]int{5: 1, 6: 7}}, s)
	resident, err := u.Resident()
	if runtime.GOOS == "linux" && mmap.Real {
		require.NoError(t, err)
		require.GreaterOrEqual(t, resident, 3*alloc.ChunkSize)
	} else {
		require.ErrorIs(t, err, mmap.ErrUnsupported)
	}
	u.Free(first, 3)
	require.PanicsWithValue(t, "alloc: Universe.Bytes: chunk 0 of [0, 1) is not in use", func() { u.Bytes(0, 1) })
}

func TestAllocHalvesOnlyWhenNothingFits(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20)) // two megachunks
	a, err := u.AllocExact(64)
	require.NoError(t, err)
	b, err := u.AllocExact(33)
	require.NoError(t, err)
	first, got, err := u.Alloc(64) // 31 are left: 64 and 32 do not fit, 16 do
	require.NoError(t, err)
	require.Equal(t, 16, got)
	_, err = u.AllocExact(16)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.ErrorContains(t, err, "no room for 16 chunks, 1851392 of 2097152 bytes are in use")
	u.Free(first, got)
	u.Free(b, 33)
	u.Free(a, 64)
}

func TestExhaustionIsExact(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	var all []alloc.ChunkIndex
	for {
		c, _, err := u.Alloc(1)
		if err != nil {
			require.ErrorIs(t, err, alloc.ErrFull)
			break
		}
		all = append(all, c)
	}
	require.Len(t, all, 256)
	require.NoError(t, u.Verify())
	for _, c := range all {
		u.Free(c, 1)
	}
}

func TestFreeRefuses(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	first, err := u.AllocExact(4)
	require.NoError(t, err)
	require.Zero(t, first)
	for text, f := range map[string]func(){
		"alloc: Universe.Free: chunk 4 of [2, 5) is not in use (freed twice?)":                               func() { u.Free(2, 3) },
		"alloc: Universe.Free: [0, 0+0) is not a run of 1..64 chunks inside one of 2 megachunks":             func() { u.Free(0, 0) },
		"alloc: Universe.Free: [0, 0+65) is not a run of 1..64 chunks inside one of 2 megachunks":            func() { u.Free(0, 65) },
		"alloc: Universe.Free: [60, 60+5) is not a run of 1..64 chunks inside one of 2 megachunks":           func() { u.Free(60, 5) },
		"alloc: Universe.Free: [128, 128+1) is not a run of 1..64 chunks inside one of 2 megachunks":         func() { u.Free(128, 1) },
		"alloc: Universe.Free: [1048576, 1048576+1) is not a run of 1..64 chunks inside one of 2 megachunks": func() { u.Free(1<<20, 1) },
		"alloc: Universe.Alloc: n=0 is not in 1..64":                                                         func() { _, _, _ = u.Alloc(0) },
		"alloc: Universe.Bytes: n=-1 is not in 1..64":                                                        func() { u.Bytes(0, -1) },
		"alloc: Universe.Alloc: n=65 is not in 1..64":                                                        func() { _, _, _ = u.Alloc(65) },
		"alloc: Universe.AllocExact: n=-1 is not in 1..64":                                                   func() { _, _ = u.AllocExact(-1) },
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, u.Verify())
	}
	u.Free(first, 4)
	require.PanicsWithValue(t, "alloc: Universe.Free: chunk 0 of [0, 4) is not in use (freed twice?)",
		func() { u.Free(first, 4) })
}

func TestNewUniverseRefuses(t *testing.T) {
	for _, size := range []int{0, -1, alloc.MaxSize + 1} {
		_, err := alloc.NewUniverse(alloc.Size(size))
		require.ErrorIs(t, err, alloc.ErrTooBig)
	}
}

func TestCloseRefusesWhileInUse(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	require.ErrorIs(t, u.Close(), alloc.ErrInUse)
	u.Free(c, 1)
	require.NoError(t, u.Close())
	require.NoError(t, u.Close(), "closing twice does nothing")
	require.PanicsWithValue(t, "alloc: Universe.Alloc: the universe is closed", func() { _, _, _ = u.Alloc(1) })
	require.PanicsWithValue(t, "alloc: Universe.Free: chunk 0: the universe is closed", func() { u.Free(c, 1) })
}

// TestFailedCommitRollsBackExactly makes every commit of a series fail in turn.
func TestFailedCommitRollsBackExactly(t *testing.T) {
	refused := errors.New("refused by the test")
	for failAt := 1; failAt <= 4; failAt++ {
		region, err := mmap.Reserve(8 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, FailAt: failAt, Err: refused}
		u, err := alloc.NewUniverse(alloc.WithPages(pages))
		require.NoError(t, err)
		var live []alloc.ChunkIndex
		failed := 0
		for len(live) < 8 {
			first, err := u.AllocExact(40)
			if err != nil {
				require.ErrorIs(t, err, refused)
				require.ErrorIs(t, err, alloc.ErrCommit)
				require.Equal(t, len(live)*40, u.Stats().LiveChunks, "nothing of the failed run stays in use")
				failed++
			} else {
				live = append(live, first)
			}
			require.NoError(t, u.Verify())
		}
		require.Equal(t, 1, failed)
		for _, c := range live {
			u.Free(c, 40)
		}
		require.NoError(t, u.Verify())
		require.NoError(t, u.Close())
	}
}

func TestTrimReturnsEmptyMemory(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20), alloc.Retain(4<<20), alloc.PurgeAfter(0))
	var runs []alloc.ChunkIndex
	for range 20 {
		for range 2 {
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			runs = append(runs, c)
		}
	}
	require.Equal(t, 40<<20, u.Stats().Committed)
	copy(u.Bytes(runs[39], 1), "old")
	for i, c := range runs {
		u.Free(c, 64)
		require.NoError(t, u.Verify(), "after free %d", i)
	}
	require.LessOrEqual(t, u.Stats().Committed, 10<<20, "emptied memory goes back by itself")
	_, err := u.Trim(0)
	require.NoError(t, err)
	require.Zero(t, u.Stats().Committed)
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	u.Free(c, 1)
}

// TestFailedDecommitLosesNothing has the system refuse to take memory back.
func TestFailedDecommitLosesNothing(t *testing.T) {
	refused := errors.New("refused by the test")
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	u := newUniverse(t, alloc.WithPages(&alloc.FailingPages{Region: region, FailAt: 2, Err: refused}))
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	u.Free(c, 1)
	_, err = u.Trim(0)
	require.ErrorIs(t, err, refused)
	require.NoError(t, u.Verify())
	c, _, err = u.Alloc(1)
	require.NoError(t, err)
	u.Bytes(c, 1)[0] = 1
	u.Free(c, 1)
	returned, err := u.Trim(0)
	require.NoError(t, err)
	require.Equal(t, mmap.Granule, returned)
}

// TestCommittedRoomIsUsedBeforeARefusal has a full first granule with a hole
// elsewhere: a refused commit does not hide committed chunks that are free.
func TestCommittedRoomIsUsedBeforeARefusal(t *testing.T) {
	refused := errors.New("refused by the test")
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	pages := &alloc.FailingPages{Region: region, Err: refused}
	u := newUniverse(t, alloc.WithPages(pages))
	var runs []alloc.ChunkIndex
	for range 3 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		runs = append(runs, c)
	}
	u.Free(runs[0], 64)
	u.Free(runs[1], 64)
	_, err = u.Trim(0) // granule 0 is reserved now, granule 1 half in use
	require.NoError(t, err)
	pages.FailAt = pages.Calls + 1
	c, err := u.AllocExact(64)
	require.NoError(t, err)
	require.Equal(t, alloc.ChunkIndex(192), c)
	pages.FailAt = pages.Calls + 1
	_, err = u.AllocExact(1)
	require.ErrorIs(t, err, refused)
	require.NoError(t, u.Verify())
	u.Free(c, 64)
	u.Free(runs[2], 64)
}

// TestCloseAfterARefusal has the system refuse while the universe closes: it is
// open and sound, and closes at the second try.
func TestCloseAfterARefusal(t *testing.T) {
	refused := errors.New("refused by the test")
	for _, err := range []error{refused, fmt.Errorf("%w: %w", mmap.ErrAccess, refused)} {
		region, e := mmap.Reserve(8 << 20)
		require.NoError(t, e)
		pages := &alloc.FailingPages{Region: region, FailAt: 2, Err: err}
		u, e := alloc.NewUniverse(alloc.WithPages(pages))
		require.NoError(t, e)
		c, e := u.AllocExact(1)
		require.NoError(t, e)
		u.Free(c, 1)
		require.ErrorIs(t, u.Close(), refused)
		require.NoError(t, u.Verify())
		c, e = u.AllocExact(1)
		require.NoError(t, e)
		u.Bytes(c, 1)[0] = 1
		u.Free(c, 1)
		require.NoError(t, u.Close())
		require.NoError(t, u.Verify())
	}
}

func TestVerifyNamesTheInvariant(t *testing.T) {
	u := newUniverse(t, alloc.Size(6<<20))
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	for _, name := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I8 noted", "I9"} {
		restore := u.Corrupt(name)
		require.ErrorContains(t, u.Verify(), "alloc: "+name[:2]+":")
		restore()
		require.NoError(t, u.Verify())
	}
	u.Free(c, 1)
}

// TestUniverseAgainstModel runs a long stream of operations beside a plain array with a flag for
// each chunk in use, and compares after every step.
func TestUniverseAgainstModel(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20), alloc.Retain(2<<20))
	rng := rand.New(rand.NewPCG(7, 7))
	type run struct {
		first alloc.ChunkIndex
		n     int
	}
	model := make([]bool, 512)
	var live []run
	for step := range 20_000 {
		if rng.IntN(2) == 0 || len(live) == 0 {
			n := 1 + rng.IntN(1+rng.IntN(64))
			first, got, err := u.Alloc(n)
			if err != nil {
				require.ErrorIs(t, err, alloc.ErrFull)
				require.NotContains(t, model, false, "step %d: full, but the model has a free chunk", step)
				continue
			}
			require.LessOrEqual(t, got, n)
			require.Equal(t, int(first)/64, (int(first)+got-1)/64, "a run stays inside its megachunk")
			for i := range got {
				require.False(t, model[int(first)+i], "step %d: chunk %d was handed out twice", step, int(first)+i)
				model[int(first)+i] = true
			}
			u.Bytes(first, got)[0] = byte(step)
			live = append(live, run{first, got})
		} else {
			i := rng.IntN(len(live))
			r := live[i]
			u.Free(r.first, r.n)
			for k := range r.n {
				model[int(r.first)+k] = false
			}
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		if step%64 == 0 {
			require.NoError(t, u.Verify(), "step %d", step)
			for c, used := range model {
				require.Equal(t, used, u.InUse(alloc.ChunkIndex(c)), "step %d chunk %d", step, c)
			}
		}
	}
	for _, r := range live {
		u.Free(r.first, r.n)
	}
}

// TestUniverseParallel has goroutines allocate, write, check and free while
// memory is trimmed under their feet.
func TestUniverseParallel(t *testing.T) {
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0))
	stop := make(chan struct{})
	var trimmer, workers sync.WaitGroup
	trimmer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := u.Trim(0); err != nil {
					t.Error(err)
				}
				runtime.Gosched() // on a system of one thread, the others do not run otherwise
			}
		}
	})
	for g := range 4 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 2000 {
				first, got, err := u.Alloc(1 + rng.IntN(64))
				if err != nil {
					t.Errorf("goroutine %d: %v", g, err)
					return
				}
				b := u.Bytes(first, got)
				mark := byte(g*50 + i%50 + 1)
				for at := 0; at < len(b); at += 4096 {
					b[at] = mark
				}
				for at := 0; at < len(b); at += 4096 {
					if b[at] != mark {
						t.Errorf("chunk %d: got mark %d want %d", first, b[at], mark)
					}
				}
				u.Free(first, got)
			}
		})
	}
	workers.Wait()
	close(stop)
	trimmer.Wait()
}

func ExampleUniverse() {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	first, got, err := u.Alloc(3)
	fmt.Println(first, got, err, u.Stats().Live, u.Stats().Committed)
	u.Free(first, got)
	fmt.Println(u.Stats().Live, u.Close())
	// Output:
	// 0 3 <nil> 49152 2097152
	// 0 <nil>
}
