package entity_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/internal/universe/sentinel"
)

// reserve reserves n ids.
func reserve(t testing.TB, s *entity.Store, n int) []entity.ID {
	t.Helper()
	ids := make([]entity.ID, n)
	require.NoError(t, s.Reserve(ids))
	return ids
}

// revive makes ids alive that are reserved.
func revive(t testing.TB, s *entity.Store, ids []entity.ID) []entity.ID {
	t.Helper()
	require.NoError(t, s.Reach())
	require.Equal(t, -1, s.Hold(ids))
	s.Revive(ids)
	return ids
}

// newLender returns a store whose owner has block 0, with index 0, so that blocks of reservations
// begin with 1.
func newLender(t testing.TB) *entity.Store {
	t.Helper()
	s := newStore(t)
	require.NoError(t, s.MakeRoom(1))
	return s
}

// takeBack takes ids back that are reserved.
func takeBack(t testing.TB, s *entity.Store, ids []entity.ID) {
	t.Helper()
	require.Equal(t, -1, s.Hold(ids))
	s.TakeBack(ids)
}

// with returns an ID with another index or version.
func with(e entity.ID, index, version uint32) entity.ID { return entity.Make(index, e.Tag(), version) }

// The tests of the defects that the protocol had where it comes from. In debug and race builds
// every window of the protocol yields, so that others get between.

// TestDefectAWrongBlockIsRestored: who waited for a block restored the count of the one whose
// number was the position in the list, so the block stayed busy for ever.
func TestDefectAWrongBlockIsRestored(t *testing.T) {
	s := newLender(t)
	ids := reserve(t, s, 3*usable)
	var mixed []entity.ID // positions that do not follow from the block
	for i := range usable {
		mixed = append(mixed, ids[2*usable+i], ids[usable+i], ids[i])
	}
	release := s.HoldBlock(2)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { takeBack(t, s, mixed[i*usable:(i+1)*usable]) })
	}
	for range 1000 {
		runtime.Gosched() // they come to wait
	}
	release()
	wg.Wait()
	verify(t, s, 0) // no block is busy
	reserve(t, s, 3*usable)
	require.Equal(t, 3, s.ReservedBlocks(), "every block is of use again")
}

// TestDefectBParityOnFree: freeing an index under its current, even version made it odd and the
// count too low, up to -1, which is busy.
func TestDefectBParityOnFree(t *testing.T) {
	s := newStore(t)
	ids := reserve(t, s, 2)
	index, version := ids[0].Index(), ids[0].Version()
	for range 3 {
		require.Zero(t, s.Hold([]entity.ID{with(ids[0], index, version-1)}), "reserved")
	}
	takeBack(t, s, ids)
	for v := version - 1; v < version+4; v++ {
		e := with(ids[0], index, v)
		require.Zero(t, s.Hold([]entity.ID{e}), "free, version %d", v)
		require.Nil(t, s.Find(e))
	}
	verify(t, s, 0)
}

// TestDefectCIndexOutOfRange: release builds did not look at the index, and -1 was a slot before
// the first.
func TestDefectCIndexOutOfRange(t *testing.T) {
	s := newStore(t)
	e, reserved := take(t, s), entity.ID{}
	try := func() {
		for _, index := range []uint32{0, 1, 2, blockSize, blockSize + 1, 2 * blockSize, entity.MaxIDs / 2,
			entity.MaxIDs - 1} {
			for _, version := range []uint32{0, 1, 2, 3, 1<<32 - 1} {
				f := with(e, index, version)
				if f != reserved {
					require.Zero(t, s.Hold([]entity.ID{f}), "%v", f)
				}
				require.Equal(t, f == e, s.Find(f) != nil)
			}
		}
		for _, f := range []entity.ID{entity.FromBits(1<<33 - 1), entity.MakePlaceholder(1, 1), {}} {
			require.Zero(t, s.Hold([]entity.ID{f}), "%v", f)
			require.Nil(t, s.Find(f))
		}
	}
	try() // before there is a block
	reserved = reserve(t, s, 1)[0]
	try()
	verify(t, s, 1)
}

// TestDefectDScanOfAllBlocks: each call read the counts of all blocks from the first on. Ours
// begins where the last one found something and never looks at full ones.
func TestDefectDScanOfAllBlocks(t *testing.T) {
	const full = 70 // more than a word of blocks
	s := newLender(t)
	reserve(t, s, full*usable)
	for k := range full {
		defer s.HoldBlock(1 + k)()
	}
	reserve(t, s, 10)
	require.Equal(t, full+1, s.ReservedBlocks())
	require.Equal(t, 1+full, s.SearchStart())
	reserve(t, s, 10)
	require.Equal(t, 1+full, s.SearchStart(), "where the last search ended")
}

// TestDefectEExhaustion: a call that ran out kept what it had taken, and it ran out also when the
// blocks with room were busy.
func TestDefectEExhaustion(t *testing.T) {
	const blocks, workers = 2, 4
	u := newUniverse(t, 64<<20)
	s := open(t, u)
	s.Limit(blocks)
	require.ErrorIs(t, s.Reserve(make([]entity.ID, blocks*usable)), entity.ErrFull, "index 0 is nobody's")
	require.Zero(t, u.Stats().LiveChunks, "what fails makes no block")
	keep := reserve(t, s, 1)
	require.ErrorIs(t, s.Reserve(make([]entity.ID, blocks*usable-1)), entity.ErrFull)
	require.Equal(t, 1, s.Reserved())

	release := s.HoldBlock(0)
	done := make(chan error)
	go func() { done <- s.Reserve(make([]entity.ID, blocks*usable-2)) }()
	release()
	require.NoError(t, <-done, "a busy block is waited for when nothing else is left")
	require.ErrorIs(t, s.Reserve(keep), entity.ErrFull)
	require.Equal(t, blocks*usable-1, s.Reserved())

	s2 := open(t, u)
	require.NoError(t, s2.MakeRoom(1))
	s2.Limit(blocks)
	var wg sync.WaitGroup
	for range workers { // together exactly as many as there are
		wg.Go(func() {
			ids := make([]entity.ID, blocks*usable/workers)
			for range 30 {
				if err := s2.Reserve(ids); err != nil {
					t.Errorf("spurious: %v", err)
					return
				}
				takeBack(t, s2, ids)
			}
		})
	}
	wg.Wait()
	require.Zero(t, s2.Reserved())
	require.LessOrEqual(t, s2.ReservedBlocks(), blocks)
}

// TestDefectENoMemory fails in the universe, which then has what it had before.
func TestDefectENoMemory(t *testing.T) {
	u := newUniverse(t, 2<<20)
	s := open(t, u)
	require.ErrorIs(t, s.Reserve(make([]entity.ID, 80*usable)), sentinel.ErrFull)
	require.Zero(t, u.Stats().LiveChunks)
	require.Zero(t, s.ReservedBlocks())
	verify(t, s, 0)
	reserve(t, s, 10*usable)
}

// TestDefectFBusyInSums: a busy block counted as -1 entities.
func TestDefectFBusyInSums(t *testing.T) {
	s := newStore(t)
	reserve(t, s, usable+100)
	for k := range 2 {
		release := s.HoldBlock(k)
		require.Equal(t, usable+100, s.Reserved())
		release()
	}
}

// TestDefectGLowestIndexFirst: an index that was given back was the next to come.
func TestDefectGLowestIndexFirst(t *testing.T) {
	s := newStore(t)
	others := reserve(t, s, 2*usable-11) // index 0 is nobody's
	takeBack(t, s, others[:100])         // room in the first block
	first := reserve(t, s, 1)
	takeBack(t, s, first)
	for range 9 + 100 - 1 {
		require.NotEqual(t, first[0].Index(), reserve(t, s, 1)[0].Index(), "all others come before it")
	}
}

// TestDefectHVersionsGoBack: in some cases a version began at 1 again.
func TestDefectHVersionsGoBack(t *testing.T) {
	s := newStore(t)
	r := rand.New(rand.NewPCG(1, 2))
	last := map[uint32]uint32{}
	for range 200 {
		ids := reserve(t, s, r.IntN(2000))
		for _, e := range ids {
			require.Greater(t, e.Version(), last[e.Index()])
			last[e.Index()] = e.Version()
		}
		n := r.IntN(len(ids) + 1)
		revive(t, s, ids[:n])
		takeBack(t, s, ids[n:])
		require.GreaterOrEqual(t, s.Hold(append(ids[:n:n], entity.ID{})), 0, "an undone call")
		s.FreeIDs(ids[:n])
	}
	verify(t, s, 0)
}

// TestDefectIOwnerIsDeterministic: ids depended on what other threads did. Ours do in the numbers
// of their blocks, since others make blocks too; not in the order of the blocks, the places in them
// and the versions.
func TestDefectIOwnerIsDeterministic(t *testing.T) {
	run := func(before, others int) (ids []entity.ID) {
		s := newStore(t)
		reserve(t, s, before)
		var stop atomic.Bool
		var wg sync.WaitGroup
		for k := range others {
			wg.Go(func() {
				for list := make([]entity.ID, 100+k); !stop.Load(); {
					if s.Reserve(list) == nil && k != 0 {
						takeBack(t, s, list)
					}
					if k == 0 && s.Reserved() > 20*blockSize {
						return
					}
				}
			})
		}
		r := rand.New(rand.NewPCG(5, 6))
		for range 3 * blockSize {
			if len(ids) > 0 && r.IntN(3) == 0 {
				if e := ids[r.IntN(len(ids))]; s.Find(e) != nil {
					give(t, s, e)
				}
			} else {
				ids = append(ids, take(t, s))
			}
		}
		stop.Store(true)
		wg.Wait()
		_, err := s.Verify()
		require.NoError(t, err)
		return ids
	}
	// renumbered gives the blocks of ids the numbers that they have where nobody else makes any,
	// but 1 for the first.
	renumbered := func(ids []entity.ID) (to []entity.ID) {
		var numbers []uint32
		for _, e := range ids {
			numbers = append(numbers, e.Index()/blockSize)
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		for _, e := range ids {
			number, _ := slices.BinarySearch(numbers, e.Index()/blockSize)
			to = append(to, with(e, uint32(number+1)*blockSize+e.Index()%blockSize, e.Version()))
		}
		return to
	}
	alone := run(1, 0) // block 0, which lacks an index, is not the owner's
	require.Equal(t, alone, renumbered(alone), "nobody made a block since")
	require.Equal(t, alone, run(1, 0))
	for _, others := range []int{1, 4} {
		require.Equal(t, alone, renumbered(run(1, others)))
	}
}

// TestDefectJConcurrency: nothing tested the protocol with more than one thread. Here workers have
// ids reserved and give each other's back, and hand some to the owner, who makes them alive and
// ends them. A flag for each index is set while it is reserved.
func TestDefectJConcurrency(t *testing.T) {
	const workers, rounds, blocks = 6, 150, 6
	s := newStore(t)
	s.Limit(blocks)
	taken := make([]atomic.Uint32, blocks*blockSize)
	flag := func(e entity.ID) *atomic.Uint32 { return &taken[e.Index()] }
	toOwner, toOthers := make(chan []entity.ID, 8), make(chan []entity.ID, 8)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			for range rounds {
				ids := make([]entity.ID, r.IntN(1000)) // at most 6,000 and what the channels hold
				if err := s.Reserve(ids); err != nil {
					t.Errorf("Reserve: %v", err)
					return
				}
				for _, e := range ids {
					if !flag(e).CompareAndSwap(0, e.Version()) {
						t.Errorf("%v is reserved twice", e)
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
				takeBack(t, s, ids)
			}
		})
	}
	go func() { wg.Wait(); close(toOwner) }()
	var alive []entity.ID
	for ids := range toOwner {
		for _, e := range ids {
			require.Nil(t, s.Find(e))
			require.Equal(t, e.Version(), flag(e).Load())
		}
		alive = append(alive, revive(t, s, ids)...)
		for len(alive) > 5000 {
			e := alive[0]
			alive = alive[1:]
			flag(e).Store(0)
			give(t, s, e)
		}
	}
	close(toOthers)
	for ids := range toOthers {
		takeBack(t, s, ids)
	}
	verify(t, s, len(alive))
	require.Zero(t, s.Reserved())
	require.LessOrEqual(t, s.ReservedBlocks(), blocks)
}

// TestTakeBackOnce lets several goroutines give the same ids back: one can.
func TestTakeBackOnce(t *testing.T) {
	s := newStore(t)
	for range 50 {
		ids := reserve(t, s, 200)
		var ok atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if s.Hold(ids) < 0 { // else the others are reported
					s.TakeBack(ids)
					ok.Add(1)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int32(1), ok.Load())
		verify(t, s, 0)
	}
}
