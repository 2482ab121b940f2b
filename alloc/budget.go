package alloc

import (
	"fmt"
	"math"
	"runtime/debug"

	"quarry/internal/universe"
	"quarry/internal/universe/ledger"
)

// Budget bounds what a process takes off the heap: all universes with everything allocated on them,
// and all blocks with mappings of their own, from heaps and from Pages. It counts committed memory,
// that is [Stats].Committed and HeapStats.Mapped and Kept, in whole 2 MiB. The zero value sets no
// bound.
type Budget struct {
	// OffHeap is the cap in bytes; 0 means none. Before a commit is refused, empty memory kept for
	// reuse anywhere in the process returns to the system, regardless of PurgeAfter and Retain,
	// until there is room.
	OffHeap int64

	// Near, unless nil, is called when committed memory reaches NearPercent of OffHeap from below,
	// and by SetBudget when it is there already. Near runs in its own goroutine: it may use what
	// any goroutine may, such as Heap.Trim and SetBudget, and no World, Local or Table. At most one
	// call is under way at a time; crossings during a call cause one more call. What was crossed
	// under another budget causes none.
	Near        func(BudgetUse)
	NearPercent int // 1 to 100; 0: 90

	// Total, unless 0, is how many bytes the process may take in all, Go memory included. SetBudget
	// keeps GOMEMLIMIT at Total minus the bytes committed off the heap, but never below the need of
	// Go at that moment (see [GCFor]). Where mmap.Real is false, as in race builds and WebAssembly,
	// all memory is Go's and the limit stays at Total. GOGC is unchanged.
	Total int64
}

const defaultNear = 90 // percent

// SetBudget sets the budget of the whole process and returns the previous one. SetBudget(Budget{})
// removes the budget and restores GOMEMLIMIT to its value before the first budget with a Total.
//
// An error wraps ErrBudget when more than OffHeap is committed even after empty memory has returned
// to the system, and ErrTooBig when Total leaves less than Go needs; the previous budget then stays
// in force. SetBudget panics when a number is negative, when NearPercent is above 100, and for Near
// without OffHeap.
//
// Any goroutine, and Near itself, may call SetBudget. Without a budget each commit of 2 MiB costs
// one atomic addition and nothing else costs anything; with a Total a commit costs 0.6 us and 240 B
// of garbage. A purge costs 10 us for each 2 MiB returned.
func SetBudget(b Budget) (before Budget, err error) {
	if b.OffHeap < 0 || b.Total < 0 || b.NearPercent < 0 || b.NearPercent > 100 || b.Near != nil && b.OffHeap == 0 {
		panic(
			fmt.Sprintf("alloc: SetBudget: OffHeap=%d NearPercent=%d Total=%d, Near given: %v: want none below 0, at most 100 percent, and Near with OffHeap only",
				b.OffHeap, b.NearPercent, b.Total, b.Near != nil))
	}
	var t *ledger.Terms
	if b.OffHeap > 0 || b.Total > 0 {
		t = termsOf(b)
	}
	old, err := ledger.Process.Set(t, func(total, offHeap int64) error {
		_, err := GCFor(total, offHeap)
		return err
	})
	if old != nil {
		before = old.From.(Budget)
	}
	if err != nil {
		err = fmt.Errorf("alloc: SetBudget: %w", err)
	}
	return before, err
}

func termsOf(b Budget) *ledger.Terms {
	t := &ledger.Terms{Most: math.MaxInt64, Near: math.MaxInt64, Total: b.Total, From: b}
	if b.OffHeap > 0 {
		t.Most = b.OffHeap
	}
	if b.Near != nil {
		percent := int64(b.NearPercent)
		if percent == 0 {
			percent = defaultNear
		}
		t.Near = b.OffHeap/100*percent + b.OffHeap%100*percent/100
		t.Call = func() { b.Near(ReadBudget()) }
	}
	return t
}

// BudgetUse describes the off-heap memory of the process, in bytes.
type BudgetUse struct {
	Committed int64 // committed by all universes and mappings
	Cap       int64 // Budget.OffHeap; 0: none
	Purged    int64 // returned to the system so far so that something else was not refused
	Scavenged int64 // returned to the system so far by the scavenger, see SetScavenger
	Refused   int64 // number of commits refused so far; a call that tries several sizes counts several
	GoLimit   int64 // GOMEMLIMIT now
}

// ReadBudget returns the current figures. It works without a budget too, and costs a few atomic
// loads.
func ReadBudget() BudgetUse {
	use := ledger.Process.Read()
	u := BudgetUse{
		Committed: use.Committed,
		Purged:    use.Purged,
		Scavenged: universe.TheScavenger.Given.Load(),
		Refused:   use.Refused,
		GoLimit:   debug.SetMemoryLimit(-1),
	}
	if t := ledger.Process.Terms(); t != nil {
		u.Cap = t.From.(Budget).OffHeap
	}
	return u
}

// String returns the figures as a JSON object.
func (u BudgetUse) String() string {
	return fmt.Sprintf(`{"committed":%d,"cap":%d,"purged":%d,"scavenged":%d,"refused":%d,"go_limit":%d}`,
		u.Committed, u.Cap, u.Purged, u.Scavenged, u.Refused, u.GoLimit)
}

// BudgetVar exposes ReadBudget as an expvar.Var: expvar.Publish("offheap", alloc.BudgetVar{}).
type BudgetVar struct{}

// String returns the current figures as a JSON object.
func (BudgetVar) String() string { return ReadBudget().String() }
