package table

import (
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/internal/store"
	"quarry/layout"
)

// Layouts. A table begins with a plan for its own types. Suppose a batch removes a type from all
// rows of a source table, and the target table has no rows. Then the target uses the source's
// layout and the chunks change hands unchanged. The column of the removed type becomes a hole:
//
//	[Position Health Velocity]   | Entity | Position | Health | Velocity |
//	[Position Health]            | Entity | Position | Health | (hole)   |
//
// If a batch adds the type again, the layouts still match, so no column is copied in either
// direction. A hole takes room that rows could use, so holes may cost at most a quarter of a unit's
// rows. Ordinary creation in an empty table returns to the table's own plan. A table without rows
// has no chunks, so only its places, its transitions and what Calls.Replanned updates depend on its
// offsets.

// Init makes an empty table of the types in sig. The caller sets Index, which must differ from the
// Index of every other table of s. With alike, tables of the same types share one plan. An error
// wraps layout.ErrTooBig: a row does not fit a chunk.
func (t *Table) Init(s *Tables, sig Signature, alike bool) error {
	*t = Table{all: s, Sig: sig, Types: make([]TypeID, 0, sig.Count())}
	for id := range sig.Each() {
		t.Types = append(t.Types, id)
	}
	return t.layOut(alike)
}

// layOut plans the chunks of a new table.
func (t *Table) layOut(alike bool) error {
	s, n := t.all, len(t.Types)
	t.maxRows = s.maxRows(t.Types)
	plan, err := t.planOnce(alike)
	if err != nil {
		return err
	}
	if n > 0 {
		t.Places = make([]Place, t.Types[n-1]+1)
	}
	stored, toggling, byRow := make([]Column, 0, n), []uint16(nil), false
	for slot, id := range t.Types {
		of := &s.types[id]
		offset := uint32(0)
		if of.Layout.Size > 0 {
			// Not for a tag, whose offset may be the chunk's end: its place must point inside.
			offset = offsetIn(&plan, slot)
		}
		t.Places[id] = MakePlace(offset, slot, s.flags(of))
		if of.Layout.Size > 0 {
			stored = append(stored, t.Column(id))
		}
		if of.Owns() {
			t.addOwning(t.Column(id))
		}
		if of.Layout.Enableable {
			toggling = append(toggling, uint16(slot))
		}
		byRow = byRow || of.Layout.Enableable || of.Tracked
	}
	if byRow && s.spares == nil {
		s.spares = new(Spares)
	}
	t.Metadata = NewMetadata(n, toggling, s.spares)
	for slot, id := range t.Types {
		if of := s.types[id].Chunk; of != nil {
			t.Metadata.KeepValues(uint16(slot), of)
		}
		if s.types[id].Tracked {
			t.Metadata.KeepVersions(uint16(slot))
		}
	}
	t.ownRows = plan.Rows
	small := s.smallChunks
	if plan.Rows < 1<<store.UnitOrder { // an eighth of a unit has no row
		small = nil
	}
	t.Store = store.Make(s.u, small, &plan, stored, s.growth, t.largestOrder(plan.Rows))
	t.Store.SetKeeper(keeper{s})
	return nil
}

// maxRows returns the least limit of rows that one of the types has, or 0.
func (s *Tables) maxRows(types []TypeID) (least int) {
	for _, id := range types {
		if n := s.types[id].MaxRows; n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// largestOrder returns the order of the largest chunks, of so many units of rows rows each that a
// chunk has at most maxRows.
func (t *Table) largestOrder(rows int) uint32 {
	order := uint32(store.MaxOrder)
	for t.maxRows > 0 && order > store.UnitOrder && rows<<(order-store.UnitOrder) > t.maxRows {
		order--
	}
	return order
}

// planOnce is ownPlan for callers that do not keep the plan: the next call may overwrite it. With
// alike, tables with the same types share one plan.
func (t *Table) planOnce(alike bool) (layout.Plan, error) {
	if !alike {
		s := t.all
		s.columns = t.columns(s.columns[:0])
		plan, err := planIn(s.places, s.columns, t.maxRows)
		if err == nil {
			s.places = plan.Places
		}
		return plan, err
	}
	plan, ok := t.all.plans[t.Sig]
	if !ok {
		var err error
		if plan, err = t.ownPlan(); err != nil {
			return plan, err
		}
		if t.all.plans == nil {
			t.all.plans = map[Signature]layout.Plan{}
		}
		t.all.plans[t.Sig] = plan
	}
	return plan, nil
}

// offsetIn returns the offset of a type in a table's own plan divided by 8, as places have it: a
// small chunk has the columns of a unit at an eighth of their offsets.
func offsetIn(plan *layout.Plan, slot int) uint32 {
	return uint32(plan.Places[slot+1].Offset) >> store.UnitOrder
}

// ownPlan lays out a unit for the table's types.
func (t *Table) ownPlan() (layout.Plan, error) {
	return planIn(nil, t.columns(nil), t.maxRows)
}

// columns appends the columns of the table: of the entities and of its types.
func (t *Table) columns(to []layout.Column) []layout.Column {
	to = append(slices.Grow(to, 1+len(t.Types)), idColumn)
	for _, id := range t.Types {
		to = append(to, t.all.types[id].Layout)
	}
	return to
}

// PlanOf lays out a unit for entities with some types. Columns start on cache lines, so the order
// of types with wide and narrow alignment does not matter.
func PlanOf(types ...layout.Column) (layout.Plan, error) {
	return planIn(nil, append([]layout.Column{idColumn}, types...), 0)
}

// idColumn is the column of the entities, the first of each plan.
var idColumn = layout.Column{
	Name: "Entity", Size: int(unsafe.Sizeof(entity.ID{})), Align: int(unsafe.Alignof(entity.ID{})),
}

// planIn lays out a unit for columns, of at most maxRows rows if that is not 0, see layout.NewIn.
func planIn(places []layout.Placement, columns []layout.Column, maxRows int) (layout.Plan, error) {
	if maxRows > layout.MaxRows {
		maxRows = 0 // for chunks of several units, see largestOrder
	}
	return layout.NewIn(places, columns, layout.Options{MaxRows: maxRows})
}

// Plan returns the layout of a unit of 16 KiB.
func (t *Table) Plan() layout.Plan {
	if t.usedLayout != nil {
		return *t.usedLayout
	}
	return t.mustPlan()
}

// mustPlan is ownPlan for a table that layOut has already planned successfully.
func (t *Table) mustPlan() layout.Plan {
	plan, err := t.ownPlan()
	if err != nil {
		panic("ecs: Archetype.Plan: " + err.Error())
	}
	return plan
}

// HasOwnLayout reports whether the table has the layout planned for its own types, rather than
// that of another.
func (t *Table) HasOwnLayout() bool { return t.usedLayout == nil }

// FitsSourceLayout reports whether the target, which has no rows, should use the source's layout if
// all rows of the source move. The source must have all columns of the target and fill at least one
// unit, and the holes may cost at most a quarter of the rows that a unit could have.
func (x *Transition) FitsSourceLayout() bool {
	from, own := &x.From.Store, x.To.ownRows
	return x.From.all.u == x.To.all.u && x.To.takesChunksOf(x.From) && len(x.Fresh) == 0 &&
		from.Len() >= from.PerUnit() && from.PerUnit() <= own && 4*from.PerUnit() >= 3*own
}

// UseSourceLayout gives the target, which has no rows, the layout of the source.
func (x *Transition) UseSourceLayout() {
	x.To.UseLayout(x.From, x.numbers)
	x.Compute() // the target updates only the transitions in its list
}

// UseLayout makes a table without rows use the layout of a table that has all of its columns. For
// a source in another world, ids maps slots to its type ids; otherwise nil.
func (t *Table) UseLayout(from *Table, ids []TypeID) {
	offsets, tags := []int{0}, []layout.Column(nil) // entities lie at 0
	for slot, id := range t.Types {
		if of := &t.all.types[id].Layout; of.Size == 0 {
			tags = append(tags, *of)
			continue
		}
		there := id
		if ids != nil {
			there = ids[slot]
		}
		t.Places[id].Offset = from.Places[there].Offset
		offsets = append(offsets, int(t.Places[id].Offset)<<store.UnitOrder)
	}
	plan := from.Plan().Narrow(offsets, tags)
	t.usedLayout = &plan
	t.replan(plan.Rows, &from.Store)
}

// UseOwnLayout returns a table without rows to its own layout, if that has more rows in a unit.
func (t *Table) UseOwnLayout() {
	if len(t.Store.Chunks()) > 0 || t.Store.PerUnit() >= t.ownRows {
		return
	}
	plan := t.mustPlan()
	for slot, id := range t.Types {
		if t.all.types[id].Layout.Size > 0 {
			t.Places[id].Offset = offsetIn(&plan, slot)
		}
	}
	t.usedLayout = nil
	t.replan(plan.Rows, nil)
}

// replan updates the store, the transitions and the caller of a table without rows after its places
// have changed. rows is the number of rows of a unit. like is the store whose chunks will come, or
// nil.
func (t *Table) replan(rows int, like *store.Store) {
	columns := make([]Column, 0, len(t.Types))
	for _, id := range t.Types {
		if t.all.types[id].Layout.Size > 0 {
			columns = append(columns, t.Column(id))
		}
	}
	t.Store.Replan(rows, columns, like)
	for i := range t.Owning {
		t.Owning[i] = t.Column(TypeID(t.Owning[i].Key))
	}
	for _, p := range t.transitions {
		p.Compute()
	}
	t.all.calls.Replanned()
}

// mayAdopt reports whether a table may have a plan that is not of its own types: it wastes at most
// a quarter of a unit. A unit of a file for a CPU with shorter cache lines has more rows.
func (t *Table) mayAdopt(plan *layout.Plan) bool {
	return 4*plan.Rows >= 3*t.ownRows && (plan.Rows <= t.ownRows || plan.CacheLine < t.mustPlan().CacheLine)
}

// verifyLayout checks W9.
func (t *Table) verifyLayout() error {
	plan, columns := t.Plan(), 1 // the entities' column
	for _, p := range plan.Places {
		if !p.Hole && p.Size > 0 {
			columns--
		}
	}
	for _, c := range t.Store.Columns() {
		columns++
		if id := TypeID(c.Key); c != t.Column(id) || t.all.types[id].Owns() != slices.Contains(t.Owning, c) {
			return fmt.Errorf("ecs: W9: %s of %v is at %d, its column at %d, its owning ones are %v",
				t.all.types[id].Layout.Name, t, t.Places[id].Offset, c.Offset, t.Owning)
		}
	}
	if columns != 0 || !t.mayAdopt(&plan) {
		return fmt.Errorf("ecs: W9: %v has %d columns beyond its plan of %d rows; %d would fit alone\n%v",
			t, columns, plan.Rows, t.ownRows, plan)
	}
	for _, p := range t.transitions {
		want := Transition{From: p.From, To: p.To}
		want.Compute()
		if !p.equal(&want) {
			return fmt.Errorf("ecs: W9: the transition from %v to %v is %+v, want %+v", p.From, p.To, *p, want)
		}
	}
	return nil
}
