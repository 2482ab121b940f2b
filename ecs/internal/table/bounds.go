package table

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// Bounds. For a field that a query has a range of, the metadata keeps the least and the greatest
// number of each chunk. Nothing updates them: they are taken from the column when they are asked
// for, and are good as long as the versions beside them are those of the chunk:
//
//	chunk            0               1               2
//	key           | 7, 9          | 7, 7          | -             |   version of the type, order version
//	least         | 2.10          | 2.41          |               |
//	greatest      | 2.41          | 2.77          |               |
//
// The version of the type changes when the column is opened for writing and when rows come, the
// order version when rows go or fill a gap. A version that is the world's current one may be stored
// again for another write, so bounds that are taken then are not kept (Bounds.Settled). Rows that
// move to a larger or smaller chunk keep versions, and so bounds. A chunk that comes to a table has
// none.
//
// Goroutines that only read may load bounds while the owner stores some: all four fields are
// atomic, and the key is written last. A chunk keeps its key until it is written, so a reader that
// loads the chunk's key loads the words that belong to it.

// FindBounds returns the bounds of a field of the type in a slot, or nil if none are kept.
func (b *Metadata) FindBounds(slot uint16, field Field) *Bounds {
	for _, d := range b.bounds {
		if d.slot == slot && d.field == field {
			return d
		}
	}
	return nil
}

// KeepBounds begins to keep bounds of a field of the type in a slot, if they are not kept yet.
func (b *Metadata) KeepBounds(slot uint16, field Field) {
	if b.FindBounds(slot, field) == nil {
		own := b.ownCold()
		own.bounds = append(own.bounds, &Bounds{slot: slot, field: field, list: make([]bound, b.Len())})
	}
}

// Settled reports whether the next write to a chunk will change one of the versions of the type in
// a slot. now is the world's version.
func (b *Metadata) Settled(slot uint16, pos int, now uint32) bool {
	return b.Changed(slot, pos) != now && b.Ordered(pos) != now
}

func (b *Metadata) boundKey(slot uint16, pos int) uint64 {
	return uint64(b.Changed(slot, pos))<<32 | uint64(b.Ordered(pos))
}

// Load returns the extent of the field in a chunk of metadata, and false if it is not known.
func (d *Bounds) Load(b *Metadata, pos int) (e Extent, ok bool) {
	if d == nil {
		return e, false
	}
	one := &d.list[pos]
	if atomic.LoadUint64(&one.key) != b.boundKey(d.slot, pos) {
		return e, false
	}
	return Extent{atomic.LoadUint64(&one.least), atomic.LoadUint64(&one.greatest), atomic.LoadUint32(&one.nans) != 0},
		true
}

// Store keeps the extent of the field in a chunk of metadata, which is settled.
func (d *Bounds) Store(b *Metadata, pos int, e Extent) {
	one := &d.list[pos]
	nans := uint32(0)
	if e.NaNs {
		nans = 1
	}
	atomic.StoreUint64(&one.key, 0)
	atomic.StoreUint64(&one.least, e.Least)
	atomic.StoreUint64(&one.greatest, e.Greatest)
	atomic.StoreUint32(&one.nans, nans)
	atomic.StoreUint64(&one.key, b.boundKey(d.slot, pos))
}

// Measure returns the extent of a field of a type in n rows of a chunk, from row on.
func (t *Table) Measure(id TypeID, field Field, pos, row, n int) Extent {
	p, stride := t.fieldAt(id, field, pos, row)
	return field.measure(p, stride, n)
}

// Narrow clears the bits of rows whose field is not from low to high, among n rows of a chunk from
// row on.
func (t *Table) Narrow(id TypeID, field Field, pos, row, n int, low, high uint64, mask []uint64) {
	p, stride := t.fieldAt(id, field, pos, row)
	field.Narrow(p, stride, n, low, high, mask)
}

// fieldAt returns the address of a field in a row, and its distance from row to row.
func (t *Table) fieldAt(id TypeID, field Field, pos, row int) (p unsafe.Pointer, stride uintptr) {
	c := t.Column(id)
	at := t.Store.Row(pos, row)
	// Safe because the field lies in the row's value.
	return unsafe.Add(at.Element(c.Offset, c.Size), field.Offset), uintptr(c.Size)
}

// moreBounds makes room for the bounds of n chunks at a position.
func (b *Metadata) moreBounds(at, n int) {
	for _, d := range b.bounds {
		d.list = makeGap(d.list, at, n)
	}
}

// fewerBounds drops the bounds of n chunks from a position on.
func (b *Metadata) fewerBounds(at, n int) {
	for _, d := range b.bounds {
		d.list = slices.Delete(d.list, at, at+n)
	}
}

// verifyBounds checks B4. measure returns the extent of a field of the type in a slot in a chunk.
func (b *Metadata) verifyBounds(measure func(slot uint16, field Field, pos int) Extent) (slot uint16, pos int,
	ok bool) {
	for _, d := range b.bounds {
		if len(d.list) != b.Len() {
			return d.slot, len(d.list), false
		}
		for pos := range d.list {
			if e, known := d.Load(b, pos); known && e != measure(d.slot, d.field, pos) {
				return d.slot, pos, false
			}
		}
	}
	return 0, 0, true
}
