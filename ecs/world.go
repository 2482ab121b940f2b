package ecs

import (
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// The world.
//
// An entity is an index into the records (ecs/internal/entity), which say in which chunk
// and row its components are. A chunk belongs to the table of one archetype (ecs/internal/table);
// the owners say to which, and where in the table's list it stands.
// So the path goes record -> owner -> archetype -> column -> row, and only the record and
// the row itself are cold memory; look-ups of one type have a shorter one (lookup.go):
//
//	Entity 12v3          owners[chunk]            archetype 7
//	  | index 12           | archetype 7, pos 2     | place[type] = offset 3,264
//	  v                    v                        v
//	record{3, chunk|row} ------------------> base + chunk*16 KiB + 3,264 + row*16
//
// Invariants, checked by Verify:
//
//	W1 Every alive record leads to a row that holds that entity, and every row
//	   to a record that leads back.
//	W4 created - destroyed is the number of rows of all archetypes.
//	W7 The buffers of all rows are sound, and the heap has no blocks but theirs: H1 to H3 of
//	   package value.
//	W8 Every name is that of an entity that is alive, and is listed where Named
//	   looks.
//	W10 Every slot in a row is in use in the store of its type and stands in no other row, and
//	   the stores have no other slots in use: S1 to S3 of package value.
//	W12 Entities that are Dying have a Cleanup type.
//	W2, W3, W6, W9 and L1 of package table, W11 of value.go, R1-R9 of package
//	entity, M1-M5 of package match, L2 of lookup.go.

// World owns entities and their components. One goroutine at a time may use it;
// Reserve and Unreserve any may call at any time but during Close, and during a Phase
// several may read.
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
	index      match.Index // which archetypes queries ask for, and those of each shared value
	news       news        // what queries have not seen yet
	dies       *Change     // what Destroy does to entities that are more than rows
	loops      loops       // under way
	call       call        // that is under way, and what it leaves for the next
	epoch      uint64      // structural changes so far
	created    uint64
	destroyed  uint64
	closed     bool
}

// registry is the types of a world.
type registry struct {
	list    []*typeInfo // by typeID
	byKey   map[typeKey]typeID
	shared  signature     // that are shared
	cleanup signature     // registered with Cleanup
	serial  atomic.Uint64 // of the shared value that was made last
}

func (r *registry) open() { r.byKey = map[typeKey]typeID{} }

// news counts what queries look at before they loop.
type news struct {
	matched   uint64 // archetypes made, forgotten or laid out anew so far, plus one: matches may have changed
	unshared  uint64 // the same, or never while the world is shared or after Close: see Query.Rows
	replanned uint64 // those laid out anew
}

// never is a news.unshared that no query has seen.
const never = ^uint64(0)

// changeMatches makes queries look before their next loop. No phase is under way.
func (w *World) changeMatches() {
	w.news.matched++
	w.news.unshared = w.news.matched
}

// replan tells queries that an archetype without rows got another layout.
func (w *World) replan() {
	w.news.replanned++
	w.changeMatches()
}

// call is what a structural change has while it is under way, kept so that the next allocates nothing.
type call struct {
	picked    pick            // rows that a batch is about
	targets   []*Archetype    // that rows come to
	moved     []span          // rows that the last batch made or moved
	cloning   cloning         // the last call of Instantiate
	shrinking shrinking       // where the next step of Shrink goes on
	chosen    []*value.Shared // of the archetype that is looked for
	given     []*value.Shared // by the caller
}

// Closed reports whether the world was closed.
func (w *World) Closed() bool { return w.closed }

// Universe returns the universe that the world takes its chunks from.
func (w *World) Universe() *alloc.Universe { return w.u }
