package alloc

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"quarry/mmap"
)

// The ledger of the process: what its universes and mappings have committed, beside
// what they may.
//
//	charge  before memory is committed     used += n, or a purge first, or a refusal
//	refund  after it went back, or when    used -= n
//	        the system refused it
//
// So while no call is under way used is the sum of what all of them have committed,
// those that were forgotten without Close too, for their memory is still there.
//
// A charge looks once more whether the terms are those that it went by, after it was
// counted; SetBudget puts its terms in force and then looks at what is counted. Both are
// sequentially consistent, so one sees the other, and nothing passes a budget by its change.
//
// Order of locks. A charge may purge, and a purge takes the locks of all universes and
// mappings in turn; so nobody charges with one of those held. That of Universe.commits
// is held over charges and wanted by nobody who purges. A refund waits for nothing but
// the Go limit's lock, under which nothing else is taken.

// process is the only ledger outside of tests.
var process ledger

type ledger struct {
	used    atomic.Int64 // bytes committed, or about to be
	purged  atomic.Int64 // bytes that purges gave back
	refused atomic.Int64 // charges
	terms   atomic.Pointer[terms]
	calls   atomic.Int32 // crossings that Near was not told of, or is being told of

	setting sync.Mutex // held over SetBudget
	purging sync.Mutex // one purge at a time: the next may find that it need not

	limit struct {
		sync.Mutex
		follows bool
		before  int64 // what GOMEMLIMIT was
	}

	universes registry[Universe]
	mappings  registry[mappings]
}

// terms are a Budget in force.
type terms struct {
	Budget
	most int64 // OffHeap, or without bound
	near int64 // use at which Near is called
}

func termsOf(b Budget) *terms {
	t := &terms{Budget: b, most: math.MaxInt64, near: math.MaxInt64}
	if b.OffHeap > 0 {
		t.most = b.OffHeap
	}
	if b.Near != nil {
		percent := int64(b.NearPercent)
		if percent == 0 {
			percent = defaultNear
		}
		t.near = b.OffHeap/100*percent + b.OffHeap%100*percent/100
	}
	return t
}

// charge counts n bytes that are about to be committed. An error wraps ErrBudget, and
// nothing was counted. No lock of a universe or of mappings may be held.
func (l *ledger) charge(n int) error {
	for {
		t := l.terms.Load()
		if t == nil {
			l.used.Add(int64(n))
		} else if err := l.chargeBy(t, n); err != nil {
			return err
		}
		if l.terms.Load() == t {
			l.follow()
			return nil
		}
		l.used.Add(int64(-n)) // SetBudget may not have seen it, and its terms may not allow it
	}
}

// chargeBy is charge under terms that were in force just now.
func (l *ledger) chargeBy(t *terms, n int) error {
	enough := func() bool { return l.take(t, int64(n)) }
	if !enough() && (int64(n) > t.most || !l.purge(enough)) {
		l.refused.Add(1)
		return fmt.Errorf("%d bytes more beside %d would pass the budget of %d (free some, or raise it by alloc.SetBudget): %w",
			n, l.used.Load(), t.most, ErrBudget)
	}
	return nil
}

// take is charge where there is room.
func (l *ledger) take(t *terms, n int64) bool {
	for {
		used := l.used.Load()
		if used > t.most-n {
			return false
		}
		if l.used.CompareAndSwap(used, used+n) {
			if used < t.near && used+n >= t.near {
				l.signal()
			}
			return true
		}
	}
}

// refund takes back a charge.
func (l *ledger) refund(n int) {
	if n != 0 {
		l.used.Add(int64(-n))
		l.follow()
	}
}

// purge has universes and mappings give back what is empty, one after the other, until
// it is enough.
func (l *ledger) purge(enough func() bool) bool {
	l.purging.Lock()
	defer l.purging.Unlock()
	if enough() {
		return true
	}
	for _, m := range l.mappings.all() {
		l.purged.Add(int64(m.giveBack()))
		if enough() {
			return true
		}
	}
	for _, u := range l.universes.all() {
		l.purged.Add(int64(u.giveBack()))
		if enough() {
			return true
		}
	}
	return false
}

// signal has Near called: by a goroutine that is calling it, once more, or by a new one.
func (l *ledger) signal() {
	if l.calls.Add(1) == 1 {
		go l.callNear()
	}
}

func (l *ledger) callNear() {
	for {
		n := l.calls.Load()
		if t := l.terms.Load(); t != nil && t.Near != nil {
			t.Near(l.read())
		}
		if l.calls.CompareAndSwap(n, 0) {
			return
		}
	}
}

// set puts terms in force, or with nil none.
func (l *ledger) set(t *terms) {
	l.limit.Lock()
	defer l.limit.Unlock()
	l.terms.Store(t)
	follows := t != nil && t.Total > 0
	switch {
	case follows && !l.limit.follows:
		l.limit.before = debug.SetMemoryLimit(-1)
	case !follows && l.limit.follows:
		debug.SetMemoryLimit(l.limit.before)
	}
	l.limit.follows = follows
	l.setLimit()
}

// follow sets GOMEMLIMIT by what is committed now, when that is asked for.
func (l *ledger) follow() {
	if t := l.terms.Load(); t != nil && t.Total > 0 {
		l.limit.Lock()
		defer l.limit.Unlock()
		l.setLimit()
	}
}

// setLimit is follow. limit is held, so the last one sees all that is committed.
func (l *ledger) setLimit() {
	if l.limit.follows {
		debug.SetMemoryLimit(max(l.terms.Load().Total-l.offHeap(), goNeeds()))
	}
}

// offHeap is what is committed outside of the Go heap.
func (l *ledger) offHeap() int64 {
	if !mmap.Real {
		return 0
	}
	return l.used.Load()
}

func (l *ledger) read() BudgetUse {
	u := BudgetUse{
		Committed: l.used.Load(),
		Purged:    l.purged.Load(),
		Refused:   l.refused.Load(),
		GoLimit:   debug.SetMemoryLimit(-1),
	}
	if t := l.terms.Load(); t != nil {
		u.Cap = t.OffHeap
	}
	return u
}
