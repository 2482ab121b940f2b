//go:build !bitmask_sched

package bitmask

import "sync/atomic"

// atomicWord is the memory of a Word. Under the tag bitmask_sched its place is
// taken by a shim that stops before each access (atomic_sched.go).
type atomicWord = atomic.Uint64

// mutant is the defect that is planted: none, in this build.
const mutant = healthy
