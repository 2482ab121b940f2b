package ecs_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
)

// The tests of the defects that the protocol had where it comes from. In debug and
// race builds every window of the protocol yields, so that others get between.

// TestDefectAWrongBlockIsRestored: who waited for a block restored the count of the
// one whose number was the position in the list, so the block stayed busy for ever.
func TestDefectAWrongBlockIsRestored(t *testing.T) {
	w := newWorld(t)
	ids := reserve(t, w, 3*blockSize)
	var mixed []ecs.Entity // positions that say nothing of the block
	for i := range blockSize {
		mixed = append(mixed, ids[2*blockSize+i], ids[blockSize+i], ids[i])
	}
	release := w.HoldBlock(1)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { w.Unreserve(mixed[i*blockSize : (i+1)*blockSize]) })
	}
	for range 1000 {
		runtime.Gosched() // they come to wait
	}
	release()
	wg.Wait()
	require.NoError(t, w.Verify(), "no block is busy")
	reserve(t, w, 3*blockSize)
	require.Equal(t, 3, w.SharedBlocks(), "every block is of use again")
}

// TestDefectBParityOnFree: freeing an index under its current, even version made it
// odd and the count too low, up to -1, which is busy.
func TestDefectBParityOnFree(t *testing.T) {
	w := newWorld(t)
	ids := reserve(t, w, 2)
	ref, version := ids[0].Bits()
	for range 3 {
		require.Panics(t, func() { w.Unreserve([]ecs.Entity{ecs.MakeEntity(ref, version-1)}) }, "reserved")
	}
	w.Unreserve(ids)
	for v := version - 1; v < version+4; v++ {
		e := ecs.MakeEntity(ref, v)
		require.Panics(t, func() { w.Unreserve([]ecs.Entity{e}) }, "free, version %d", v)
		require.False(t, w.Destroy(e))
		require.False(t, w.Alive(e))
	}
	require.NoError(t, w.Verify())
}

// TestDefectCIndexOutOfRange: release builds did not look at the index, and -1 was
// a slot before the first.
func TestDefectCIndexOutOfRange(t *testing.T) {
	w := newWorld(t)
	a := ecs.NewArchetype(w)
	e := a.Create()
	tag, _ := e.Bits()
	tag &^= ecs.MaxEntities - 1
	try := func() {
		for _, index := range []uint32{0, 1, 2, blockSize, ecs.MaxEntities / 2, ecs.MaxEntities - 2*blockSize, ecs.MaxEntities - 1} {
			for _, version := range []uint32{0, 1, 2, 3, 1<<32 - 1} {
				f := ecs.MakeEntity(index|tag, version)
				require.Panics(t, func() { w.Unreserve([]ecs.Entity{f}) }, "%v", f)
				require.Panics(t, func() { _, _ = a.CreateReserved([]ecs.Entity{f}) }, "%v", f)
				require.Equal(t, f == e, w.Alive(f))
			}
		}
		for _, f := range []ecs.Entity{ecs.MakeEntity(1<<32-1, 1), ecs.MakeEntity(1<<31|tag|1, 1), ecs.Null} {
			require.Panics(t, func() { w.Unreserve([]ecs.Entity{f}) }, "%v", f)
			require.False(t, w.Alive(f))
		}
	}
	try() // before there is a lent block
	reserve(t, w, 1)
	try()
	require.NoError(t, w.Verify())
}

// TestDefectDScanOfAllBlocks: each call read the counts of all blocks from the first
// on. Ours begins where the last one found something and never looks at full ones.
func TestDefectDScanOfAllBlocks(t *testing.T) {
	const full = 70 // more than a word of blocks
	w := newWorld(t)
	reserve(t, w, full*blockSize)
	for k := range full {
		defer w.HoldBlock(k)()
	}
	reserve(t, w, 10)
	require.Equal(t, full+1, w.SharedBlocks())
	require.Equal(t, full, w.SearchStart())
	reserve(t, w, 10)
	require.Equal(t, full, w.SearchStart(), "where the last search ended")
}

// TestDefectEExhaustion: a call that ran out kept what it had taken, and it ran out
// also when the blocks with room were busy.
func TestDefectEExhaustion(t *testing.T) {
	const blocks, workers = 2, 4
	u := newUniverse(t, 64<<20)
	w := newWorld(t, ecs.WithUniverse(u))
	defer w.LeaveBlocks(blocks)()
	live := u.Stats().LiveChunks
	text := "ecs: World.Reserve: the limit is 134217727 entities a world"
	require.EqualError(t, w.Reserve(make([]ecs.Entity, blocks*blockSize+1)), text)
	require.Equal(t, live, u.Stats().LiveChunks, "what fails makes no block")
	keep := reserve(t, w, 1)
	require.EqualError(t, w.Reserve(make([]ecs.Entity, blocks*blockSize)), text)
	require.Equal(t, 1, w.Stats().Reserved)

	release := w.HoldBlock(0)
	done := make(chan error)
	go func() { done <- w.Reserve(make([]ecs.Entity, blocks*blockSize-1)) }()
	release()
	require.NoError(t, <-done, "a busy block is waited for when nothing else is left")
	require.EqualError(t, w.Reserve(keep), text)
	require.Equal(t, blocks*blockSize, w.Stats().Reserved)

	w2 := newWorld(t, ecs.WithUniverse(u))
	defer w2.LeaveBlocks(blocks)()
	var wg sync.WaitGroup
	for range workers { // together exactly as many as there are
		wg.Go(func() {
			ids := make([]ecs.Entity, blocks*blockSize/workers)
			for range 30 {
				if err := w2.Reserve(ids); err != nil {
					t.Errorf("spurious: %v", err)
					return
				}
				w2.Unreserve(ids)
			}
		})
	}
	wg.Wait()
	require.Zero(t, w2.Stats().Reserved)
	require.LessOrEqual(t, w2.SharedBlocks(), blocks)
}

// TestDefectENoMemory fails in the universe, which then has what it had before.
func TestDefectENoMemory(t *testing.T) {
	u := newUniverse(t, 2<<20)
	w := newWorld(t, ecs.WithUniverse(u))
	live := u.Stats().LiveChunks
	err := w.Reserve(make([]ecs.Entity, 40*blockSize))
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, live, u.Stats().LiveChunks)
	require.Zero(t, w.SharedBlocks())
	require.NoError(t, w.Verify())
	reserve(t, w, 10*blockSize)
}

// TestDefectFBusyInSums: a busy block counted as -1 entities.
func TestDefectFBusyInSums(t *testing.T) {
	w := newWorld(t)
	reserve(t, w, blockSize+100)
	for k := range 2 {
		release := w.HoldBlock(k)
		require.Equal(t, blockSize+100, w.Stats().Reserved)
		release()
	}
}

// TestDefectGLowestIndexFirst: an index that was given back was the next to come.
func TestDefectGLowestIndexFirst(t *testing.T) {
	w := newWorld(t)
	others := reserve(t, w, 2*blockSize-10)
	w.Unreserve(others[:100]) // room in the first block
	first := reserve(t, w, 1)[0]
	w.Unreserve([]ecs.Entity{first})
	for range 9 + 100 - 1 {
		require.NotEqual(t, first.Index(), reserve(t, w, 1)[0].Index(), "all others come before it")
	}
}

// TestDefectHVersionsGoBack: in some cases a version began at 1 again.
func TestDefectHVersionsGoBack(t *testing.T) {
	w := newWorld(t)
	a := ecs.NewArchetype(w)
	r := rand.New(rand.NewPCG(1, 2))
	last := map[int]uint32{}
	for range 200 {
		ids := reserve(t, w, r.IntN(2000))
		for _, e := range ids {
			require.Greater(t, e.Version(), last[e.Index()])
			last[e.Index()] = e.Version()
		}
		n := r.IntN(len(ids) + 1)
		create(t, a, ids[:n])
		w.Unreserve(ids[n:])
		require.Panics(t, func() { w.Unreserve(append(ids[:n:n], ecs.Null)) }, "an undone call")
		for _, e := range ids[:n] {
			w.Destroy(e)
		}
	}
	require.NoError(t, w.Verify())
}

// TestDefectIOwnerIsDeterministic: ids depended on what other threads did.
func TestDefectIOwnerIsDeterministic(t *testing.T) {
	run := func(others int) (hash uint64, ids []ecs.Entity) {
		w := newWorld(t)
		a := ecs.NewArchetype(w, ecs.Register[Position](w))
		var stop atomic.Bool
		var wg sync.WaitGroup
		for k := range others {
			wg.Go(func() {
				for list := make([]ecs.Entity, 100+k); !stop.Load(); {
					if w.Reserve(list) == nil && k != 0 {
						w.Unreserve(list)
					}
					if k == 0 && w.SharedBlocks() > 20 {
						return
					}
				}
			})
		}
		r := rand.New(rand.NewPCG(5, 6))
		for range 3 * blockSize {
			if len(ids) > 0 && r.IntN(3) == 0 {
				w.Destroy(ids[r.IntN(len(ids))])
			} else {
				ids = append(ids, a.Create())
			}
		}
		stop.Store(true)
		wg.Wait()
		require.NoError(t, w.Verify())
		for i, e := range ids {
			ids[i] = ecs.MakeEntity(uint32(e.Index()), e.Version()) // worlds' tags differ
		}
		return w.Hash(), ids
	}
	hash, ids := run(0)
	for _, others := range []int{1, 4} {
		hash2, ids2 := run(others)
		require.Equal(t, hash, hash2)
		require.Equal(t, ids, ids2)
	}
}

// TestDefectJConcurrency: nothing tested the protocol with more than one thread. Here
// workers reserve and give back each other's ids, and hand some to the owner, who
// creates and destroys. A flag for each index says that it is promised.
func TestDefectJConcurrency(t *testing.T) {
	const workers, rounds, blocks = 6, 150, 6
	w := newWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[Position](w))
	defer w.LeaveBlocks(blocks + 1)() // and one for the owner
	taken := make([]atomic.Uint32, blocks*blockSize)
	flag := func(e ecs.Entity) *atomic.Uint32 { return &taken[ecs.MaxEntities-1-e.Index()] }
	toOwner, toOthers := make(chan []ecs.Entity, 8), make(chan []ecs.Entity, 8)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			for range rounds {
				ids := make([]ecs.Entity, r.IntN(1000)) // at most 6,000 and what the channels hold
				if err := w.Reserve(ids); err != nil {
					t.Errorf("Reserve: %v", err)
					return
				}
				for _, e := range ids {
					if !flag(e).CompareAndSwap(0, e.Version()) {
						t.Errorf("%v is promised twice", e)
					}
				}
				select {
				case toOwner <- ids:
					continue
				case toOthers <- ids:
					ids = <-toOthers
				default:
				}
				for _, e := range ids {
					flag(e).Store(0)
				}
				w.Unreserve(ids)
			}
		})
	}
	go func() { wg.Wait(); close(toOwner) }()
	var alive []ecs.Entity
	for ids := range toOwner {
		for _, e := range ids {
			require.False(t, w.Alive(e))
			require.Equal(t, e.Version(), flag(e).Load())
		}
		create(t, a, ids)
		alive = append(alive, ids...)
		for len(alive) > 5000 {
			e := alive[0]
			alive = alive[1:]
			flag(e).Store(0)
			require.True(t, w.Destroy(e))
		}
		require.Equal(t, len(alive), a.Len())
	}
	close(toOthers)
	for ids := range toOthers {
		w.Unreserve(ids)
	}
	require.Zero(t, w.Stats().Reserved)
	require.LessOrEqual(t, w.SharedBlocks(), blocks)
}

// TestUnreserveOnce lets several goroutines give the same ids back: one can.
func TestUnreserveOnce(t *testing.T) {
	w := newWorld(t)
	for range 50 {
		ids := reserve(t, w, 200)
		var ok atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				defer func() { _ = recover() }() // the others are told
				w.Unreserve(ids)
				ok.Add(1)
			})
		}
		wg.Wait()
		require.Equal(t, int32(1), ok.Load())
		require.NoError(t, w.Verify())
	}
}
