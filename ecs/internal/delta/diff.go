package delta

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
	"quarry/internal/store"
)

// Comparison of two states.
//
// Terminology
//
//	state     a world, or a snapshot of one. Both states number their types alike; the newer may
//	          have more types
//	twin      the archetype of the other state with the same types and shared values
//	source    consecutive rows of the newer archetype and where they were: consecutive rows of one
//	          older table, or nowhere, if their entities are new (change.Source)
//	row run   the part of a source that was in one older chunk (change.RowRun)
//	unit      16 KiB of a chunk; snapshots know which units were written in between
//	byte run  bytes of a column that differ (runs.go)
//
// An archetype is compared in three steps. order finds its sources. columns compares the bytes of
// each row run with the bytes that were there, and the bytes of new rows with zeros. metadata
// compares enable bits and the values of chunk types. If nothing differs, and the archetype has
// kept its place among those with rows, it is only counted; otherwise it becomes a table of the
// delta.
//
//	older    table 0, [Position]:    1v1  2v1  3v1      table 1, [Position Tag]:  4v1
//	newer    [Position]:             1v1  4v1  5v1      2v1 and 3v1 were destroyed, 5v1 created
//
//	sources of the newer [Position]     table 0, row 0      table 1, row 0      new
//	8 bytes of Position a row           0..8 with 0..8      8..16 with 0..8     16..24 with zeros
//	part of the delta                   nothing             nothing             the byte run of 5v1
//
// So a row that only moved costs a source and no bytes. order takes the cheapest of three ways:
//
//	rows did not come, go or move (Comparing.Same)    one source; only written units are compared
//	the chunk was not written                         one source for the chunk; no bytes are read
//	otherwise                                         ids are compared in place, as bytes; an id
//	                                                  that differs is looked up in the older state

// differ makes a Delta.
type differ struct {
	*Delta
	written   func(a *world.Archetype, pos int) bool // nil: all may be
	c         *Comparing                             // of snapshots; nil for worlds
	spare     *Spare
	described []world.Description
	numbers   map[world.TypeID]int     // in Delta.types
	at        map[*world.Archetype]int // older archetypes in Delta.Tables
	sources   [][]change.Source        // of Delta.Tables
	newerIDs  idReader
	olderIDs  idReader
	runs      []change.RowRun           // of the archetype that is being compared
	twins     map[*world.Archetype]bool // older archetypes that the newer state has too
}

// DiffWorlds returns the difference between two states of a world; the newer state continues the
// older, or a copy with the same tag. written reports whether a chunk of the newer state may
// differ. If it returns false, the chunk is identical in both states and is not read; nil means
// always true. The error wraps ErrDelta: an archetype with a managed type differs, a shared value
// cannot be encoded, or the states do not belong together. Cost: all bytes that may differ, and all
// versions of ids.
func DiffWorlds(older, newer *world.World, written func(a *world.Archetype, pos int) bool) (*Delta, error) {
	return Diff(older, newer, written, nil)
}

// Diff is DiffWorlds, with what a comparison of snapshots knows; c is nil for worlds.
func Diff(older, newer *world.World, written func(a *world.Archetype, pos int) bool, c *Comparing) (*Delta, error) {
	if older.IDs.Tag() != newer.IDs.Tag() || len(older.Types.List) > len(newer.Types.List) {
		return nil, fmt.Errorf("ecs: Diff: %w: the states are of different worlds, or in the wrong order", ErrDelta)
	}
	x := differ{
		Delta:   &Delta{Older: older, Newer: newer, tag: newer.IDs.Tag()},
		written: written, c: c, spare: c.spares(), described: newer.DescribeTypes(), numbers: map[world.TypeID]int{},
		at: map[*world.Archetype]int{}, twins: map[*world.Archetype]bool{},
	}
	for i := range diffs {
		if diffs[i].do == nil {
			continue
		}
		if err := diffs[i].do(&x); err != nil {
			return nil, err
		}
	}
	return x.Delta, nil
}

// number returns the number of a type in the delta.
func (x *differ) number(id world.TypeID) int {
	n, ok := x.numbers[id]
	if !ok {
		n = len(x.types)
		x.numbers[id] = n
		x.types = append(x.types, x.described[id])
	}
	return n
}

// archetypes compares all archetypes. Of those with rows, one that now stands after another that it
// stood before counts as different.
func (x *differ) archetypes() error {
	last, skip := -1, 0
	older := x.Older.Archetypes.List
	same := len(older) == len(x.Newer.Archetypes.List)
	for i, a := range x.Newer.Archetypes.List {
		old := archetypeLike(x.Older, a)
		if old != nil {
			x.twins[old] = true
		}
		same = same && old == older[i] && old.Pinned == a.Pinned
		inOrder := old == nil || old.Table.Len() == 0 && a.Table.Len() == 0 || int(old.Table.Index) > last
		differs, err := x.archetype(a, old, skip, old == nil || !inOrder)
		switch {
		case err != nil:
			return err
		case differs:
			skip = 0
		case a.Table.Len() > 0:
			last = int(old.Table.Index)
			skip++
			x.untouched++
		}
	}
	if !same {
		x.compareRosters()
	}
	for _, old := range older {
		if !x.twins[old] && old.Table.Len() > 0 {
			if _, err := x.archetype(nil, old, skip, true); err != nil {
				return err
			}
			skip = 0
		}
	}
	return nil
}

// archetypeLike returns the archetype of w with the types and shared values of a, or nil. Both
// worlds number their types alike.
func archetypeLike(w *world.World, a *world.Archetype) *world.Archetype {
	if a.SnapshotView != nil { // the values are those of the world of both snapshots
		return w.Archetypes.Find(&a.Table.Sig, a.Values)
	}
	if n := len(a.Table.Types); n > 0 && int(a.Table.Types[n-1]) >= len(w.Types.List) {
		return nil
	}
	var values []*value.Shared
	for _, v := range a.Values {
		same := w.Types.List[v.Type].Shared.Same(v)
		if same == nil {
			return nil
		}
		values = append(values, same)
	}
	return w.Archetypes.Find(&a.Table.Sig, values)
}

// archetype compares an archetype with its twin, either of which may be nil, and adds it to the
// tables if they differ or must is set.
func (x *differ) archetype(a, old *world.Archetype, skip int, must bool) (differs bool, err error) {
	t := deltaTable{a: a, old: old, skip: skip}
	if old != nil {
		t.older = old.Table.Len()
	}
	if t.older == 0 && (a == nil || a.Table.Len() == 0) {
		return false, nil // the roster has archetypes without rows
	}
	var sources []change.Source
	if a != nil {
		t.newer = a.Table.Len()
		if sources, t.ids, err = x.order(a, old); err != nil {
			return false, err
		}
		x.runs = change.RowRuns(sources)
		if err := x.columns(&t); err != nil {
			return false, err
		}
		x.metadata(&t)
	}
	same := t.older == t.newer && (t.newer == 0 || len(sources) == 1 && sources[0].From == &old.Table.Table)
	of := a
	if a == nil {
		of = old
	}
	managed := of.Table.Managed()
	same = same && !must && len(t.columns)+len(t.flips)+len(t.buffers)+len(t.chunks) == 0
	journal := x.spare != nil // whose delta must not skip managed values
	if same && !(journal && len(managed) > 0) {
		return false, nil
	}
	if len(managed) > 0 {
		return false,
			fmt.Errorf("ecs: Diff: %w: %v differs, or may, and has the managed type %s, whose values are Go's",
				ErrDelta, of, x.Newer.Types.List[managed[0].Key].Name)
	}
	for _, id := range of.Table.Types {
		t.types = append(t.types, x.number(id))
		if v := of.ValueOf(id); v != nil {
			encoded, err := x.Newer.Types.List[id].EncodeForDelta(v.Any())
			if err != nil {
				return false, fmt.Errorf("ecs: Diff: %w: %w", ErrDelta, err)
			}
			t.values = append(t.values, encoded)
		}
	}
	if old != nil {
		if t.idSum, err = x.idSum(old); err != nil {
			return false, err
		}
		if x.sameRows(a) {
			a.SnapshotView.NoteIDSum(t.idSum)
		}
		x.at[old] = len(x.Tables)
	}
	x.Tables, x.sources = append(x.Tables, t), append(x.sources, sources)
	return true, nil
}

// idSum returns the checksum of an archetype's entities in the older state. A snapshot computes it
// once.
func (x *differ) idSum(a *world.Archetype) (sum uint32, err error) {
	if a.SnapshotView != nil {
		if sum, known := a.SnapshotView.IDSum(); known {
			return sum, nil
		}
	}
	for pos := range a.Table.Store.Chunks() {
		ids, err := x.olderIDs.of(a, pos)
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, world.Castagnoli, idBytes(ids))
	}
	if a.SnapshotView != nil {
		a.SnapshotView.NoteIDSum(sum)
	}
	return sum, nil
}

// sameRows reports whether an archetype of the newer state is known to have its twin's rows.
func (x *differ) sameRows(a *world.Archetype) bool {
	return x.c != nil && a != nil && x.c.Same[a] != nil
}

// sumOfIDs returns the checksum of an archetype's entities.
func sumOfIDs(a *world.Archetype) (sum uint32) {
	for pos := range a.Table.Store.Chunks() {
		sum = crc32.Update(sum, world.Castagnoli,
			idBytes(table.IDs(a.Table.Store.Row(pos, 0).Base, a.Table.Store.RowsOf(pos))))
	}
	return sum
}

// knownIDSum is sumOfIDs of an archetype of a world that its owner changes. It is computed anew
// when rows have come, gone or moved. Cost: for each chunk.
func knownIDSum(a *world.Archetype) uint32 {
	w, latest := a.World, a.Table.Metadata.Latest()
	s, known := w.IDSums[a]
	if !known || s.At != latest {
		s = world.IDSum{Sum: sumOfIDs(a), At: latest}
		if int32(w.Tables.Version-latest) > 0 { // otherwise rows that move in this version would not be seen
			if w.IDSums == nil {
				w.IDSums = map[*world.Archetype]world.IDSum{}
			}
			w.IDSums[a] = s
		}
	}
	if debug.On && s.Sum != sumOfIDs(a) {
		panic(fmt.Sprintf("ecs: %v: its rows have moved, and its checksum of entities stayed", a))
	}
	return s.Sum
}

// idReader returns the entities of chunks.
type idReader struct {
	a   *world.Archetype // of the last call; nil: none
	pos int
	ids []entity.ID // of the chunk, copied
}

// of returns the entities of a chunk: where they lie, or, of a snapshot, a copy, which is valid
// until the next call. The error is that of a snapshot that is lost.
func (r *idReader) of(a *world.Archetype, pos int) ([]entity.ID, error) {
	n := a.Table.Store.RowsOf(pos)
	if a.SnapshotView == nil {
		return table.IDs(a.Table.Store.Row(pos, 0).Base, n), nil
	}
	if r.a == a && r.pos == pos {
		return r.ids, nil
	}
	if cap(r.ids) < n {
		r.ids = make([]entity.ID, n, n+n/8)
	}
	r.a, r.pos, r.ids = nil, pos, r.ids[:n]
	if err := a.SnapshotView.ReadBytes(a.SnapshotView.Address(idColumn, pos, 0), idBytes(r.ids)); err != nil {
		return nil, world.LimitErrorOf(err)
	}
	r.a = a
	return r.ids, nil
}

// idColumn is the column of the entities: a chunk begins with it.
var idColumn = world.Column{Size: uint32(unsafe.Sizeof(entity.ID{}))}

// idBytes views ids as bytes.
func idBytes(ids []entity.ID) []byte {
	// Safe because an ID is 8 bytes without padding.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ids))), len(ids)*int(unsafe.Sizeof(entity.ID{})))
}

// unwritten reports whether a chunk is known to be identical in both states.
func (x *differ) unwritten(a *world.Archetype, pos int) bool {
	return x.written != nil && !x.written(a, pos)
}

// order returns the sources of an archetype's rows, and the entities of its new rows.
func (x *differ) order(a, old *world.Archetype) (list []change.Source, fresh []entity.ID, err error) {
	add := func(from *table.Table, row, n int) {
		if last := len(list) - 1; last >= 0 && list[last].From == from &&
			(from == nil || list[last].Row+list[last].N == row) {
			list[last].N += n
			return
		}
		list = append(list, change.Source{From: from, Row: row, N: n})
	}
	if x.sameRows(a) {
		add(&old.Table.Table, 0, a.Table.Len())
		return list, nil, nil
	}
	for pos, c := range a.Table.Store.Chunks() {
		n := a.Table.Store.RowsOf(pos)
		if x.unwritten(a, pos) {
			add(&old.Table.Table, c.Start, n)
			continue
		}
		ids, err := x.newerIDs.of(a, pos)
		if err != nil {
			return nil, nil, err
		}
		for row := 0; row < n; {
			k, err := x.inPlace(old, c.Start+row, ids[row:])
			if err != nil {
				return nil, nil, err
			}
			if k > 0 {
				add(&old.Table.Table, c.Start+row, k)
				row += k
				continue
			}
			if r := x.Older.IDs.Find(ids[row]); r != nil {
				o := x.Older.Tables.OwnerOf(r.Location)
				from := &x.Older.ArchetypeAt(o).Table.Table
				add(from, from.Store.Chunks()[o.Pos()].Start+o.Row(r.Location), 1)
			} else {
				add(nil, 0, 1)
				fresh = append(fresh, ids[row])
			}
			row++
		}
	}
	return list, fresh, nil
}

// inPlace returns how many of ids, from the first on, stand in rows of an archetype of the older
// state, which may be nil, from index on. It stops at the end of a chunk.
func (x *differ) inPlace(a *world.Archetype, index int, ids []entity.ID) (int, error) {
	if a == nil || index >= a.Table.Len() {
		return 0, nil
	}
	pos, row := a.Table.Store.Find(index)
	there, err := x.olderIDs.of(a, pos)
	if err != nil {
		return 0, err
	}
	there = there[row:]
	n := min(len(ids), len(there))
	there = there[:n]
	if ids[0] != there[0] {
		return 0, nil
	}
	if bytes.Equal(idBytes(ids[:n]), idBytes(there)) {
		return n, nil
	}
	return equalBytes(idBytes(ids[:n]), idBytes(there)) / int(unsafe.Sizeof(entity.ID{})), nil
}

// eachRun calls visit with rows that lie in one chunk of the newer archetype and in one chunk of
// their older table: the index of the first row, the number of rows, and both places.
func (x *differ) eachRun(a *world.Archetype,
	visit func(at, n int, pos int, newer store.Row, from *table.Table, fromPos int, older store.Row)) {
	for i := range x.runs {
		p := &x.runs[i]
		for done := 0; done < p.N; {
			pos, row := a.Table.Store.Find(p.At + done)
			n := min(p.N-done, a.Table.Store.RowsOf(pos)-row)
			if !x.unwritten(a, pos) {
				var older store.Row
				if p.From != nil {
					older = p.From.Store.Row(p.Pos, p.Row+done)
				}
				visit(p.At+done, n, pos, a.Table.Store.Row(pos, row), p.From, p.Pos, older)
			}
			done += n
		}
	}
}

// columnOf returns n rows of a column as bytes.
func columnOf(at store.Row, c world.Column, n int) []byte {
	// Safe because n rows of the column lie there.
	return unsafe.Slice((*byte)(at.Element(c.Offset, c.Size)), n*int(c.Size))
}

// columnsAlone is how many bytes of rows one goroutine compares, or checks and writes, alone; they
// take some 100 us, starting another one a few.
const columnsAlone = 1 << 20

// eachOf calls do with 0 to n-1: on two goroutines if there are so many bytes that it pays.
func eachOf(n, bytes int, do func(i int)) {
	if bytes <= columnsAlone || n < 2 || runtime.GOMAXPROCS(0) == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int32
	some := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var wait sync.WaitGroup
	wait.Go(some)
	some()
	wait.Wait()
}

// comparedColumn is a column that a goroutine compares.
type comparedColumn struct {
	of  *world.Type
	c   world.Column
	w   *runsWriter
	err error
}

// columns compares the columns of a table. Those of a large one go to two goroutines.
func (x *differ) columns(t *deltaTable) error {
	var list []comparedColumn
	bytes := 0
	for _, c := range t.a.Table.Store.Columns() {
		switch of := x.Newer.Types.List[world.TypeID(c.Key)]; of.Kind {
		case world.KindManaged:
		case world.KindBuffer:
			if err := x.buffers(t, of, c); err != nil {
				return err
			}
		default:
			list = append(list, comparedColumn{of: of, c: c, w: writerOf(int(c.Size), t.newer, x.spare.Take())})
			bytes += int(c.Size) * t.newer
		}
	}
	eachOf(len(list), bytes, func(i int) { list[i].err = x.column(t, &list[i]) })
	for i := range list {
		k := &list[i]
		if k.err != nil {
			return k.err
		}
		if len(k.w.runs) > 0 {
			t.columns = append(t.columns, deltaColumn{x.number(k.of.ID), k.w.done()})
		} else {
			x.spare.Put(k.w.runs)
		}
	}
	return nil
}

// column compares a column.
func (x *differ) column(t *deltaTable, k *comparedColumn) error {
	if x.isFar(t) {
		return x.farColumn(t, k)
	}
	x.eachRun(t.a, func(at, n, _ int, newer store.Row, from *table.Table, _ int, older store.Row) {
		var old []byte
		if from != nil && from.Sig.Has(k.of.ID) {
			old = columnOf(older, from.Column(k.of.ID), n)
		}
		k.w.compare(at*int(k.c.Size), old, columnOf(newer, k.c, n))
	})
	return nil
}

// buffers compares a column of buffers.
func (x *differ) buffers(t *deltaTable, of *world.Type, c world.Column) error {
	var w editsWriter
	if x.spare != nil && x.isFar(t) {
		if err := x.farBuffers(t, of, c, &w); err != nil {
			return err
		}
	} else {
		x.nearBuffers(t, of, c, &w)
	}
	if len(w.edits) > 0 {
		t.buffers = append(t.buffers, deltaBuffers{x.number(of.ID), w.sum, w.edits})
	}
	return nil
}

// nearBuffers compares a column of buffers of rows that are loaded.
func (x *differ) nearBuffers(t *deltaTable, of *world.Type, c world.Column, w *editsWriter) {
	x.eachRun(t.a, func(at, n, _ int, newer store.Row, from *table.Table, _ int, older store.Row) {
		has := from != nil && from.Sig.Has(of.ID)
		for i := range n {
			var header *value.Header
			spill := x.Newer.Buffers.OwnerSpill()
			if has {
				header, spill = value.HeaderOf(older, from.Column(of.ID)), x.Older.Buffers.OwnerSpill()
			}
			w.compare(at+i, of.Shape.Element, header, value.HeaderOf(newer, c), spill, x.Newer.Buffers.OwnerSpill(),
				&of.Shape)
			older.Row++
			newer.Row++
		}
	})
}

// resolve turns sources into runs of rows, now that all tables have numbers.
func (x *differ) resolve() {
	number := func(t *table.Table) int { return x.at[x.Older.Archetypes.List[t.Index]] }
	for i, list := range x.sources {
		for _, s := range list {
			r := rowsFrom{newRows, s.Row, s.N}
			if s.From != nil {
				r.from = number(s.From)
			}
			x.Tables[i].rows = append(x.Tables[i].rows, r)
		}
	}
}
