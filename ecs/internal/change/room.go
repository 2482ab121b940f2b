package change

import (
	"quarry/ecs/internal/table"
)

// Room makes room in a table for n more rows, by its policy of growth and in its own layout when they are the first, and
// for as many new ids. On an error no row, record or id has changed, and the table has given its reserve back.
func (r *Rows) Room(t *table.Table, n, ids int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		err = r.reserveIDs(ids)
	}
	if err != nil {
		t.Settle()
		t.Grid.Trim(0) // a table that is new is given up, and must hold nothing
		return err
	}
	r.promote(t)
	return nil
}

// reserveIDs makes sure that n ids are free, with what the world keeps in reserve if need
// be. A change asks for ids last: room for ids is not given back when something else is refused.
func (r *Rows) reserveIDs(n int) error {
	if n <= r.ids.Free() {
		return nil
	}
	err := r.ids.MakeRoom(n)
	if err != nil && r.calls.Trim() > 0 {
		err = r.ids.MakeRoom(n)
	}
	r.calls.Records()
	return err
}
