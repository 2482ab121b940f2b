package main

import (
	"errors"
	"fmt"

	"quarry/mmap"
)

// Backing. In a virtual machine the first touch of memory may be the host's work too:
// what is free in the machine may be given back to the host (free page reporting, seconds
// after it was freed), which backs it again 4 KiB at a time. A page of 2 MiB was measured
// at 7 ms then, and at 0.14 ms when the host backs it already. Whom that hits is luck and
// no property of a library. So before a turn in which single steps are timed as much memory
// is touched and freed as an entrant takes, and the kernel hands that out first.

const (
	// backingPerEntity is more than any entrant touches, in bytes an entity: columns
	// that doubled are there twice.
	backingPerEntity = 256
	backingMost      = 256 << 20
)

// backing touches memory for n entities and frees it. Where regions are no pages of the
// system it does nothing.
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
