package worldfile

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Rows whose types have changed. They are copied, chunk by chunk and column by column, from where
// the file has them to the archetype that they belong to now, and the chunks of the file are freed:
//
//	file       [Pos Hits Team]   chunk 0 | chunk 1 |
//	                                |  rows, in order
//	program    [Position Hits]    | chunk                 |
//
// Ids and the order of rows stay; everything in the rows is marked changed now. Several archetypes
// of the file may become one, whose rows follow each other in the order of the file. An archetype
// none of whose types has changed is not touched, unless rows come to it.
//
// The ids in rows of a file are not trusted: each must have a record that leads to the row.

// sourceColumns returns what an image must have of its types.
func (l *imageLoader) sourceColumns(im *table.Image) []table.SourceColumn {
	columns := make([]table.SourceColumn, len(im.Types))
	for i, of := range im.Types {
		t := &l.im.Types[of]
		c := table.SourceColumn{Bits: t.Enableable, Valued: t.Kind == world.KindChunk, Chunk: t.Chunk}
		if t.Kind == world.KindComponent || t.Kind == world.KindBuffer || t.Kind == world.KindManaged {
			c.Size = t.Size
		}
		columns[i] = c
	}
	return columns
}

// eachShape calls visit for each buffer type of a table in the file, with its shape there.
func (l *imageLoader) eachShape(t *loadedTable, visit func(slot int, k value.Shape)) {
	for slot, of := range t.im.Types {
		if l.im.Types[of].Kind == world.KindBuffer {
			visit(slot, l.matches[of].shape())
		}
	}
}

// shape returns the shape that a buffer has in the file.
func (x *imageMatch) shape() value.Shape {
	return value.Shape{Element: x.im.Whole, Inline: x.im.Inline}
}

// freeSources frees the rows that have not been copied.
func (l *imageLoader) freeSources() {
	for i := range l.tables {
		if s := l.tables[i].source; s != nil && l.handedOver {
			s.Close()
		}
	}
}

// convertTables copies the rows whose types have changed. After an error, which is of the universe
// or wraps ErrImage, the world is sound enough to be closed.
func (l *imageLoader) convertTables() error {
	l.w.Loops.Enter("image.Open") // conversion functions of the program are called
	defer l.w.Loops.Leave()
	for i := range l.tables {
		t := &l.tables[i]
		if t.source == nil || t.source.Rows() == 0 {
			continue
		}
		if err := l.convertTable(t); err != nil {
			return err
		}
		t.source.Close()
	}
	return nil
}

// convertTable copies the rows of one table.
func (l *imageLoader) convertTable(t *loadedTable) error {
	if err := t.a.Table.Expect(t.source); err != nil {
		return err
	}
	for pos := range t.source.Chunks() {
		for row, all := 0, t.source.RowsOf(pos); row < all; {
			b, ok := t.a.Table.Receive(t.source, pos, row, all-row)
			if !ok {
				return fmt.Errorf("%w: rows of %v: an entity's record does not lead to its row", ErrImage, t.a)
			}
			if err := l.convertRun(t, pos, row, b); err != nil {
				return err
			}
			row += len(b.IDs)
		}
	}
	return nil
}

// convertRun fills the columns of rows that have come, which were those of a chunk of the file from
// row on.
func (l *imageLoader) convertRun(t *loadedTable, pos, row int, b table.Run) (err error) {
	to, n := &t.a.Table, len(b.IDs)
	for _, c := range to.Owning { // a conversion function may panic
		clear(rawBytes(b.At.Element(c.Offset, c.Size), n*int(c.Size)))
	}
	for slot, of := range t.im.Types {
		x := &l.matches[of]
		if x.t == nil {
			l.dropColumn(t, slot, pos, row, n, x)
			continue
		}
		if x.t.Enableable {
			t.source.CopyBits(slot, pos, row, &to.Table, x.t.ID, b)
		}
		switch x.im.Kind {
		case world.KindComponent, world.KindManaged:
			if x.t.Size > 0 {
				c := to.Column(x.t.ID)
				x.fill(ValueCopy{b.At.Element(c.Offset, c.Size), l.elementOf(t, slot, pos, row), x.t.Size, x.im.Size,
					n})
			}
		case world.KindBuffer:
			if failed := l.convertBuffers(t, slot, pos, row, b, x); err == nil {
				err = failed
			}
		case world.KindChunk:
			l.convertChunkValue(t, slot, pos, b, x)
		}
	}
	return err
}

// elementOf returns where a row of a chunk of the file has a type.
func (l *imageLoader) elementOf(t *loadedTable, slot, pos, row int) unsafe.Pointer {
	c := t.source.Column(slot)
	if c.Size == 0 {
		return nil
	}
	return t.source.Row(pos, row).Element(c.Offset, c.Size)
}

// fill makes values of the file those of the program.
func (x *imageMatch) fill(s ValueCopy) {
	switch {
	case x.by != nil:
		if s.N > 0 {
			x.by.Rows(s.To, s.From, s.N)
		}
	case x.alike:
		s.MoveBytes(s.ToSize)
	default:
		s.Convert(x.moves)
	}
}

// dropColumn frees what n rows own of a type that entities lose.
func (l *imageLoader) dropColumn(t *loadedTable, slot, pos, row, n int, x *imageMatch) {
	if x.im.Kind != world.KindBuffer {
		return
	}
	from := l.elementOf(t, slot, pos, row)
	for i := range n {
		l.w.Buffers.Free(value.HeaderAt(from, i, uint32(x.im.Size)))
	}
}

// convertBuffers fills the buffers of rows. After an error buffers are empty.
func (l *imageLoader) convertBuffers(t *loadedTable, slot, pos, row int, b table.Run, x *imageMatch) (err error) {
	c, old := t.a.Table.Column(x.t.ID), x.shape()
	to, from := b.At.Element(c.Offset, c.Size), l.elementOf(t, slot, pos, row)
	for i := range b.IDs {
		if err == nil {
			err = l.convertBuffer(x, value.HeaderAt(to, i, c.Size), value.HeaderAt(from, i, uint32(x.im.Size)), &old)
		}
	}
	return err
}

// convertBuffer fills one buffer. A block whose elements stay as they are goes along.
func (l *imageLoader) convertBuffer(x *imageMatch, to, from *value.Header, old *value.Shape) error {
	k, n := &x.t.Shape, from.Len()
	if x.alike && from.Spilled() && old.Cap(from) > k.Inline {
		*to = *from
		return nil
	}
	next := value.Inline(n)
	if n > k.Inline {
		var err error
		if next, err = x.t.Spill.Take(k, n); err != nil {
			return err
		}
	}
	*to = next
	if n > 0 {
		// Safe because both buffers have n elements.
		x.fill(ValueCopy{unsafe.Pointer(unsafe.SliceData(x.t.Spill.Bytes(to, k, 0, n))),
			unsafe.Pointer(unsafe.SliceData(x.t.Spill.Bytes(from, old, 0, n))), k.Element, old.Element, n})
	}
	l.w.Buffers.Free(from)
	return nil
}

// convertChunkValue gives the value of a chunk of the file to the chunk to which a run of its rows
// has come, where it merges with the value of rows that were there.
func (l *imageLoader) convertChunkValue(t *loadedTable, slot, pos int, b table.Run, x *imageMatch) {
	metadata := &t.a.Table.Metadata
	into := t.a.Table.Places[x.t.ID].Slot()
	*metadata.Version(into, b.Pos) = l.w.Tables.Version
	if x.t.Chunk.Bytes == 0 {
		return
	}
	from, to := t.source.Value(slot, pos), make([]uint64, (x.t.Chunk.Bytes+7)/8)
	// Safe because words hold a value each, and are aligned as any.
	x.fill(ValueCopy{unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from)), x.t.Chunk.Bytes,
		x.im.Chunk, 1})
	metadata.SetValue(into, b.Pos, rawBytes(unsafe.Pointer(unsafe.SliceData(to)), x.t.Chunk.Bytes), b.At.Row == 0)
}
