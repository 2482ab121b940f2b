package universe

import (
	"fmt"
	"math/bits"

	"quarry/mmap"
)

// Verify is Universe.Verify of package alloc.
func (u *Universe) Verify() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil
	}
	ready, emptied := 0, 0
	for g := range u.ready {
		if u.ready[g].Load() != 0 {
			ready++
		} else if !u.isEmpty(g) {
			return fmt.Errorf("alloc: I1: chunks of granule %d are in use, masks %#x %#x, but it is not committed",
				g, u.Index.Word(2*g).Load(), u.Index.Word(2*g+1).Load())
		}
	}
	if err := u.verifyIndex(); err != nil {
		return fmt.Errorf("alloc: I2: %w", err)
	}
	if ready != u.nReady || ready*mmap.Granule != u.pages.Committed() {
		return fmt.Errorf("alloc: I3: %d granules are ready, the count says %d and the pages %d bytes",
			ready, u.nReady, u.pages.Committed())
	}
	for m := range u.dirty {
		used, dirty := u.Index.Word(m).Load(), u.dirty[m].Load()
		if used&^dirty != 0 || dirty != 0 && u.ready[m/2].Load() == 0 {
			return fmt.Errorf("alloc: I4: megachunk %d has the mask %#x and dirty chunks %#x, ready %d",
				m, used, dirty, u.ready[m/2].Load())
		}
	}
	for m := range u.gone {
		if gone := u.gone[m].Load(); gone&(u.Index.Word(m).Load()|u.dirty[m].Load()) != 0 ||
			gone != 0 && u.ready[m/2].Load() == 0 {
			return fmt.Errorf(
				"alloc: I7: megachunk %d has chunks %#x without memory, the mask %#x and dirty chunks %#x, ready %d",
				m, gone, u.Index.Word(m).Load(), u.dirty[m].Load(), u.ready[m/2].Load())
		}
	}
	for g := range u.filed {
		if u.filed[g] && u.ready[g].Load() == 0 {
			return fmt.Errorf("alloc: I10: granule %d shows a file and is not committed", g)
		}
	}
	for i := range u.emptied {
		emptied += bits.OnesCount64(u.emptied[i].Load())
	}
	if emptied != int(u.nEmpty.Load()) {
		return fmt.Errorf("alloc: I5: %d granules are noted as emptied, the count says %d", emptied, u.nEmpty.Load())
	}
	if line, ok := u.verifyLeases(); !ok {
		return fmt.Errorf("alloc: I6: line %d is leased by %d, but that is no shard's home or the home of another",
			line, u.leases.lines[line].Load())
	}
	if err := u.verifyFine(); err != nil {
		return err
	}
	if err := u.verifyKept(); err != nil {
		return err
	}
	return u.verifyReach()
}

// verifyReach checks I8.
func (u *Universe) verifyReach() error {
	from := u.reached()
	for g := from; g < len(u.ready); g++ {
		written := uint64(u.since[g].Load()) | uint64(u.ready[g].Load())
		for m := 2 * g; m < 2*g+2; m++ {
			written |= u.Index.Word(m).Load() | u.dirty[m].Load() | u.gone[m].Load()
		}
		if written != 0 || u.emptied[g/64].Load()>>(g%64)&1 != 0 {
			return fmt.Errorf("alloc: I8: the metadata of granule %d are not blank, though only %d were asked for",
				g, from)
		}
	}
	for line := linesOf(2 * from); line < len(u.leases.lines); line++ {
		if u.leases.lines[line].Load() != 0 {
			return fmt.Errorf("alloc: I8: line %d is leased, though only %d granules were asked for", line, from)
		}
	}
	return nil
}

// verifyIndex checks I2. It notes homes first, as happens when they cease to be homes; the index
// may or may not have tracked them before.
func (u *Universe) verifyIndex() error {
	for i := range u.leases.of {
		if home := int(u.leases.of[i].home.Load()); home >= 0 {
			u.Index.Note(home, ^uint64(0), u.Index.Word(home).Load())
		}
	}
	return u.Index.Verify()
}
