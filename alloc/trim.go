package alloc

import (
	"errors"
	"fmt"
	"time"

	"quarry/mmap"
)

// Giving memory back. A granule that has become empty is noted, not returned:
// a chunk that is freed and allocated again must not cost system calls. When
// more than twice what is to be retained is noted, what has been empty for the
// delay of PurgeAfter goes back, but for the retained; the lowest addresses stay,
// since allocation prefers them. The clock is read once per granule that empties
// while there is too much, and the granules are gone through at most twice per
// delay. Maintain and Trim give back without waiting for a free.

// noteEmpty remembers that granule g became empty. The goroutine that
// cleared the last bit calls it, with no lock held.
func (u *Universe) noteEmpty(g int) {
	if u.since[g].Load() != 0 {
		u.since[g].Store(0) // it was in use meanwhile: its time begins anew
	}
	// Loads first: a granule that empties again and again is not written to.
	if u.emptied[g/64].Load()>>(g%64)&1 == 0 && !u.emptied[g/64].SetBit(g%64) {
		u.nEmpty.Add(1)
	}
	if int(u.nEmpty.Load()) > 2*u.retain {
		u.purge(time.Now())
	}
}

// purge gives back what has been empty for the delay, when that is due. Freeing
// must not fail: a granule that the system would not take stays ready and is
// tried again.
func (u *Universe) purge(now time.Time) {
	due, age := u.due.Load(), int64(now.Sub(u.born)) // by the clock that does not jump
	if age < due || !u.due.CompareAndSwap(due, age+int64(u.delay/2)) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		_, _ = u.trim("Maintain", now, u.delay, u.retain)
	}
}

// Maintain returns memory to the system that has been empty for the time that
// PurgeAfter set (1 s), Retain notwithstanding, and returns the bytes given back.
// now is the caller's clock, which tests may drive; empty means: empty at this
// call and at one that long before, and not in use in between. Call it now and
// then, in a quiet moment, or let MaintainEvery do it. An error wraps the
// system's; what was not given back stays usable.
func (u *Universe) Maintain(now time.Time) (returned int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.trim("Maintain", now, u.delay, 0)
}

// Trim returns empty memory to the system but for keep bytes (rounded down to
// 2 MiB granules, lowest addresses first) and returns the bytes given back.
// Freeing and Maintain do this by themselves after a while. An error wraps the system's;
// what was not given back stays usable.
func (u *Universe) Trim(keep int) (returned int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.trim("Trim", time.Time{}, 0, keep/mmap.Granule)
}

// giveBack is Trim of all for a budget that others need. It does nothing after Close.
func (u *Universe) giveBack() (returned int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		returned, _ = u.trim("Trim", time.Time{}, 0, 0)
	}
	return returned
}

// trim gives back what has been empty for the delay, but for the first keep granules
// of that. A granule that the system would not take stays noted. mu is held.
func (u *Universe) trim(op string, now time.Time, delay time.Duration, keep int) (returned int, err error) {
	if u.closed {
		panic("alloc: Universe." + op + ": the universe is closed")
	}
	for g := range u.ready {
		if !u.isNoted(g) || delay > 0 && u.emptyFor(g, now) < delay {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		ok, e := u.decommit(g)
		if e != nil {
			err = fmt.Errorf("alloc: Universe.%s: %w", op, e)
			continue
		}
		u.forgetEmpty(g)
		if ok {
			returned += mmap.Granule
		}
	}
	return returned, err
}

// emptyFor returns for how long granule g, noted as emptied, has been known to be
// empty: since the first call that asks. mu is held.
func (u *Universe) emptyFor(g int, now time.Time) time.Duration {
	age := now.Sub(u.born)
	since := time.Duration(u.since[g].Load())
	if since == 0 {
		if since = age; since == 0 {
			since = 1 // 0 stands for none
		}
		u.since[g].CompareAndSwap(0, int64(since))
	}
	return age - since
}

// isNoted reports whether granule g is noted as emptied and still is; a note that
// is no longer true is dropped. mu is held.
func (u *Universe) isNoted(g int) bool {
	if u.emptied[g/64].Load()>>(g%64)&1 == 0 {
		return false
	}
	// A claim whose memory was refused notes a granule that has none.
	if u.ready[g].Load() == 0 || !u.isEmpty(g) {
		u.forgetEmpty(g)
		return false
	}
	return true
}

// decommit gives granule g back unless somebody claimed a chunk of it. It is
// the trimmer's side of the handshake in universe.go; mu is held.
func (u *Universe) decommit(g int) (ok bool, err error) {
	if u.ready[g].Load() == 0 {
		return false, nil
	}
	pause()
	u.ready[g].Store(0)
	pause()
	if !u.isEmpty(g) && mutant != blindTrim {
		u.ready[g].Store(1)
		return false, nil
	}
	err = u.pages.Decommit(g*mmap.Granule, mmap.Granule)
	if err != nil && !errors.Is(err, mmap.ErrAccess) { // else neither the step nor its undo: the granule is reserved now
		u.ready[g].Store(1)
		return false, err
	}
	u.nReady--
	process.refund(mmap.Granule)
	u.cleaned(g)
	return err == nil, err
}

// cleaned marks the chunks of granule g, which has no memory any more, as zero.
// mu is held, so a goroutine that claims one of them marks it after this (claimed).
func (u *Universe) cleaned(g int) {
	if mutant == keepDirty {
		return
	}
	u.dirty[2*g].Store(0)
	u.dirty[2*g+1].Store(0)
}

// forgetEmpty clears g's note. A free that emptied g again just before may have
// found the note still set, so it is looked at once more.
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
	return u.index.Word(2*g).Load() == 0 && u.index.Word(2*g+1).Load() == 0
}
