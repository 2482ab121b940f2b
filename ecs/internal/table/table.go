package table

import (
	"fmt"
	"slices"
	"strings"

	"quarry/alloc"
	"quarry/layout"
)

// Invariants, checked by Verify:
//
//	W1 Every row has an entity whose record leads back to the row.
//	W2 All chunks of a table but the last are full; the last is not empty. Its
//	   store is sound: T1 to T5 of alloc.ColumnStore.
//	W3 Each chunk of a table has stretches of its own, whose owners have the table and the
//	   position. No other stretch has an owner or is in use. The tables have all small chunks
//	   that were handed out, and no others.
//	W6 Enable bits of rows beyond the last are 0, and counted: B1 and B2 of Books.
//	W9 A table's places, columns and transitions match its plan, and the plan
//	   has at least three quarters of the rows that its own types would have.
//	L1 The Sight of a type has the cell that cellOf returns for each stretch of the chunks of
//	   tables with the type, and the cell that NoValues returns for all other stretches. It has
//	   as many cells as there are owners.
//
// Package ecs numbers the invariants of all its parts, and World.Verify checks them.

// Table holds the rows of all entities with one set of types. Its rows are dense: only the last
// chunk may be part full, and a removed row is replaced by the last one. Only the table writes the
// fields.
type Table struct {
	Index   uint32 // by which owners name the table; set by the caller, see Renumber
	Sig     Signature
	Types   []TypeID          // in rising order
	Places  []Place           // by TypeID, up to the highest TypeID of Types
	Store   alloc.ColumnStore // rows and chunks (W2); the entity column, at offset 0, is not among its columns
	Books   Books             // of the store's chunks: versions, and enable bits
	Owning  []Column          // the store's columns whose rows own blocks or values: buffers, then managed types
	Closed  bool              // Close or End was called
	all     *Tables           // of its world
	bufferN int               // how many of Owning are buffers
	ownRows int               // rows of a unit in the plan of its own types, see layout.go
	maxRows int               // most rows of a chunk, the least of its types' limits; 0: no limit
	adopted *layout.Plan      // a plan with holes, from UseLayout; nil if the table has the plan of its own types
	paths   []*Transition
	side    *Transition // reused by Sideways
	marked  *uint32     // address of the books' versions when the cells were last noted
}

// Init makes an empty table of the types in sig. The caller sets Index, which must differ from the
// Index of every other table of s. With alike, tables of the same types share one plan. An error
// wraps layout.ErrTooBig: a row does not fit a chunk.
func (t *Table) Init(s *Tables, sig Signature, alike bool) error {
	*t = Table{all: s, Sig: sig, Types: make([]TypeID, 0, sig.Count())}
	for id := range sig.Each() {
		t.Types = append(t.Types, id)
	}
	return t.layOut(alike)
}

// Close frees the chunks of a table without rows.
func (t *Table) Close() {
	t.Store.Release()
	t.paths, t.side, t.Closed = nil, nil, true
}

// End frees all chunks and their rows, at the end of the world. Index and Types stay.
func (t *Table) End() {
	t.Store.Release()
	*t = Table{all: t.all, Index: t.Index, Types: t.Types, Books: NewBooks(0, nil, nil), Closed: true}
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

// Renumber sets the table's Index and updates the owners of its chunks.
func (t *Table) Renumber(index uint32) {
	t.Index = index
	for pos := range t.Store.Chunks() {
		t.place(pos)
	}
}

// Forget drops the transitions from and to closed tables.
func (t *Table) Forget() {
	t.paths = slices.DeleteFunc(t.paths, (*Transition).IsClosed)
	if t.side != nil && t.side.IsClosed() {
		t.side = nil
	}
}

// Transitions returns the number of transitions from and to the table.
func (t *Table) Transitions() int { return len(t.paths) }

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
func (t *Table) At(pos, row int) Location { return t.Books.at(pos) + Location(row) }

// Column returns the column of a type that has storage.
func (t *Table) Column(id TypeID) Column {
	return Column{Offset: t.Places[id].Offset, Size: uint32(t.all.types[id].Layout.Size), Key: uint32(id)}
}

// Grow makes room for n more rows by the growth policy. A table without rows first returns to its
// own layout. After an error no row has changed.
func (t *Table) Grow(n int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		t.Promote()
	}
	return err
}

// MakeRoom makes room for n more rows in the current layout, by the growth policy or exactly. If
// the only chunk is outgrown, its rows stay in it until Promote or Settle. If the universe refuses,
// MakeRoom calls Calls.Trim and tries again. After an error no row has changed.
func (t *Table) MakeRoom(n int, exactly bool) error {
	if n <= t.Store.Room() {
		return nil
	}
	before := len(t.Store.Chunks())
	err := t.grow(n, exactly)
	if err != nil && t.all.calls.Trim() > 0 {
		err = t.grow(n, exactly)
	}
	if err != nil {
		return err
	}
	chunks := t.Store.Chunks()
	for pos := before; pos < len(chunks); pos++ {
		t.enter(chunks[pos], pos)
	}
	return nil
}

// grow takes chunks for n more rows, by the growth policy or exactly.
func (t *Table) grow(n int, exactly bool) error {
	if exactly {
		return t.Store.GrowExact(n)
	}
	return t.Store.Grow(n)
}

// Promote moves the rows of an outgrown chunk to the next chunk. The next chunk takes the position
// of the outgrown one, with the versions of its types and of its order. Promote cannot fail.
func (t *Table) Promote() {
	pos, ok := t.Store.Leaving()
	if !ok {
		return
	}
	n := t.Store.RowsOf(pos)
	t.KeepRows(pos+1, 0, n)
	ids := IDs(t.Store.Row(pos+1, 0).Base, n)
	copy(ids, IDs(t.Store.Row(pos, 0).Base, n))
	t.all.ids.MoveRows(ids, t.At(pos+1, 0))
	t.retire(pos)
	t.Books.Promote(pos)
	t.Store.Promote()
	for i := pos; i < len(t.Store.Chunks()); i++ {
		t.place(i)
	}
}

// Settle moves to the reserve the chunks that MakeRoom took and that no row has come to.
func (t *Table) Settle() {
	for last := len(t.Store.Chunks()) - 1; last >= t.Store.Needed(); last-- {
		t.leave(last)
	}
	t.Store.Settle()
}

// Refit frees the reserve, and moves the rows of the last chunk to a smaller chunk if they fit one.
// If the universe refuses, Refit calls Calls.Trim and tries again; if that fails too, the rows
// stay.
func (t *Table) Refit() {
	err := t.Store.Refit()
	if err != nil && t.all.calls.Trim() > 0 {
		err = t.Store.Refit()
	}
	if _, smaller := t.Store.Leaving(); err != nil || !smaller {
		return
	}
	last := t.Store.LastChunk()
	t.enter(t.Store.Chunks()[last], last)
	t.Promote()
}

// enter begins the books of a chunk. leave ends the books of the last chunk, which is about to lose
// its last row.
func (t *Table) enter(c alloc.StoreChunk, pos int) {
	t.Books.Add(t.Store.Fits(c), t.number(c))
	t.Books.begin(pos, t.all.Version)
	t.place(pos)
	t.remark()
}

func (t *Table) leave(last int) {
	t.retire(last)
	t.Books.Cut(last)
}

// FullChunks returns the number of full chunks, which can change hands: all chunks, or all but the
// last. A small chunk never changes hands.
func (t *Table) FullChunks() int {
	n := len(t.Store.Chunks())
	if n > 0 && t.PartFull() > 0 {
		n--
	}
	return n
}

// PartFull returns the number of rows of the last chunk if it is small or not full, else 0.
func (t *Table) PartFull() int {
	last := t.Store.LastChunk()
	c, n := t.Store.Chunks()[last], t.Store.RowsOf(last)
	if c.Small() || n < t.Store.Fits(c) {
		return n
	}
	return 0
}

// Verify checks W1 from the rows' side, W2, W6 and W9.
func (t *Table) Verify() error {
	if err := t.Store.Verify(t.Plan()); err != nil {
		return fmt.Errorf("ecs: W2: %v: %w", t, err)
	}
	if err := t.Books.Verify(len(t.Store.Chunks()), t.Store.RowsOf); err != nil {
		return fmt.Errorf("ecs: W6: %v: %w", t, err)
	}
	if err := t.verifyLayout(); err != nil {
		return err
	}
	measure := func(slot uint16, field Field, pos int) Extent {
		return t.Measure(t.Types[slot], field, pos, 0, t.Store.RowsOf(pos))
	}
	if slot, pos, ok := t.Books.verifyBounds(measure); !ok {
		return fmt.Errorf("ecs: W6: %v: table: B4: the bounds of a field of slot %d in chunk %d are not those of its rows, or missing", t, slot, pos)
	}
	for pos := range t.Store.Chunks() {
		for row, e := range IDs(t.Store.Row(pos, 0).Base, t.Store.RowsOf(pos)) {
			r := t.all.ids.Find(e)
			if r == nil || r.Location != t.At(pos, row) || !e.Is(t.all.ids.Tag()) {
				return fmt.Errorf("ecs: W1: row %d of chunk %d of %v holds %v, whose record does not lead back", row, pos, t, e)
			}
		}
	}
	return nil
}
