package ecs

import (
	"unsafe"

	"quarry/ecs/internal/past"
	"quarry/ecs/internal/snapshot"
)

// Snapshot is the state of a world at one moment. Taking it copies no row: whoever writes rows from
// then on has their old bytes kept first, in units of 16 KiB, each of which is copied once. Any
// number of snapshots of a world may be alive.
//
// Rows do not move because of a snapshot, and slices and pointers in hand stay good to read. To
// write, they are taken anew after a snapshot, as after a structural change: a write through an old
// one changes the snapshot too. Debug builds find it and panic, at the latest when the snapshot is
// closed; for that they hash all rows when a snapshot is taken.
//
// Buffers that have spilled move to a new block when they are first opened to write; until the
// snapshot is closed the old one stays, with what it held. Chunks and blocks that are freed
// meanwhile wait until no snapshot has them.
//
// Taking, restoring and closing belong to the world's owner; any goroutine may read.
//
// If there is no memory to keep old bytes, the write goes on and the snapshots that lack the bytes
// are lost: Err says why, and whatever asks them fails with that.
type Snapshot struct{ core snapshot.Snapshot }

func (s *Snapshot) inner() *snapshot.Snapshot     { return (*snapshot.Snapshot)(unsafe.Pointer(s)) } // Safe because a Snapshot is its core.
func snapshotFrom(s *snapshot.Snapshot) *Snapshot { return (*Snapshot)(unsafe.Pointer(s)) }          // Safe because a Snapshot is its core.

// Snapshot takes a snapshot of the world: the state at this moment. It copies what the world knows
// about chunks and ids, not the rows: 16 us for a million entities of 40 bytes on an AMD EPYC, most
// of it for a bit per index. A bit per row and type that can be disabled is copied too, and
// versions of rows, 4 bytes each. Values of managed types with CopyWith are all copied, by a call
// of the function for each, into Go memory. It advances the world's version, and completes jobs.
// Close the snapshot when it is no longer needed.
//
// Snapshot panics inside a loop over rows and while the world is shared. Goroutines may reserve ids
// meanwhile.
func (w *World) Snapshot() *Snapshot { return snapshotFrom(snapshot.Take(w.inner())) }

// Renew closes the snapshot, unless it is closed, and takes it anew: what World.Snapshot would
// return, in the same memory. A ring of snapshots that are renewed allocates nothing, but for what
// functions of CopyWith allocate. It panics where World.Snapshot and Close do. After a panic of
// such a function the snapshot is closed.
func (s *Snapshot) Renew() { s.inner().Renew() }

// Close ends the snapshot and frees what it alone has. It panics inside a loop over rows, and while
// a goroutine loops over the snapshot's rows or is in Hash, Verify or Diff; a second call does
// nothing. Goroutines that look up by LookupIn, or walk a Delta, are not noticed: they must be
// done.
func (s *Snapshot) Close() { s.inner().Close() }

// Err returns why the snapshot is lost, or nil. It is lost if there was no memory to keep bytes
// that were about to be written. The error wraps what package alloc said. Any goroutine may call
// it.
func (s *Snapshot) Err() error { return s.inner().Err() }

// Version returns the world's version when the snapshot was taken: what changed since is newer.
func (s *Snapshot) Version() uint32 {
	s.inner().Check("Snapshot.Version")
	return s.core.Version
}

// Len returns the number of entities that were alive.
func (s *Snapshot) Len() int {
	s.inner().Check("Snapshot.Len")
	return int(s.core.Created - s.core.Destroyed)
}

// Kept returns the bytes of old rows and records that the snapshot has for itself and for older
// ones.
func (s *Snapshot) Kept() int {
	s.inner().CheckOpen("Snapshot.Kept")
	return s.core.Layer.Units() * past.UnitSize
}

// World returns the snapshot's world.
func (s *Snapshot) World() *World {
	s.inner().Check("Snapshot.World")
	return worldFrom(s.core.World)
}
