package worldfile

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
	"quarry/internal/universe"
)

// Records of a file. Look-ups follow them without a check of bounds, so a stranger's file must not
// decide where they lead: each record is checked when the file is opened, whether it is mapped or
// read. That check reads no rows, so in a mapped file a row may still have the ID of another
// entity; with File.Compare each row is compared with the record of its entity.

// renumber gives the chunks other row blocks, if the file's are far apart.
func (l *imageLoader) renumber() {
	if !l.claims.Sparse() {
		return
	}
	next := 1 // row block 0 has no rows
	for i := range l.tables {
		next = l.tables[i].im.Renumber(next, l.tables[i].fits)
	}
}

// fits returns how many rows a chunk has room for, and rowsOf how many there are.
func (t *loadedTable) fits(pos int) int {
	if t.source != nil {
		return t.source.Fits(pos)
	}
	return t.a.Table.Fits(t.im, pos)
}

// rowsOf is described at fits.
func (t *loadedTable) rowsOf(pos int) int {
	if t.source != nil {
		return t.source.RowsOf(pos)
	}
	return t.a.Table.Store.RowsOf(pos)
}

// adoptIDs makes the ids those of the file.
func (l *imageLoader) adoptIDs() error {
	var rows entity.ImageRows
	for i := range l.tables {
		l.tables[i].im.AddRows(&rows, l.tables[i].rowsOf)
	}
	err := l.w.IDs.Adopt(&l.im.ids, &rows, func(x *universe.Extent, size int) (entity.Filled, error) {
		return l.fillRecords(x, size, rows.Moved())
	})
	if errors.Is(err, entity.ErrImage) {
		return fmt.Errorf("%w: records: %w", ErrImage, err)
	}
	return err
}

// compareRows checks that each row has the id whose record leads to it, if the file asks for that.
// As records lead to as many rows as there are, the reverse holds too. Rows that are converted are
// compared when they are copied.
func (l *imageLoader) compareRows() error {
	if !l.f.Compare {
		return nil
	}
	for i := range l.tables {
		t := &l.tables[i]
		if t.source != nil {
			continue
		}
		for pos := range t.im.Chunks {
			first := t.a.Table.At(pos, 0)
			for row, e := range world.Entities(t.a.Table.Store.Row(pos, 0).Base, t.rowsOf(pos)) {
				if r := l.w.IDs.Find(e); r == nil || r.Location != first+entity.Location(row) {
					return fmt.Errorf("%w: rows of %v: row %d of chunk %d is of %v, whose record does not lead there",
						ErrImage, t.a, row, pos, e)
				}
			}
		}
	}
	return nil
}

// fillRecords makes an extent the records: it shows the file, or the bytes are read, as where rows
// are converted, or records change: that writes them, and the first write of a mapped page is slow.
func (l *imageLoader) fillRecords(x *universe.Extent, size int, change bool) (filled entity.Filled, err error) {
	if l.f.Map != nil && !change &&
		!slices.ContainsFunc(l.tables, func(t loadedTable) bool { return t.source != nil }) {
		err := x.MapFile(size, l.f.Map, l.f.At[ImageRecords])
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			if filled.Trusted = l.f.Trusted; l.f.Scan != nil {
				filled.Scan = func(visit func(at int, b []byte) error) error { return l.f.Scan(ImageRecords, visit) }
			}
			return filled, err
		}
	}
	if err := x.Resize(size); err != nil {
		return filled, err
	}
	all := unsafe.Slice((*byte)(x.Base()), size) // Safe because the extent is so long.
	if l.f.Fill != nil {
		return filled, l.f.Fill(ImageRecords, all)
	}
	return filled, l.f.Read(ImageRecords, 0, all)
}
