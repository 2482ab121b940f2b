package world

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
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

// World is ecs.World.
type World struct {
	Universe *alloc.Universe
	Own      bool           // the universe was opened by the world, which closes it
	Base     unsafe.Pointer // address of the universe's chunk 0

	Growth alloc.Growth // of the number of chunks per archetype
	Tables table.Tables // state that the tables of all archetypes share

	IDs        entity.Store
	shown      entity.View // view of ids that look-ups use
	Buffers    value.Buffers
	Names      name.Names
	Types      registry
	Archetypes catalogue
	Index      match.Index            // matches archetypes to queries, and to the shared values that they hold
	News       News                   // changes that queries have not seen yet
	Loops      loops                  // loops and borrows in progress
	Rows       change.Rows            // all rows, as structural changes see them
	History    History                // of its snapshots; nil until the first
	Editing    any                    // what structural changes keep from call to call; nil until one does
	Shrinking  Shrinking              // where the next step of Shrink resumes
	Recordings Recordings             // of entities, by command buffers
	Recorded   atomic.Int64           // chunks held by command buffers, counted from any goroutine, see door.Hold
	Reserving  sync.RWMutex           // held to read while ids are reserved or released by any goroutine
	Keeper     atomic.Pointer[string] // what does not let the world be closed, see door.Keep
	Closed     bool
}

// RecordingsOf returns the entities that command buffers have recorded.
func (w *World) RecordingsOf() *Recordings { return &w.Recordings }

// History is what a world's snapshots keep in it, and are asked.
type History interface {
	// Past keeps the old bytes that snapshots have.
	Past() *past.Past
	// Has reports whether a snapshot has the archetype.
	Has(a *Archetype) bool
	// Quiet keeps readers of snapshots from making anything, which takes memory of the universe,
	// until resume.
	Quiet() (resume func())
	// Close closes all snapshots. It panics, and closes none, while goroutines read one.
	Close(op string)
	// Verify checks the invariants of package snapshot.
	Verify() error
}
