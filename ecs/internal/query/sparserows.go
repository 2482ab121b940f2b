package query

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Sparse returns what Column needs: the set, which it marks changed if its values may be written,
// and the entities of the rows.
func (r Rows) Sparse(t *world.Type, op string) (set *sparse.Set, ids []entity.ID) {
	s := r.Check(op)
	if t == nil || s.World != t.World {
		r.Refuse(t, op)
	}
	flags := s.Binding.ColumnOf(t.ID).Flags()
	if s.Binding.Archetype.SnapshotView != nil {
		t = s.Binding.Archetype.World.Types.List[t.ID] // the set of the snapshot
	}
	switch {
	case s.Query == BatchesOf(s.World):
		t.CheckLent(op, world.MayWrite)
		t.Sparse.OpenAll(s.World.Tables.Version)
	case flags&world.MayWrite != 0:
		t.Sparse.OpenAll(s.World.Tables.Version)
	case flags&world.BarrierWrite != 0:
		t.Sparse.OpenAll(s.Borrow.Version)
	case flags&(world.MayRead|world.BarrierRead) == 0:
		r.Refuse(t, op)
	}
	return &t.Sparse.Set, table.IDs(r.Base, s.First+r.Len())[s.First:]
}

// SparseValue is Sparse.At.
func (r Rows) SparseValue(t *world.Type, i int) unsafe.Pointer {
	set, ids := r.Sparse(t, "Sparse.At")
	if uint(i) >= uint(len(ids)) {
		panic(fmt.Sprintf("ecs: Sparse.At: row %d is not in [0, %d)", i, len(ids)))
	}
	return set.At(ids[i])
}
