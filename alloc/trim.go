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
// delay. Maintain (maintain.go) gives back without waiting for a free.

// noteEmpty remembers that granule g became empty. It is called by whoever
// cleared the last bit, with no lock held.
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
		_, _ = u.maintain(now, u.retain)
	}
}

// Trim returns empty memory to the system but for keep bytes (rounded down to
// 2 MiB granules, lowest addresses first) and returns the bytes given back.
// Freeing and Maintain do this by themselves after a while. An error wraps the system's;
// what was not given back stays usable.
func (u *Universe) Trim(keep int) (returned int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		panic("alloc: Universe.Trim: the universe is closed")
	}
	kept := 0
	for g := range u.ready {
		switch {
		case !u.isNoted(g):
		case kept < keep/mmap.Granule:
			kept++
		default:
			n, e := u.giveBack(g)
			returned += n
			if e != nil {
				err = fmt.Errorf("alloc: Universe.Trim: %w", e)
			}
		}
	}
	return returned, err
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

// giveBack decommits granule g, which is noted as emptied, and returns the bytes.
// A granule that the system would not take stays noted. mu is held.
func (u *Universe) giveBack(g int) (returned int, err error) {
	ok, err := u.decommit(g)
	if err != nil {
		return 0, err
	}
	u.forgetEmpty(g)
	if ok {
		returned = mmap.Granule
	}
	return returned, nil
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
	if err := u.pages.Decommit(g*mmap.Granule, mmap.Granule); err != nil {
		if errors.Is(err, mmap.ErrAccess) {
			u.nReady-- // neither the step nor its undo: the granule is reserved now
			u.cleaned(g)
			return false, err
		}
		u.ready[g].Store(1)
		return false, err
	}
	u.nReady--
	u.cleaned(g)
	return true, nil
}

// cleaned marks the chunks of granule g, which has no memory any more, as zero.
// mu is held, so whoever claims one of them marks it after this (claimed).
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
