package alloc

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// GC is a setting of Go's garbage collector, which is one for the whole process.
// It sees nothing of what this package hands out: with most data off the heap the
// Go heap is small, and the smaller it is the more often it is collected for the
// same garbage. [GCFor] gives the setting that makes up for that; docs/gc.md has
// figures. GCFor and Apply are the only sources: the zero value collects all the
// time.
type GC struct {
	Percent int   // as GOGC: garbage that may pile up, in percent of what is live; negative: without bound
	Limit   int64 // as GOMEMLIMIT: bytes that Go may take before it collects; math.MaxInt64: without bound
}

// leastHeap is the Go heap that the runtime lets grow at any time under GOGC=100.
const leastHeap = 4 << 20

// GCFor returns the setting for a process that may take total bytes, of which
// offHeap are not Go's: [Stats].Committed of its universes, what C or mmap got, and
// what they are still to grow by. The rest is Go's, and is taken before anything
// is collected. Where mmap.Real is false, as in race builds and WebAssembly, a
// universe's pages are of the Go heap already: give 0 for it.
//
// An error wraps [ErrTooBig]: what is left for Go is less than it holds now
// and as much garbage as is live. With so low a limit Go collects without end, up
// to half of all processor time, and exceeds it all the same. GCFor panics when
// total or offHeap is negative. It sets nothing. It reads a few counters of the
// runtime, some microseconds, and collects garbage before it gives an error.
func GCFor(total, offHeap int64) (GC, error) {
	if total < 0 || offHeap < 0 {
		panic(fmt.Sprintf("alloc: GCFor: total=%d and offHeap=%d: want none below 0", total, offHeap))
	}
	left, need := total-offHeap, goNeeds()
	if left < need { // what was live at the last collection may be garbage by now
		runtime.GC()
		need = goNeeds()
	}
	if left < need {
		return GC{}, fmt.Errorf("alloc: GCFor: %d bytes, %d off the heap, leave %d for Go, which needs %d: %w",
			total, offHeap, max(0, left), need, ErrTooBig)
	}
	return GC{Percent: -1, Limit: left}, nil
}

// Apply sets it, in place of GOGC, GOMEMLIMIT and what was set before, which it
// returns: apply that to put it back. The limit is fixed: ask GCFor again when more
// memory is off the heap, or use [SetBudget], whose limit follows. Apply waits for a
// collection that is under way.
func (g GC) Apply() (before GC) {
	return GC{Percent: debug.SetGCPercent(g.Percent), Limit: debug.SetMemoryLimit(g.Limit)}
}

// goNeeds is how many bytes Go needs so that it need not collect more often than
// under GOGC=100: what is live and as much garbage, and what is no heap, such as
// stacks.
func goNeeds() int64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	other := s[0].Value.Uint64()
	for i := range s[1:5] {
		other -= s[1+i].Value.Uint64()
	}
	objects, live := s[4].Value.Uint64(), s[5].Value.Uint64()
	if live == 0 { // nothing was collected yet
		live = objects
	}
	return int64(other + max(leastHeap, 2*live))
}
