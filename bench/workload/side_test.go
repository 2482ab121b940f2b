package workload_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
)

func TestFailReplacesTheWordsOfSuccess(t *testing.T) {
	s := workload.Side{OK: true, Detail: "fine"}
	s.Fail()
	require.True(t, s.OK)
	require.Equal(t, "fine", s.Detail)
	s.Fail("a", "b")
	s.Fail("c")
	require.False(t, s.OK)
	require.Equal(t, "a; b; c", s.Detail)
}

func TestNsPerOp(t *testing.T) {
	require.Zero(t, (&workload.Side{Time: time.Second}).NsPerOp())
	require.Equal(t, 2.5, (&workload.Side{Time: 10, Ops: 4}).NsPerOp())
}

func TestLiveHeapSeesWhatIsHeld(t *testing.T) {
	before := workload.LiveHeap()
	b := make([]byte, 32<<20)
	require.Greater(t, workload.LiveHeap()-before, int64(30<<20))
	runtime.KeepAlive(b)
}
