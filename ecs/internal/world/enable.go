package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
)

// Enable bits by entity, and of many rows at once. Package query has them by rows of a loop
// (enable.go there).

// Enabled reports whether e is alive and has the type, enabled.
func (f *Lookup) Enabled(op string, e entity.ID) bool {
	if r, _ := f.TableOrNil().Find(e); r != nil {
		if bits := f.ColumnAt(r.Location).Bits(); bits != nil {
			return bits.HasAt(r.Location)
		}
	}
	t := f.Known(op)
	a, pos, row := t.FindRow(op, e)
	if a == nil {
		return false
	}
	f.CheckRead(op)
	return !t.Enableable || a.Table.Metadata.Bits(a.Table.Places[t.ID].Slot(), pos).Has(row)
}

// switchElse is the owner's toggle for the cases that entity.LookupTable.Switch does not handle.
func switchElse(s *entity.LookupTable, e entity.ID, on bool) bool {
	op := "Component.Disable"
	if on {
		op = "Component.Enable"
	}
	// Safe because the owner's look-ups write by LookupTables that begin a Lookup.
	return (*Lookup)(unsafe.Pointer(s)).Toggle(op, e, on)
}

// Toggle sets e's enable bit of the type. It returns false if e is not alive or lacks the type.
func (f *Lookup) Toggle(op string, e entity.ID, on bool) bool {
	t := f.Known(op)
	t.CheckEnableable(op)
	if f.Lease != nil || !t.World.Lent() {
		f.checkWrite(op)
	}
	a, pos, row := t.FindRow(op, e)
	if a == nil {
		return false
	}
	t.ToggleRow(f.Lease, a, pos, row, on)
	return true
}

// CheckEnableable panics for a zero handle and a type that is not Enableable.
func (t *Type) CheckEnableable(op string) {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	if !t.Enableable {
		panic(fmt.Sprintf("ecs: %s: %s was not registered with ecs.Enableable", op, t.Name))
	}
}

// FindRow returns e's archetype, chunk and row. a is nil if e is not alive or lacks the type.
func (t *Type) FindRow(op string, e entity.ID) (a *Archetype, pos, row int) {
	w := t.WorldOrNil()
	var r *entity.Record
	if t != nil && t.Lease != nil && t.Lease.Past {
		r = t.pastRecord(op, e)
	} else {
		r = w.RecordOf(op, e)
	}
	if r == nil {
		return nil, 0, 0
	}
	a, pos, at := w.RowOf(r)
	if !a.Table.Sig.Has(t.ID) {
		return nil, 0, 0
	}
	return a, pos, at.Row
}

// ToggleRow sets a row's bit and marks the type changed. It uses atomics for a goroutine of a
// borrow, and for any goroutine while the world is lent.
func (t *Type) ToggleRow(b *Lease, a *Archetype, pos, row int, on bool) {
	slot, w := a.Table.Places[t.ID].Slot(), a.World
	if b == nil {
		b = w.Loops.Lent()
	}
	if b != nil {
		a.Table.Metadata.Bits(slot, pos).Toggle(row, on)
		a.Touch(b, slot, pos, row, 1)
		return
	}
	a.Table.Metadata.Bits(slot, pos).Set(row, on)
	a.Table.Metadata.Touch(slot, pos, row, 1, w.Tables.Version)
}

// CheckToggle panics unless bits of the type may be toggled in bulk.
func (t *Type) CheckToggle(op string) {
	t.WorldOrNil().CheckHandle(op)
	if t.World.Lent() {
		panic("ecs: " + op + ": the world is lent: until Borrow.End bits are switched entity by entity")
	}
	t.CheckEnableable(op)
	t.CheckLent(op, MayWrite)
}

// ToggleRows sets the bits of the selected rows that have the type, and marks the type changed in
// their chunks. It returns the number of those rows.
func (t *Type) ToggleRows(tx *change.Tx, on bool) (n int) {
	for i := range tx.Parts {
		p := &tx.Parts[i]
		if !p.Table.Sig.Has(t.ID) {
			continue
		}
		n += p.Rows
		slot, metadata := p.Table.Places[t.ID].Slot(), &p.Table.Metadata
		if p.Whole || p.IsMasked() {
			for pos := range p.Table.Store.Chunks() {
				switch some := toggleChunk(p, slot, pos, on); {
				case some && p.Whole:
					metadata.Touch(slot, pos, 0, p.Table.Store.RowsOf(pos), t.World.Tables.Version)
				case some:
					TouchMask(metadata, slot, pos, p.Mask(pos), t.World.Tables.Version)
				}
			}
			continue
		}
		for _, row := range p.Listed() {
			pos, at := p.Table.Store.Find(int(uint32(row)))
			metadata.Bits(slot, pos).Set(at, on)
			metadata.Touch(slot, pos, at, 1, t.World.Tables.Version)
		}
	}
	return n
}

// toggleChunk sets the bits of the part's rows in one chunk, and reports whether there are any.
func toggleChunk(p *change.Part, slot uint16, pos int, on bool) bool {
	bits := p.Table.Metadata.Bits(slot, pos)
	if !p.Whole {
		return bits.SetMask(p.Mask(pos), on)
	}
	rows := p.Table.Store.RowsOf(pos)
	if bits.ClearRange(0, rows); on {
		bits.SetRange(0, rows)
	}
	return true
}

func init() {
	entity.OnRefusal(refusal)
	entity.OnWrite(mutElse)
	entity.OnSwitch(switchElse)
}
