package ecs

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/seam/under"
)

// The world.
//
// An entity is an index into the records (ecs/internal/entity). A record names the stretch of rows
// and the row that hold the entity's components. A stretch lies in a chunk of one archetype's table
// (ecs/internal/table). The stretch's owner names that archetype, the chunk's address and the
// chunk's position in the table's list. The path is record -> owner -> archetype -> column -> row;
// only the record and the row itself are cold memory. Look-ups of one type take a shorter path
// (lookup.go):
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
//	W7 The buffers of all rows are sound, and the heap has no other blocks: H1 to H3 of
//	   package value.
//	W8 Every name belongs to an entity that is alive, and is listed where Named
//	   looks.
//	W10 Every slot in a row is in use in the store of its type and stands in no other row, and
//	   no other slot of a store is in use: S1 to S3 of package value.
//	W12 Entities that have the tag CleanupEntity have a Cleanup type.
//	W13 of sparseset.go: every value of a sparse type belongs to an entity that is alive.
//	W2, W3, W6, W9 and L1 of package table, R1-R10 of package entity, M1-M5 of package match,
//	W11 of value.go, and the invariants of the parts that have a file here: T1, T2 and L2 of
//	registry.go, A1-A3 of catalogue.go, Q1 of news.go, O1 of loops.go, C1 of package change.

// World owns entities and their components. Only one goroutine at a time may use it, with two
// exceptions: any goroutine may call Reserve and Unreserve, except during Close, and several
// goroutines may read between Share and Borrow.End.
type World struct {
	u    *alloc.Universe
	own  bool           // the universe was opened by the world, which closes it
	base unsafe.Pointer // address of the universe's chunk 0

	growth alloc.Growth // of the number of chunks per archetype
	tables table.Tables // state that the tables of all archetypes share

	ids        entity.Store
	shown      entity.View // view of ids that look-ups use
	buffers    value.Buffers
	names      name.Names
	types      registry
	archetypes catalogue
	index      match.Index            // matches archetypes to queries, and to the shared values that they hold
	news       news                   // changes that queries have not seen yet
	dies       *Change                // what Destroy does to entities with Cleanup types or LinkedEntity; nil until it is asked for, see ending
	loops      loops                  // loops and borrows in progress
	rows       change.Rows            // all rows, as structural changes see them
	history    *history               // of its snapshots; nil until the first
	copying    copying                // scratch of the last Instantiate, reused by the next
	shrinking  shrinking              // where the next step of Shrink resumes
	recordings under.Recordings       // of entities, by command buffers
	recorded   atomic.Int64           // chunks held by command buffers, counted from any goroutine, see seam.Hold
	reserving  sync.RWMutex           // held to read while ids are reserved or released by any goroutine
	keeper     atomic.Pointer[string] // what does not let the world be closed, see seam.Keep
	closed     bool
}

// Closed reports whether the world has been closed.
func (w *World) Closed() bool { return w.closed }

func (w *World) recordingsOf() *under.Recordings { return &w.recordings }

// Universe returns the universe from which the world takes its chunks.
func (w *World) Universe() *alloc.Universe { return w.u }
