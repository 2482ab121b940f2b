// Package guard makes buffers for tests whose first or last byte borders a page without access. A
// load or store one byte too far then faults at the instruction that did it. Tests of assembly need
// this: neither bounds checks nor the race detector see its loads and stores.
//
//	Tail(tb, n)     ... slack, canaries ...|<- n bytes ->|/// no access ///
//	Head(tb, n)     /// no access ///|<- n bytes ->|... slack, canaries ...
//
// The slack on the other side is filled with a canary, which is compared at the end of the test.
// That catches stores but not loads. Where Real is false both sides are canaries, and nothing
// faults.
//
// A buffer lives until the clean-up of the test and is then unmapped, so keep no slice of it
// longer. A call costs a handful of system calls; a test of many lengths should make one buffer and
// slice it. Any number of goroutines may use a buffer, like ordinary memory. Where Real is true the
// garbage collector does not see it, so keep no Go pointer in it.
package guard

import (
	"testing"

	"quarry/internal/debug"
)

// canary fills the slack. Debug builds fill padding with the same pattern, so dumps of both look
// the same.
const canary = debug.Padding

// Tail returns n zero bytes directly before a page without access. The capacity is n too. Tail
// fails the test if n is negative or the system refuses.
func Tail(tb testing.TB, n int) []byte {
	tb.Helper()
	room := reserve(tb, "Tail", n)
	return cut(tb, "Tail", room, len(room)-after-n, n)
}

// Head returns n zero bytes directly after a page without access. The capacity is n too. Head fails
// the test if n is negative or the system refuses.
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
	// Clean-ups run last in, first out. cut registers its comparison after this release, so the
	// canaries are read while the pages are still mapped.
	tb.Cleanup(release)
	return room
}

// cut returns room[lo:lo+n], and checks everything around it at the end of the test.
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
