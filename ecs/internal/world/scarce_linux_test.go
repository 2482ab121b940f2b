package world_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/child"
	"quarry/internal/long"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// underLimit runs body in a child process with a limit that the shell sets.
func underLimit(t *testing.T, limit string, body func(t *testing.T)) {
	t.Helper()
	if !mmap.Real {
		t.Skip("universes of this build are Go objects; the Go runtime dies under such limits")
	}
	child.Run(t, limit, body)
}

// sizedWorld makes a world on a universe of its own of that size; 0 is the default.
func sizedWorld(size int) (*ecs.World, error) {
	if size == 0 {
		return ecs.NewWorld()
	}
	u, err := alloc.NewUniverse(alloc.Size(size))
	if err != nil {
		return nil, err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return w, nil
}

// closeWorld closes a world and its universe, which is closed already if it is the
// world's own.
func closeWorld(w *ecs.World) error { return errors.Join(w.Close(), w.Universe().Close()) }

// populate makes some entities and reads them back.
func populate(t *testing.T, w *ecs.World, n int) {
	t.Helper()
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	for i := range n {
		e := a.Create()
		require.Zero(t, *position.Get(e), "memory of another world shows")
		position.Set(e, ecstest.Position{X: float64(i), Y: 1})
	}
	require.Equal(t, n, a.Len())
}

// TestWorldsOneAfterTheOther opens and closes 100,000 worlds of many sizes, one after
// the other, and 20,000 without a limit: what one parks is carved and used again. A new
// range is reserved only where no parked one is large enough, so the ranges that cannot
// be joined, for others of the process lie between them, are of growing sizes: two times
// the largest is what they come to on average, and some runs draw a few more. The limit
// leaves room for that beside 64 MiB that the Go heap or a thread takes now and then.
func TestWorldsOneAfterTheOther(t *testing.T) {
	for limit, count := range map[string]int{child.NoLimit: 20_000, "ulimit -v 2200000": 100_000} {
		underLimit(t, limit, func(t *testing.T) {
			if !long.On() {
				count /= 10 // still a hundred times what the limit has room for
			}
			random := rand.New(rand.NewPCG(1, 23))
			largest := 0
			for i := range count {
				size := (1 + random.IntN(1<<random.IntN(6))) * mmap.Granule // up to 64 MiB
				if limit == child.NoLimit {
					size <<= random.IntN(9) // up to 16 GiB
				}
				if i%16 == 0 {
					size = 0
				}
				w, err := sizedWorld(size)
				require.NoError(t, err, "world %d, of %d bytes", i, size)
				largest = max(largest, w.Universe().Size())
				if i%64 == 0 {
					populate(t, w, 10)
				}
				require.NoError(t, closeWorld(w))
			}
			ranges, parked := mmap.Parked()
			t.Logf("%d worlds of at most %d MiB left %d MiB parked in %d ranges",
				count, largest>>20, parked>>20, ranges)
			require.LessOrEqual(t, parked, 8*largest)
		})
	}
}

// openAll opens worlds of the sizes in turn until none of them can be had. It returns
// the bytes of address space that they have, and the last refusal.
func openAll(sizes []int) (all []*ecs.World, bytes int, err error) {
	for i, refused := 0, 0; refused < len(sizes); i++ {
		w, e := sizedWorld(sizes[i%len(sizes)])
		if e != nil {
			refused, err = refused+1, e
			continue
		}
		refused = 0
		all, bytes = append(all, w), bytes+w.Universe().Size()
	}
	return all, bytes, err
}

// requireRefusal: the error is ours, and has the size that was requested, the limit, and what to
// do.
func requireRefusal(t *testing.T, err error, limit int) {
	t.Helper()
	require.ErrorIs(t, err, alloc.ErrReserve)
	require.ErrorIs(t, err, mmap.ErrAddressSpace)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Regexp(t,
		`alloc: NewUniverse: [0-9]+ bytes of address space(, or 16777216 at least)? `+
			`\(ask for less with alloc.Size, close universes, or raise the limit that ulimit -v shows\): `, err.Error())
	require.ErrorContains(t, err, fmt.Sprintf("the limit is %d, of which ", limit<<10))
}

// requireGoLives: the Go runtime can still take 16 MiB and collect.
func requireGoLives(t *testing.T) {
	t.Helper()
	held := make([][]byte, 16)
	for i := range held {
		held[i] = make([]byte, 1<<20)
	}
	runtime.GC()
	require.Len(t, held, 16)
}

// TestWorldsAtOnce opens as many worlds as a limit allows, hears of the refusal, works
// with all of them, closes every second one and then all, and gets as many again.
func TestWorldsAtOnce(t *testing.T) {
	for _, limit := range []int{2_000_000, 4_000_000, 20_000_000} { // KiB
		if testing.Short() && limit > 4_000_000 {
			continue
		}
		underLimit(t, fmt.Sprintf("ulimit -v %d", limit), func(t *testing.T) {
			for _, sizes := range [][]int{{0}, {32 << 20}, {4 << 20, 64 << 20, 0, 10 << 20}} {
				all, bytes, err := openAll(sizes)
				requireRefusal(t, err, limit)
				requireGoLives(t)
				require.NotEmpty(t, all)
				for _, w := range all {
					populate(t, w, 100)
				}
				for i := 0; i < len(all); i += 2 {
					require.NoError(t, closeWorld(all[i]))
				}
				more, _, err := openAll([]int{limit / 2_000_000 << 20})
				requireRefusal(t, err, limit)
				for _, w := range more {
					require.NoError(t, closeWorld(w))
				}
				for i := 1; i < len(all); i += 2 {
					require.NoError(t, all[i].Verify())
					require.NoError(t, closeWorld(all[i]))
				}
				again, bytesAgain, err := openAll(sizes)
				requireRefusal(t, err, limit)
				for _, w := range again {
					populate(t, w, 10)
					require.NoError(t, closeWorld(w))
				}
				t.Logf("%v: %d worlds of %d MiB in all, then %d small ones, then %d of %d MiB in all",
					sizes, len(all), bytes>>20, len(more), len(again), bytesAgain>>20)
				require.GreaterOrEqual(t, 4*bytesAgain, 3*bytes)
				requireGoLives(t)
			}
		})
	}
}

// TestParkedWorldsLeaveGoItsRoom opens worlds for which parked addresses suffice, beside
// data that grows by 8 MiB of Go memory with each: the refusal comes while the Go
// runtime, which has no parked addresses, has room for more. What is closed and left to
// the collector then makes room again. Of a limit a quarter may be parked. Several
// processes, because each has its heap begin at a random address in the first 64 MiB.
func TestParkedWorldsLeaveGoItsRoom(t *testing.T) {
	for i := range long.N(4, 100) {
		limit := 4_000_000 + i // KiB; each child has its own
		underLimit(t, fmt.Sprintf("ulimit -v %d", limit), func(t *testing.T) {
			fillUnderParked(t, limit)
		})
	}
}

func fillUnderParked(t *testing.T, limit int) {
	u, err := alloc.NewUniverse(alloc.Size(900 << 20))
	require.NoError(t, err)
	require.NoError(t, u.Close())
	last := 0
	for range 3 {
		var open []*ecs.World
		var data [][]byte
		for {
			w, err := sizedWorld(2 << 20)
			if err != nil {
				requireRefusal(t, err, limit)
				break
			}
			open, data = append(open, w), append(data, make([]byte, 8<<20))
		}
		t.Logf("%d worlds, %d MiB", len(data), 8*len(data))
		_, parked := mmap.Parked()
		require.Greater(t, parked, 64<<20, "it was not the addresses of worlds that were short")
		requireGoLives(t)
		require.Greater(t, 2*len(open), last)
		last = len(open)
		for _, w := range open {
			require.NoError(t, closeWorld(w))
		}
	}
}

// TestWorldsFromTwoGoroutines has two goroutines open and close worlds of many sizes
// under a limit that does not do for all of them.
func TestWorldsFromTwoGoroutines(t *testing.T) {
	underLimit(t, "ulimit -v 2500000", func(t *testing.T) {
		var all sync.WaitGroup
		var opened, refused [2]int
		for g := range opened {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(g), 5))
				var open []*ecs.World
				for range 3000 {
					if len(open) > 0 && random.IntN(2) == 0 {
						i := random.IntN(len(open))
						if err := closeWorld(open[i]); err != nil {
							t.Error(err)
						}
						open[i] = open[len(open)-1]
						open = open[:len(open)-1]
						continue
					}
					w, err := sizedWorld(random.IntN(4) * (1 + random.IntN(20)) * mmap.Granule)
					if err == nil {
						open = append(open, w)
						opened[g]++
					} else if refused[g]++; !errors.Is(err, mmap.ErrAddressSpace) {
						t.Error(err)
					}
				}
				for _, w := range open {
					if err := closeWorld(w); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		t.Logf("opened %v, refused %v", opened, refused)
		requireGoLives(t)
	})
}
