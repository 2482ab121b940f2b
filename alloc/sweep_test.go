package alloc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// TestEveryPageCallFails runs one stream of calls again and again; in the k-th run the k-th call to
// the layer of pages is refused, in both ways in which it can be, until a run needs fewer calls
// than that. After each call Verify passes, and the live blocks are those of the stream; at the end
// everything goes back.
func TestEveryPageCallFails(t *testing.T) {
	refused := errors.New("refused by the test")
	for name, refusal := range map[string]error{
		"undone": refused, "half done": fmt.Errorf("%w: %w", mmap.ErrAccess, refused),
	} {
		t.Run(name, func(t *testing.T) {
			refusals := 0
			for k := 1; ; k++ {
				region, err := mmap.Reserve(8 << 20)
				require.NoError(t, err)
				pages := &alloc.FailingPages{Region: region, FailAt: k, Err: refusal}
				refusals += failingStream(t, pages, refused)
				if pages.Calls < k {
					t.Logf("%d calls of the layer below, %d of the stream's calls refused", pages.Calls, refusals)
					require.Greater(t, refusals, 5)
					return
				}
			}
		})
	}
}

func failingStream(t *testing.T, pages *alloc.FailingPages, refused error) (refusals int) {
	u, err := alloc.NewUniverse(alloc.WithPages(pages), alloc.Retain(0), alloc.PurgeAfter(0))
	require.NoError(t, err)
	type run struct {
		first alloc.ChunkIndex
		n     int
	}
	var live []run
	chunks := 0
	note := func(err error) bool {
		require.NoError(t, u.Verify())
		if err == nil {
			return true
		}
		if !errors.Is(err, alloc.ErrFull) {
			require.ErrorIs(t, err, refused)
			refusals++
		}
		return false
	}
	rng := rand.New(rand.NewPCG(31, 32))
	for range 400 {
		switch op := rng.IntN(8); {
		case op < 3:
			c, n, err := u.Alloc(1 + rng.IntN(64))
			if note(err) {
				live, chunks = append(live, run{c, n}), chunks+n
			}
		case op < 4:
			c, n, err := u.AllocZeroed(1)
			if note(err) {
				require.Zero(t, u.Bytes(c, 1)[100])
				u.Bytes(c, 1)[100] = 1
				live, chunks = append(live, run{c, n}), chunks+n
			}
		case op < 7 && len(live) > 0:
			i := rng.IntN(len(live))
			u.Free(live[i].first, live[i].n)
			chunks -= live[i].n
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			note(nil)
		default:
			_, err := u.Maintain(time.Now())
			note(err)
		}
		require.Equal(t, chunks, u.Stats().LiveChunks)
	}
	for _, r := range live {
		u.Free(r.first, r.n)
	}
	if err := u.Close(); err != nil {
		require.ErrorIs(t, err, refused)
		require.NoError(t, u.Verify())
		refusals++
		require.NoError(t, u.Close(), "at the second try")
	}
	return refusals
}
