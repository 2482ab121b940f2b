package query

import (
	"sync/atomic"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// NewAt reports whether the type in a slot was written in a row later than since; in any row of the
// chunk, if the type has no versions of rows.
func NewAt(metadata *table.Metadata, slot uint16, pos, row int, since uint32) bool {
	if list := metadata.RowVersions(slot, pos); list != nil {
		return world.Newer(atomic.LoadUint32(&list[row]), since)
	}
	return world.Newer(metadata.Changed(slot, pos), since)
}

// Mark is Component.Mark.
func (r Rows) Mark(t *world.Type) {
	const op = "Component.Mark"
	p, ok := r.PlaceOf(t, op)
	switch {
	case !ok:
	case p.Flags()&world.BarrierWrite != 0:
		r.Scan.Binding.Archetype.Touch(r.Scan.Borrow.LeaseOrNil(), p.Slot(), r.Scan.Pos, r.Scan.First, r.Len())
	case p.Flags()&world.MayWrite == 0:
		r.Refuse(t, op)
	default:
		*r.Scan.Binding.Archetype.Table.Metadata.Version(p.Slot(), r.Scan.Pos) = t.World.Tables.Version
	}
}

// markMatching marks the type changed in the rows that match.
func (r Rows) markMatching(t *world.Type) {
	if !t.Tracked {
		r.Mark(t)
		return
	}
	s, p := r.Scan, r.Scan.Binding.ColumnOf(t.ID)
	world.TouchMask(&s.Binding.Archetype.Table.Metadata, p.Slot(), s.Pos, r.Mask(), t.World.Tables.Version)
}

// ChangedSince reports whether e has the type and it may have changed after a version.
func ChangedSince(f *world.Lookup, op string, e entity.ID, since uint32) bool {
	t := f.Known(op)
	a, pos, row := t.FindRow(op, e)
	if a == nil {
		return false
	}
	f.CheckRead(op)
	return NewAt(&a.Table.Metadata, a.Table.Places[t.ID].Slot(), pos, row, since)
}
