package life

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/image"
)

// A live cell is an entity with two components, 80 B a row with its id:
//
//	Entity 8 | Cell 8: X, Y | Links 64: one Entity for each side, Null = dead
//
// W1. Links are mutual: if a.To[d] is b, then b.To[7-d] is a.
// W2. Links are complete: a.To[d] is Null only if the place there is dead.
// W3. No two entities have the same Cell.
// W4. Created - initial - Destroyed of the world is Alive - initial.
//
// Whether a cell lives on is decided from its own row, without any look-up. Births are counted from
// the offers of live cells (see offers.go); a newborn finds its parents in the offers that made it,
// and the newborn next to it in the same table. No index from places to cells lasts longer than a
// generation.

// Links is the component that holds a cell's live neighbours by side.
type Links struct {
	To [sides]ecs.Entity
}

// World is the ECS side: the cells are entities in a world of their own.
type World struct {
	rule    Rule
	world   *ecs.World
	place   ecs.Component[Cell]
	links   ecs.Component[Links]
	cells   *ecs.Archetype
	all     *ecs.Query
	unset   ecs.CreateOption // both columns: the creating code fills them
	offers  *offers[ecs.Entity]
	born    []int32      // indexes into offers.groups; in this generation
	dying   []ecs.Entity // in this generation
	initial uint64       // cells of the pattern, which the world's counter includes
}

// NewWorld makes an ECS world with the pattern, which must not hold a cell
// twice. Close gives its memory back.
func NewWorld(p Pattern) (*World, error) {
	world, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("life: NewWorld: %w", err)
	}
	w := &World{rule: p.Rule, offers: newOffers[ecs.Entity](), initial: uint64(len(p.Cells))}
	w.register(world)
	if err := w.settle(p.Cells); err != nil {
		return nil, errors.Join(err, world.Close())
	}
	return w, nil
}

// OpenWorld opens the file of a world that began with a pattern, whose cells and links it has.
// Close gives the memory back.
func OpenWorld(path string, p Pattern) (*World, error) {
	w := &World{rule: p.Rule, offers: newOffers[ecs.Entity](), initial: uint64(len(p.Cells))}
	if _, err := image.Open(path, w.register); err != nil {
		return nil, fmt.Errorf("life: OpenWorld: %w", err)
	}
	return w, nil
}

// register registers the types of a new world, and makes the archetype and the query.
func (w *World) register(world *ecs.World) {
	w.world = world
	w.place = ecs.Register[Cell](world)
	w.links = ecs.Register[Links](world)
	w.cells = ecs.NewArchetype(world, w.place, w.links)
	w.unset = ecs.Uninitialized(w.place, w.links)
	w.all = ecs.NewQuery(world, ecs.Read(w.place), ecs.Read(w.links))
}

// settle creates the cells of the pattern and links them.
func (w *World) settle(cells []Cell) error {
	if len(cells) == 0 {
		return nil
	}
	batch, err := w.cells.CreateN(len(cells), w.unset)
	if err != nil {
		return fmt.Errorf("life: NewWorld: %w", err)
	}
	index := make(map[Cell]ecs.Entity, len(cells))
	next := 0
	for rows := range batch.Rows() {
		places := w.place.Slice(rows)
		next += copy(places, cells[next:])
		for i, id := range rows.Entities() {
			if index[places[i]] != ecs.Null {
				return fmt.Errorf("life: NewWorld: cell %v is given twice", places[i])
			}
			index[places[i]] = id
		}
	}
	for place, id := range index {
		to := &w.links.Mut(id).To
		for d := range to {
			to[d] = index[place.at(d)]
		}
	}
	return nil
}

// Step advances one generation: one pass over the rows, then one CreateN for all births and a
// Destroy for each death. If there is no memory for the births, it returns the error and the world
// is as it was before the step.
func (w *World) Step() error {
	w.judge()
	if err := w.bear(); err != nil {
		return err
	}
	w.bury()
	return nil
}

// judge decides which cells die and gathers the offers.
func (w *World) judge() {
	w.offers.clear()
	w.dying = w.dying[:0]
	for rows := range w.all.Rows() {
		places, links := w.place.Slice(rows), w.links.Slice(rows)
		for i, id := range rows.Entities() {
			n := 0
			for d, other := range &links[i].To {
				if other != ecs.Null {
					n++
				} else {
					w.offers.add(id, d, places[i].at(d))
				}
			}
			if !w.rule.Survives(n) {
				w.dying = append(w.dying, id)
			}
		}
	}
}

// bear creates the newborn and links them to their parents, including dying ones, and to each
// other.
func (w *World) bear() error {
	w.born = w.born[:0]
	for i := range w.offers.groups {
		if w.rule.Births(int(w.offers.groups[i].count)) {
			w.born = append(w.born, int32(i))
		}
	}
	if len(w.born) == 0 {
		return nil
	}
	batch, err := w.cells.CreateN(len(w.born), w.unset)
	if err != nil {
		return fmt.Errorf("life: Step: %w", err)
	}
	next := 0
	for rows := range batch.Rows() {
		places, links := w.place.Slice(rows), w.links.Slice(rows)
		for i, id := range rows.Entities() {
			g := &w.offers.groups[w.born[next]]
			g.child = id
			places[i], links[i] = g.place, Links{}
			for k := g.first; k >= 0; k = w.offers.list[k].next {
				o := &w.offers.list[k]
				w.links.Mut(o.from).To[o.side] = id
				links[i].To[sides-1-o.side] = o.from
			}
			next++
		}
	}
	w.introduce()
	return nil
}

// introduce links the newborn that lie next to each other.
func (w *World) introduce() {
	for _, b := range w.born {
		g := &w.offers.groups[b]
		for d := sides / 2; d < sides; d++ { // the other sides are covered from the neighbour
			if other := w.offers.child(g.place.at(d)); other != ecs.Null {
				w.links.Mut(g.child).To[d] = other
				w.links.Mut(other).To[sides-1-d] = g.child
			}
		}
	}
}

// bury takes the dying out of their neighbours' links and destroys them.
func (w *World) bury() {
	for _, id := range w.dying {
		for d, other := range &w.links.Get(id).To {
			if other != ecs.Null {
				w.links.Mut(other).To[sides-1-d] = ecs.Null
			}
		}
		w.world.Destroy(id)
	}
}

// Population is the number of live cells, by the world's own count.
func (w *World) Population() int { return w.world.Stats().Alive }

// Births is the number of cells born since the start: the world's own counter of entities created,
// less the cells of the pattern.
func (w *World) Births() uint64 { return w.world.Stats().Created - w.initial }

// Deaths is the number of cells that died since the start: the world's own counter of entities
// destroyed.
func (w *World) Deaths() uint64 { return w.world.Stats().Destroyed }

// ECS returns the world of the cells, of which snapshots can be taken between two steps. All that
// lasts from one step to the next is in it.
func (w *World) ECS() *ecs.World { return w.world }

// Committed is the memory held outside the Go heap, in bytes.
func (w *World) Committed() int64 { return int64(w.world.Universe().Stats().Committed) }

// Close destroys the world and gives its memory back.
func (w *World) Close() error { return w.world.Close() }

// Cells appends the live places to dst, in no order.
func (w *World) Cells(dst []Cell) []Cell {
	for rows := range w.all.Rows() {
		dst = append(dst, w.place.Slice(rows)...)
	}
	return dst
}

// Verify checks W1 to W4 against an index of all places: it costs about a
// microsecond a cell and is for tests and the end of a run.
func (w *World) Verify() error {
	index := map[Cell]ecs.Entity{}
	for rows := range w.all.Rows() {
		places := w.place.Slice(rows)
		for i, id := range rows.Entities() {
			if other := index[places[i]]; other != ecs.Null {
				return fmt.Errorf("life: W3: %v and %v are both at %v", other, id, places[i])
			}
			index[places[i]] = id
		}
	}
	for place, id := range index {
		for d, got := range &w.links.Get(id).To {
			want := index[place.at(d)]
			if got != want {
				return fmt.Errorf("life: W2: side %d of %v at %v: got %v want %v", d, id, place, got, want)
			}
			if got != ecs.Null && w.links.Get(got).To[sides-1-d] != id {
				return fmt.Errorf("life: W1: side %d of %v at %v does not link back", d, id, place)
			}
		}
	}
	s := w.world.Stats()
	if len(index) != s.Alive || s.Created-s.Destroyed != uint64(s.Alive) {
		return fmt.Errorf("life: W4: %d rows, world says %d alive, %d created, %d destroyed",
			len(index), s.Alive, s.Created, s.Destroyed)
	}
	return nil
}
