//go:build !bitmask_sched

package bitmask

import "sync/atomic"

// atomicWord is the memory of a Word. Under the tag bitmask_sched a shim that stops before each
// access replaces it (atomic_sched.go).
type atomicWord = atomic.Uint64

// mutant is the planted defect: none, in this build.
const mutant = healthy
