package main

import (
	"errors"
	"fmt"

	"quarry/mmap"
)

// Backing. In a virtual machine, the first touch of memory may make the host work too: the guest
// may have given free memory back to the host (free page reporting, seconds after it was freed),
// which then backs it again 4 KiB at a time. A page of 2 MiB was measured at 7 ms in that case, and
// at 0.14 ms if the host backs it already. Which entrant this hits is luck and not a property of
// its library. So before a turn that times single steps, as much memory as an entrant takes is
// touched and freed, and the kernel hands that memory out first.

const (
	// backingPerEntity is more than any entrant touches, in bytes per entity: columns that double
	// are there twice.
	backingPerEntity = 256
	backingMost      = 256 << 20
)

// backing touches memory for n entities and frees it. If regions are not pages of the system, it
// does nothing.
func backing(n int) error {
	if !mmap.Real {
		return nil
	}
	r, err := mmap.Reserve(min(n, backingMost/backingPerEntity) * backingPerEntity)
	if err == nil {
		if err = r.Commit(0, r.Size()); err == nil {
			err = r.Prefault(0, r.Size())
		}
		err = errors.Join(err, r.Release())
	}
	if err != nil {
		return fmt.Errorf("memory that is touched before a turn: %w", err)
	}
	return nil
}
