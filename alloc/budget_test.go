package alloc_test

import (
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// setBudget puts a budget in force until the test ends. It is one for the process, so
// such tests are not parallel to others.
func setBudget(t testing.TB, b alloc.Budget) {
	t.Helper()
	before, err := alloc.SetBudget(b)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := alloc.SetBudget(before)
		require.NoError(t, err)
	})
}

func committed() int64 { return alloc.ReadBudget().Committed }

// fillUp takes whole megachunks of u until it is refused.
func fillUp(u *alloc.Universe) (all []alloc.ChunkIndex, err error) {
	for {
		c, err := u.AllocExact(64)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
}

func free(u *alloc.Universe, all []alloc.ChunkIndex) {
	for _, c := range all {
		u.Free(c, 64)
	}
}

func TestBudgetRefuses(t *testing.T) {
	u := newUniverse(t, alloc.Size(16<<20))
	pages := newPages(t)
	base := alloc.PurgeAll()
	setBudget(t, alloc.Budget{OffHeap: base + 7<<20}) // 6 MiB, and half a granule
	before := alloc.ReadBudget()
	all, err := fillUp(u)
	require.Len(t, all, 6)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.ErrorContains(t, err, fmt.Sprintf("alloc: Universe.AllocExact: 64 chunks of 16 KiB: memory refused: "+
		"2097152 bytes more beside %d would pass the budget of %d (free some, or raise it by alloc.SetBudget)", base+6<<20, base+7<<20))
	require.NoError(t, u.Verify())
	require.Equal(t, base+6<<20, committed())
	require.Equal(t, before.Refused+1, alloc.ReadBudget().Refused)
	_, err = pages.Alloc(1, 0)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.ErrorContains(t, err, "alloc: Pages.Alloc: block of 1 bytes: memory refused: ")

	u.Free(all[0], 64) // half of a granule: nothing to give back
	_, err = pages.Alloc(1, 0)
	require.ErrorIs(t, err, alloc.ErrBudget)
	u.Free(all[1], 64)
	at, err := pages.Alloc(1, 0)
	require.NoError(t, err)
	require.Equal(t, 4<<20, u.Stats().Committed)
	require.False(t, pages.ResizeSized(at, 1, 0, 4<<20))
	_, err = u.AllocExact(64)
	require.ErrorIs(t, err, alloc.ErrBudget)
	pages.FreeSized(at, 1, 0)
	_, err = pages.Alloc(8<<20, 0)
	require.ErrorIs(t, err, alloc.ErrBudget, "more than there will ever be")
	again, err := fillUp(u)
	require.Len(t, again, 2)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.NoError(t, u.Verify())
	free(u, again)
	free(u, all[2:])
}

// TestBudgetUsesWhatIsThere: after a refusal a run is found in memory that is
// there already.
func TestBudgetUsesWhatIsThere(t *testing.T) {
	u := newUniverse(t, alloc.Size(16<<20))
	first, err := u.AllocExact(40)
	require.NoError(t, err)
	setBudget(t, alloc.Budget{OffHeap: alloc.PurgeAll()})
	second, err := u.AllocAs(3) // whose home would be elsewhere
	require.NoError(t, err)
	require.Equal(t, 2<<20, u.Stats().Committed)
	u.Free(first, 40)
	u.Free(second, 1)
}

// TestBudgetPurges: what one has emptied is given back when another needs it, whatever
// it was to retain.
func TestBudgetPurges(t *testing.T) {
	a := newUniverse(t, alloc.Size(16<<20), alloc.Retain(1<<30), alloc.PurgeAfter(time.Hour))
	b := newUniverse(t, alloc.Size(16<<20))
	h := newHeap(t, alloc.Size(16<<20))
	pages := newPages(t, alloc.Retain(8<<20))
	base := alloc.PurgeAll()
	setBudget(t, alloc.Budget{OffHeap: base + 8<<20})
	purged := alloc.ReadBudget().Purged

	all, err := fillUp(a)
	require.Len(t, all, 8)
	require.ErrorIs(t, err, alloc.ErrBudget)
	free(a, all)
	require.Equal(t, 8<<20, a.Stats().Committed)
	all, err = fillUp(b)
	require.Len(t, all, 8)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.Zero(t, a.Stats().Committed)
	require.NoError(t, a.Verify())
	require.Equal(t, purged+8<<20, alloc.ReadBudget().Purged)

	free(b, all)
	h.Free(must(h.Alloc(5<<20, 0)))
	require.Equal(t, 6<<20, h.Stats().Kept)
	require.Zero(t, b.Stats().Committed)
	at := must(pages.Alloc(6<<20, 0))
	require.Zero(t, h.Stats().Kept)
	pages.FreeSized(at, 6<<20, 0)
	require.Equal(t, 6<<20, pages.Stats().Kept)
	p := must(pages.Alloc(2<<20, 0)) // 6 MiB are too many for it, and 8 in all
	h.Free(must(h.Alloc(5<<20, 0)))
	require.Zero(t, pages.Stats().Kept)
	pages.FreeSized(p, 2<<20, 0)
	require.Equal(t, base+8<<20, committed())
}

// TestBudgetPurgesItself: the one that asks has kept what it needs.
func TestBudgetPurgesItself(t *testing.T) {
	base := alloc.PurgeAll()
	setBudget(t, alloc.Budget{OffHeap: base + 10<<20})
	h := newHeap(t, alloc.Size(16<<20))
	h.Free(must(h.Alloc(3<<20, 0)))
	big := must(h.Alloc(9<<20, 0))
	require.Zero(t, h.Stats().Kept)
	require.True(t, h.Resize(big, 5<<20))
	h.Free(must(h.Alloc(3<<20, 0)))
	require.Equal(t, 4<<20, h.Stats().Kept)
	require.True(t, h.Resize(big, 9<<20))
	require.Zero(t, h.Stats().Kept)
	h.Free(big)

	u := newUniverse(t, alloc.Size(32<<20))
	alloc.PurgeAll()
	setBudget(t, alloc.Budget{OffHeap: base + 2<<20})
	first, err := u.AllocExact(1)
	require.NoError(t, err)
	u.Free(first, 1)
	second, err := u.AllocAs(3) // its home is on another line of masks
	require.NoError(t, err)
	require.Equal(t, 2<<20, u.Stats().Committed)
	require.NotEqual(t, first/128, second/128)
	require.NoError(t, u.Verify())
	u.Free(second, 1)
}

// TestBudgetNear: one call for each time that use comes to the mark from below.
func TestBudgetNear(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	base := alloc.PurgeAll()
	calls := make(chan alloc.BudgetUse, 100)
	wait := func() int {
		require.Eventually(t, alloc.NearIsDone, 10*time.Second, time.Millisecond)
		return len(calls)
	}
	most := 2 * (base + 10<<20)
	setBudget(t, alloc.Budget{OffHeap: most, NearPercent: 50, Near: func(u alloc.BudgetUse) { calls <- u }})
	var all []alloc.ChunkIndex
	grow := func(n int) {
		for range n {
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			all = append(all, c)
		}
	}
	grow(8)
	require.Zero(t, wait())
	grow(1) // 10 MiB
	require.Equal(t, 1, wait())
	use := <-calls
	require.Equal(t, most, use.Cap)
	require.Equal(t, base+10<<20, use.Committed)
	grow(9)
	require.Zero(t, wait(), "it is beyond")
	for range 3 {
		free(u, all)
		all = nil
		require.Less(t, committed(), base+10<<20)
		grow(12)
		require.Equal(t, 1, wait())
		<-calls
	}
	setBudget(t, alloc.Budget{OffHeap: most, NearPercent: 40, Near: func(u alloc.BudgetUse) { calls <- u }})
	require.Equal(t, 1, wait(), "it is there already")
	free(u, all)
}

// TestBudgetNearOneAtATime: crossings while Near runs make one more call, and Near may
// itself free, allocate and set the budget.
func TestBudgetNearOneAtATime(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	base := alloc.PurgeAll()
	entered, open := make(chan bool, 10), make(chan bool)
	var running, calls int // under the race detector, which sees two at a time
	budget := alloc.Budget{OffHeap: base + 20<<20}
	budget.NearPercent = int((base+4<<20)*100/budget.OffHeap) + 1
	budget.Near = func(alloc.BudgetUse) {
		running++
		calls++
		entered <- running == 1
		<-open
		_, _ = alloc.SetBudget(budget)
		running--
	}
	cross := func() {
		var all []alloc.ChunkIndex
		for range 16 {
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			all = append(all, c)
		}
		free(u, all)
	}
	alone := func() bool {
		select {
		case ok := <-entered:
			return ok
		case <-time.After(10 * time.Second):
			return false
		}
	}
	setBudget(t, budget)
	cross()
	require.True(t, alone())
	for range 5 {
		cross()
	}
	require.Empty(t, entered)
	open <- true
	require.True(t, alone())
	open <- true
	require.Eventually(t, alloc.NearIsDone, 10*time.Second, time.Millisecond)
	require.Equal(t, 2, calls)
}

func goLimit() int64 {
	s := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// offGo is how much of n bytes off the Go heap is not Go's.
func offGo(n int64) int64 {
	if mmap.Real {
		return n
	}
	return 0
}

// TestBudgetGoLimit watches GOMEMLIMIT while universes and mappings grow and shrink.
func TestBudgetGoLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 40))
	const total = 1 << 40
	u := newUniverse(t, alloc.Size(16<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	pages := newPages(t)
	base := alloc.PurgeAll()
	before, err := alloc.SetBudget(alloc.Budget{Total: total})
	require.NoError(t, err)
	follows := func(more int64) {
		t.Helper()
		require.Equal(t, total-offGo(base+more), goLimit())
		require.Equal(t, goLimit(), alloc.ReadBudget().GoLimit)
	}
	follows(0)
	var all []alloc.ChunkIndex
	for i := range int64(8) {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		all = append(all, c)
		follows((i/2*2 + 2) << 20)
	}
	at := must(pages.Alloc(5<<20, 0))
	follows(14 << 20)
	require.True(t, pages.ResizeSized(at, 5<<20, 0, 1<<20))
	follows(10 << 20)
	pages.FreeSized(at, 1<<20, 0)
	follows(8 << 20)
	free(u, all)
	_, err = u.Trim(0)
	require.NoError(t, err)
	follows(0)

	_, err = alloc.SetBudget(alloc.Budget{Total: total / 2, OffHeap: total})
	require.NoError(t, err)
	require.Equal(t, total/2-offGo(base), goLimit())
	_, err = alloc.SetBudget(alloc.Budget{OffHeap: total})
	require.NoError(t, err)
	require.Equal(t, int64(3<<40), goLimit())
	_, err = alloc.SetBudget(before)
	require.NoError(t, err)
	require.Equal(t, int64(3<<40), goLimit())
}

// TestBudgetGoLimitHasAFloor: Go gets what it needs, however much is off the heap.
func TestBudgetGoLimitHasAFloor(t *testing.T) {
	if !mmap.Real {
		t.Skip("nothing is off the heap here")
	}
	live := hold(16)
	pages := newPages(t)
	setBudget(t, alloc.Budget{Total: alloc.Needs() + alloc.PurgeAll() + 32<<20})
	at := must(pages.Alloc(1<<30, 0))
	require.Greater(t, goLimit(), int64(32<<20), "twice what is live")
	require.InEpsilon(t, alloc.Needs(), goLimit(), 0.5)
	pages.FreeSized(at, 1<<30, 0)
	runtime.KeepAlive(live)
}

// TestBudgetMakesGoCollect: garbage that fits beside little off-heap memory is
// collected beside much of it, and Go stays within what is left.
func TestBudgetMakesGoCollect(t *testing.T) {
	if !mmap.Real {
		t.Skip("what is off the heap elsewhere is on it here")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	pages := newPages(t)
	runtime.GC()
	debug.FreeOSMemory()
	setBudget(t, alloc.Budget{Total: alloc.PurgeAll() + alloc.Needs() + 512<<20})
	litter := func() (collections uint32, held int64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var kept [16][]byte
		for i := range 128 << 8 { // 128 MiB
			kept[i%16] = make([]byte, 4<<10)
		}
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(&kept)
		return after.NumGC - before.NumGC, int64(after.Sys - after.HeapReleased)
	}
	seldom, _ := litter()
	require.Zero(t, seldom)
	at := must(pages.Alloc(480<<20, 0))
	often, held := litter()
	require.Positive(t, often)
	require.Less(t, held, goLimit()+goLimit()/2)
	pages.FreeSized(at, 480<<20, 0)
}

func TestSetBudgetRefuses(t *testing.T) {
	for _, b := range []alloc.Budget{
		{OffHeap: -1}, {Total: -1}, {NearPercent: -1}, {NearPercent: 101}, {Near: func(alloc.BudgetUse) {}},
	} {
		require.Contains(t, panicText(func() { _, _ = alloc.SetBudget(b) }), "alloc: SetBudget: OffHeap=")
	}
	u := newUniverse(t, alloc.Size(4<<20))
	first, err := u.AllocExact(1)
	require.NoError(t, err)
	in := alloc.Budget{OffHeap: alloc.PurgeAll() + 5<<20, NearPercent: 3}
	setBudget(t, in)
	before, err := alloc.SetBudget(alloc.Budget{OffHeap: in.OffHeap - 6<<20})
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorContains(t, err, fmt.Sprintf("alloc: SetBudget: %d bytes are committed, OffHeap=%d: ", in.OffHeap-5<<20, in.OffHeap-6<<20))
	require.Equal(t, in, before)
	_, err = alloc.SetBudget(alloc.Budget{Total: 1})
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.ErrorContains(t, err, "alloc: SetBudget: alloc: GCFor: 1 bytes, ")
	require.Equal(t, in.OffHeap, alloc.ReadBudget().Cap, "still in force")
	u.Free(first, 1)
	before, err = alloc.SetBudget(alloc.Budget{OffHeap: max(1, in.OffHeap-7<<20)})
	require.NoError(t, err, "what is empty goes back first")
	require.Equal(t, in, before)
	require.Zero(t, u.Stats().Committed)
}

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
		m.universes = []*alloc.Universe{newUniverse(t, alloc.Size(32<<20)), newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(0))}
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

// TestRegistryForgets: what is collected is not known for long.
func TestRegistryForgets(t *testing.T) {
	var r alloc.Registry
	kept, gone := new([64]int), new([64]int)
	r.Add(kept)
	r.Add(gone)
	require.True(t, r.Has(kept) && r.Has(gone))
	r.Remove(gone)
	require.False(t, r.Has(gone))
	for range 20 {
		for range 100 {
			r.Add(new([64]int))
		}
		runtime.GC()
	}
	require.Less(t, r.Known(), 600)
	require.True(t, r.Has(kept))
	require.Equal(t, kept, r.All()[0])
	runtime.KeepAlive(kept)
}

func TestBudgetVar(t *testing.T) {
	var v expvar.Var = alloc.BudgetVar{}
	setBudget(t, alloc.Budget{OffHeap: math.MaxInt64 - 1})
	var got map[string]int64
	require.NoError(t, json.Unmarshal([]byte(v.String()), &got))
	use := alloc.ReadBudget()
	require.Equal(t, map[string]int64{"committed": use.Committed, "cap": math.MaxInt64 - 1, "purged": use.Purged,
		"refused": use.Refused, "goLimit": use.GoLimit}, got)
}

// A server bounds what it takes off the heap, drops its caches before that is reached,
// and leaves the Go heap what the rest of 2 GiB is at any time.
func ExampleSetBudget() {
	before, err := alloc.SetBudget(alloc.Budget{
		OffHeap:     1 << 30,
		NearPercent: 80,
		Near:        func(use alloc.BudgetUse) { fmt.Println("drop caches:", use) },
		Total:       2 << 30,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer alloc.SetBudget(before)

	pages := alloc.NewPages()
	defer pages.Close()
	_, err = pages.Alloc(2<<30, 0)
	fmt.Println(errors.Is(err, alloc.ErrBudget))
	// Output: true
}
