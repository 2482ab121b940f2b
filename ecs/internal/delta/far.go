package delta

import (
	"unsafe"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Rows of snapshots are compared where the snapshots have them: in the copies that they have kept,
// or else in a copy that is made for the comparison. So what a comparison needs is no second copy
// of the world. A row that stayed at its address is compared only in pieces that were written:
//
//	piece of 1 KiB    |    0    |    1    |    2    |    3    |
//	written           |         |    x    |         |    x    |
//	rows in place     |  equal  | compared|  equal  | compared|
//	rows that moved      all bytes, each at its older address

// isFar reports whether the columns of a table are compared so: those of snapshots, but for deltas
// that will be walked, whose rows are loaded if some came, went or moved.
func (x *differ) isFar(t *deltaTable) bool {
	return x.c != nil && (x.spare != nil || x.sameRows(t.a))
}

// farRun is rows of a column that lie behind each other in both states.
type farRun struct {
	older, newer     *table.SnapshotView // older is nil for rows of new entities, or without the column
	oldFrom, newFrom int                 // bytes of the universe's memory
	n                int                 // bytes
}

// eachFar calls visit with runs of a column, and the number of their first row, until it returns an
// error.
func (x *differ) eachFar(t *deltaTable, c world.Column, visit func(row int, r farRun) error) (err error) {
	id := world.TypeID(c.Key)
	x.eachRun(t.a, func(at, n, pos int, newer store.Row, from *table.Table, fromPos int, older store.Row) {
		if err != nil {
			return
		}
		r := farRun{newer: t.a.SnapshotView, newFrom: t.a.SnapshotView.Address(c, pos, newer.Row), n: n * int(c.Size)}
		if from != nil && from.Sig.Has(id) {
			r.older = x.Older.Archetypes.List[from.Index].SnapshotView
			r.oldFrom = r.older.Address(from.Column(id), fromPos, older.Row)
		}
		err = visit(at, r)
	})
	return err
}

// inPlace reports whether the rows stayed at their address.
func (r *farRun) inPlace() bool { return r.older != nil && r.oldFrom == r.newFrom }

// farColumn compares a column.
func (x *differ) farColumn(t *deltaTable, k *comparedColumn) error {
	var buffers [2][table.UnitSize]byte
	return x.eachFar(t, k.c, func(row int, r farRun) error {
		begin := row * int(k.c.Size)
		for at := 0; at < r.n; {
			n := min(r.n-at, table.UnitSize-(r.newFrom+at)%table.UnitSize)
			if r.inPlace() {
				var from int
				if from, n = x.c.set.Next(r.newFrom+at, r.newFrom+r.n); n == 0 {
					break
				}
				at = from - r.newFrom
			} else if r.older != nil {
				n = min(n, table.UnitSize-(r.oldFrom+at)%table.UnitSize)
			}
			var old []byte
			newer, err := r.newer.Bytes(r.newFrom+at, n, &buffers[0])
			if err == nil && r.older != nil {
				old, err = r.older.Bytes(r.oldFrom+at, n, &buffers[1])
			}
			if err != nil {
				return world.LimitErrorOf(err)
			}
			k.w.compare(begin+at, old, newer)
			at += n
		}
		return nil
	})
}

// farRows is how many bytes of rows with buffers are copied to be compared.
const farRows = 8 << 10

// farBuffers compares a column of buffers.
func (x *differ) farBuffers(t *deltaTable, of *world.Type, c world.Column, w *editsWriter) error {
	size := int(c.Size)
	room := max(1, farRows/size) * size
	memory := make([]uint64, (2*room+7)/8) // aligned for headers
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(memory))), 2*room)
	newer, older := bytes[:room], bytes[room:]
	now, was := x.Newer.Buffers.OwnerSpill(), x.Older.Buffers.OwnerSpill()
	return x.eachFar(t, c, func(row int, r farRun) error {
		for at := 0; at < r.n; {
			n := min(r.n-at, room)
			if r.inPlace() {
				from, length := x.c.set.Next(r.newFrom+at, r.newFrom+r.n)
				if length == 0 {
					break
				}
				first := (from - r.newFrom) / size * size // the row that begins before, or there
				at, n = first, min(r.n-first, room, (from+length-r.newFrom-first+size-1)/size*size)
			}
			err := r.newer.ReadBytes(r.newFrom+at, newer[:n])
			if err == nil && r.older != nil {
				err = r.older.ReadBytes(r.oldFrom+at, older[:n])
			}
			if err != nil {
				return world.LimitErrorOf(err)
			}
			for i := 0; i < n; i += size {
				var header *value.Header
				spill := now
				// Safe because a row of the column begins there, with a header.
				if r.older != nil {
					header, spill = value.HeaderAt(unsafe.Pointer(&older[i]), 0, c.Size), was
				}
				w.compare(row+(at+i)/size, of.Shape.Element, header,
					value.HeaderAt(unsafe.Pointer(&newer[i]), 0, c.Size), spill, now, &of.Shape)
			}
			at += n
		}
		return nil
	})
}
