package alloc

import (
	"errors"
	"fmt"
)

// ErrBudget is wrapped, beside ErrCommit, by errors of all that would commit more
// memory than SetBudget allows.
var ErrBudget = errors.New("over the budget of the process")

// Budget is what a process may take off the heap: all its universes, with what is on
// them, and all blocks that are mappings of their own, of heaps and of Pages. What
// counts is what they have committed, [Stats].Committed and HeapStats.Mapped and
// Kept: whole 2 MiB. The zero value is no budget.
type Budget struct {
	// OffHeap is the cap in bytes; 0: none. Before something is refused, whatever in
	// the process is empty and was kept for reuse goes back to the system, by PurgeAfter and
	// Retain or not, until there is room.
	OffHeap int64

	// Near, unless nil, is called when what is committed reaches NearPercent of
	// OffHeap from below, and by SetBudget when it is there already. It has a goroutine
	// of its own, so it may free, allocate and set another budget; one call is under
	// way at a time, and crossings during it make one call more.
	Near        func(BudgetUse)
	NearPercent int // 1 to 100; 0: 90

	// Total, unless 0, is how many bytes the process may take with what is Go's:
	// GOMEMLIMIT is kept at Total less what is committed off the heap, but at what Go
	// needs at that moment at least (see [GCFor]). Where mmap.Real is false, as in race builds and
	// WebAssembly, all is Go's and the limit stays at Total. GOGC stays as it is.
	Total int64
}

const defaultNear = 90 // percent

// SetBudget puts a budget in force for the whole process, in place of the one before,
// which it returns. SetBudget(Budget{}) ends it, and puts GOMEMLIMIT back to what it
// was before the first one with a Total.
//
// An error wraps ErrBudget when more than OffHeap is committed, also after what is empty has
// gone back, and ErrTooBig when what Total leaves is less than what Go needs; the
// budget before stays in force then. It panics when a number is negative or NearPercent above 100,
// and for Near without OffHeap.
//
// Any goroutine may call it, Near too. Without a budget each 2 MiB that is committed
// costs one atomic addition, and nothing else costs anything; with a Total it costs
// 0.6 us and 240 B of garbage. A purge costs 10 us for each 2 MiB that goes back.
func SetBudget(b Budget) (before Budget, err error) {
	if b.OffHeap < 0 || b.Total < 0 || b.NearPercent < 0 || b.NearPercent > 100 || b.Near != nil && b.OffHeap == 0 {
		panic(fmt.Sprintf("alloc: SetBudget: OffHeap=%d NearPercent=%d Total=%d, Near given: %v: want none below 0, at most 100 percent, and Near with OffHeap only",
			b.OffHeap, b.NearPercent, b.Total, b.Near != nil))
	}
	return process.setBudget(b)
}

func (l *ledger) setBudget(b Budget) (before Budget, err error) {
	l.setting.Lock()
	defer l.setting.Unlock()
	old := l.terms.Load()
	if old != nil {
		before = old.Budget
	}
	t := termsOf(b)
	fits := func() bool { return l.used.Load() <= t.most }
	over := func() error {
		return fmt.Errorf("alloc: SetBudget: %d bytes are committed, OffHeap=%d: %w", l.used.Load(), b.OffHeap, ErrBudget)
	}
	if !l.purge(fits) {
		return before, over()
	}
	if b.Total > 0 {
		if _, err := GCFor(b.Total, l.offHeap()); err != nil {
			return before, fmt.Errorf("alloc: SetBudget: %w", err)
		}
	}
	if b.OffHeap == 0 && b.Total == 0 {
		l.set(nil)
		return before, nil
	}
	l.set(t)
	if !l.purge(fits) { // those who were charged by the terms before, since the look above
		l.set(old)
		return before, over()
	}
	if l.used.Load() >= t.near {
		l.signal()
	}
	return before, nil
}

// BudgetUse is what a process takes off the heap, in bytes.
type BudgetUse struct {
	Committed int64 // by all universes and mappings
	Cap       int64 // Budget.OffHeap; 0: none
	Purged    int64 // given back so far because something else would have been refused
	Refused   int64 // how many times something was refused so far
	GoLimit   int64 // GOMEMLIMIT now
}

// ReadBudget returns what is in use now. It works without a budget too, and costs
// some loads.
func ReadBudget() BudgetUse { return process.read() }

// String gives the figures as a JSON object.
func (u BudgetUse) String() string {
	return fmt.Sprintf(`{"committed":%d,"cap":%d,"purged":%d,"refused":%d,"go_limit":%d}`,
		u.Committed, u.Cap, u.Purged, u.Refused, u.GoLimit)
}

// BudgetVar is ReadBudget as an expvar.Var: expvar.Publish("offheap", alloc.BudgetVar{}).
type BudgetVar struct{}

// String gives what is in use now as a JSON object.
func (BudgetVar) String() string { return ReadBudget().String() }
