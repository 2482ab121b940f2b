package micro

import "slices"

// Components of all benchmarks.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
)

// velocityOf gives entity i its velocity: small whole numbers, so that sums are
// exact.
func velocityOf(i int) Velocity { return Velocity{float64(i%7 + 1), float64(i%5 - 2)} }

// twin is what one writes in plain Go for entities that come, go and change: slices without holes,
// a record for each id, and a version that distinguishes old ids.
type twin struct {
	records []twinRecord
	free    []uint32
	still   twinRows // Position
	moving  twinRows // Position and Velocity
}

type twinEntity struct{ index, version uint32 }

type twinRecord struct {
	version uint32 // odd: alive
	row     uint32
	moves   bool // it is in moving
}

type twinRows struct {
	ids []twinEntity
	p   []Position
	v   []Velocity
}

// create makes an entity with both components, zeroed.
func (t *twin) create() twinEntity {
	var index uint32
	if last := len(t.free) - 1; last >= 0 {
		index, t.free = t.free[last], t.free[:last]
	} else {
		index = uint32(len(t.records))
		t.records = append(t.records, twinRecord{})
	}
	r := &t.records[index]
	e := twinEntity{index, r.version + 1}
	*r = twinRecord{e.version, uint32(len(t.moving.ids)), true}
	t.moving.ids = append(t.moving.ids, e)
	t.moving.p = append(t.moving.p, Position{})
	t.moving.v = append(t.moving.v, Velocity{})
	return e
}

// get returns the entity's position, or nil if it is not alive.
func (t *twin) get(e twinEntity) *Position {
	if int(e.index) >= len(t.records) || t.records[e.index].version != e.version {
		return nil
	}
	r := t.records[e.index]
	if r.moves {
		return &t.moving.p[r.row]
	}
	return &t.still.p[r.row]
}

// destroy ends an entity and reports whether it was alive.
func (t *twin) destroy(e twinEntity) bool {
	r := &t.records[e.index]
	if r.version != e.version {
		return false
	}
	if r.moves {
		t.dropMoving(r.row)
	} else {
		t.dropStill(r.row)
	}
	r.version++
	t.free = append(t.free, e.index)
	return true
}

// dropMoving removes a row: the last row fills the gap.
func (t *twin) dropMoving(row uint32) {
	m := &t.moving
	last := len(m.ids) - 1
	m.ids[row], m.p[row], m.v[row] = m.ids[last], m.p[last], m.v[last]
	t.records[m.ids[row].index].row = row
	m.ids, m.p, m.v = m.ids[:last], m.p[:last], m.v[:last]
}

func (t *twin) dropStill(row uint32) {
	s := &t.still
	last := len(s.ids) - 1
	s.ids[row], s.p[row] = s.ids[last], s.p[last]
	t.records[s.ids[row].index].row = row
	s.ids, s.p = s.ids[:last], s.p[:last]
}

// add gives an entity a Velocity and reports whether it had none.
func (t *twin) add(e twinEntity, v Velocity) bool {
	r := &t.records[e.index]
	if r.version != e.version || r.moves {
		return false
	}
	p := t.still.p[r.row]
	t.dropStill(r.row)
	r.row, r.moves = uint32(len(t.moving.ids)), true
	t.moving.ids = append(t.moving.ids, e)
	t.moving.p, t.moving.v = append(t.moving.p, p), append(t.moving.v, v)
	return true
}

// remove takes the Velocity of an entity and reports whether it had one.
func (t *twin) remove(e twinEntity) bool {
	r := &t.records[e.index]
	if r.version != e.version || !r.moves {
		return false
	}
	p := t.moving.p[r.row]
	t.dropMoving(r.row)
	r.row, r.moves = uint32(len(t.still.ids)), false
	t.still.ids, t.still.p = append(t.still.ids, e), append(t.still.p, p)
	return true
}

// addAll gives every entity in still a Velocity, and removeAll takes it from every entity in
// moving: both copy whole columns.
func (t *twin) addAll() {
	s, m := &t.still, &t.moving
	from := len(m.ids)
	m.ids, m.p = append(m.ids, s.ids...), append(m.p, s.p...)
	m.v = slices.Grow(m.v, len(s.ids))[:from+len(s.ids)]
	clear(m.v[from:])
	t.moved(m.ids, from, true)
	s.ids, s.p = s.ids[:0], s.p[:0]
}

func (t *twin) removeAll() {
	s, m := &t.still, &t.moving
	from := len(s.ids)
	s.ids, s.p = append(s.ids, m.ids...), append(s.p, m.p...)
	t.moved(s.ids, from, false)
	m.ids, m.p, m.v = m.ids[:0], m.p[:0], m.v[:0]
}

// destroyAll ends every entity in moving.
func (t *twin) destroyAll() {
	m := &t.moving
	for _, e := range m.ids {
		t.records[e.index].version++
		t.free = append(t.free, e.index)
	}
	m.ids, m.p, m.v = m.ids[:0], m.p[:0], m.v[:0]
}

// moved records the place of the rows from one on.
func (t *twin) moved(ids []twinEntity, from int, moves bool) {
	for row := from; row < len(ids); row++ {
		r := &t.records[ids[row].index]
		r.row, r.moves = uint32(row), moves
	}
}
