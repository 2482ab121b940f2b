package alloc_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// TestBudgetOfTwoGoroutines: no more than the cap is ever committed, refusals are of
// the budget alone, and in the end the count is right.
func TestBudgetOfTwoGoroutines(t *testing.T) {
	base := alloc.PurgeAll()
	most := base + 24<<20
	setBudget(t, alloc.Budget{OffHeap: most, Total: 1 << 40, NearPercent: 95, Near: func(alloc.BudgetUse) {}})
	shared := newHeap(t, alloc.Size(64<<20))
	var all sync.WaitGroup
	for g := range 3 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 3))
			u, err := alloc.NewUniverse(alloc.Size(32 << 20))
			if err != nil {
				t.Error(err)
				return
			}
			var chunks []alloc.ChunkIndex
			var blocks []unsafe.Pointer
			for range 300 {
				var err error
				switch rng.IntN(5) {
				case 0, 1:
					var c alloc.ChunkIndex
					if c, err = u.AllocExact(64); err == nil {
						chunks = append(chunks, c)
					}
				case 2:
					var p unsafe.Pointer
					if p, err = shared.Alloc(1<<20+rng.IntN(4<<20), 0); err == nil {
						blocks = append(blocks, p)
					}
				case 3:
					free(u, chunks)
					chunks = nil
				case 4:
					freeAll(shared, blocks)
					blocks = nil
				}
				if err != nil && !errors.Is(err, alloc.ErrBudget) {
					t.Error(err)
				}
				if now := committed(); now > most {
					t.Errorf("%d bytes are committed, the cap is %d", now, most)
				}
			}
			free(u, chunks)
			freeAll(shared, blocks)
			if err := u.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.NoError(t, shared.Verify())
	require.Equal(t, base+shared.Universe().CommittedBytes()+shared.CommittedBytes(), committed())
}

// TestBudgetIsChargedOnceAGranule: two goroutines that need the same 2 MiB get them,
// though the cap has no room for twice as much.
func TestBudgetIsChargedOnceAGranule(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	base := alloc.PurgeAll()
	setBudget(t, alloc.Budget{OffHeap: base + 2<<20, Total: 1 << 40})
	var both sync.WaitGroup
	take := func() {
		c, err := u.AllocExact(3)
		if err != nil {
			t.Error(err)
			return
		}
		u.Free(c, 3)
	}
	release := alloc.HoldGoLimit()
	both.Go(take)
	for committed() == base {
		runtime.Gosched()
	}
	both.Go(take)
	for !u.InUse(5) && !t.Failed() {
		runtime.Gosched()
	}
	time.Sleep(10 * time.Millisecond) // for the second to be refused, if it were
	release()
	both.Wait()
	require.Equal(t, base+2<<20, committed())
	_, err := u.Trim(0)
	require.NoError(t, err)
	require.Equal(t, base, committed())
}

// slowTrim is pages whose Decommit takes a while and is refused then.
type slowTrim struct {
	*mmap.Region
	entered, open chan bool
}

// Discard makes the universe give back whole granules only.
func (s *slowTrim) Discard(int, int) error { return mmap.ErrUnsupported }

func (s *slowTrim) Decommit(offset, n int) error {
	if s.entered == nil {
		return s.Region.Decommit(offset, n)
	}
	s.entered <- true
	<-s.open
	return errNoMemory
}

// TestBudgetOfATrimThatIsRefused: a claim of memory that is on its way back to the
// system waits, and takes it when the system would not; it is charged once, and
// needs no room in the budget.
func TestBudgetOfATrimThatIsRefused(t *testing.T) {
	for _, room := range []int64{0, 2 << 20} {
		region, err := mmap.Reserve(2 << 20)
		require.NoError(t, err)
		pages := &slowTrim{Region: region}
		u := newUniverse(t, alloc.WithPages(pages))
		base := alloc.PurgeAll()
		c, err := u.AllocExact(2)
		require.NoError(t, err)
		u.Free(c, 2)
		setBudget(t, alloc.Budget{OffHeap: base + 2<<20 + room})
		pages.entered, pages.open = make(chan bool), make(chan bool)
		var both sync.WaitGroup
		both.Go(func() { _, _ = u.Trim(0) })
		<-pages.entered
		both.Go(func() {
			if c, err = u.AllocExact(3); err != nil {
				t.Error(err)
			}
		})
		for (!u.InUse(2) || committed() < base+2<<20+room) && !t.Failed() {
			runtime.Gosched()
		}
		close(pages.open)
		both.Wait()
		pages.entered = nil
		require.Equal(t, base+2<<20, committed())
		require.NoError(t, u.Verify())
		u.Free(c, 3)
	}
}

// budgetModel is a stream of operations over two universes, a heap and pages under one
// cap.
type budgetModel struct {
	t          *testing.T
	base, most int64
	rng        *rand.Rand
	universes  []*alloc.Universe
	chunks     [][]alloc.ChunkIndex
	h          *alloc.Heap
	pages      *alloc.Pages
	blocks     []modelBlock // of the heap and, marked 1, of the pages
}

func (m *budgetModel) check() {
	sum := m.base + m.h.CommittedBytes() + m.pages.CommittedBytes()
	for _, u := range m.universes {
		sum += u.CommittedBytes()
		require.NoError(m.t, u.Verify())
	}
	require.Equal(m.t, sum, committed())
	require.LessOrEqual(m.t, sum, m.most)
	require.NoError(m.t, m.h.Verify())
	require.NoError(m.t, m.pages.Verify())
}

// refused checks that a request for n bytes was rightly refused: nothing is left that
// is empty, and there is no room for it.
func (m *budgetModel) refused(err error, n int) {
	require.ErrorIs(m.t, err, alloc.ErrBudget)
	n = (n + mmap.Granule - 1) / mmap.Granule * mmap.Granule
	require.Greater(m.t, committed()+int64(n), m.most)
	if int64(n) > m.most {
		return
	}
	for _, u := range m.universes {
		require.Zero(m.t, u.EmptyBytes())
	}
	require.Zero(m.t, m.h.Stats().Kept+m.pages.Stats().Kept)
}

func (m *budgetModel) step() {
	i := m.rng.IntN(len(m.universes))
	u, c := m.universes[i], &m.chunks[i]
	size := m.rng.IntN(5 << 20)
	switch m.rng.IntN(7) {
	case 0, 1:
		if first, err := u.AllocExact(64); err == nil {
			*c = append(*c, first)
		} else {
			m.refused(err, mmap.Granule)
		}
	case 2:
		m.rng.Shuffle(len(*c), func(i, j int) { (*c)[i], (*c)[j] = (*c)[j], (*c)[i] })
		free(u, (*c)[:len(*c)/2])
		*c = (*c)[len(*c)/2:]
	case 3:
		size = 1<<20 + 1 + size
		if p, err := m.h.Alloc(size, 0); err == nil {
			m.blocks = append(m.blocks, modelBlock{p: p, size: size})
		} else {
			m.refused(err, size)
		}
	case 4:
		if p, err := m.pages.Alloc(size, 0); err == nil {
			m.blocks = append(m.blocks, modelBlock{p: p, size: size, mark: 1})
		} else {
			m.refused(err, max(size, 1))
		}
	case 5, 6:
		if len(m.blocks) == 0 {
			return
		}
		at := m.rng.IntN(len(m.blocks))
		b := &m.blocks[at]
		if b.mark == 1 && m.rng.IntN(2) == 0 {
			if m.pages.ResizeSized(b.p, b.size, 0, size) {
				b.size = size
			}
			return
		}
		m.free(*b)
		*b = m.blocks[len(m.blocks)-1]
		m.blocks = m.blocks[:len(m.blocks)-1]
	}
}

func (m *budgetModel) free(b modelBlock) {
	if b.mark == 1 {
		m.pages.FreeSized(b.p, b.size, 0)
	} else {
		m.h.FreeSized(b.p, b.size, 0)
	}
}

func TestBudgetModel(t *testing.T) {
	for seed := range uint64(3) {
		m := &budgetModel{t: t, rng: rand.New(rand.NewPCG(seed, 5)), chunks: make([][]alloc.ChunkIndex, 2)}
		m.universes = []*alloc.Universe{
			newUniverse(t, alloc.Size(32<<20)), newUniverse(t, alloc.Size(32<<20), alloc.Retain(0),
				alloc.PurgeAfter(0)),
		}
		m.h, m.pages = newHeap(t, alloc.Size(4<<20)), newPages(t, alloc.Retain(6<<20))
		m.base = alloc.PurgeAll()
		m.most = m.base + 20<<20 + int64(seed)
		setBudget(t, alloc.Budget{OffHeap: m.most})
		refused := alloc.ReadBudget().Refused
		for range 300 {
			m.step()
			m.check()
		}
		require.Greater(t, alloc.ReadBudget().Refused, refused, "the cap was never met")
		for i, u := range m.universes {
			free(u, m.chunks[i])
		}
		for _, b := range m.blocks {
			m.free(b)
		}
		m.check()
		require.Equal(t, m.base, alloc.PurgeAll())
	}
}
