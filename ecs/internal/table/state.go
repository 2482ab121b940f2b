package table

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/past"
	"quarry/ecs/internal/value"
	"quarry/internal/store"
	"quarry/layout"
)

// A table at one moment, and the way back to it.
//
//	Save      the list of chunks, the layout and the metadata are copied; rows are not
//	Differs   rows have come, gone or moved since
//	Leave     the table gives up its chunks, if it differs
//	Return    it takes those of the state
//	PutRows   the old bytes come back, unit by unit, where they differ
//	Reenter   the metadata comes back
//
// Chunks of the state are the table's still, another table's, or wait to be freed: no one else has
// had them.

// State is a table without its rows, at one moment.
type State struct {
	store      store.Store // the chunks and the layout
	metadata   Metadata
	places     []Place
	usedLayout *layout.Plan
}

// Len returns the number of rows.
func (st *State) Len() int { return st.store.Len() }

// Chunks returns the chunks; read-only.
func (st *State) Chunks() []store.Chunk { return st.store.Chunks() }

// Store returns the store without its rows; read-only.
func (st *State) Store() *store.Store { return &st.store }

// Save notes the table's state.
func (t *Table) Save(to *State) {
	t.Store.Save(&to.store)
	t.Metadata.save(&to.metadata)
	to.places = append(to.places[:0], t.Places...)
	to.usedLayout = t.usedLayout
}

// Differs reports whether rows came, went or changed places after a version at which the state was
// noted, or chunks.
func (t *Table) Differs(from *State, version uint32) bool {
	latest := t.Metadata.Latest()
	return latest != 0 && int32(latest-version) > 0 || t.Store.Len() != from.store.Len() ||
		!slices.EqualFunc(t.Store.Chunks(), from.store.Chunks(),
			func(a, b store.Chunk) bool { return a.First == b.First && a.Order == b.Order })
}

// Leave gives up the table's chunks, which are appended to list.
func (t *Table) Leave(list []store.Chunk) []store.Chunk {
	for pos := range t.Store.Chunks() {
		t.retire(pos)
	}
	t.Metadata.OrderFrom(0, t.all.Version) // rows go now, and Latest shows it for chunks that end
	t.Metadata.Cut(0)
	return t.Store.Detach(list)
}

// Return gives the table, which has left, the chunks and the layout of a state. It reports for each
// chunk whether owned has it; chunks that waited are in use again. Then they are not in owned.
func (t *Table) Return(from *State, owned map[store.Chunk]bool) {
	if t.usedLayout != from.usedLayout ||
		!slices.EqualFunc(t.Places, from.places, func(a, b Place) bool { return a.Offset == b.Offset }) {
		for id := range t.Places {
			t.Places[id].Offset = from.places[id].Offset
		}
		t.usedLayout = from.usedLayout
		t.replan(from.store.PerUnit(), &from.store)
	}
	for _, c := range from.store.Chunks() {
		key := chunkKey(c)
		if owned[key] {
			delete(owned, key)
			continue
		}
		born, ok := t.all.deferred.Take(key)
		if !ok {
			panic(fmt.Sprintf("ecs: World.Restore: chunk %d of %v was freed while a snapshot had it", c.First, t))
		}
		if born != 0 {
			t.all.births[c.First] = born
		}
	}
	t.Store.Restore(&from.store)
}

// FreeLeft frees the chunks that no state has taken.
func (s *Tables) FreeLeft(owned map[store.Chunk]bool) {
	for c := range owned {
		if k := (keeper{s}); !k.Keeps(c) {
			s.FreeChunk(c)
		}
	}
}

// EachUnit calls visit with each unit of the state's chunks, and the bytes of it that are a
// chunk's: all, or those of a small one.
func (s *Tables) EachUnit(st *State, visit func(pos, unit, first, n int) error) error {
	for pos, c := range st.store.Chunks() {
		at := int(c.First) * store.SmallSize
		if c.Small() {
			if err := visit(pos, at/past.UnitSize, at%past.UnitSize, store.SmallSize); err != nil {
				return err
			}
			continue
		}
		for i := range c.Units() {
			if err := visit(pos, at/past.UnitSize+i, 0, past.UnitSize); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ready keeps, for newer layers, the bytes that PutRows will write. The error is from the layer,
// which is lost, or from the universe.
func (s *Tables) Ready(st *State, l *past.Layer) error {
	return s.EachUnit(st, func(_, unit, _, _ int) error {
		written, err := l.Wrote(s.past, unit)
		if err == nil && written {
			err = s.past.Save(unit)
		}
		return err
	})
}

// PutRows brings back the bytes of the rows of a state, and marks columns that differed changed at
// the current version, if the table has the state's rows. It returns the number of units that
// differed.
func (t *Table) PutRows(st *State, l *past.Layer, marks bool) (units int) {
	s := t.all
	_ = s.EachUnit(st, func(pos, unit, first, n int) error {
		old, written, _ := l.Old(s.past, unit)
		if !written || old == nil {
			return nil
		}
		c := st.store.Chunks()[pos]
		// Safe because the bytes are a chunk's, of the table.
		now := unsafe.Slice((*byte)(unsafe.Add(store.PointerTo(s.u, c.First),
			unit*past.UnitSize+first-int(c.First)*store.SmallSize)), n)
		if old = old[first : first+n]; bytes.Equal(old, now) {
			return nil
		}
		if marks {
			t.markDiffering(pos, unit*past.UnitSize+first-int(c.First)*store.SmallSize, old, now)
		}
		s.past.BeforeWrite(unsafe.Pointer(&now[0]), n) // Safe because the bytes are a chunk's.
		copy(now, old)
		units++
		return nil
	})
	return units
}

// markDiffering marks the types changed whose columns differ in a row block of a chunk that begins
// at a byte of the chunk.
func (t *Table) markDiffering(pos, at int, old, now []byte) {
	row := t.Store.Row(pos, 0)
	rows := t.Store.RowsOf(pos)
	for _, c := range t.Store.Columns() {
		begin := int(uintptr(c.Offset) * row.Scale)
		lo, hi := max(begin, at), min(begin+rows*int(c.Size), at+len(old))
		if lo >= hi || bytes.Equal(old[lo-at:hi-at], now[lo-at:hi-at]) {
			continue
		}
		first, last := (lo-begin)/int(c.Size), (hi-1-begin)/int(c.Size)
		t.Metadata.Touch(t.Places[c.Key].Slot(), pos, first, last-first+1, t.all.Version)
	}
}

// Reenter brings back the metadata of a table that has returned to a state, and enters its chunks.
func (t *Table) Reenter(st *State) {
	for pos := range t.Store.Chunks() {
		first := rowBlockOf(st.metadata.at(pos))
		t.all.rowBlocks.claim(first, rowBlocksFor(t.Store.Fits(t.Store.Chunks()[pos])))
	}
	t.Metadata.restore(&st.metadata, func(pos int) int { return t.Store.Fits(t.Store.Chunks()[pos]) }, t.Store.RowsOf,
		t.all.Version)
	for pos := range t.Store.Chunks() {
		t.place(pos)
	}
	t.remark()
}

// RestoreMetadata brings back the metadata of a table whose rows did not come, go or move. Managed
// types, whose values cannot be compared, are marked changed.
func (t *Table) RestoreMetadata(st *State) {
	for pos := range t.Store.Chunks() {
		n := t.Store.RowsOf(pos)
		t.Metadata.restoreIn(pos, &st.metadata, n, t.all.Version)
		for _, c := range t.Managed() {
			t.Metadata.Touch(t.Places[c.Key].Slot(), pos, 0, n, t.all.Version)
		}
	}
}

// Written reports whether bytes of the state's chunks may have been written since a layer began.
func (s *Tables) Written(st *State, l *past.Layer) (written bool) {
	_ = s.EachUnit(st, func(_, unit, _, _ int) error {
		w, _ := l.Wrote(s.past, unit)
		written = written || w
		return nil
	})
	return written
}

// HeadersIn calls visit with the headers of a buffer type in n rows of a chunk.
func (t *Table) HeadersIn(id TypeID, pos, row, n int, visit func(h *value.Header)) {
	c, at := t.Column(id), t.Store.Row(pos, row)
	for range n {
		visit(value.HeaderOf(at, c))
		at.Row++
	}
}

// Headers calls visit with the header of each buffer of each row.
func (t *Table) Headers(visit func(h *value.Header)) {
	for _, c := range t.Buffers() {
		t.HeadersOf(c, visit)
	}
}

// HeadersOf is Headers of one buffer type.
func (t *Table) HeadersOf(c Column, visit func(h *value.Header)) {
	for pos := range t.Store.Chunks() {
		at := t.Store.Row(pos, 0)
		for at.Row = range t.Store.RowsOf(pos) {
			visit(value.HeaderOf(at, c))
		}
	}
}

// UpdateFlags updates the flags of the table's places, after the first snapshot has come or the
// last has gone.
func (t *Table) UpdateFlags() {
	for _, id := range t.Types {
		t.Places[id] = t.Places[id].With(t.all.flags(&t.all.types[id]))
	}
}
