package alloc_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestBudgetHoldsFromTheStart: a budget that SetBudget put in force holds for those too who
// were about to commit meanwhile.
func TestBudgetHoldsFromTheStart(t *testing.T) {
	capped := alloc.Budget{OffHeap: alloc.PurgeAll() + 2<<20}
	p := alloc.NewPages()
	first := must(p.Alloc(1<<20, 0)) // takes 2 MiB, all that there is
	var begun, ended atomic.Int64
	var second unsafe.Pointer
	const rounds = 5_000
	var other sync.WaitGroup
	other.Go(func() {
		for i := range int64(rounds) {
			for begun.Load() <= i {
				runtime.Gosched()
			}
			second, _ = p.Alloc(1<<20, 0)
			ended.Add(1)
		}
	})
	for i := range int64(rounds) {
		begun.Add(1)
		for range i % 64 {
			_ = alloc.ReadBudget() // a moment, each time another
		}
		_, err := alloc.SetBudget(capped)
		for ended.Load() <= i {
			runtime.Gosched()
		}
		if err == nil {
			require.Nil(t, second, "round %d", i)
			require.Equal(t, capped.OffHeap, alloc.ReadBudget().Committed)
		} else {
			require.ErrorIs(t, err, alloc.ErrBudget)
		}
		p.FreeSized(second, 1<<20, 0)
		_, err = alloc.SetBudget(alloc.Budget{})
		require.NoError(t, err)
	}
	other.Wait()
	p.FreeSized(first, 1<<20, 0)
	require.NoError(t, p.Close())
}
