package delta

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// One entry per part of a world (world.Part) for comparing, checking and committing a delta.

// diffs has the comparison of each part.
var diffs = [...]struct {
	do      func(x *differ) error
	because string
}{
	{nil, "each part names the types that it needs: differ.number"},
	{nil, "with the archetypes that have them"},
	{(*differ).compareArchetypes, ""},
	{nil, "with the archetypes"},
	{nil, "with the archetypes"},
	{nil, "with the archetypes"},
	{nil, "an archetype that differs has none, or is refused"},
	{(*differ).compareIDs, ""},
	{func(x *differ) error { x.compareNames(); return nil }, ""},
	{(*differ).compareSets, ""},
	{(*differ).compareCounters, ""},
}

var _ = [1]struct{}{}[len(diffs)-int(world.PartCount)] // each part has an entry

func (x *differ) compareArchetypes() error {
	if err := x.archetypes(); err != nil {
		return err
	}
	x.resolve()
	return nil
}

func (x *differ) compareIDs() (err error) {
	if x.IDs = x.c.difference(); x.IDs != nil {
		return nil
	}
	if x.IDs, err = entity.Compare(&x.Older.IDs, &x.Newer.IDs); err != nil {
		return fmt.Errorf("ecs: Diff: %w: %w", ErrDelta, err)
	}
	return nil
}

func (x *differ) compareSets() error {
	for _, t := range x.Newer.Types.Sparse {
		x.sparseType(t)
	}
	return nil
}

func (x *differ) compareCounters() error {
	x.Created = [2]uint64{x.Older.Writer.Created, x.Newer.Writer.Created}
	x.Destroyed = [2]uint64{x.Older.Writer.Destroyed, x.Newer.Writer.Destroyed}
	return nil
}

// checks has the check of each part before a delta is applied. checkRoster, for archetypes without
// rows, comes last.
var checks = [...]struct {
	do      func(p *deltaPlan) error
	because string
}{
	{(*deltaPlan).checkTypes, ""},
	{nil, "with the archetypes that have them"},
	{(*deltaPlan).checkTables, ""},
	{(*deltaPlan).checkRows, ""},
	{(*deltaPlan).checkValues, ""},
	{nil, "with the metadata: elements are values too"},
	{nil, "no delta has any"},
	{(*deltaPlan).checkIDs, ""},
	{(*deltaPlan).checkNames, ""},
	{(*deltaPlan).checkSparse, ""},
	{(*deltaPlan).checkCounters, ""},
}

var _ = [1]struct{}{}[len(checks)-int(world.PartCount)] // each part has an entry

// checkOrder begins with the cheap checks that detect a delta of another state. A part follows the
// parts that its check uses.
var checkOrder = [...]world.Part{
	world.PartCounters, world.PartIDs, world.PartTypes, world.PartArchetypes,
	world.PartRows, world.PartMetadata, world.PartSparse, world.PartNames,
}

func (p *deltaPlan) checkCounters() error {
	w, d := p.w, p.Delta
	if d.tag != w.IDs.Tag() || d.Created[0] != w.Writer.Created || d.Destroyed[0] != w.Writer.Destroyed {
		return p.refuse(
			"it is of a world with tag %d that had created %d entities and ended %d; this one has tag %d, %d and %d",
			d.tag.Number(), d.Created[0], d.Destroyed[0], w.IDs.Tag().Number(), w.Writer.Created, w.Writer.Destroyed)
	}
	if d.Created[1] < d.Destroyed[1] || d.Created[1]-d.Destroyed[1] > entity.MaxIDs {
		return p.refuse("there are %d entities created and %d destroyed", d.Created[1], d.Destroyed[1])
	}
	p.alive = int(d.Created[1] - d.Destroyed[1])
	return nil
}

func (p *deltaPlan) checkIDs() error {
	if err := p.w.IDs.Fits(p.Delta.IDs); err != nil {
		return p.refuse("%w", err)
	}
	return nil
}

func (p *deltaPlan) checkTypes() error {
	if p.described == nil {
		p.described = p.w.DescribeTypes()
	}
	for i := len(p.types); i < len(p.Delta.types); i++ { // those before are known
		t, err := p.Delta.types[i].Find(p.described)
		if err != nil {
			return p.refuse("%w", err)
		}
		p.types = append(p.types, t)
	}
	return nil
}

// commits has the writes of each part. Archetypes were made with the reservation; their order
// changes last.
var commits = [...]struct {
	do      func(p *deltaPlan)
	because string
}{
	{nil, "a delta brings none"},
	{nil, "made with the archetypes, before"},
	{nil, "made before; arrange and retireGone, after"},
	{(*deltaPlan).commitRows, ""},
	{(*deltaPlan).commitValues, ""},
	{nil, "with the metadata: elements are values too"},
	{nil, "no delta has any"},
	{nil, "with the rows"},
	{(*deltaPlan).giveNames, ""},
	{(*deltaPlan).commitSets, ""},
	{(*deltaPlan).commitCounters, ""},
}

var _ = [1]struct{}{}[len(commits)-int(world.PartCount)] // each part has an entry

// commitOrder removes sparse entries before their entities end, and sets names after ids exist.
var commitOrder = [...]world.Part{world.PartSparse, world.PartRows, world.PartMetadata, world.PartCounters,
	world.PartNames}

func (p *deltaPlan) commitSets() {
	for i := range p.sets {
		p.sets[i].commit(p.w.Tables.Version)
	}
}

func (p *deltaPlan) commitRows() {
	var list []change.Rebuilt
	for i := range p.tables {
		if t := &p.tables[i]; !t.still {
			list = append(list, change.Rebuilt{
				Table: &t.a.Table.Table, Rows: p.sourcesOf(t), N: t.newer, IDs: t.ids, Ends: t.ends,
			})
		}
	}
	p.w.Writer.Rebuild(list, func() { p.w.IDs.Apply(p.Delta.IDs, p.room) })
}

func (p *deltaPlan) commitValues() {
	p.writeColumns()
	for i := range p.tables {
		p.writeValues(&p.tables[i], p.tx)
	}
}

func (p *deltaPlan) commitCounters() {
	p.w.Writer.Created, p.w.Writer.Destroyed = p.Created[1], p.Destroyed[1]
}
