package table

import (
	"slices"
	"strings"

	"quarry/internal/store"
	"quarry/layout"
)

// Invariants, checked by Verify:
//
//	W1 Every row has an entity whose record leads back to the row.
//	W2 All chunks of a table but the last are full; the last is not empty. Its
//	   store is sound: T1 to T5 of store.Store.
//	W3 Each chunk of a table has row blocks of its own, whose owners have the table and the
//	   position. No other row block has an owner or is in use. The tables have all small chunks
//	   that were handed out, and no others.
//	W6 Enable bits of rows beyond the last are 0, and counted: B1 and B2 of Metadata.
//	W9 A table's places, columns and transitions match its plan, and the plan
//	   has at least three quarters of the rows that its own types would have.
//	L1 The LookupTable of a type has the column address that columnAddressOf returns for each
//	   row block of the chunks of tables with the type, and that of NoValues for all other row
//	   blocks. It has as many column addresses as there are owners.
//
// Package ecs numbers the invariants of all its parts, and World.Verify checks them.

// Table holds the rows of all entities with one set of types. Its rows are dense: only the last
// chunk may be part full, and a removed row is replaced by the last one. Only the table writes the
// fields.
type Table struct {
	Index         uint32 // by which owners name the table; set by the caller, see Renumber
	Placed        uint32 // as Tables.Placed, of this table
	Sig           Signature
	Types         []TypeID     // in rising order
	Places        []Place      // by TypeID, up to the highest TypeID of Types
	Store         store.Store  // rows and chunks (W2); the entity column, at offset 0, is not among its columns
	Metadata      Metadata     // of the store's chunks: versions, and enable bits
	Owning        []Column     // the store's columns whose rows own blocks or values: buffers, then managed types
	Closed        bool         // Close or End was called
	all           *Tables      // of its world
	bufferN       int          // how many of Owning are buffers
	ownRows       int          // rows of a unit in the plan of its own types, see layout.go
	maxRows       int          // most rows of a chunk, the least of its types' limits; 0: no limit
	usedLayout    *layout.Plan // a plan with holes, from UseLayout; nil if the table has the plan of its own types
	transitions   []*Transition
	toSharedValue *Transition // reused by ToSharedValue
	marked        *uint32     // address of the metadata's versions when the column addresses were last noted
}

// Transition moves rows from one table to another, of the same world or another. It has the columns
// that are copied, begun and ended. It does all copying of rows between two layouts.
type Transition struct {
	From, To *Table
	Fresh    []Column // columns of To that rows do not keep (see Keeps); they start as zeros
	// The last column of Fresh; if Fresh is empty, the zero Column, which points to the start of
	// the chunk.
	Added   Column
	numbers []TypeID      // by slot of To: the type's number in the world of From; nil if the numbers are the same
	reset   Signature     // types that start anew although From has them
	row     store.RowCopy // columns that rows keep
	dropped []Column      // owning columns of From that rows do not keep; Send ends what rows own there
	bits    []Slots       // enable bits that rows keep
	values  []Slots       // chunk types that rows keep, whose values go with whole chunks
	on      []uint16      // slots of the other types of To with bits, which are enabled in rows that come
	extras  bool          // bits, on or dropped is not empty: MoveOne calls sendExtras
	more    bool          // extras, or row.Others
	// In no table's transitions, so a new layout of From or To does not update it: see Refresh.
	loose       bool
	MovesChunks bool // columns of both are at the same offsets, so whole chunks can change hands
	sameLayout  bool // From and To have the same types, and each has its own planned layout
}

// Close frees the chunks of a table without rows.
func (t *Table) Close() {
	t.Store.Release()
	t.transitions, t.toSharedValue, t.Closed = nil, nil, true
}

// End frees all chunks and their rows, at the end of the world. Index and Types stay.
func (t *Table) End() {
	t.Store.Release()
	*t = Table{all: t.all, Index: t.Index, Types: t.Types, Metadata: NewMetadata(0, nil, nil), Closed: true}
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.Store.Len() }

// String lists the types.
func (t *Table) String() string {
	names := make([]string, len(t.Types))
	for i, id := range t.Types {
		names[i] = t.all.types[id].Layout.Name
	}
	return "[" + strings.Join(names, " ") + "]"
}

// Forget drops the transitions from and to closed tables.
func (t *Table) Forget() {
	t.transitions = slices.DeleteFunc(t.transitions, (*Transition).IsClosed)
	if t.toSharedValue != nil && t.toSharedValue.IsClosed() {
		t.toSharedValue = nil
	}
}

// Transitions returns the number of transitions from and to the table.
func (t *Table) Transitions() int { return len(t.transitions) }

// IsClosed reports whether From or To is closed.
func (x *Transition) IsClosed() bool { return x.From.Closed || x.To.Closed }

// Buffers returns the columns that are buffers.
func (t *Table) Buffers() []Column { return t.Owning[:t.bufferN] }

// Managed returns the columns of managed types.
func (t *Table) Managed() []Column { return t.Owning[t.bufferN:] }

// addOwning adds a column to Owning.
func (t *Table) addOwning(c Column) {
	if t.all.types[c.Key].Buffers != nil {
		t.Owning = slices.Insert(t.Owning, t.bufferN, c)
		t.bufferN++
		return
	}
	t.Owning = append(t.Owning, c)
}

// At returns the location of a row of a chunk.
func (t *Table) At(pos, row int) Location { return t.Metadata.at(pos) + Location(row) }

// Column returns the column of a type that has storage.
func (t *Table) Column(id TypeID) Column {
	return Column{Offset: t.Places[id].Offset, Size: uint32(t.all.types[id].Layout.Size), Key: uint32(id)}
}

// takesChunksOf reports whether no chunk of another table has more rows than t's may have.
func (t *Table) takesChunksOf(from *Table) bool {
	return t.maxRows == 0 || from.maxRows > 0 && from.maxRows <= t.maxRows
}
