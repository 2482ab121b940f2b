package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// The model of a world: the data that a program without chunks would keep.

// model holds every entity as a Go value, and every archetype as the list of its entities in row
// order: new rows go to the end, the last row fills a gap.
type model struct {
	entities map[ecs.Entity]*entity
	alive    []ecs.Entity // in no particular order, to pick from
	dead     []ecs.Entity // the last ones destroyed, at most deadKept
	versions map[int]uint32
	groups   []*group        // with an archetype, in the order of the archetypes
	byForm   map[form]*group // normalized
	list     []kind
	strays   int // archetypes without rows that no group has

	created, destroyed uint64
	spilled            int // buffers that ever had more than they hold inline
	set                set // of the sparse type
	indices            int // of the owner's blocks, including index 0
	version            uint32
	touched            [maxKinds]uint32 // change version of the last write of a kind anywhere
	reordered          uint32           // change version of the last row that came or went anywhere

	reserved []ecs.Entity            // reserved, but not created or given back yet
	lent     int                     // entities alive whose ids were reserved
	lendable int                     // indices of blocks that serve reserved ids
	lends    map[int]bool            // by block number: whether the block serves reserved ids
	named    map[string][]ecs.Entity // by name; the entity that got it last is at the end
	trace    *sequence               // of the ids that come after a moment, or nil
}

// deadKept is the number of dead handles that are remembered.
const deadKept = 200

// recordBlock is the number of entity indices that a world adds at a time. recordChunks is the run
// of chunks for their records, 8 B each, and versionChunks is the additional run, 4 B each, if they
// serve reserved ids.
const (
	recordBlock   = 8192
	recordChunks  = 4
	versionChunks = 2
)

// entity is one entity that is alive.
type entity struct {
	group   *group
	row     int // in group.rows
	pick    int // in model.alive
	values  [maxKinds]any
	off     kinds            // disabled
	spilled kinds            // buffers that have a block
	wrote   [maxKinds]uint32 // change version of the last write, or of the row's last move
	arrived uint32           // change version at which the row came to its place
	entry   *entry           // of the sparse type, or nil
	lent    bool             // its id was reserved
	name    string
	place   rowPlace // as of the last call of world.sit or reread
}

func newModel(list []kind) *model {
	return &model{
		entities: map[ecs.Entity]*entity{},
		versions: map[int]uint32{},
		lends:    map[int]bool{},
		byForm:   map[form]*group{},
		list:     list,
		named:    map[string][]ecs.Entity{},
		version:  1,
	}
}

// free is the number of entity indices that need no new records.
func (m *model) free() int { return max(0, m.indices-1) - (len(m.entities) - m.lent) }

// create adds a new entity of a group with zero values. It returns an error if the handle is not
// new.
func (m *model) create(e ecs.Entity, g *group) (*entity, error) {
	last, reused := m.versions[e.Index()]
	switch {
	case e == ecs.Null || e.Index() == 0:
		return nil, fmt.Errorf("new entity %v has index 0", e)
	case m.entities[e] != nil:
		return nil, fmt.Errorf("new entity %v is alive already", e)
	case reused && e.Version() != last+2, !reused && e.Version() != 1:
		return nil, fmt.Errorf("new entity %v: the last version of that index was %d (used: %v)", e, last, reused)
	}
	if err := m.place(e, false); err != nil {
		return nil, err
	}
	for m.free() < 1 {
		m.indices += recordBlock
	}
	m.versions[e.Index()] = e.Version()
	return m.begin(e, g), nil
}

// place records whether an id is the owner's or reserved; all ids of a block are of one sort.
func (m *model) place(e ecs.Entity, reserved bool) error {
	number := e.Index() / recordBlock
	if lends, known := m.lends[number]; known && lends != reserved {
		return fmt.Errorf("got %v, reserved: %v; ids of block %d are reserved: %v", e, reserved, number, lends)
	}
	m.lends[number] = reserved
	return nil
}

// lowest is the lowest index that the owner's entities can have.
func (m *model) lowest() int {
	for number := 0; ; number++ {
		if !m.lends[number] {
			return max(1, number*recordBlock)
		}
	}
}

// begin adds a new entity whose handle was checked.
func (m *model) begin(e ecs.Entity, g *group) *entity {
	x := &entity{pick: len(m.alive)}
	m.entities[e] = x
	m.alive = append(m.alive, e)
	for k := range m.list {
		if g.set.has(k) {
			x.values[k] = m.list[k].zero()
		}
	}
	x.share(g)
	m.enter(e, x, g)
	m.created++
	return x
}

// enter appends an entity to a group's rows.
func (m *model) enter(e ecs.Entity, x *entity, g *group) {
	x.group, x.row = g, len(g.rows)
	g.rows = append(g.rows, e)
	m.arrive(x)
}

// leave removes an entity's row: the last row takes its place.
func (m *model) leave(x *entity) {
	g := x.group
	last := len(g.rows) - 1
	if x.row != last {
		moved := m.entities[g.rows[last]]
		g.rows[x.row] = g.rows[last]
		moved.row, moved.arrived = x.row, m.version
	}
	m.reordered, g.stirred = m.version, m.version
	g.rows = g.rows[:last]
}

// arrive records the arrival of a row, which changes all of its types.
func (m *model) arrive(x *entity) {
	x.arrived, m.reordered, x.group.stirred = m.version, m.version, m.version
	for k := range maxKinds {
		if x.group.set.has(k) {
			m.touch(x, k)
		}
	}
}

// touch records a write.
func (m *model) touch(x *entity, k int) { x.wrote[k], m.touched[k] = m.version, m.version }

// destroy ends an entity; the last row takes its row's place.
func (m *model) destroy(e ecs.Entity) {
	m.leave(m.entities[e])
	m.end(e)
}

// end removes an entity, except for its row.
func (m *model) end(e ecs.Entity) {
	x := m.entities[e]
	m.rename(e, x, "")
	m.lose(e, x)
	if x.lent {
		m.lent--
	}
	m.spilled -= x.spilled.len()
	last := m.alive[len(m.alive)-1]
	m.alive[x.pick] = last
	m.entities[last].pick = x.pick
	m.alive = m.alive[:len(m.alive)-1]
	delete(m.entities, e)
	if len(m.dead) == deadKept {
		m.dead = slices.Delete(m.dead, 0, deadKept/2)
	}
	m.dead = append(m.dead, e)
	m.destroyed++
}

// moveTo moves an entity to a group.
func (m *model) moveTo(e ecs.Entity, x *entity, g *group) {
	m.leave(x)
	m.become(e, x, g)
	m.enter(e, x, g)
}

// share gives an entity the shared values of a group.
func (x *entity) share(g *group) { copy(x.values[firstShared:], g.form.values[:]) }

// become drops the values that a group lacks, adds zero values for the group's new kinds, and takes
// the group's shared values. An entity that is destroyed and stays loses its entry.
func (m *model) become(e ecs.Entity, x *entity, g *group) {
	flip := x.group.set ^ g.set
	if flip.has(cleanupEntityKind) {
		m.lose(e, x)
	}
	m.spilled -= (x.spilled & flip).len()
	x.spilled &^= flip
	x.off &^= flip
	for k := range m.list {
		switch {
		case !flip.has(k):
		case g.set.has(k):
			x.values[k] = m.list[k].zero()
		default:
			x.values[k] = nil
		}
	}
	x.share(g)
}

// setBuffer replaces a buffer's elements and records when the buffer spills; a spilled buffer stays
// spilled.
func (m *model) setBuffer(x *entity, k int, b bufferKind, v any) {
	x.values[k] = v
	m.touch(x, k)
	if b.length(v) > b.inlined() {
		m.spill(x, k, true)
	}
}

// spill records that a buffer has a block, or has given its block back.
func (m *model) spill(x *entity, k int, has bool) {
	if has == x.spilled.has(k) {
		return
	}
	x.spilled ^= 1 << k
	if has {
		m.spilled++
	} else {
		m.spilled--
	}
}

// rename gives an entity a name, or takes it away.
func (m *model) rename(e ecs.Entity, x *entity, name string) {
	if x.name == name {
		return
	}
	if x.name != "" {
		list := m.named[x.name]
		at := slices.Index(list, e)
		m.named[x.name] = slices.Delete(list, at, at+1)
	}
	if x.name = name; name != "" {
		m.named[name] = append(m.named[name], e)
	}
}
