package alloc

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"quarry/mmap"
)

// The ledger of the process: what its universes and mappings have committed, and what they may
// commit.
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

// process is the only ledger outside of tests.
var process ledger

// books has the sheets of all universes.
var books sheets

type ledger struct {
	used    atomic.Int64 // bytes committed, or about to be
	purged  atomic.Int64 // bytes that purges gave back
	refused atomic.Int64 // charges refused
	terms   atomic.Pointer[terms]
	calls   atomic.Int32 // crossings not yet reported to Near, the one being reported included

	setting sync.Mutex // held over SetBudget
	purging sync.Mutex // one purge at a time: the next may find it has nothing to do

	limit struct {
		sync.Mutex
		follows bool
		before  int64 // GOMEMLIMIT before it followed
	}

	universes registry[Universe]
	mappings  registry[mappings]
	scavenger scavenger
}

// terms is a Budget in force.
type terms struct {
	Budget
	most int64 // OffHeap; without a cap MaxInt64
	near int64 // value of used at which Near is called
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

// charge counts n bytes that are about to be committed. An error wraps ErrBudget; then nothing is
// counted. The caller must not hold a lock of a universe or of mappings.
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
		l.used.Add(int64(-n)) // SetBudget may have missed it, and its terms may not allow it
	}
}

// chargeHere is charge that purges nothing: it reports whether there was room.
func (l *ledger) chargeHere(n int) bool {
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

// chargeBy is charge under terms that were in force a moment ago.
func (l *ledger) chargeBy(t *terms, n int) error {
	enough := func() bool { return l.take(t, int64(n)) }
	if !enough() && (int64(n) > t.most || !l.purge(enough)) {
		l.refused.Add(1)
		// errors.md: `would pass the budget of ... (free some, or raise it by alloc.SetBudget)` |
		// The text of `ErrBudget`. | As it says.
		return fmt.Errorf("%d bytes more beside %d would pass the budget of %d (free some, or raise it by alloc.SetBudget): %w",
			n, l.used.Load(), t.most, ErrBudget)
	}
	return nil
}

// take charges n bytes when the terms leave room, and reports whether they did.
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

// refund takes back a charge of n bytes.
func (l *ledger) refund(n int) {
	if n != 0 {
		l.used.Add(int64(-n))
		l.follow()
	}
}

// purge makes mappings and universes return empty memory to the system, one after another, until
// enough reports true.
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

// signal causes a call of Near: one more by the goroutine that is calling it, or one by a new
// goroutine.
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

// set puts terms in force; nil means no budget.
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

// follow adjusts GOMEMLIMIT to what is committed now, when a budget with a Total is in force.
func (l *ledger) follow() {
	if t := l.terms.Load(); t != nil && t.Total > 0 {
		l.limit.Lock()
		defer l.limit.Unlock()
		l.setLimit()
	}
}

// setLimit is follow with limit held, so the last call sees everything that is committed.
func (l *ledger) setLimit() {
	if l.limit.follows {
		debug.SetMemoryLimit(max(l.terms.Load().Total-l.offHeap(), goNeeds()))
	}
}

// offHeap returns the bytes committed outside the Go heap.
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
		Scavenged: l.scavenger.given.Load(),
		Refused:   l.refused.Load(),
		GoLimit:   debug.SetMemoryLimit(-1),
	}
	if t := l.terms.Load(); t != nil {
		u.Cap = t.OffHeap
	}
	return u
}
