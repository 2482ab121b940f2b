package ecstest

import (
	"testing"
	"unsafe"

	"quarry/internal/long"
)

// StepsOf returns how many steps a stream of operations has. A fifth of them, the short form, still
// does each operation in worlds of hundreds of entities.
func StepsOf(n int) int { return long.N(n/5, n) }

// SkipCheckptr skips a test of allocations in builds with -d=checkptr=2, which puts all on the Go
// heap that is converted to an unsafe.Pointer.
func SkipCheckptr(t testing.TB) {
	seen := byte(0)
	if testing.AllocsPerRun(10, func() {
		var local [64]byte
		seen += *(*byte)(unsafe.Pointer(&local)) // Safe because local has that byte.
	}) > 0 {
		t.Skip("checkptr=2 makes each conversion to unsafe.Pointer an allocation")
	}
}
