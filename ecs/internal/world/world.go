package world

import (
	"hash/maphash"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/layout"
)

// The world.
//
// An entity is an index into the records (ecs/internal/entity). A record names the row block of
// rows and the row that hold the entity's components. A row block lies in a chunk of one
// archetype's table (ecs/internal/table). The row block's owner names that archetype, the chunk's
// address and the chunk's position in the table's list. The path is record -> owner -> archetype ->
// column -> row; only the record and the row itself are cold memory. Look-ups of one type take a
// shorter path (lookup.go):
//
//	Entity 12v3            owners[row block]                   archetype 7
//	  | index 12             | archetype 7, pos 2, chunk at p  | place[type] = offset 3,264
//	  v                      v                                 v
//	record{3, row block|row} --------------------------------> p + 3,264 + row*16
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
//	W11 of archetypevalues.go, and the invariants of the parts that have a file here: T1 and T2 of
//	typeregistry.go, L2 of lookup.go, A1-A3 of archetyperegistry.go, Q1 of queryepochs.go, O1 of
//	loops.go, C1 of package change.

// World is ecs.World.
type World struct {
	Universe *universe.Universe
	Own      bool           // the universe was opened by the world, which closes it
	Base     unsafe.Pointer // address of the universe's chunk 0

	Growth growth.Policy // of the number of chunks per archetype
	Tables table.Tables  // state that the tables of all archetypes share

	IDs           entity.Store
	lookupRecords entity.RecordsView // view of ids that look-ups use
	Buffers       value.Buffers
	Names         name.Names
	Types         typeRegistry
	Archetypes    archetypeRegistry
	Index         match.Index            // matches archetypes to queries, and to the shared values that they hold
	QueryEpochs   QueryEpochs            // changes that queries have not seen yet
	Loops         loops                  // loops and borrows in progress
	Writer        change.Writer          // all rows, as structural changes see them
	History       History                // of its snapshots; nil until the first
	IDSums        map[*Archetype]IDSum   // that package delta knows; nil until it applies one
	Editing       any                    // what structural changes keep from call to call; nil until one does
	Shrinking     Shrinking              // where the next step of Shrink resumes
	Recordings    Recordings             // of entities, by command buffers
	Recorded      atomic.Int64           // chunks held by command buffers, counted from any goroutine, see door.Hold
	Reserving     sync.RWMutex           // held to read while ids are reserved or released by any goroutine
	Keeper        atomic.Pointer[string] // what does not let the world be closed, see door.Keep
	Closed        bool
}

// RecordingsOf returns the entities that command buffers have recorded.
func (w *World) RecordingsOf() *Recordings { return &w.Recordings }

// History is how the world reaches its snapshots.
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

// Type holds everything that a world knows about a registered type.
type Type struct {
	Lookup  // serves the owner's look-ups; the first field, see OwnerLookup
	World   *World
	ID      TypeID
	readers int32 // active borrows that read the type
	Writers int32 // active borrows that write the type

	Ordered uint32 // latest order version of archetypes with the type that were retired, see World.OrderVersion

	Kind       Kind
	Go         reflect.Type
	Name       string           // for messages: Position, []Hit for a buffer, managed Conn
	Align      int              // alignment of a column element in bytes
	Fields     []layout.Field   // bytes of a value that are not padding
	Links      []Link           // where a value holds entities
	Shared     value.AnyValues  // the values of a shared type; nil for other kinds
	Managed    value.Managed    // the values of a managed type; nil for other kinds
	Sparse     *SparseSet       // the values of a sparse type; nil for other kinds
	Chunk      *table.ChunkType // the values of a chunk type; nil for other kinds
	Codec      *ValueCodec      // of a managed or shared type; nil: there is none, see codec.go
	Enableable bool
	Cleanup    bool // see Cleanup
	Tracked    bool // see TrackRows
	MaxRows    int  // see MaxRows; 0: no limit

	Live *Type // if this is a snapshot's copy of a type, the type of the snapshot's world; else nil
}

// TypeID numbers a world's component types in order of registration.
type TypeID = table.TypeID

// Signature is a set of types.
type Signature = table.Signature

// TypeKey identifies a type: a Go type may be registered once as each kind.
type TypeKey struct {
	Go   reflect.Type
	Kind Kind
}

// Lookup serves the look-ups of one type and the views of its buffers. A type has one Lookup for
// the world's owner, and one for the goroutines of each borrow of a query that lends the type.
type Lookup struct {
	entity.LookupTable         // first, see TableOrNil
	Size               int     // bytes of an element of the column; 0 for a tag
	toRead             *uint64 // epoch of buffer views that may be read: points to the world's epoch, or to noEpoch
	ToWrite            *uint64 // the same for buffer views that may be written
	Spill              *value.Spill
	Shape              value.Shape // common to all buffers of the type; zero for other kinds
	Type               *Type
	Lease              *Lease // of the borrow whose goroutines look up; nil for the owner
	// Look-ups may write: for a borrow, the type is among its uses for writing; for the owner,
	// the type is not lent.
	Writes bool
}

// ValueCodec turns values of a Go type into bytes and back. It is not changed.
type ValueCodec struct {
	Given  bool                                                   // by Codec
	Append func(b []byte, p unsafe.Pointer) ([]byte, error)       // appends the bytes of the value at p
	Read   func(b []byte, p unsafe.Pointer, t reflect.Type) error // sets the zero value at p from the bytes
}

// SparseSet is the set of a sparse type.
type SparseSet struct {
	sparse.Set
	Type *Type // whose set it is
}

// typeRegistry holds the types of a world.
type typeRegistry struct {
	List    []*Type                  // by TypeID
	ByKey   map[TypeKey]TypeID       // without the first leastTypes; nil until there is another
	Shared  Signature                // the shared types
	cleans  bool                     // cleanup is not empty
	Sparse  []*Type                  // the sparse types
	Copied  []*Type                  // the managed types with CopyWith
	Cleanup Signature                // the types registered with Cleanup
	serial  atomic.Uint64            // of the newest shared value
	hashes  atomic.Pointer[[]uint64] // of the types, by TypeID, see World.TypeHashes; nil until somebody asks
}

// archetypeRegistry holds the archetypes of a world.
type archetypeRegistry struct {
	List []*Archetype // in order of creation
	// By hash of types and values: the newest archetype with that hash, first of a list; nil
	// until there is an archetype.
	ByKey      map[uint64]*Archetype
	seed       maphash.Seed // seed of that hash
	Valued     int          // archetypes with shared values
	mostValued int          // the next change sweeps if valued exceeds this
}

// Archetype is ecs.Archetype.
type Archetype struct {
	Table          match.Entry // rows, types and values, as the index knows them; the first field, see ArchetypeOfMatch
	World          *World
	Values         []*value.Shared  // of the shared types, in order of type (W11)
	Key            uint64           // hash of types and values, for archetypeRegistry.ByKey
	alike          *Archetype       // next archetype with the same key
	Transitions    []TypeTransition // transitions to archetypes that differ by one type
	LastTransition *Transition      // the transition used last
	// Transition from a row to its copy, if copying columns and bits suffices, see Instantiate;
	// nil: not known.
	Copies  *Transition
	Into    any    // the change of Into; nil until its first use
	LastKey uint32 // its type, plus KeyAdds if the type is added
	// Destroy has more to do than end rows: the archetype has Cleanup types or LinkedEntity.
	DestroyedByChange bool
	CleanupOnly       bool                // has CleanupEntity, so no entity is created here
	Pinned            bool                // a caller of NewArchetype may hold it, so it stays even without rows
	Born              uint64              // number of the snapshot taken last when it was made
	SnapshotView      *table.SnapshotView // of an archetype of a snapshot; nil for all others
}

// IDSum is the checksum of the entities of an archetype's rows, for as long as none has come, gone
// or moved: Metadata.Latest is at.
type IDSum struct{ Sum, At uint32 }

// TypeTransition is the transition to the archetype that differs by one type.
type TypeTransition struct {
	ID         TypeID // the type that is added or removed
	Transition *Transition
}

// Transition is the transition of rows from one archetype to another.
type Transition = table.Transition

// loops are the activities in a world that structural changes would disturb.
type loops struct {
	Open    int            // number of open scans and active borrows, plus one for a structural change in progress
	Borrows []*Lease       // of active borrows, in the order in which they began
	Scans   unsafe.Pointer // the scans of package query
	change  string         // the call whose structural change is in progress; "" if none
}

// Lease is the part of a borrow that the world knows.
type Lease struct {
	World *World
	Name  string // for messages
	All   bool   // everything is lent, for reading
	Out   bool   // begun and not yet ended
	Past  bool   // what goroutines read is a snapshot's; false for all that NewBorrow and Share return

	Records *entity.PastRecords // of a snapshot

	Access Access
	Used   Signature // types of the uses
	Lent   []*Lookup // for the types in Access, by TypeID; empty if everything is lent
	Wait   func(op string)

	Mu      sync.Mutex
	Version uint32 // version that marks the goroutines' writes
}

// Access is ecs.Access.
type Access struct{ Reads, Writes Signature }

// QueryEpochs counts the events that queries check before they loop.
type QueryEpochs struct {
	Matched      uint64 // archetypes created, removed or laid out anew so far, plus one: matches may have changed
	OwnerMatched uint64 // equal to matched, or never while a borrow is out or after Close: see Query.Rows
	Replanned    uint64 // archetypes laid out anew so far
}

// Shrinking is where the next step of Shrink resumes. Shrink goes from the last archetype to the
// first, so it skips none if some are retired meanwhile.
type Shrinking struct {
	begun bool       // a pass is in progress
	left  int        // the first left archetypes of the list are still to do
	at    *Archetype // the last of those, once it has been started
	row   int        // the buffers of its rows before row are done
}

// Kind is the way in which the values of a registered type are stored.
type Kind uint8
