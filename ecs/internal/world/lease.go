package world

import (
	"fmt"
	"sync/atomic"
)

// Leases: the part of a borrow that the world and its look-ups know (package query defines
// borrows).

// Refuse panics for a borrow that is not out.
//
//go:noinline
func (l *Lease) Refuse(op string) {
	panic("ecs: " + op + ": " + l.Name + " is not out: it has not begun, or has ended")
}

// LookupOf returns the Lookup for a type as used by the rows of the borrow's accessors. l is nil
// for the rows of the owner.
func (l *Lease) LookupOf(t *Type) *Lookup {
	if l == nil || l.All {
		return &t.Lookup
	}
	return l.Lent[t.ID]
}

// Mark sets a version (N4). Goroutines with other rows of the chunk may set it too, to the same
// version, so most of them only load it.
func (l *Lease) Mark(version *uint32) {
	if atomic.LoadUint32(version) != l.Version {
		atomic.StoreUint32(version, l.Version)
	}
}

// Lent types, as the world's own functions check them (N2).

// Lend adds n borrows of the type: 1 when a borrow begins, -1 when it ends. It then updates the
// owner's look-ups and buffer views to allow what the active borrows leave to them.
func (t *Type) Lend(write bool, n int32) {
	if write {
		t.Writers += n
	} else {
		t.readers += n
	}
	t.Writes = t.Writers+t.readers == 0
	t.Grant(t.Writers == 0, t.Writes)
}

// noEpoch is the epoch that makes every view of a buffer unusable: no view was opened in it.
var noEpoch = ^uint64(0)

// Grant allows or forbids look-ups, and the reading and writing of buffer views (L2). Forbidden
// look-ups go to miss, forbidden uses of views to refuse.
func (f *Lookup) Grant(read, write bool) {
	w, toRead, toWrite := f.Type.World, &noEpoch, &noEpoch
	if read {
		toRead = &w.Writer.Epoch
		f.SetRecords(w.IDs.View())
	} else {
		f.Disable()
	}
	if write {
		toWrite = &w.Writer.Epoch
	}
	f.toRead, f.ToWrite = toRead, toWrite
	if f.Lease == nil {
		f.Type.UpdateWrites()
	}
}

// CheckLent panics if a borrow forbids the access to the type.
func (t *Type) CheckLent(op string, access uint8) {
	if t.Writers > 0 || t.readers > 0 && access&MayWrite != 0 {
		t.RefuseLent(op)
	}
}

// RefuseLent panics, and names the borrow that has the type.
//
//go:noinline
func (t *Type) RefuseLent(op string) {
	t.World.RefuseShared(op)
	for _, does := range []string{"writes", "reads"} {
		for _, l := range t.World.Loops.Borrows {
			if does == "writes" && l.Access.Writes.Has(t.ID) || does == "reads" && l.Access.Reads.Has(t.ID) {
				inside := "its rows or a look-up"
				if l.Access.Writes.Has(t.ID) && !l.Used.Has(t.ID) {
					inside = "its rows" // a look-up would be refused
				}
				panic(fmt.Sprintf("ecs: %s: %s is lent to %s, which %s it: complete it first; inside it use %s",
					op, t.Name, l.Name, does, inside))
			}
		}
	}
	panic("ecs: " + op + ": " + t.Name + " is lent: end the borrow first")
}

// RefuseShared panics while everything is borrowed.
func (w *World) RefuseShared(op string) {
	if w.Lent() {
		panic("ecs: " + op + ": the world is lent: until Borrow.End components are only read")
	}
}

// UpdateWrites lets the owner's look-ups write if the type is not lent (L2), and writes need not
// know the rows: else mutElse writes.
func (t *Type) UpdateWrites() {
	if t.Writes && !t.NeedsBarrier() {
		t.EnableWrites(&t.World.Tables.Version)
	} else {
		t.DisableWrites()
	}
}
