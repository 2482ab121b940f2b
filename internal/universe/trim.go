package universe

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"quarry/internal/universe/ledger"
	"quarry/internal/universe/mutant"
	"quarry/mmap"
)

// Returning memory to the system. A granule that becomes empty is noted, not returned at once:
// freeing and reallocating a chunk must not cost system calls. When the noted granules exceed twice
// the retained amount, granules that have been empty for the delay of PurgeAfter are returned,
// except the retained ones at the lowest addresses, which allocation prefers. While there is too
// much, the clock is read once per granule that empties, and the granules are scanned at most twice
// per delay, unless the scan before found some. A Free returns purgeMost granules at most, since
// its caller waits; the next Free that empties one goes on. Maintain and Trim return memory without
// waiting for a free, free chunks beside chunks in use among it (discard.go), and the scavenger
// does what Maintain does by itself (scavenger.go).

// purgeMost is how many granules one Free returns: 10 us for each that was touched.
const purgeMost = 4

// noteEmpty records that granule g became empty. The goroutine that cleared the last bit calls it,
// with no lock held.
func (u *Universe) noteEmpty(g int) {
	if u.since[g].Load() != 0 {
		u.since[g].Store(0) // g was in use since: its time starts again
	}
	// Load first, so that a granule that empties again and again is not written to.
	if u.emptied[g/64].Load()>>(g%64)&1 == 0 && !u.emptied[g/64].SetBit(g%64) {
		u.nEmpty.Add(1)
	}
	u.Spans.lower(2 * g)
	if int(u.nEmpty.Load()) > 2*u.retain || u.kept.some.Load() {
		now := time.Now()
		u.foundEmpty(g, now.Sub(u.born)) // a scan that returns others first may not come to g
		u.purge(now)
	}
}

// purge returns granules that have been empty for the delay, when a purge is due. Free must not
// fail, so a granule that the system refuses stays ready and is retried.
func (u *Universe) purge(now time.Time) {
	due, age := u.due.Load(), int64(now.Sub(u.born)) // monotonic
	if age < due || !u.due.CompareAndSwap(due, age+int64(u.delay/2)) {
		return
	}
	u.tryReleaseKept()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return
	}
	if returned, _ := u.trimGranules("Maintain", now, u.delay, u.retain, purgeMost, nil); returned > 0 {
		u.due.Store(age) // there may be more
	}
}

// Maintain is Universe.Maintain of package alloc.
func (u *Universe) Maintain(now time.Time) (returned int, err error) {
	u.releaseKept()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.trim("Maintain", now, u.delay, 0, nil)
}

// Trim is Universe.Trim of package alloc.
func (u *Universe) Trim(keep int) (returned int, err error) {
	u.releaseKept()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.trim("Trim", time.Time{}, 0, keep/mmap.Granule, nil)
}

// giveBack is Trim(0) for a purge of the budget. It does nothing after Close.
func (u *Universe) giveBack() (returned int) {
	u.releaseKept()
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		returned, _ = u.trim("Trim", time.Time{}, 0, 0, nil)
	}
	return returned
}

// trim returns the granules that have been empty for the delay, except the first keep of them, and
// the memory of free chunks beside chunks in use. by is the scavenger, or nil for other callers. mu
// is held, except between two granules: commits wait for one granule, not for all.
func (u *Universe) trim(op string, now time.Time, delay time.Duration, keep int,
	by *scavenger) (returned int, err error) {
	returned, err = u.trimGranules(op, now, delay, keep, len(u.ready), by)
	n, e := u.discardFree(op, now, delay, by)
	return returned + n, errors.Join(err, e)
}

// trimGranules returns the granules that have been empty for the delay, except the first keep of
// them, and most of them at most. A granule that the system refuses stays noted. mu is held, except
// between two granules.
func (u *Universe) trimGranules(op string, now time.Time, delay time.Duration, keep, most int,
	by *scavenger) (returned int, err error) {
	if u.closed {
		panic("alloc: Universe." + op + ": the universe is closed")
	}
	for g := u.nextNoted(0); g < u.reached(); g = u.nextNoted(g + 1) {
		if !u.isNoted(g) || delay > 0 && u.emptyFor(g, now) < delay {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		bytes := mmap.Granule - u.goneBytes(g)
		ok, e := u.decommit(g)
		if e != nil {
			err = fmt.Errorf("alloc: Universe.%s: %w", op, e)
			continue
		}
		u.forgetEmpty(g)
		if ok {
			returned += bytes
			most--
		}
		if most == 0 || !u.pass(by) {
			break
		}
	}
	return returned, err
}

// emptyFor returns how long granule g, which is noted as emptied, has been known to be empty: the
// time since foundEmpty was called for it, which is now if it was not. mu is held.
func (u *Universe) emptyFor(g int, now time.Time) time.Duration {
	age := now.Sub(u.born)
	since := time.Duration(u.since[g].Load())
	if since == 0 {
		since = u.foundEmpty(g, age)
	}
	return age - since
}

// foundEmpty notes that granule g was empty at an age of the universe, unless it was before, and
// returns that age, or 1 for 0, which means not found empty.
func (u *Universe) foundEmpty(g int, age time.Duration) time.Duration {
	if age == 0 {
		age = 1
	}
	u.since[g].CompareAndSwap(0, int64(age))
	return age
}

// nextNoted returns the first granule from g on that is noted as emptied, or one after the last.
func (u *Universe) nextNoted(g int) int {
	for ; g < len(u.ready); g = (g/64 + 1) * 64 {
		if w := u.emptied[g/64].Load() >> (g % 64); w != 0 {
			return g + bits.TrailingZeros64(w)
		}
	}
	return len(u.ready)
}

// isNoted reports whether granule g is noted as emptied and still empty; it drops a note that is no
// longer true. mu is held.
func (u *Universe) isNoted(g int) bool {
	if u.emptied[g/64].Load()>>(g%64)&1 == 0 {
		return false
	}
	// A claim whose commit was refused notes a granule that has no memory.
	if u.ready[g].Load() == 0 || !u.isEmpty(g) {
		u.forgetEmpty(g)
		return false
	}
	return true
}

// decommit returns granule g to the system unless a goroutine has claimed a chunk of it. It is the
// trimmer's side of the handshake in universe.go. mu is held.
func (u *Universe) decommit(g int) (ok bool, err error) {
	if u.ready[g].Load() == 0 {
		return false, nil
	}
	mutant.Pause()
	u.ready[g].Store(0)
	mutant.Pause()
	if !u.isEmpty(g) && mutant.Planted != mutant.BlindTrim {
		u.ready[g].Store(1)
		return false, nil
	}
	err = u.pages.Decommit(g*mmap.Granule, mmap.Granule)
	if err != nil && !isAccess(err) {
		u.ready[g].Store(1)
		return false, err
	}
	u.nReady--
	ledger.Process.Refund(mmap.Granule - u.goneBytes(g))
	u.cleaned(g)
	return err == nil, err
}

// isAccess reports whether a refused Decommit left the granule reserved all the same.
func isAccess(err error) bool { return errors.Is(err, mmap.ErrAccess) }

// cleaned marks the chunks of granule g, which has no memory any more, as not dirty. mu is held, so
// a goroutine that claims such a chunk marks it dirty after this (claimed).
func (u *Universe) cleaned(g int) {
	u.gone[2*g].Store(0)
	u.gone[2*g+1].Store(0)
	if 2*g+1 < len(u.idle) {
		u.idle[2*g], u.idle[2*g+1] = 0, 0
	}
	if u.filed != nil {
		u.filed[g] = false
	}
	if mutant.Planted == mutant.KeepDirty {
		return
	}
	u.dirty[2*g].Store(0)
	u.dirty[2*g+1].Store(0)
}

// forgetEmpty clears the note of g. A free that emptied g again just before may have found the note
// still set, so g is checked once more.
func (u *Universe) forgetEmpty(g int) {
	u.since[g].Store(0)
	if u.emptied[g/64].ClearBit(g % 64) {
		u.nEmpty.Add(-1)
	}
	if u.ready[g].Load() != 0 && u.isEmpty(g) && !u.emptied[g/64].SetBit(g%64) {
		u.nEmpty.Add(1)
	}
}

func (u *Universe) isEmpty(g int) bool {
	return u.Index.Word(2*g).Load() == 0 && u.Index.Word(2*g+1).Load() == 0
}
