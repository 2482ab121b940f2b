package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Lookup returns the type's finder for the look-ups of an accessor.
func (t *Type) Lookup(op string, r *Accessor) *Finder {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	r.Check(op)
	b := r.Borrow
	switch write := b.Access.writes.Has(t.ID); {
	case t.World != b.World:
		// errors.md, Types, terms and handles: `belong to different worlds`, `is of another world`
		// | Rows, a query or a borrow of another world. | Handles are of one world; register there.
		panic(fmt.Sprintf("ecs: %s: %s and %s belong to different worlds", op, t.Name, b.Name))
	case b.used.Has(t.ID), !write && b.Query.declares(t.ID):
	case write: // look-ups would see rows that others are writing
		// errors.md, Borrows: `rows of others may be being written` | A look-up of a type that the
		// job's query writes. | Let a job of its own look the type up, before or after this one; or
		// name it in no term of the query with access, and write by look-ups only, declared by
		// `Exclusive`.
		panic(fmt.Sprintf("ecs: %s: %v of %s writes %s: rows of others may be being written", op, b.Query, b.Name, t.Name))
	default:
		// errors.md, Borrows: `does not use ...: declare it` | A look-up of a type that the borrow
		// or job does not name. | `Job.Uses(ecs.Read(health))`.
		panic(fmt.Sprintf("ecs: %s: %s does not use %s: declare it", op, b.Name, t.Name))
	}
	return b.FinderOf(t)
}

// MutLent is mut for a goroutine of a borrow.
func (f *Finder) MutLent(op LookupOp, e entity.ID) unsafe.Pointer {
	if f == nil || !f.writes {
		f.Known(op.String())
		f.checkWrite(op.String())
	}
	p, at := f.LookUp(op, e)
	if p != nil {
		f.touchAt(at)
	}
	return p
}

// OpenLent is open for a goroutine of a borrow.
func (f *Finder) OpenLent(op LookupOp, e entity.ID, write bool) (b RawBuffer, ok bool) {
	var p unsafe.Pointer
	if write {
		p = f.MutLent(op, e)
	} else {
		p, _ = f.LookUp(op, e)
	}
	return f.buffer(p, write)
}
