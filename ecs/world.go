package ecs

import (
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// The world.
//
// An entity is an index into the records (ecs/internal/entity), which say in which stretch of rows
// and in which row its components are. A stretch lies in a chunk of the table of one archetype
// (ecs/internal/table); the owners say of which, where the chunk is, and where in the table's list
// it stands. So the path goes record -> owner -> archetype -> column -> row, and only the record
// and the row itself are cold memory; look-ups of one type have a shorter one (lookup.go):
//
//	Entity 12v3            owners[stretch]                   archetype 7
//	  | index 12             | archetype 7, pos 2, chunk at p  | place[type] = offset 3,264
//	  v                      v                                 v
//	record{3, stretch|row} --------------------------------> p + 3,264 + row*16
//
// Invariants, checked by Verify:
//
//	W1 Every alive record leads to a row that holds that entity, and every row
//	   to a record that leads back.
//	W4 rows.Created - rows.Destroyed is the number of rows of all archetypes.
//	W7 The buffers of all rows are sound, and the heap has no blocks but theirs: H1 to H3 of
//	   package value.
//	W8 Every name is that of an entity that is alive, and is listed where Named
//	   looks.
//	W10 Every slot in a row is in use in the store of its type and stands in no other row, and
//	   the stores have no other slots in use: S1 to S3 of package value.
//	W12 Entities that have the tag CleanupEntity have a Cleanup type.
//	W2, W3, W6, W9 and L1 of package table, R1-R10 of package entity, M1-M5 of package match,
//	W11 of value.go, and those of the parts that have a file here: T1, T2 and L2 of registry.go,
//	A1-A3 of catalogue.go, Q1 of news.go, O1 of loops.go, C1 of package change.

// World owns entities and their components. One goroutine at a time may use it; Reserve and
// Unreserve any may call at any time but during Close, and between Share and Borrow.End several may
// read.
type World struct {
	u    *alloc.Universe
	own  bool           // the universe is ours to close
	base unsafe.Pointer // address of the universe's chunk 0

	growth alloc.Growth // of the number of chunks of an archetype
	tables table.Tables // what the archetypes' tables have in common

	ids        entity.Store
	shown      entity.View // of ids, that look-ups have
	buffers    value.Buffers
	names      *names // nil until the first name
	types      registry
	archetypes catalogue
	index      match.Index  // which archetypes queries ask for, and those of each shared value
	news       news         // what queries have not seen yet
	dies       *Change      // what Destroy does to entities that are more than rows
	loops      loops        // under way
	rows       change.Rows  // all rows, as structural changes write them
	copying    copying      // of the last call of Instantiate, kept for the next
	shrinking  shrinking    // where the next step of Shrink goes on
	recorded   atomic.Int64 // chunks that command buffers hold, of any goroutine, see seam.Hold
	closed     bool
}

// Closed reports whether the world was closed.
func (w *World) Closed() bool { return w.closed }

// Universe returns the universe that the world takes its chunks from.
func (w *World) Universe() *alloc.Universe { return w.u }
