package table

import (
	"slices"

	"quarry/alloc"
	"quarry/internal/debug"
)

// Transition is how rows go from one table to another, of the same world or of two: what of a
// row is copied, what begins, what ends. All copying of rows between two layouts is here.
type Transition struct {
	From, To *Table
	Fresh    []Column      // columns that only To has
	Added    Column        // the last of Fresh; without one, at the start of the chunk
	numbers  []TypeID      // by slot of To: the type's number in the other world; nil: both are of one world, or have the same numbers
	row      alloc.RowCopy // columns that both have
	ending   []Column      // owning columns that only From has: what their rows own ends
	bits     []Slots       // enable bits that both have
	on       []uint16      // slots of To whose bits From lacks: new ones are enabled
	rare     bool          // there are bits, on or ending: sendRare
	more     bool          // that, or row.Others
	Relabels bool          // what both have lies alike: whole chunks can change hands
	own      bool          // both have the same types, each in its own layout
}

// To returns the transition from t to another table of its world. There is one for all who ask, so
// that a new layout of either end is told to all.
func (t *Table) To(to *Table) *Transition {
	known := t.paths
	if len(to.paths) < len(known) {
		known = to.paths
	}
	for _, x := range known {
		if x.From == t && x.To == to {
			return x
		}
	}
	x := &Transition{From: t, To: to}
	x.Find()
	t.paths = append(t.paths, x)
	if to != t {
		to.paths = append(to.paths, x)
	}
	return x
}

// Sideways returns the transition to a table that differs in more than its types, by a shared
// value: good until the table is asked for another, for of a thousand values there may be a million.
// Where types and layouts are the same, which is the rule, only its end differs from the last one's.
func (t *Table) Sideways(to *Table) *Transition {
	x := t.side
	if x != nil && x.own && to.lent == nil && t.lent == nil && t.Sig == to.Sig {
		x.To = to
		return x
	}
	if x == nil {
		x = new(Transition)
		t.side = x
	}
	x.From, x.To = t, to
	x.Find()
	x.own = to.lent == nil && t.lent == nil && t.Sig == to.Sig
	return x
}

// IsSideways reports whether the transition is one that its source makes anew for each target:
// new layouts of the target are not told to it, see Find.
func (x *Transition) IsSideways() bool { return x == x.From.side }

// IsClosed reports whether an end is closed.
func (x *Transition) IsClosed() bool { return x.From.Closed || x.To.Closed }

// Across returns the transition from t to a table of another world: numbers has the number of each
// type of to, by slot, in the world of t; nil says that both worlds number types alike.
func (t *Table) Across(to *Table, numbers []TypeID) *Transition {
	x := &Transition{From: t, To: to, numbers: numbers}
	x.Find()
	return x
}

// Number returns the number that a type of the target has in the source.
func (x *Transition) Number(id TypeID) TypeID {
	if x.numbers == nil {
		return id
	}
	return x.numbers[x.To.Places[id].Slot()]
}

// Find looks up what the transition does, from the layouts and types of its ends.
func (x *Transition) Find() {
	from, to := x.From, x.To
	*x = Transition{From: from, To: to, numbers: x.numbers, row: x.row.Emptied(),
		Relabels: from.all.u == to.all.u && from.Grid.PerUnit() == to.Grid.PerUnit() && from.Grid.IsSkewed() == to.Grid.IsSkewed()}
	for _, c := range to.Grid.Columns() {
		there := x.Number(TypeID(c.Key))
		if !from.Sig.Has(there) {
			x.Fresh, x.Added = append(x.Fresh, c), c
			continue
		}
		at := from.Places[there].Offset
		x.row.Add(at, c.Offset, c.Size)
		x.Relabels = x.Relabels && at == c.Offset
	}
	if x.numbers == nil { // between worlds all types go along
		for _, c := range from.Owning {
			if !to.Sig.Has(TypeID(c.Key)) {
				x.ending = append(x.ending, c)
			}
		}
	}
	for _, slot := range to.Books.Toggling() {
		if id := x.Number(to.Types[slot]); from.Sig.Has(id) {
			x.bits = append(x.bits, Slots{From: from.Places[id].Slot(), To: slot})
		} else {
			x.on = append(x.on, slot)
		}
	}
	x.rare = len(x.bits)+len(x.on)+len(x.ending) > 0
	x.more = x.rare || x.row.Others
}

// equal reports whether two transitions do the same, for Verify.
func (x *Transition) equal(y *Transition) bool {
	return slices.Equal(x.Fresh, y.Fresh) && slices.Equal(x.ending, y.ending) && x.row.Equal(&y.row) && x.Relabels == y.Relabels
}

// Adopts reports whether the target, which has no rows, should take over the
// layout of all rows that go: they have all of its columns, would fill a unit at least,
// and the holes take no more than a quarter of the rows that a unit could have.
func (x *Transition) Adopts() bool {
	from, own := &x.From.Grid, x.To.ownRows
	return x.From.all.u == x.To.all.u && len(x.Fresh) == 0 && from.Len() >= from.PerUnit() && from.PerUnit() <= own && 4*from.PerUnit() >= 3*own
}

// Adopt gives the target, which has no rows, the layout of the source.
func (x *Transition) Adopt() {
	x.To.UseLayout(x.From, x.numbers)
	x.Find() // the target tells only the transitions that it knows
}

// Send moves n rows of a chunk behind the last rows of the target, which has
// room, and tells their records. The rows stay where they are; the caller closes the
// gap.
func (x *Transition) Send(pos, row, n int) {
	x.Copy(pos, row, n, func(b Berth, source alloc.GridRow) {
		x.From.all.ids.MoveRows(b.IDs, b.Loc)
		for _, c := range x.ending {
			x.From.all.release(source, c, len(b.IDs))
		}
	})
}

// Copy copies n rows of a chunk, entities included, behind the last rows of the target, which has
// room. It calls arrived for rows of one chunk at a time, which are where the berth says, before they count.
func (x *Transition) Copy(pos, row, n int, arrived func(b Berth, source alloc.GridRow)) {
	from, to := x.From, x.To
	for n > 0 {
		b, source := to.Berth(n), from.Grid.Row(pos, row)
		k := copy(b.IDs, IDs(source.Base, row+n)[row:])
		x.row.Rows(b.At, source, k)
		alloc.ClearRows(b.At, k, x.Fresh)
		for _, move := range x.bits {
			to.Books.CopyBits(move.To, b.Pos, b.At.Row, from.span(pos, row), move.From, k)
		}
		for _, slot := range x.on {
			to.Books.SetBits(slot, b.Pos, b.At.Row, k)
		}
		arrived(b, source)
		to.Land(b)
		row, n = row+k, n-k
	}
}

// Repeat makes copies of one row, of which a berth of the target has room for, but for their
// entities.
func (x *Transition) Repeat(b Berth, pos, row int) {
	from, to, n := x.From, x.To, len(b.IDs)
	x.row.Repeat(b.At, from.Grid.Row(pos, row), n)
	alloc.ClearRows(b.At, n, x.Fresh)
	for _, move := range x.bits {
		if from.Books.Bit(move.From, pos, row) {
			to.Books.SetBits(move.To, b.Pos, b.At.Row, n)
		}
	}
	for _, slot := range x.on {
		to.Books.SetBits(slot, b.Pos, b.At.Row, n)
	}
}

// Give makes the first chunks of the source, full ones or all, chunks of the
// target: what both have is not copied. It calls arrived, where it is not nil, for each chunk. It
// returns where the rows are in the target and how many.
func (x *Transition) Give(chunks int, arrived func(b Berth)) (start, n int) {
	from, to := x.From, x.To
	before := to.Grid.Len()
	x.endColumns(chunks)
	if from.all != to.all {
		for _, c := range from.Grid.Chunks()[:chunks] {
			from.all.setOwner(c, nil, 0)
		}
	}
	at := from.Grid.Give(&to.Grid, chunks)
	from.Books.Give(chunks, &to.Books, at, x.bits, func(pos int) int { return to.Grid.Fits(to.Grid.Chunks()[pos]) })
	for pos, c := range from.Grid.Chunks() {
		from.all.setOwner(c, from, pos)
	}
	for pos := at; pos < len(to.Grid.Chunks()); pos++ {
		to.all.setOwner(to.Grid.Chunks()[pos], to, pos)
	}
	for pos := at; pos < at+chunks; pos++ {
		first, rows := to.Grid.Row(pos, 0), to.Grid.RowsOf(pos)
		alloc.ClearRows(first, rows, x.Fresh)
		for _, slot := range x.on {
			to.Books.SetBits(slot, pos, 0, rows)
		}
		if arrived != nil {
			arrived(Berth{pos, first, Locate(to.Grid.Chunks()[pos].First, 0), IDs(first.Base, rows)})
		}
		to.Books.Mark(pos, to.all.Version) // every type, as where rows are copied: a query with Changed may match them only now
	}
	to.Books.OrderFrom(at+chunks, to.all.Version) // a part-full chunk comes after others now
	return to.Grid.Chunks()[at].Start, to.Grid.Len() - before
}

// endColumns ends what the first chunks of the source hold in columns that the
// target lacks.
func (x *Transition) endColumns(chunks int) {
	from := x.From
	for pos := range chunks {
		at, n := from.Grid.Row(pos, 0), from.Grid.RowsOf(pos)
		for _, c := range x.ending {
			from.all.release(at, c, n)
		}
		if !debug.On || x.numbers != nil {
			continue
		}
		for _, c := range from.Grid.Columns() {
			if !x.To.Sig.Has(TypeID(c.Key)) {
				alloc.PoisonRows(at, n, []Column{c})
			}
		}
	}
}
