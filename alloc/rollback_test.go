package alloc_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// gate refuses its first Commit, after the test has opened it.
type gate struct {
	*mmap.Region
	entered, open chan struct{}
	once          sync.Once
}

var errGate = errors.New("refused by the test")

func (g *gate) Commit(offset, n int) (err error) {
	g.once.Do(func() {
		close(g.entered)
		<-g.open
		err = errGate
	})
	if err != nil {
		return err
	}
	return g.Region.Commit(offset, n)
}

// rollBackBeside has a claim refused while another goroutine holds a claim in the same megachunk
// and waits for the same commit. It returns the error of Verify afterwards and whether the second
// claim is still in use.
func rollBackBeside(t *testing.T) (u *alloc.Universe, second alloc.ChunkIndex, err error, inUse bool) {
	region, err := mmap.Reserve(2 << 20)
	require.NoError(t, err)
	g := &gate{Region: region, entered: make(chan struct{}), open: make(chan struct{})}
	u, err = alloc.NewUniverse(alloc.WithPages(g))
	require.NoError(t, err)
	var both sync.WaitGroup
	both.Go(func() {
		// It may find room in the end: in what the other claim had committed.
		c, err := u.AllocExact(3)
		if err == nil {
			u.Free(c, 3)
		} else if !errors.Is(err, errGate) {
			t.Errorf("got %v want the refusal", err)
		}
	})
	<-g.entered
	both.Go(func() {
		var err error
		if second, err = u.AllocExact(2); err != nil {
			t.Errorf("the other claim: %v", err)
		}
	})
	for !u.InUse(3) {
		runtime.Gosched()
	}
	close(g.open)
	both.Wait()
	return u, second, u.Verify(), u.InUse(second) && u.InUse(second+1) && u.Stats().LiveChunks == 2
}

// TestRollBackTakesNothingOfOthers: exactly the refused claim is taken back.
func TestRollBackTakesNothingOfOthers(t *testing.T) {
	u, second, err, inUse := rollBackBeside(t)
	require.NoError(t, err)
	require.True(t, inUse)
	u.Free(second, 2)
	require.NoError(t, u.Close())
}
