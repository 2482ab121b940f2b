package fuzz

import (
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/layout"
)

// The model of the values of chunks. How rows are cut into chunks is read from the world; what
// happens to a value follows from the rows before and after a call, by the rules of
// docs/semantics.md, "Chunk components":
//
//	call                                         value                             version
//	any, chunk stays at its place                stays                             stays
//	any, chunk is new                            zero                              now
//	by query or list, or from another world: to
//	  the chunk came a row of a chunk that went  the marks of both, zero if new    now
//	  along
//
// A chunk goes along if its archetype went as a whole to one whose layout matches, or to another
// world.

// chunkModel is the model of one chunk with a value.
type chunkModel struct {
	a       *ecs.Archetype
	rows    []ecs.Entity
	value   chunkMarks
	version uint32 // of the value
}

func (l *chunkModel) write(v chunkMarks, version uint32) { l.value, l.version = v, version }

// holding is the chunks of one archetype, in order.
type holding struct {
	plan        layout.Plan // while it has rows
	chunkModels []*chunkModel
}

// chunkModels is the model of the values of a world's chunks.
type chunkModels struct {
	q       *ecs.Query // for all chunks with a value
	write   *ecs.Query
	of      map[*ecs.Archetype]*holding
	byFirst map[ecs.Entity]*chunkModel // by the chunk's first row
}

// handover is the chunks that a call took along: by each of their rows, which have other names in
// another world.
type handover map[ecs.Entity]*chunkModel

func newChunkModels(w *ecs.World, c kind) *chunkModels {
	return &chunkModels{of: map[*ecs.Archetype]*holding{}, byFirst: map[ecs.Entity]*chunkModel{},
		q:     ecs.NewQuery(w, ecs.Read(c.Type()), ecs.IncludeDisabled(), ecs.IncludePrefabs()),
		write: ecs.NewQuery(w, ecs.Write(c.Type()), ecs.IncludeDisabled(), ecs.IncludePrefabs())}
}

// lotOf returns the chunk with some rows.
func (d *world) lotOf(rows []ecs.Entity) *chunkModel {
	l := d.chunkModels.byFirst[rows[0]]
	if l == nil {
		panic(fmt.Sprintf("the model is wrong: no chunk begins with %v", rows[0]))
	}
	return l
}

// lotAt returns the chunk with an entity.
func (d *world) lotAt(e ecs.Entity) *chunkModel {
	at, _ := d.w.Locate(e)
	return d.chunkModels.of[at.Archetype].chunkModels[at.Chunk]
}

// tend compares the value of each chunk with the rules, after a call that took no chunks along. The
// driver calls it before each call that may move rows, and before it writes values, so that no
// chunk ends and another begins at its place in between.
func (d *world) tend() error { return d.tendAfter(nil) }

// tendAfter is tend after a call about many rows, which took chunks along. along is nil if the call
// was about few.
func (d *world) tendAfter(along handover) error {
	if d.chunkModels == nil || d.inLoop > 0 {
		return nil
	}
	h, next, first := d.chunkMarks(), map[*ecs.Archetype]*holding{}, map[ecs.Entity]*chunkModel{}
	for rows := range d.chunkModels.q.Rows() {
		a := rows.Archetype()
		now, old := next[a], d.chunkModels.of[a]
		if now == nil {
			now = &holding{}
			if next[a] = now; old != nil {
				now.plan = old.plan
			} else {
				now.plan = a.Plan()
			}
		}
		l := &chunkModel{a: a, rows: slices.Clone(rows.Entities())}
		d.foretell(l, len(now.chunkModels), along)
		if err := d.compareChunkModel(h, rows, l); err != nil {
			return fmt.Errorf("chunk %d of %d rows of %v: %w", len(now.chunkModels), rows.Len(), a, err)
		}
		now.chunkModels, first[l.rows[0]] = append(now.chunkModels, l), l
	}
	d.chunkModels.of, d.chunkModels.byFirst = next, first
	return nil
}

// foretell sets the value and version that a chunk must have, from its rows or its place.
func (d *world) foretell(l *chunkModel, at int, along handover) {
	var old *chunkModel
	switch was := d.chunkModels.of[l.a]; {
	case was == nil:
	case along != nil && l.a.Len() > was.rows(): // rows came, so none left
		if old = d.chunkModels.byFirst[l.rows[0]]; old != nil && old.a != l.a {
			old = nil
		}
	case at < len(was.chunkModels):
		old = was.chunkModels[at]
	}
	if l.version = d.m.version; old != nil {
		l.value, l.version = old.value, old.version
	}
	came := map[*chunkModel]bool{}
	for _, e := range l.rows {
		if from := along[e]; from != nil && !came[from] {
			came[from] = true
			l.write(chunkMarks{l.value.Marks | from.value.Marks}, d.m.version)
		}
	}
	d.result.Along += len(came)
	if len(came) > 0 && (old != nil || len(came) > 1) {
		d.result.Merged++
	}
}

func (h *holding) rows() (n int) {
	for _, l := range h.chunkModels {
		n += len(l.rows)
	}
	return n
}

// compareChunkModel compares the value and the version of the chunk of some rows, and look-ups of
// some of its entities.
func (d *world) compareChunkModel(h ecs.Chunk[chunkMarks], rows ecs.Rows, l *chunkModel) error {
	p := h.ReadOnly(rows)
	if *p != l.value {
		return fmt.Errorf("%v: got %x want %x", h, p.Marks, l.value.Marks)
	}
	before, after := h.Changed(rows, l.version-1), h.Changed(rows, l.version)
	if !before || after {
		return fmt.Errorf("%v: Changed since %d: got %v, since %d: got %v, at version %d",
			h, l.version-1, before, l.version, after, d.m.version)
	}
	for _, i := range []int{0, len(l.rows) / 2, len(l.rows) - 1} {
		if got := h.Get(l.rows[i]); got != p {
			return fmt.Errorf("%v: Get(%v): got %p want %p, the value of its chunk", h, l.rows[i], got, p)
		}
	}
	return nil
}

// tendMany is tend after a change by query or list: archetypes that went as a whole took their
// chunks along.
func (d *world) tendMany() error {
	if d.chunkModels == nil {
		return nil
	}
	along := handover{}
	for a, was := range d.chunkModels.of {
		at, alive := d.w.Locate(was.chunkModels[0].rows[0])
		if !alive || a.Len() > 0 || !at.Archetype.Has(d.chunkMarks()) || !alike(was.plan, at.Archetype.Plan()) {
			continue
		}
		for _, l := range was.chunkModels {
			for _, e := range l.rows {
				along[e] = l
			}
		}
	}
	return d.tendAfter(along)
}

// tendMoved is tend after entities came from another world: those of whole archetypes came with
// their chunks, however those are cut here.
func (d *world) tendMoved(from *world, of func(ecs.Entity) ecs.Entity) error {
	if d.chunkModels == nil {
		return nil
	}
	along := handover{}
	for a, was := range from.chunkModels.of {
		for _, l := range was.chunkModels {
			for _, e := range l.rows {
				if a.Len() == 0 && of(e) != ecs.Null {
					along[of(e)] = l
				}
			}
		}
	}
	return d.tendAfter(along)
}

// fewColumns is the number of columns up to which megachunks have rows in all of their units.
const fewColumns = 4

// alike reports whether layouts match: columns that both have lie at the same places.
func alike(from, to layout.Plan) bool {
	if from.Rows != to.Rows || columns(from) > fewColumns != (columns(to) > fewColumns) {
		return false
	}
	for _, c := range to.Places {
		for _, b := range from.Places {
			if b.Name == c.Name && !b.Hole && !c.Hole && c.Size > 0 && b.Offset != c.Offset {
				return false
			}
		}
	}
	return true
}

// columns returns the number of columns that a layout has or had room for, beside the entities.
func columns(p layout.Plan) (n int) {
	for _, c := range p.Places[1:] {
		if c.Size > 0 {
			n++
		}
	}
	return n
}

// compareCloned compares the values of a clone's chunks: each has the marks of all chunks that have
// a row of it.
func (d *world) compareCloned(c *ecs.World) error {
	if d.chunkModels == nil {
		return nil
	}
	h, seen := ecs.RegisterChunk[chunkMarks](c, ecs.Merge(unite)), 0
	for rows := range ecs.NewQuery(c, ecs.Read(h), ecs.IncludeDisabled(), ecs.IncludePrefabs()).Rows() {
		var want chunkMarks
		for _, f := range rows.Entities() {
			e, _ := d.w.Entity(f.Index(), f.Version())
			want.Marks |= d.lotAt(e).value.Marks
			seen++
		}
		if got := *h.ReadOnly(rows); got != want || !h.Changed(rows, c.Version()-1) {
			return fmt.Errorf("%v in a clone, %d rows of %v: got %x want %x, changed: %v",
				h, rows.Len(), rows.Archetype(), got.Marks, want.Marks, h.Changed(rows, c.Version()-1))
		}
	}
	want := 0
	for _, held := range d.chunkModels.of {
		want += held.rows()
	}
	if seen != want {
		return fmt.Errorf("%v in a clone: got %d rows with it, want %d", h, seen, want)
	}
	return nil
}
