package table

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/internal/growth"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/layout"
)

// Sources. A table in a file whose types have changed is no table of the world: its chunks are read
// where they lie, other tables take copies of the rows, and the chunks are freed.
//
//	NewSource   layout, metadata and places are checked; nothing is taken
//	Adopt       the chunks belong to the source
//	Chunks ...  what the rows are
//	Close       frees them

// Source is a table of an image whose rows other tables take.
type Source struct {
	im      *Image
	store   store.Store
	columns []SourceColumn // by slot
}

// SourceColumn is the column that an image must have for a type.
type SourceColumn struct {
	Size   int  // bytes a row
	Bits   bool // it can be disabled
	Valued bool // it is a chunk type
	Chunk  int  // bytes of a chunk's value
	offset uint32
}

// NewSource checks an image against its columns, by slot, and claims its chunks and row blocks. The
// error wraps ErrImage.
func (s *Tables) NewSource(im *Image, columns []SourceColumn, chunks int, claims *Claims) (*Source, error) {
	x := &Source{im: im, columns: columns}
	planned := make([]layout.Column, len(columns))
	for i, c := range columns {
		planned[i] = layout.Column{Name: "type of a file", Size: c.Size, Align: 1}
	}
	plan, err := im.plan.planOf(planned)
	if err != nil {
		return nil, err
	}
	var stored []store.Column
	for i, at := range im.plan.places {
		if at.of > 1 {
			columns[at.of-2].offset = uint32(at.offset) >> store.UnitOrder
			stored = append(stored, store.Column{
				Offset: uint32(at.offset) >> store.UnitOrder, Size: uint32(at.size), Key: uint32(i),
			})
		}
	}
	// It may have a small chunk.
	x.store = store.Make(s.u, s.smallChunks, plan, stored, growth.Doubling(), store.MaxOrder)
	x.store.Skew(im.plan.skewed, im.plan.line)
	if err := x.store.Fit(im.list(0), im.Rows); err != nil {
		return nil, refuseImage("%w", err)
	}
	for pos, c := range im.list(0) {
		k := &im.Chunks[pos]
		n := rowBlocksFor(x.store.Fits(c))
		if k.rowBlock == 0 || !claim(&claims.rowBlocks, k.rowBlock, n, entity.RowBlocks) ||
			!claim(&claims.Eighths, int(k.First), 1<<k.Order, chunks<<store.UnitOrder) {
			return nil, refuseImage(
				"chunk %d lies at eighth %d of the file's %d chunks, with row blocks from %d on, which are another's",
				pos, k.First, chunks, k.rowBlock)
		}
	}
	return x, x.fitMetadata()
}

// fitMetadata checks the metadata of the image.
func (x *Source) fitMetadata() error {
	bits, values := 0, 0
	for i := range x.columns {
		if x.columns[i].Bits {
			bits++
		}
		if x.columns[i].Valued {
			values++
		}
	}
	seen := map[int]bool{}
	for _, b := range x.im.bits {
		if b.slot >= len(x.columns) || !x.columns[b.slot].Bits || seen[b.slot] || len(b.words) != len(x.im.Chunks) {
			return refuseImage("enable bits of slot %d in %d of %d chunks", b.slot, len(b.words), len(x.im.Chunks))
		}
		seen[b.slot] = true
		for pos, words := range b.words {
			if need := entity.WordsFor(x.Fits(pos)); len(words) != need {
				return refuseImage("enable bits of chunk %d are %d words, of %d", pos, len(words), need)
			}
		}
	}
	for _, v := range x.im.values {
		if v.slot >= len(x.columns) || !x.columns[v.slot].Valued || seen[v.slot] ||
			len(v.list) != len(x.im.Chunks)*(&ChunkType{Bytes: x.columns[v.slot].Chunk}).words() {
			return refuseImage("%d words of values of chunks in slot %d", len(v.list), v.slot)
		}
		seen[v.slot] = true
	}
	if len(x.im.bits) != bits || len(x.im.values) != values {
		return refuseImage("%d types with bits, of %d, and %d of chunks, of %d",
			len(x.im.bits), bits, len(x.im.values), values)
	}
	return nil
}

// Fits returns how many rows a chunk of the image has room for.
func (x *Source) Fits(pos int) int {
	k := &x.im.Chunks[pos]
	return x.store.Fits(store.Chunk{First: k.First, Order: k.Order})
}

// Adopt gives the source its chunks, which begin at a chunk of the universe.
func (x *Source) Adopt(first universe.ChunkIndex) {
	if len(x.im.Chunks) > 0 {
		x.store.Compose(x.im.list(first), x.im.Rows)
	}
}

// Close frees the chunks, if the source has them.
func (x *Source) Close() { x.store.Release() }

// Rows returns the number of rows.
func (x *Source) Rows() int { return x.im.Rows }

// Chunks returns the number of chunks, which must have been adopted, and RowsOf the rows of one.
func (x *Source) Chunks() int { return len(x.store.Chunks()) }

// RowsOf is described at Chunks.
func (x *Source) RowsOf(pos int) int { return x.store.RowsOf(pos) }

// Row returns a row of a chunk.
func (x *Source) Row(pos, row int) store.Row { return x.store.Row(pos, row) }

// Column returns the column of a slot, which has a size.
func (x *Source) Column(slot int) Column {
	return Column{Offset: x.columns[slot].offset, Size: uint32(x.columns[slot].Size)}
}

// At returns the location that a row had.
func (x *Source) At(pos, row int) Location {
	return locationOf(x.im.Chunks[pos].rowBlock) + Location(row)
}

// Headers calls visit with the header of each row in a slot, which is a buffer's.
func (x *Source) Headers(slot int, visit func(h *value.Header)) {
	c := x.Column(slot)
	for pos := range x.Chunks() {
		at := x.Row(pos, 0)
		for at.Row = range x.RowsOf(pos) {
			visit(value.HeaderOf(at, c))
		}
	}
}

// CopyBits copies the bits of n rows to the rows of a run that has just come, whose bits are clear.
// Without bits in the source all rows are enabled.
func (x *Source) CopyBits(slot int, pos, row int, to *Table, id TypeID, b Run) {
	bits := to.Metadata.Bits(to.Places[id].Slot(), b.Pos)
	if !x.columns[slot].Bits {
		bits.SetRange(b.At.Row, len(b.IDs))
		return
	}
	for i := range x.im.bits {
		if x.im.bits[i].slot != slot {
			continue
		}
		words := x.im.bits[i].words[pos]
		for k := range b.IDs {
			if words[(row+k)/64]>>((row+k)%64)&1 != 0 {
				bits.Set(b.At.Row+k, true)
			}
		}
	}
}

// Value returns the words of a chunk's value of the chunk type in a slot.
func (x *Source) Value(slot, pos int) []uint64 {
	for i := range x.im.values {
		if v := &x.im.values[i]; v.slot == slot {
			n := (&ChunkType{Bytes: x.columns[slot].Chunk}).words()
			return v.list[pos*n : pos*n+n]
		}
	}
	return nil
}

// Expect makes room for all rows of a source. The error is of the universe; then nothing has
// changed.
func (t *Table) Expect(x *Source) error { return t.Grow(x.Rows()) }

// Receive makes n rows at most of the tail of a table those of a source, for which Expect has made
// room. The caller fills the columns of the run. It returns false if an entity's record does not
// lead to its row in the source, or is another's; then the row has not come.
func (t *Table) Receive(x *Source, pos, row, n int) (b Run, ok bool) {
	b = t.Tail(n)
	copy(b.IDs, IDs(x.Row(pos, 0).Base, row+len(b.IDs))[row:])
	for i, e := range b.IDs {
		if r := t.all.ids.Find(e); r == nil || r.Location != x.At(pos, row+i) || !e.Is(t.all.ids.Tag()) {
			return b, false
		}
	}
	t.all.ids.MoveRows(b.IDs, b.Loc)
	t.Push(b)
	return b, true
}
