package universe

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/internal/universe/sentinel"
)

// keptRun is a run or span that a test holds; each of its chunks begins with mark.
type keptRun struct {
	first ChunkIndex
	n     int
	mark  uint64
}

func (r keptRun) word(u *Universe, i int) *uint64 {
	// Safe because the test holds the chunk.
	return (*uint64)(unsafe.Pointer(u.Pointer(r.first + ChunkIndex(i))))
}

func (r keptRun) fill(u *Universe) {
	for i := range r.n {
		*r.word(u, i) = r.mark
	}
}

func (r keptRun) check(t *testing.T, u *Universe) {
	for i := range r.n {
		if got := *r.word(u, i); got != r.mark {
			t.Errorf("chunk %d of %d from %d on: got %#x want %#x", i, r.n, r.first, got, r.mark)
			return
		}
	}
}

// allocKept allocates n chunks as a heap does.
func allocKept(u *Universe, n int, c Flags) (ChunkIndex, error) {
	if n < LeastSpan {
		return u.AllocRun(n, c)
	}
	return u.AllocSpan(n, 1, c|WholeSpan)
}

// TestKeptModel allocates, keeps, frees, extends and trims runs and spans at random in a universe
// that is often full, and compares each chunk with what was written to it.
func TestKeptModel(t *testing.T) {
	u, err := New(Size(64 << 20))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(53, 1))
	lengths := []int{2, 3, 4, 17, 40, 64, 65, 66, 73, 200, 600}
	var live []keptRun
	held := 0
	for step := range 4000 {
		switch op := rng.IntN(16); {
		case op < 8:
			r := keptRun{n: lengths[rng.IntN(len(lengths))], mark: uint64(step) + 1}
			c := AnyRun
			if op == 0 {
				c = ZeroedRun
			}
			if r.first, err = allocKept(u, r.n, c); err != nil {
				require.ErrorIs(t, err, sentinel.ErrFull)
				require.Positive(t, held)
				require.Less(t, u.Stats().LongestRun, min(r.n, ChunksPerMegachunk+1), "nothing is kept from a request")
				break
			}
			if c == ZeroedRun {
				(keptRun{r.first, r.n, 0}).check(t, u)
			}
			r.fill(u)
			live, held = append(live, r), held+r.n
		case op < 14 && len(live) > 0:
			i := rng.IntN(len(live))
			r := live[i]
			r.check(t, u)
			if op == 13 {
				u.DropSpan(r.first, r.n)
			} else {
				u.Keep(r.first, r.n)
			}
			require.False(t, u.InUse(r.first+ChunkIndex(r.n-1)))
			live[i] = live[len(live)-1]
			live, held = live[:len(live)-1], held-r.n
		case op == 14 && len(live) > 0:
			r := &live[rng.IntN(len(live))]
			if r.n >= LeastSpan && u.ExtendSpan(r.first, r.n, 5) {
				r.n, held = r.n+5, held+5
				r.fill(u)
			}
		case rng.IntN(8) == 0:
			_, err := u.Trim(0)
			require.NoError(t, err)
		case rng.IntN(8) == 0:
			require.Equal(t, held, u.Stats().LiveChunks)
		}
		if step%16 == 0 {
			require.NoError(t, u.Verify())
		}
	}
	for _, r := range live {
		r.check(t, u)
		u.Keep(r.first, r.n)
	}
	require.NoError(t, u.Close())
}

// TestKeptTogether has goroutines that take and keep runs of the same lengths while another trims.
func TestKeptTogether(t *testing.T) {
	u, err := New(Size(64 << 20))
	require.NoError(t, err)
	var workers sync.WaitGroup
	for w := range 3 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(53, uint64(w)))
			for step := range 3000 {
				r := keptRun{n: []int{2, 3, 65, 90}[rng.IntN(4)], mark: uint64(step)<<8 | uint64(w)}
				var err error
				if r.first, err = allocKept(u, r.n, AnyRun); err != nil {
					t.Error(err)
					return
				}
				r.fill(u)
				r.check(t, u)
				u.Keep(r.first, r.n)
			}
		})
	}
	workers.Go(func() {
		for range 200 {
			if _, err := u.Trim(0); err != nil {
				t.Error(err)
			}
		}
	})
	workers.Wait()
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
}

// TestKeptIsCommittedOnce checks that a request for which there is room in what is kept commits
// nothing.
func TestKeptIsCommittedOnce(t *testing.T) {
	u, err := New(Size(64<<20), PurgeAfter(time.Hour))
	require.NoError(t, err)
	for _, n := range []int{65, 640, 3, 20, 64} {
		first, err := allocKept(u, n, AnyRun)
		require.NoError(t, err)
		u.Keep(first, n)
	}
	before := u.committed()
	var list []ChunkIndex
	for range 9 {
		first, err := allocKept(u, 64, AnyRun)
		require.NoError(t, err)
		list = append(list, first)
	}
	require.Equal(t, before, u.committed())
	for _, first := range list {
		u.Keep(first, 64)
	}
	require.NoError(t, u.Close())
}
