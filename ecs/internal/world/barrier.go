package world

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// Barriers. While snapshots are alive, the write barrier (Open, Keep) copies old bytes before a
// write. In the world of a snapshot, which is never written (RefusePast), the read barrier (Load,
// loadAt) loads rows before they are read. history.go of package snapshot has the reasons, and the
// calls that come here.

// Keeps reports whether a snapshot is alive.
func (w *World) Keeps() bool { return w.Tables.Past() != nil }

// NeedsBarrier reports whether a write of the type needs to know the rows: they have versions, or
// old bytes are kept.
func (t *Type) NeedsBarrier() bool { return t.Tracked || t.World.Keeps() }

// Open keeps n rows of a chunk for snapshots and marks the type changed there: by a goroutine of
// the borrow b, or by the owner if b is nil. The caller may write the rows then.
func (a *Archetype) Open(b *Lease, t *Type, pos, row, n int) {
	a.Keep(b, t, pos, row, n)
	a.Touch(b, a.Table.Places[t.ID].Slot(), pos, row, n)
}

// OpenView is Open for a view of the rows, which keeps buffers itself, each when it is asked for.
func (a *Archetype) OpenView(b *Lease, t *Type, pos, row, n int) {
	if t.Kind != KindBuffer {
		a.Keep(b, t, pos, row, n)
	}
	a.Touch(b, a.Table.Places[t.ID].Slot(), pos, row, n)
}

// KeepBuffer keeps one row's header of the Lookup's type for snapshots, and leaves them its block.
//
//go:noinline
func (f *Lookup) KeepBuffer(h *value.Header) {
	t := f.Type
	if p := t.World.Tables.Past(); p != nil {
		p.BeforeWrite(unsafe.Pointer(h), int(t.Size)) // Safe because a header begins the row's bytes.
		f.Spill.Unshare(h, &t.Shape)
	}
}

// Keep keeps the column of a type for snapshots in n rows of a chunk.
func (a *Archetype) Keep(b *Lease, t *Type, pos, row, n int) {
	if a.World.Keeps() && t.Size > 0 {
		a.keepColumn(b, t, pos, row, n)
	}
}

//go:noinline
func (a *Archetype) keepColumn(b *Lease, t *Type, pos, row, n int) {
	a.Table.KeepColumn(t.ID, pos, row, n)
	if t.Kind == KindBuffer {
		f := b.LookupOf(t)
		a.Table.HeadersIn(t.ID, pos, row, n, func(h *value.Header) { f.Spill.Unshare(h, &t.Shape) })
	}
}

// Load loads a column of n rows of a chunk, if the archetype is a snapshot's; others need no load.
func (a *Archetype) Load(id TypeID, pos, row, n int) {
	if a.SnapshotView != nil {
		a.loadColumn(id, pos, row, n)
	}
}

//go:noinline
func (a *Archetype) loadColumn(id TypeID, pos, row, n int) {
	if a.World.Types.List[id].Size == 0 {
		return
	}
	if err := a.SnapshotView.LoadColumn(a.Table.Column(id), pos, row, n); err != nil {
		panic(&LimitError{Op: "Snapshot.Rows", Err: err})
	}
}

// loadAt loads the value of a row that was found.
func (f *Lookup) loadAt(at Location) {
	o := f.Type.World.Tables.OwnerOf(at)
	a := f.Type.World.ArchetypeAt(o)
	if a.Table.Sig.Has(f.Type.ID) {
		a.Load(f.Type.ID, o.Pos(), o.Row(at), 1)
	}
}

// pastRecord is World.RecordOf for a type of a snapshot.
func (t *Type) pastRecord(op string, e entity.ID) *entity.Record {
	r, err := t.Lease.Records.Find(e)
	if err != nil {
		panic(&LimitError{Op: op, Err: err})
	}
	if r == nil {
		t.World.CheckWorld(op, e)
	}
	return r
}

// RefusePast panics for a write to a snapshot's values.
func (t *Type) RefusePast(op string) {
	panic("ecs: " + op + ": " + t.Name + " is of a snapshot, which is only read")
}
