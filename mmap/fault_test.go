package mmap_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/guard"
	"quarry/mmap"
)

// faultAt is the address at which f faults, or 0.
func faultAt(f func()) (addr uintptr) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault, ok := recover().(interface{ Addr() uintptr }); ok {
			addr = fault.Addr()
		}
	}()
	f()
	return 0
}

// TestFault touches a range in every state: only a ready granule may be touched,
// and a stale slice of a released region faults too.
func TestFault(t *testing.T) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		if !s.Faults() {
			t.Skip("Go memory does not fault")
		}
		r := reserve(t, s, 3*g)
		b, at := r.Bytes(), guard.Fault(uintptr(r.Base())+g+8209)
		write := func() { b[g+8209] = 1 }
		require.Equal(t, at, faultAt(write), "reserved")
		require.NoError(t, r.Commit(g, g))
		require.Zero(t, faultAt(write), "ready")
		require.Equal(t, uintptr(r.Base())+2*g, faultAt(func() { clear(b[g:]) }), "end of the ready range")
		require.NoError(t, r.Decommit(g, g))
		require.Equal(t, at, faultAt(write), "decommitted")
		require.NoError(t, r.Commit(g, g))
		require.Zero(t, faultAt(write), "ready again")
		require.NoError(t, r.Release())
		require.Equal(t, at, faultAt(write), "released")
		var sum byte
		require.Equal(t, at, faultAt(func() { sum += b[g+8209] }), "released, read")
	})
}
