package change

import (
	"quarry/ecs/internal/table"
)

// Room makes room in a table for n more rows, by its growth policy, and for ids new ids. A table
// without rows returns to its own layout. After an error no row, record or id has changed, and the
// table has given its reserve back.
func (r *Writer) Room(t *table.Table, n, ids int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		err = r.reserveIDs(ids)
	}
	return r.settle(t, err)
}

// RoomHeld is Room for n rows of reserved ids, whose records it makes.
func (r *Writer) RoomHeld(t *table.Table, n int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		err = r.growIDs(r.ids.Reach)
	}
	return r.settle(t, err)
}

// settle ends making room in a table, which failed if err is not nil.
func (r *Writer) settle(t *table.Table, err error) error {
	if err != nil {
		t.Settle()
		t.Store.Trim(0) // a new table is dropped after an error, and must hold nothing
		return err
	}
	r.promote(t)
	return nil
}

// reserveIDs makes sure that n ids are free, using the world's reserves if need be. A change asks
// for ids last, since room for ids is not given back if something else is refused.
func (r *Writer) reserveIDs(n int) error {
	if n <= r.ids.Free() {
		return nil
	}
	return r.growIDs(func() error { return r.ids.MakeRoom(n) })
}

// growIDs calls grow, once more after freeing the world's reserves if need be, and reports that
// records may have moved.
func (r *Writer) growIDs(grow func() error) error {
	err := grow()
	if err != nil && r.calls.Trim() > 0 {
		err = grow()
	}
	r.calls.Records()
	return err
}
