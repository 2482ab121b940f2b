package change

import (
	"quarry/ecs/internal/table"
)

// Room makes room in a table for n more rows, by its policy of growth and in its own layout when
// they are the first, and for as many new ids. On an error no row, record or id has changed, and
// the table has given its reserve back.
func (r *Rows) Room(t *table.Table, n, ids int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		err = r.reserveIDs(ids)
	}
	return r.settle(t, err)
}

// RoomHeld is Room for n rows of ids that were promised, whose records it makes.
func (r *Rows) RoomHeld(t *table.Table, n int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		err = r.growIDs(r.ids.Reach)
	}
	return r.settle(t, err)
}

// settle ends the making of room in a table, which an error has refused.
func (r *Rows) settle(t *table.Table, err error) error {
	if err != nil {
		t.Settle()
		t.Store.Trim(0) // a table that is new is given up, and must hold nothing
		return err
	}
	r.promote(t)
	return nil
}

// reserveIDs makes sure that n ids are free, with what the world keeps in reserve if need be. A
// change asks for ids last: room for ids is not given back when something else is refused.
func (r *Rows) reserveIDs(n int) error {
	if n <= r.ids.Free() {
		return nil
	}
	return r.growIDs(func() error { return r.ids.MakeRoom(n) })
}

// growIDs calls grow, again with what the world keeps in reserve if need be, and says that records
// may have moved.
func (r *Rows) growIDs(grow func() error) error {
	err := grow()
	if err != nil && r.calls.Trim() > 0 {
		err = grow()
	}
	r.calls.Records()
	return err
}
