// Package guard makes buffers for tests whose first or last byte lies against
// a page without access, so that a load or store one byte too far faults at
// the instruction that did it. Assembly needs this: neither bounds checks nor
// the race detector see what it touches.
//
//	Tail(tb, n)     ... slack, canaries ...|<- n bytes ->|/// no access ///
//	Head(tb, n)     /// no access ///|<- n bytes ->|... slack, canaries ...
//
// The slack on the other side is filled with a canary that is compared when
// the test ends; that catches stores, not loads. Where Real is false both
// sides are canaries and nothing faults.
//
// A buffer lives until the test's clean-up and then is unmapped: keep no slice
// of it longer. One call costs a handful of system calls, so a test that tries
// many lengths should make one buffer and slice it. Buffers are ordinary memory
// for any number of goroutines; the garbage collector does not see them where
// Real is true, so keep no Go pointer in them.
package guard

import (
	"testing"

	"quarry/internal/debug"
)

// canary fills the slack. It is the pattern that debug builds put into padding,
// so a dump of either reads the same.
const canary = debug.Padding

// Tail returns n zero bytes that end flush against a page without access. Its
// capacity is n too. It fails the test when n is negative or the OS refuses.
func Tail(tb testing.TB, n int) []byte {
	tb.Helper()
	room := reserve(tb, "Tail", n)
	return cut(tb, "Tail", room, len(room)-after-n, n)
}

// Head returns n zero bytes that begin right behind a page without access.
// Its capacity is n too. It fails the test when n is negative or the OS refuses.
func Head(tb testing.TB, n int) []byte {
	tb.Helper()
	return cut(tb, "Head", reserve(tb, "Head", n), before, n)
}

func reserve(tb testing.TB, name string, n int) []byte {
	tb.Helper()
	if n < 0 {
		tb.Fatalf("guard: %s: n=%d is negative", name, n)
	}
	room, release, err := pages(n)
	if err != nil {
		tb.Fatalf("guard: %s: n=%d: %v", name, n, err)
	}
	// Clean-ups run last in, first out: cut registers its comparison later, so
	// the canaries are read while the pages are still there.
	tb.Cleanup(release)
	return room
}

// cut returns room[lo:lo+n] and has everything around it watched.
func cut(tb testing.TB, name string, room []byte, lo, n int) []byte {
	tb.Helper()
	hi := lo + n
	debug.Poison(room[:lo], canary)
	debug.Poison(room[hi:], canary)
	tb.Cleanup(func() {
		tb.Helper()
		for i, v := range room {
			if (i < lo || i >= hi) && v != canary {
				tb.Errorf("guard: %s: byte %d of a buffer of %d was overwritten: got %#x want %#x",
					name, i-lo, n, v, byte(canary))
				return
			}
		}
	})
	return room[lo:hi:hi]
}
