package mmap_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/guard"
	"quarry/mmap"
)

// onFaults runs a test on every backing of this build whose memory faults.
func onFaults(t *testing.T, test func(t *testing.T, s *mmap.Space)) {
	onEach(t, func(t *testing.T, s *mmap.Space) {
		if !s.Faults() {
			t.Skip("Go memory does not fault: TestGuardedCalls")
		}
		test(t, s)
	})
}

// TestGuardedFault touches a range in every state, at first bytes, last bytes
// and between, by store, load, clear and copy: the error has the address, the
// offset, the region and the state.
func TestGuardedFault(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		before, r, behind := reserve(t, s, 3*g), reserve(t, s, 4*g), reserve(t, s, 3*g)
		base, b := uintptr(r.Base()), r.Bytes()
		require.NoError(t, r.Commit(g, 2*g))
		require.NoError(t, r.Guard(2*g, 2*page))
		r.Name("table")
		check := func(off int, state mmap.FaultState, text string, f func()) {
			t.Helper()
			err := s.Guarded(f)
			var fault *mmap.FaultError
			require.ErrorAs(t, err, &fault)
			require.ErrorIs(t, err, mmap.ErrFault)
			var cause runtime.Error
			require.ErrorAs(t, err, &cause)
			require.Equal(t, state, fault.State, fault.State.String())
			at := guard.Fault(base + uintptr(off))
			require.Equal(t, []uintptr{at, base}, []uintptr{fault.Addr, fault.Base})
			require.Equal(t, []int{int(at - base), 4 * g}, []int{fault.Offset, fault.Size})
			require.EqualError(t, err, fmt.Sprintf(text, at, at-base, base))
			if state == mmap.FaultParked {
				require.Nil(t, fault.Region)
			} else {
				require.Same(t, r, fault.Region)
			}
		}
		const (
			reserved = "mmap: fault at %#x: reserved memory, which Commit has not made ready, at offset %d " +
				"of the region \"table\" of 8388608 bytes at %#x"
			zone   = "mmap: fault at %#x: a guard page, at offset %d of the region \"table\" of 8388608 bytes at %#x"
			parked = "mmap: fault at %#x: a released region, at offset %d of the 8388608 bytes that are parked at %#x"
		)
		for _, off := range []int{0, 1, 8209, g - 1, 3 * g, 4*g - 1} {
			check(off, mmap.FaultReserved, reserved, func() { b[off] = 1 })
			check(off, mmap.FaultReserved, reserved, func() { sink = b[off] })
		}
		for _, off := range []int{2 * g, 2*g + 100, 2*g + page, 2*g + 2*page - 1} {
			check(off, mmap.FaultGuard, zone, func() { b[off] = 1 })
			check(off, mmap.FaultGuard, zone, func() { sink = b[off] })
		}
		check(2*g, mmap.FaultGuard, zone, func() { clear(b[g : 3*g]) })
		check(2*g, mmap.FaultGuard, zone, func() {
			for i := 2*g - 5; ; i++ {
				b[i] = 'x'
			}
		})
		require.Equal(t, "xxxxx", string(b[2*g-5:2*g]), "what came before the guard is done")
		require.NoError(t, s.Guarded(func() { clear(b[g : 2*g]) }))
		require.NoError(t, r.Release())
		for _, off := range []int{0, g + 1, 2 * g, 4*g - 1} {
			check(off, mmap.FaultParked, parked, func() { b[off] = 1 })
		}
		r = reserve(t, s, 4*g)
		r.Name("table")
		check(g, mmap.FaultReserved, reserved, func() { b[g] = 1 }) // the range has an owner again
		require.NoError(t, before.Release())
		require.NoError(t, behind.Release())
		require.NoError(t, r.Release())
	})
}

// TestGuardedAfterwards: a fault leaves region and package as usable as before.
func TestGuardedAfterwards(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 2*g)
		for range 3 {
			deferred := false
			err := s.Guarded(func() {
				defer func() { deferred = true }()
				if r.Committed() == 0 {
					r.Bytes()[5] = 1
				}
			})
			require.ErrorIs(t, err, mmap.ErrFault)
			require.True(t, deferred)
			require.NoError(t, r.Verify())
			require.NoError(t, r.Commit(0, g))
			require.NoError(t, s.Guarded(func() { r.Bytes()[5] = 1 }))
			require.NoError(t, r.Decommit(0, g))
		}
		require.NoError(t, r.Release())
	})
}

// TestGuardedReady: memory that became ready between fault and look is reported as ready.
func TestGuardedReady(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 2*g)
		var fault *mmap.FaultError
		require.ErrorAs(t, s.Guarded(func() {
			defer func() { require.NoError(t, r.Commit(0, g)) }()
			r.Bytes()[5] = 1
		}), &fault)
		require.Equal(t, mmap.FaultReady, fault.State)
		require.Equal(t, guard.Fault(uintptr(r.Base())+5), fault.Addr)
		require.ErrorContains(t, fault, fmt.Sprintf("memory that is ready by now, at offset %d", fault.Offset))
		require.NoError(t, r.Release())
	})
}

// TestGuardedNests: the innermost call gets the fault.
func TestGuardedNests(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, g)
		var inner error
		require.NoError(t, s.Guarded(func() {
			inner = s.Guarded(func() { r.Bytes()[7] = 1 })
		}))
		require.ErrorIs(t, inner, mmap.ErrFault)
		outer := s.Guarded(func() { // the setting survives an inner call
			require.NoError(t, s.Guarded(func() {}))
			r.Bytes()[9] = 1
		})
		var fault *mmap.FaultError
		require.ErrorAs(t, outer, &fault)
		require.Equal(t, guard.Fault(uintptr(r.Base())+9), fault.Addr)
		require.NoError(t, r.Release())
	})
}

// TestGuardedOutside: a fault on memory of another space is not ours: it goes on
// as the panic that it is.
func TestGuardedOutside(t *testing.T) {
	onFaults(t, func(t *testing.T, s *mmap.Space) {
		other := reserve(t, s, g)
		at := guard.Fault(uintptr(other.Base()) + 77)
		ours := mmap.NewSpace(mmap.Backings()["pages"]())
		r := reserve(t, ours, g)
		require.Equal(t, at, faultAt(func() {
			_ = ours.Guarded(func() { other.Bytes()[77] = 1 })
			t.Error("returned")
		}))
		require.NoError(t, r.Release())
		require.NoError(t, other.Release())
	})
}

// TestGuardedCalls: on every backing, f runs once, other panics and Goexit pass
// unchanged, and the setting of the goroutine is what it was.
func TestGuardedCalls(t *testing.T) {
	setting := func() bool {
		was := debug.SetPanicOnFault(false)
		debug.SetPanicOnFault(was)
		return was
	}
	onEach(t, func(t *testing.T, s *mmap.Space) {
		for _, was := range []bool{false, true} {
			old := debug.SetPanicOnFault(was)
			calls := 0
			require.NoError(t, s.Guarded(func() {
				calls++
				require.True(t, setting())
			}))
			require.Equal(t, 1, calls)
			require.Equal(t, was, setting())

			for _, value := range []any{"text", errors.New("an error"), &calls, 3} {
				require.PanicsWithValue(t, value, func() { _ = s.Guarded(func() { panic(value) }) })
				require.Equal(t, was, setting())
			}
			func() {
				defer func() {
					var cause runtime.Error
					require.ErrorAs(t, recover().(error), &cause)
					require.True(t, strings.Contains(cause.Error(), "nil pointer"), cause.Error())
				}()
				var nothing *int
				_ = s.Guarded(func() { *nothing = 1 })
				t.Error("returned")
			}()
			require.Equal(t, was, setting())
			debug.SetPanicOnFault(old)
		}
		done, after := make(chan bool), false
		go func() {
			defer close(done)
			_ = s.Guarded(runtime.Goexit)
			after = true
		}()
		<-done
		require.False(t, after, "Goexit goes on")
	})
	require.NoError(t, mmap.Guarded(func() {}))
}

func TestFaultState(t *testing.T) {
	var all []string
	for state := mmap.FaultReserved; state <= mmap.FaultFile+1; state++ {
		all = append(all, state.String())
	}
	require.Equal(t, []string{"reserved", "guard", "parked", "ready", "file", "FaultState(5)"}, all)
}
