package alloc

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"quarry/internal/universe/ledger"
)

// GC is a setting of Go's garbage collector, which applies to the whole process. The collector does
// not see memory allocated by this package. With most data off the heap, the Go heap is small, and
// a smaller heap is collected more often for the same amount of garbage. [GCFor] computes a setting
// that compensates; docs/memory.md has figures. Use only values returned by GCFor and Apply: the
// zero value collects all the time.
type GC struct {
	Percent int   // as GOGC: garbage allowed, in percent of live memory; negative: unbounded
	Limit   int64 // as GOMEMLIMIT: bytes that Go may use before it collects; math.MaxInt64: unbounded
}

// GCFor returns the setting for a process that may use total bytes, of which offHeap are outside
// Go: [Stats].Committed of its universes, memory of C or mmap, and the growth still expected of
// these. The rest is for Go, which uses it up before anything is collected. Where mmap.Real is
// false, as in race builds and WebAssembly, a universe's pages are part of the Go heap already:
// pass 0 for them.
//
// An error wraps [ErrTooBig]: the rest is less than what Go holds now plus as much garbage as is
// live. Under so low a limit Go collects without end, spends up to half of all processor time, and
// still exceeds the limit. GCFor panics when total or offHeap is negative. It sets nothing. It
// reads a few counters of the runtime, which takes some microseconds, and collects garbage before
// it returns an error.
func GCFor(total, offHeap int64) (GC, error) {
	if total < 0 || offHeap < 0 {
		panic(fmt.Sprintf("alloc: GCFor: total=%d and offHeap=%d: want none below 0", total, offHeap))
	}
	left, need := total-offHeap, ledger.GoNeeds()
	if left < need { // memory live at the last collection may be garbage by now
		runtime.GC()
		need = ledger.GoNeeds()
	}
	if left < need {
		return GC{}, fmt.Errorf("alloc: GCFor: %d bytes, %d off the heap, leave %d for Go, which needs %d: %w",
			total, offHeap, max(0, left), need, ErrTooBig)
	}
	return GC{Percent: -1, Limit: left}, nil
}

// Apply sets g as the process's GOGC and GOMEMLIMIT and returns the previous setting, which Apply
// can restore. The limit is fixed: call GCFor again when more memory is off the heap, or use
// [SetBudget], whose limit follows. Apply waits for a collection that is under way.
func (g GC) Apply() (before GC) {
	return GC{Percent: debug.SetGCPercent(g.Percent), Limit: debug.SetMemoryLimit(g.Limit)}
}
