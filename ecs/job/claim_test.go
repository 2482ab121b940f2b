package job_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Each part is claimed once, by one worker (J2), when several claim at the same moment: in each
// round they wait for each other, running, before the first claim.
func TestEachPartIsClaimedOnce(t *testing.T) {
	const workers, parts = 2, 32
	c := job.NewClaim(parts)
	var claimed [parts]atomic.Int32
	for round := range int32(500) {
		var here atomic.Int32
		var all sync.WaitGroup
		c.Reset()
		for range workers {
			all.Go(func() {
				for here.Add(1); here.Load() < workers; {
					runtime.Gosched()
				}
				for lo, hi := c.Claim(workers); lo < hi; lo, hi = c.Claim(workers) {
					for ; lo < hi; lo++ {
						claimed[lo].Add(1)
					}
				}
			})
		}
		all.Wait()
		for i := range claimed {
			require.Equal(t, round+1, claimed[i].Load(), "part %d, round %d", i, round)
		}
	}
}
