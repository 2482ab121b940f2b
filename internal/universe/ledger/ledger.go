package ledger

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"quarry/internal/universe/sentinel"
	"quarry/mmap"
)

// The ledger of the process: the bytes that its universes and mappings have committed, and those
// that they may commit.
//
//	charge  before memory is committed     used += n; else a purge first, or a refusal
//	refund  after it was returned, or      used -= n
//	        the system refused it
//
// While no call is under way, used is the sum of all committed memory. That includes universes
// dropped without Close, whose memory is still there.
//
// A charge is counted first and then checks that the terms it used are still in force; SetBudget
// puts its terms in force first and then reads what is counted. Both are sequentially consistent,
// so one sees the other, and no charge passes a budget while the budget changes.
//
// Lock order. A charge may purge, and a purge takes the locks of all universes and mappings in
// turn, so no caller may charge while it holds one of these. Universe.commits is held across
// charges; no purge takes it. A refund waits only for the lock of the Go limit, under which no
// other lock is taken.

// Process is the ledger of the process, the only one outside of tests.
var Process Ledger

// Ledger is the metadata of a process. Any goroutine may use it.
type Ledger struct {
	// Kept and Empty yield what returns memory to the system that a mapping keeps, or that is empty
	// in a universe: functions that return the bytes. The packages of mappings and universes set
	// them when the program starts.
	Kept, Empty iter.Seq[func() int]

	used    atomic.Int64 // bytes committed, or about to be
	purged  atomic.Int64 // bytes that purges gave back
	refused atomic.Int64 // charges refused
	terms   atomic.Pointer[Terms]
	calls   atomic.Int32 // crossings not yet reported, the one being reported included

	setting sync.Mutex // held over SetBudget
	purging sync.Mutex // one purge at a time: the next may find it has nothing to do

	limit struct {
		sync.Mutex
		follows bool
		before  int64 // GOMEMLIMIT before it followed
	}
}

// Terms is a budget in force.
type Terms struct {
	Most  int64  // bytes that may be committed; without a cap MaxInt64
	Near  int64  // bytes at which Call is called; without a call MaxInt64
	Call  func() // reports a crossing of Near; on a goroutine of its own, one at a time
	Total int64  // bytes that the process may take with Go's; 0: no bound
	From  any    // what the terms were made from, for their maker

	crossed atomic.Bool // Near was, and Call was not called since
}

// Use is what the ledger has counted, in bytes.
type Use struct {
	Committed int64
	Purged    int64 // returned so that something else was not refused
	Refused   int64 // number of commits refused
}

// Charge counts n bytes that are about to be committed. An error wraps ErrBudget; then nothing is
// counted. The caller must not hold a lock of a universe or of mappings.
func (l *Ledger) Charge(n int) error {
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
		l.used.Add(int64(-n)) // SetBudget may have missed it, and its terms may not allow it
	}
}

// ChargeHere is Charge that purges nothing: it reports whether there was room.
func (l *Ledger) ChargeHere(n int) bool {
	for {
		t := l.terms.Load()
		if t == nil {
			l.used.Add(int64(n))
		} else if !l.take(t, int64(n)) {
			return false
		}
		if l.terms.Load() == t {
			l.follow()
			return true
		}
		l.used.Add(int64(-n))
	}
}

// chargeBy is Charge under terms that were in force a moment ago.
func (l *Ledger) chargeBy(t *Terms, n int) error {
	enough := func() bool { return l.take(t, int64(n)) }
	if !enough() && (int64(n) > t.Most || !l.Purge(enough)) {
		l.refused.Add(1)
		return fmt.Errorf(
			"%d bytes more beside %d would pass the budget of %d (free some, or raise it by alloc.SetBudget): %w",
			n, l.used.Load(), t.Most, sentinel.ErrBudget)
	}
	return nil
}

// take charges n bytes when the terms leave room, and reports whether they did.
func (l *Ledger) take(t *Terms, n int64) bool {
	for {
		used := l.used.Load()
		if used > t.Most-n {
			return false
		}
		if l.used.CompareAndSwap(used, used+n) {
			if used < t.Near && used+n >= t.Near {
				l.signal(t)
			}
			return true
		}
	}
}

// Refund takes back a charge of n bytes.
func (l *Ledger) Refund(n int) {
	if n != 0 {
		l.used.Add(int64(-n))
		l.follow()
	}
}

// Purge makes mappings and universes return empty memory to the system, one after another, until
// enough reports true, and reports whether it does.
func (l *Ledger) Purge(enough func() bool) bool {
	l.purging.Lock()
	defer l.purging.Unlock()
	if enough() {
		return true
	}
	for _, some := range []iter.Seq[func() int]{l.Kept, l.Empty} {
		if some == nil {
			continue // nothing of the kind in this program
		}
		for giveBack := range some {
			l.purged.Add(int64(giveBack()))
			if enough() {
				return true
			}
		}
	}
	return false
}

// signal causes a call of Call of these terms, if they are still in force then: one more by the
// goroutine that is calling, or one by a new goroutine.
func (l *Ledger) signal(t *Terms) {
	t.crossed.Store(true)
	if l.calls.Add(1) == 1 {
		go l.callNear()
	}
}

// callNear calls Call once for all crossings before it, and again for those meanwhile.
func (l *Ledger) callNear() {
	for {
		n := l.calls.Load()
		if t := l.terms.Load(); t != nil && t.Call != nil && t.crossed.Swap(false) {
			t.Call()
		}
		if l.calls.CompareAndSwap(n, 0) {
			return
		}
	}
}

// Set puts terms in force; nil means no budget. Empty memory is given back first. If more is
// committed even so, the error wraps ErrBudget; otherwise it is that of goFits. After an error the
// terms stay as they were. before is the terms that were in force until now.
func (l *Ledger) Set(t *Terms, goFits func(total, offHeap int64) error) (before *Terms, err error) {
	l.setting.Lock()
	defer l.setting.Unlock()
	before = l.terms.Load()
	if t == nil {
		l.set(nil)
		return before, nil
	}
	fits := func() bool { return l.used.Load() <= t.Most }
	over := func() error {
		return fmt.Errorf("%d bytes are committed, OffHeap=%d: %w", l.used.Load(), t.Most, sentinel.ErrBudget)
	}
	if !l.Purge(fits) {
		return before, over()
	}
	if t.Total > 0 {
		if err := goFits(t.Total, l.OffHeap()); err != nil {
			return before, err
		}
	}
	l.set(t)
	if !l.Purge(fits) { // purge what was charged under the old terms meanwhile
		l.set(before)
		if before != nil && before.crossed.Load() { // the call was due while t was in force
			l.signal(before)
		}
		return before, over()
	}
	if l.used.Load() >= t.Near {
		l.signal(t)
	}
	return before, nil
}

// set puts terms in force, whatever is committed.
func (l *Ledger) set(t *Terms) {
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

// follow adjusts GOMEMLIMIT to what is committed now, when a budget with a Total is in force.
func (l *Ledger) follow() {
	if t := l.terms.Load(); t != nil && t.Total > 0 {
		l.limit.Lock()
		defer l.limit.Unlock()
		l.setLimit()
	}
}

// setLimit is follow with limit held, so the last call sees everything that is committed.
func (l *Ledger) setLimit() {
	if l.limit.follows {
		debug.SetMemoryLimit(max(l.terms.Load().Total-l.OffHeap(), GoNeeds()))
	}
}

// OffHeap returns the bytes committed outside the Go heap.
func (l *Ledger) OffHeap() int64 {
	if !mmap.Real {
		return 0
	}
	return l.used.Load()
}

// Read returns what is counted now.
func (l *Ledger) Read() Use {
	return Use{Committed: l.used.Load(), Purged: l.purged.Load(), Refused: l.refused.Load()}
}

// Used returns the bytes committed, or about to be.
func (l *Ledger) Used() int64 { return l.used.Load() }

// Terms returns the terms in force, or nil.
func (l *Ledger) Terms() *Terms { return l.terms.Load() }

// HoldLimit makes all who follow the Go limit wait until release; for tests.
func (l *Ledger) HoldLimit() (release func()) {
	l.limit.Lock()
	return l.limit.Unlock
}

// Quiet reports whether no call is under way or due, for tests.
func (l *Ledger) Quiet() bool { return l.calls.Load() == 0 }
