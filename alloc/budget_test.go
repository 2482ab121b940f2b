package alloc_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
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
		"2097152 bytes more beside %d would pass the budget of %d (free some, or raise it by alloc.SetBudget)",
		base+6<<20, base+7<<20))
	require.NoError(t, u.Verify())
	require.Equal(t, base+6<<20, committed())
	require.Equal(t, before.Refused+1, alloc.ReadBudget().Refused)
	_, err = pages.Alloc(1, 0)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.ErrorContains(t, err, "alloc: Pages.Alloc: block of 1 bytes: memory refused: ")

	u.Free(all[0], 64) // half of a granule
	left := 5
	if !givesParts {
		_, err = pages.Alloc(1, 0)
		require.ErrorIs(t, err, alloc.ErrBudget)
		u.Free(all[1], 64)
		all, left = all[1:], 4
	}
	at, err := pages.Alloc(1, 0)
	require.NoError(t, err)
	require.Equal(t, left<<20, u.Stats().Committed)
	require.False(t, pages.ResizeSized(at, 1, 0, 4<<20))
	_, err = u.AllocExact(64)
	require.ErrorIs(t, err, alloc.ErrBudget)
	pages.FreeSized(at, 1, 0)
	_, err = pages.Alloc(8<<20, 0)
	require.ErrorIs(t, err, alloc.ErrBudget, "more than there will ever be")
	again, err := fillUp(u)
	require.Len(t, again, 6-left)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.NoError(t, u.Verify())
	free(u, again)
	free(u, all[1:])
}

// TestBudgetUsesWhatIsThere: after a refusal a run is found in memory that is
// there already.
func TestBudgetUsesWhatIsThere(t *testing.T) {
	u := newUniverse(t, alloc.Size(16<<20))
	first, err := u.AllocExact(40)
	require.NoError(t, err)
	setBudget(t, alloc.Budget{OffHeap: committed()})
	second, err := u.AllocAs(3) // whose home would be elsewhere
	require.NoError(t, err)
	require.Equal(t, 2<<20, u.Stats().Committed)
	u.Free(first, 40)
	u.Free(second, 1)
}

// TestBudgetOfChunksGivenBack: chunks that were given back are charged when they are taken again. A
// budget without room for them refuses them by name, until something is freed.
func TestBudgetOfChunksGivenBack(t *testing.T) {
	givesBackChunks(t)
	u := newUniverse(t, alloc.Size(16<<20))
	first, err := u.AllocExact(40)
	require.NoError(t, err)
	second, err := u.AllocExact(1)
	require.NoError(t, err)
	u.Free(first, 40)
	base := alloc.PurgeAll()
	require.Equal(t, alloc.ChunkSize, u.Stats().Committed)
	setBudget(t, alloc.Budget{OffHeap: base + 3*alloc.ChunkSize})
	_, err = u.AllocExact(4)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.ErrorContains(t, err, "alloc: Universe.AllocExact: 4 chunks of 16 KiB: memory refused: ")
	require.NoError(t, u.Verify())
	third, err := u.AllocExact(3)
	require.NoError(t, err)
	require.Equal(t, base+3*alloc.ChunkSize, committed())
	_, err = u.AllocExact(1)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.False(t, u.Extend(third, 3, 1))
	u.Free(second, 1)
	fourth, err := u.AllocAs(3) // takes committed memory, or memory for which a purge makes room
	require.NoError(t, err)
	require.Equal(t, base+3*alloc.ChunkSize, committed())
	require.NoError(t, u.Verify())
	u.Free(third, 3)
	u.Free(fourth, 1)
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.Equal(t, base-alloc.ChunkSize, committed())
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

// TestBudgetPurgesItself: the universe that requests memory has kept enough itself.
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

// TestBudgetNearIsOfItsBudget: another budget comes into force before the call for a crossing, and
// its own mark is not reached.
func TestBudgetNearIsOfItsBudget(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20))
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	setBudget(t, alloc.Budget{OffHeap: 1 << 40}) // and puts the one before in force at the end
	var calls atomic.Int32
	for range 200 {
		_, err := alloc.SetBudget(alloc.Budget{OffHeap: committed(), NearPercent: 100, Near: func(alloc.BudgetUse) {}})
		require.NoError(t, err)
		count := func(alloc.BudgetUse) { calls.Add(1) }
		_, err = alloc.SetBudget(alloc.Budget{OffHeap: 1 << 40, NearPercent: 100, Near: count})
		require.NoError(t, err)
		require.Eventually(t, alloc.NearIsDone, 10*time.Second, time.Millisecond)
	}
	require.Zero(t, calls.Load())
	u.Free(c, 1)
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
		if calls == 2 { // crossings before it are of the budget before
			_, _ = alloc.SetBudget(budget)
		}
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
	before, err := alloc.SetBudget(alloc.Budget{OffHeap: in.OffHeap - 5<<20 - 1})
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorContains(t, err, fmt.Sprintf("alloc: SetBudget: %d bytes are committed, OffHeap=%d: ",
		in.OffHeap-5<<20, in.OffHeap-5<<20-1))
	require.Equal(t, in, before)
	_, err = alloc.SetBudget(alloc.Budget{Total: 1})
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.ErrorContains(t, err, "alloc: SetBudget: alloc: GCFor: 1 bytes, ")
	require.Equal(t, in.OffHeap, alloc.ReadBudget().Cap, "still in force")
	u.Free(first, 1)
	before, err = alloc.SetBudget(alloc.Budget{OffHeap: max(1, in.OffHeap-5<<20-alloc.ChunkSize)})
	require.NoError(t, err, "what is empty goes back first")
	require.Equal(t, in, before)
	require.Zero(t, u.Stats().Committed)
}

func TestBudgetVar(t *testing.T) {
	var v expvar.Var = alloc.BudgetVar{}
	setBudget(t, alloc.Budget{OffHeap: math.MaxInt64 - 1})
	var got map[string]int64
	require.NoError(t, json.Unmarshal([]byte(v.String()), &got))
	use := alloc.ReadBudget()
	require.Equal(t, map[string]int64{"committed": use.Committed, "cap": math.MaxInt64 - 1, "purged": use.Purged,
		"scavenged": use.Scavenged,
		"refused":   use.Refused, "go_limit": use.GoLimit}, got)
}

// BenchmarkBudget commits 2 MiB and gives them back.
func BenchmarkBudget(b *testing.B) {
	for name, budget := range map[string]alloc.Budget{
		"none": {}, "cap": {OffHeap: 1 << 40}, "total": {Total: 1 << 40},
	} {
		b.Run("impl="+name, func(b *testing.B) {
			u := newUniverse(b, alloc.Size(16<<20))
			setBudget(b, budget)
			b.ReportAllocs()
			for b.Loop() {
				c, err := u.AllocExact(64)
				require.NoError(b, err)
				u.Free(c, 64)
				_, err = u.Trim(0)
				require.NoError(b, err)
			}
		})
	}
}
