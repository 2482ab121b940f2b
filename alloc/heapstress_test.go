package alloc_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// soak is how long a stress test runs: QUARRY_SOAK, or not long.
func soak(t *testing.T) time.Duration {
	d, err := time.ParseDuration(os.Getenv("QUARRY_SOAK"))
	if err != nil {
		d = 300 * time.Millisecond
	}
	t.Logf("%v; QUARRY_SOAK=60s for longer", d)
	return d
}

// cookie fills a block of at least 8 bytes with a number that follows from its
// address and size; wrong reports whether one is not there any more.
func cookie(p unsafe.Pointer, size int) uint64 {
	return uint64(uintptr(p))*0x9E3779B97F4A7C15 ^ uint64(size)
}

func mark(p unsafe.Pointer, size int) {
	b := bytesOf(p, size)
	binary.NativeEndian.PutUint64(b, cookie(p, size))
	b[size-1] ^= 0x5A
}

func wrong(p unsafe.Pointer, size int) bool {
	b := bytesOf(p, size)
	b[size-1] ^= 0x5A
	ok := binary.NativeEndian.Uint64(b) == cookie(p, size)
	binary.NativeEndian.PutUint64(b, 0)
	return !ok
}

type sized struct {
	p    unsafe.Pointer
	size int
}

// stress is what the goroutines of a stress test share.
type stress struct {
	h       *alloc.Heap
	until   time.Time
	most    int        // blocks that a goroutine keeps at most; 0: 400
	locals  int        // a Local is opened, or closed, every so many steps; 0: 50 and 500
	passing chan sized // blocks on their way from one goroutine to another
	bad     atomic.Int64
	ops     atomic.Int64
}

// work allocates and frees through the heap and through Locals that it opens and
// closes, and hands half of its blocks to others.
func (s *stress) work(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 77))
	most, opens, closes := 400, 50, 500
	if s.most > 0 {
		most, opens, closes = s.most, s.locals, s.locals
	}
	var own []sized
	var l *alloc.Local
	through := func() allocator {
		if l != nil && rng.IntN(4) > 0 {
			return l
		}
		return s.h
	}
	free := func(b sized) {
		if wrong(b.p, b.size) {
			s.bad.Add(1)
		}
		through().Free(b.p)
	}
	for step := 0; step%64 != 0 || time.Now().Before(s.until); step++ {
		switch {
		case l == nil && rng.IntN(opens) == 0:
			l = s.h.NewLocal()
		case l != nil && rng.IntN(closes) == 0:
			l.Close()
			l = nil
		}
		if len(own) < most && rng.IntN(2) == 0 {
			size := 8 + rng.IntN(200)
			switch k := rng.IntN(200); {
			case s.most > 0 && k < 150: // slabs of two to five slots
				size = 2689 + rng.IntN(8192-2688)
			case k == 0:
				size = 8 + rng.IntN(60_000)
			case k < 4:
				size = 8 + rng.IntN(8000)
			}
			p, err := through().Alloc(size, 0)
			if err != nil {
				return err
			}
			mark(p, size)
			own = append(own, sized{p, size})
		} else if len(own) > 0 {
			i := rng.IntN(len(own))
			b := own[i]
			own[i] = own[len(own)-1]
			own = own[:len(own)-1]
			select {
			case s.passing <- b:
			default:
				free(b)
			}
		}
		select {
		case b := <-s.passing:
			free(b)
		default:
		}
		if rng.IntN(5000) == 0 {
			s.h.Stats()
		}
		s.ops.Add(1)
	}
	for _, b := range own {
		free(b)
	}
	if l != nil {
		l.Close()
	}
	return nil
}

func TestHeapParallel(t *testing.T) {
	h := newHeap(t, alloc.Size(32<<20))
	s := &stress{h: h, until: time.Now().Add(soak(t)), passing: make(chan sized, 200)}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for g := range errs {
		wg.Go(func() { errs[g] = s.work(uint64(g)) })
	}
	wg.Wait()
	for len(s.passing) > 0 {
		b := <-s.passing
		h.Free(b.p)
	}
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Zero(t, s.bad.Load(), "blocks whose cookie was destroyed")
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().LiveBlocks)
	t.Logf("%d operations, %d shards", s.ops.Load(), h.Shards())
	require.NoError(t, h.Trim())
	require.Equal(t, alloc.HeapStats{}, h.Stats())
}

// TestLocalsCloseWhileOthersFree: producers allocate from a Local of their own,
// close it and go on with the next one, while consumers free the blocks.
func TestLocalsCloseWhileOthersFree(t *testing.T) {
	h := newHeap(t, alloc.Size(32<<20))
	until := time.Now().Add(soak(t))
	blocks := make(chan []unsafe.Pointer, 16)
	var producers, consumers sync.WaitGroup
	for g := range 3 {
		producers.Go(func() {
			for round := 0; time.Now().Before(until); round++ {
				l := h.NewLocal()
				for range 20 {
					list := make([]unsafe.Pointer, 0, 100)
					for i := range 100 {
						p, err := l.Alloc(32+(g+i+round)%5*300, 0)
						if err != nil {
							panic(fmt.Sprint(err))
						}
						bytesOf(p, 32)[31] = 7
						list = append(list, p)
					}
					blocks <- list
				}
				l.Close()
			}
		})
	}
	for g := range 3 {
		consumers.Go(func() {
			l := h.NewLocal()
			defer l.Close()
			for list := range blocks {
				for i, p := range list {
					if bytesOf(p, 32)[31] != 7 {
						panic("a block was overwritten")
					}
					if (i+g)%2 == 0 {
						l.Free(p)
					} else {
						h.Free(p)
					}
				}
			}
		})
	}
	producers.Wait()
	close(blocks)
	consumers.Wait()
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().LiveBlocks)
}
