package table

import (
	"slices"

	"quarry/internal/debug"
	"quarry/internal/store"
)

// How transitions are found, and how rows and chunks go from one table to the other; a single row
// goes by Table.MoveOne (rows.go). The struct is in table.go, beside Table. A Transition of To is
// computed when it is first asked for, and again when one of its tables has a new layout. Those of
// ToWorld and Resetting are computed at each call.

// To returns the transition from t to another table of the same world. Every call returns the same
// Transition, so after a new layout of a table one Compute updates it for all users.
func (t *Table) To(to *Table) *Transition {
	known := t.transitions
	if len(to.transitions) < len(known) {
		known = to.transitions
	}
	for _, x := range known {
		if x.From == t && x.To == to {
			return x
		}
	}
	x := &Transition{From: t, To: to}
	x.Compute()
	t.transitions = append(t.transitions, x)
	if to != t {
		to.transitions = append(to.transitions, x)
	}
	return x
}

// ToSharedValue returns the transition to a table that differs in a shared value, and perhaps in
// types. It is valid until the next call on t, which reuses it; otherwise a thousand values would
// have a million transitions. Usually types and layouts are the same, and only To changes.
func (t *Table) ToSharedValue(to *Table) *Transition {
	x := t.toSharedValue
	if x != nil && x.sameLayout && to.usedLayout == nil && t.usedLayout == nil && t.Sig == to.Sig {
		x.To = to
		return x
	}
	if x == nil {
		x = new(Transition)
		t.toSharedValue = x
	}
	x.From, x.To = t, to
	x.Compute()
	x.sameLayout = to.usedLayout == nil && t.usedLayout == nil && t.Sig == to.Sig
	return x
}

// IsToSharedValue reports whether the transition is from ToSharedValue. Such a transition does not
// follow new layouts of its target; Compute updates it.
func (x *Transition) IsToSharedValue() bool { return x == x.From.toSharedValue }

// ToWorld returns the transition from t to a table of another world. numbers[s] is the number, in
// t's world, of the type in slot s of to; nil if both worlds number types alike.
func (t *Table) ToWorld(to *Table, numbers []TypeID) *Transition {
	x := &Transition{From: t, To: to, numbers: numbers}
	x.Compute()
	return x
}

// Resetting returns the transition from t to a table of the same world, or to t itself, in which
// the types of a set start anew, as if rows had lost them and got them again.
func (t *Table) Resetting(to *Table, reset Signature) *Transition {
	x := &Transition{From: t, To: to, reset: reset, loose: true}
	x.Compute()
	return x
}

// Refresh computes a transition from Resetting again, in case its tables have new layouts.
func (x *Transition) Refresh() {
	if x.loose {
		x.Compute()
	}
}

// Keeps reports whether rows that move keep the values of a type of To. id is the type's number in
// the world of From.
func (x *Transition) Keeps(id TypeID) bool { return x.From.Sig.Has(id) && !x.reset.Has(id) }

// Number returns the number, in the source's world, of a type of the target.
func (x *Transition) Number(id TypeID) TypeID {
	if x.numbers == nil {
		return id
	}
	return x.numbers[x.To.Places[id].Slot()]
}

// Compute computes the transition from the layouts and types of From and To.
func (x *Transition) Compute() {
	from, to := x.From, x.To
	*x = Transition{From: from, To: to, numbers: x.numbers, reset: x.reset, loose: x.loose, row: x.row.Emptied(),
		MovesChunks: from != to && from.all.u == to.all.u && to.takesChunksOf(from) &&
			from.Store.PerUnit() == to.Store.PerUnit() && from.Store.ScalesLike(&to.Store)}
	for _, c := range to.Store.Columns() {
		there := x.Number(TypeID(c.Key))
		if !x.Keeps(there) {
			x.Fresh, x.Added = append(x.Fresh, c), c
			continue
		}
		at := from.Places[there].Offset
		x.row.Add(at, c.Offset, c.Size)
		x.MovesChunks = x.MovesChunks && at == c.Offset
	}
	if x.numbers == nil { // with numbers, To has all types of From
		for _, c := range from.Owning {
			if id := TypeID(c.Key); !to.Sig.Has(id) || x.reset.Has(id) {
				x.dropped = append(x.dropped, c)
			}
		}
	}
	for _, slot := range to.Metadata.Toggling() {
		if id := x.Number(to.Types[slot]); x.Keeps(id) {
			x.bits = append(x.bits, Slots{From: from.Places[id].Slot(), To: slot})
		} else {
			x.on = append(x.on, slot)
		}
	}
	x.values = x.chunkValueSlots()
	x.extras = len(x.bits)+len(x.on)+len(x.dropped) > 0
	x.more = x.extras || x.row.Others
}

// chunkValueSlots returns the slots of the chunk types whose values go along a transition.
func (x *Transition) chunkValueSlots() (slots []Slots) {
	for i := range x.To.Metadata.values {
		slot := x.To.Metadata.values[i].slot
		if id := x.Number(x.To.Types[slot]); x.Keeps(id) {
			slots = append(slots, Slots{From: x.From.Places[id].Slot(), To: slot})
		}
	}
	return slots
}

// equal reports whether two transitions have the same effect, for Verify.
func (x *Transition) equal(y *Transition) bool {
	return slices.Equal(x.Fresh, y.Fresh) && slices.Equal(x.dropped, y.dropped) && x.row.Equal(&y.row) &&
		x.MovesChunks == y.MovesChunks
}

// Send moves the entities of n rows of a chunk to the end of the target, which has room, and
// updates their records. The source keeps the n rows until the caller closes the gap.
func (x *Transition) Send(pos, row, n int) { x.send(pos, row, n, false) }

// SendChunk is Send for all rows of a chunk that goes to the target as a chunk, with its values.
func (x *Transition) SendChunk(pos int) { x.send(pos, 0, x.From.Store.RowsOf(pos), true) }

func (x *Transition) send(pos, row, n int, chunk bool) {
	x.Copy(pos, row, n, func(b Run, source store.Row) {
		if chunk {
			x.Inherit(b, pos)
		}
		x.From.all.ids.MoveRows(b.IDs, b.Loc)
		for _, c := range x.dropped {
			x.From.all.release(source, c, len(b.IDs))
		}
	})
}

// Copy copies n rows of a chunk, entities included, to the end of the target, which has room. It
// calls arrived for each filled run of the target, before Push counts the run.
func (x *Transition) Copy(pos, row, n int, arrived func(b Run, source store.Row)) {
	from, to := x.From, x.To
	for n > 0 {
		b, source := to.Tail(n), from.Store.Row(pos, row)
		k := copy(b.IDs, IDs(source.Base, row+n)[row:])
		x.row.Rows(b.At, source, k)
		store.ClearRows(b.At, k, x.Fresh)
		for _, move := range x.bits {
			to.Metadata.CopyBits(move.To, b.Pos, b.At.Row, from.span(pos, row), move.From, k)
		}
		for _, slot := range x.on {
			to.Metadata.Bits(slot, b.Pos).SetRange(b.At.Row, k)
		}
		arrived(b, source)
		to.Push(b)
		row, n = row+k, n-k
	}
}

// Inherit gives the values of a chunk of the source to the chunk of the target to which a run of
// its rows has come; see Metadata.Inherit.
func (x *Transition) Inherit(b Run, pos int) {
	if len(x.values) > 0 {
		x.To.Metadata.Inherit(b.Pos, b.At.Row == 0, &x.From.Metadata, pos, x.values, x.To.all.Version)
	}
}

// CopyRow is Repeat for one row, to the place after the target's last row. The target has no column
// that the source lacks.
func (x *Transition) CopyRow(dest store.Row, pos int, from store.Row) {
	store.CopyPairs(dest, from, x.row.Pairs)
	if x.row.Others {
		x.row.CopyOthers(dest, from)
	}
	last := x.To.Store.LastChunk()
	for _, move := range x.bits {
		x.To.Metadata.Bits(move.To, last).Set(dest.Row, x.From.Metadata.Bits(move.From, pos).Has(from.Row))
	}
	for _, slot := range x.on {
		x.To.Metadata.Bits(slot, last).Set(dest.Row, true)
	}
}

// Repeat fills a run of the target with copies of one row of the source. The caller writes the
// run's IDs.
func (x *Transition) Repeat(b Run, pos, row int) {
	from, to, n := x.From, x.To, len(b.IDs)
	x.row.Repeat(b.At, from.Store.Row(pos, row), n)
	store.ClearRows(b.At, n, x.Fresh)
	for _, move := range x.bits {
		if from.Metadata.Bits(move.From, pos).Has(row) {
			to.Metadata.Bits(move.To, b.Pos).SetRange(b.At.Row, n)
		}
	}
	for _, slot := range x.on {
		to.Metadata.Bits(slot, b.Pos).SetRange(b.At.Row, n)
	}
}

// MoveChunks makes the first chunks of the source, full ones or all, chunks of the target. Columns
// that both tables have are not copied. It calls arrived, unless nil, with the rows of each chunk.
// It returns the index in the target of the first row, and the number of rows.
//
// Owners and column addresses of these chunks are cleared, the chunks handed over, and those of
// both tables entered again, since positions have changed.
func (x *Transition) MoveChunks(chunks int, arrived func(b Run)) (start, n int) {
	from, to := x.From, x.To
	before := to.Store.Len()
	x.endColumns(chunks)
	if from.all != to.all {
		for pos := range chunks {
			from.retire(pos)
		}
	} else {
		for pos := range chunks { // clears column addresses of types that only the source has
			from.vacate(pos)
		}
	}
	for pos := range chunks {
		from.Metadata.Order(pos, from.all.Version) // its rows go
	}
	at := from.Store.MoveChunks(&to.Store, chunks)
	from.Metadata.MoveChunks(chunks, &to.Metadata, at, x.bits, x.values,
		func(pos int) int { return to.Store.Fits(to.Store.Chunks()[pos]) })
	if from.all != to.all {
		for pos := at; pos < at+chunks; pos++ {
			to.Metadata.renumber(pos, to.number(to.Store.Chunks()[pos]))
		}
	}
	for pos := range from.Store.Chunks() {
		from.place(pos)
	}
	for pos := at; pos < len(to.Store.Chunks()); pos++ {
		to.place(pos)
	}
	to.remark()
	for pos := at; pos < at+chunks; pos++ {
		first, rows := to.Store.Row(pos, 0), to.Store.RowsOf(pos)
		if to.all.past != nil {
			to.keepColumns(first, rows, x.Fresh)
		}
		store.ClearRows(first, rows, x.Fresh)
		for _, slot := range x.on {
			to.Metadata.Bits(slot, pos).SetRange(0, rows)
		}
		if arrived != nil {
			arrived(Run{pos, first, to.At(pos, 0), IDs(first.Base, rows)})
		}
		to.Metadata.begin(pos, to.all.Version)
		// Every type, as Copy does: a query with Changed may match the rows only now.
		to.Metadata.Mark(pos, 0, rows, to.all.Version)
	}
	to.Metadata.OrderFrom(at+chunks, to.all.Version) // a part-full chunk now comes after the others
	return to.Store.Chunks()[at].Start, to.Store.Len() - before
}

// endColumns ends what rows of the source's first chunks own in columns that the target lacks.
func (x *Transition) endColumns(chunks int) {
	from := x.From
	for pos := range chunks {
		at, n := from.Store.Row(pos, 0), from.Store.RowsOf(pos)
		for _, c := range x.dropped {
			from.all.release(at, c, n)
		}
		if !debug.On || x.numbers != nil {
			continue
		}
		for _, c := range from.Store.Columns() {
			if !x.To.Sig.Has(TypeID(c.Key)) {
				if from.all.past != nil {
					from.keepColumns(at, n, []Column{c})
				}
				store.PoisonRows(at, n, []Column{c})
			}
		}
	}
}
