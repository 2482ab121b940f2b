package table

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/layout"
)

// The state that the tables of a world share. A world has one Tables, one store of ids and one
// universe. What belongs to which:
//
//	Tables         the source of small chunks, the row blocks and their owners, the directories,
//	               spare bits and versions
//	each table     its chunks and their metadata
//	the world      the universe, the store of ids, look-up tables, heaps and stores of values
//	its history    past and deferred, which are set while snapshots are alive (KeepPast)
//
// A column has a barrier, so that access to it takes the slow path, if its type tracks rows, and
// all columns have one while snapshots are alive (flags).

// leastTypes is the number of types that a world makes room for at first.
const leastTypes = 8

// Tables is the state that the tables of a world share.
type Tables struct {
	Version     uint32 // change version of rows that are created, moved or removed; advanced by the caller, never 0
	Placed      uint64 // counts the chunks that came, went or moved, and those whose versions moved
	u           *universe.Universe
	smallChunks *store.SmallChunks        // source of small chunks
	growth      growth.Policy             // of a table's number of units
	ids         *entity.Store             // with the records, which have the locations of rows
	types       []Type                    // by TypeID
	plans       map[Signature]layout.Plan // of tables with the same types, see planOnce; nil until there is one
	columns     []layout.Column           // of the table planned last, reused by the next, see planOnce
	places      []layout.Placement        // of its plan
	spares      *Spares                   // for reuse; nil until a table has bits or versions of rows
	calls       Calls
	past        *past.Memory // of the universe, while snapshots are alive; else nil, see past.go
	deferred    *past.DeferredFree[store.Chunk]
	births      map[store.SmallIndex]uint64 // by chunk: number of the newest snapshot when it was allocated

	first       [1]Owner                // owners of a world that has had no chunk: of row block 0, which has no rows
	firstBlank  [1]entity.ColumnAddress // its column address, for all types
	owners      []Owner                 // by row block, see reach
	rowBlocks   rowBlocks               // in use
	directories []directory             // by TypeID
	blank       []entity.ColumnAddress  // zero column addresses, as many as owners
	nowhere     uint32                  // where look-ups that write store the version if there is nothing to mark
}

// A directory has, for look-ups, the addresses of the values of one type: a column address for each
// row block. Until the first chunk has the type, its look-up table has blank column addresses, the
// same for all such types, so that a look-up need not check whether there are any. Rows that move
// only change their records.
type directory struct {
	lookups *entity.LookupTable
	columns []entity.ColumnAddress // by row block, as many as owners; nil if no chunk has had the type
}

func (d *directory) setColumns(columns []entity.ColumnAddress) {
	d.columns = columns
	d.lookups.SetColumns(columns)
}

// Type is what tables know about a component type.
type Type struct {
	Layout  layout.Column       // name for messages, size and alignment of an element, and whether it can be disabled
	Buffers *value.Buffers      // the heap of spilled elements; nil if the type is not a buffer
	Managed value.Managed       // the store of values; nil if the type is not managed
	Chunk   *ChunkType          // the values per chunk; nil if the type is not a chunk type
	Tracked bool                // rows have versions of the type
	MaxRows int                 // most rows of a chunk; 0: no limit
	Lookups *entity.LookupTable // for look-ups of the type
}

// Owns reports whether each row owns a block or a value outside the chunk, which ends with the row.
func (t *Type) Owns() bool { return t.Buffers != nil || t.Managed != nil }

// flags returns the flags of the type's place in a table. While snapshots are alive all columns
// have a barrier.
func (s *Tables) flags(t *Type) uint8 {
	if t.Tracked || s.past != nil {
		return Barrier
	}
	return Readable | Writable
}

// Calls are the functions of the world that tables call. Moving or ending rows makes no call.
type Calls struct {
	Trim      func() int // called when the universe refuses memory: frees reserves and returns the number of chunks
	Replanned func()     // called when a table without rows has a new layout
}

// Open initializes zero Tables, which must not be copied. Chunks come from u; the records of ids
// lead to the rows.
func (s *Tables) Open(u *universe.Universe, growth growth.Policy, ids *entity.Store, calls Calls) {
	*s = Tables{Version: 1, u: u, smallChunks: store.NewSmallChunks(u), growth: growth, ids: ids, calls: calls,
		types: make([]Type, 0, leastTypes), directories: make([]directory, 0, leastTypes),
		firstBlank: [1]entity.ColumnAddress{entity.NoValues(&s.nowhere)}}
	s.owners, s.blank = s.first[:], s.firstBlank[:]
}

// Register adds a type. Its TypeID is the number of types registered before it.
func (s *Tables) Register(t Type) {
	s.types = append(s.types, t)
	s.directories = append(s.directories, directory{lookups: t.Lookups})
	t.Lookups.SetColumns(s.blank)
}

// Managed returns the store of a managed type.
func (s *Tables) Managed(id TypeID) value.Managed { return s.types[id].Managed }

// SmallChunks returns the source of the world's small chunks.
func (s *Tables) SmallChunks() *store.SmallChunks { return s.smallChunks }

// Growth returns the growth policy of tables.
func (s *Tables) Growth() growth.Policy { return s.growth }

// Trim drops the spare enable bits and versions of rows.
func (s *Tables) Trim() {
	if s.spares != nil {
		*s.spares = Spares{}
	}
}

// Close drops the owners, the directories and what Trim drops. All tables must be closed and
// all look-ups hidden.
func (s *Tables) Close() {
	s.owners, s.rowBlocks, s.directories, s.blank = nil, rowBlocks{}, nil, nil
	s.Trim()
}
