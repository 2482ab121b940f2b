package fuzz

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"quarry/ecs"
)

// Differences of two moments. What Diff must find follows from the two models; where values that
// are the same may have other bytes, the model knows only what it may find.
//
//	Born, Died   entities of one model only
//	Moved        entities of both, in other groups
//	Changed      values, elements or bits that differ, of kinds that entities of both have in both
//	Gained       kinds that entities of both have in the newer one only; Lost in the older one
//	Renamed      names that differ
//
// Diff must be refused where an archetype that differs has rows of a managed type, or of a shared
// type whose values hold an interface, and where a restore took back blocks of ids.

// cellKind is the shared kind whose values hold an interface.
const cellKind = firstShared + 1

// has is one kind of one entity.
type has struct {
	e ecs.Entity
	k int
}

// sparseLinkKind stands for the sparse type in a has.
const sparseLinkKind = -1

// gap is what differs between two moments.
type gap struct {
	older, newer *snapshotModel
	born, died   []ecs.Entity
	moved        map[ecs.Entity][2]*group
	changed      map[has]bool // false: perhaps
	gained, lost map[has]bool
	entries      bool // of the sparse type differ
	renamed      map[ecs.Entity]string
	differs      map[*group]bool // false: perhaps
	strict       bool            // something differs that a delta compares with the world before it writes
}

// between compares two moments.
func (d *world) between(older, newer *snapshotModel) *gap {
	p := &gap{older: older, newer: newer, moved: map[ecs.Entity][2]*group{}, changed: map[has]bool{},
		gained: map[has]bool{}, lost: map[has]bool{}, renamed: map[ecs.Entity]string{}, differs: map[*group]bool{}}
	for _, g := range newer.m.groups {
		for _, e := range newer.rows[g] {
			x, was := newer.m.entities[e], older.m.entities[e]
			switch {
			case was == nil:
				p.born = append(p.born, e)
			case was.group != x.group:
				p.moved[e] = [2]*group{was.group, x.group}
			}
			d.compareBoth(p, e, x, was)
		}
		if !slices.Equal(newer.rows[g], older.rows[g]) {
			p.differs[g] = true
		}
		if _, is := p.differs[g]; !is && (d.arranged || g.set.has(chunkMarksKind)) && len(newer.rows[g]) > 0 {
			p.differs[g] = false
		}
	}
	for g, rows := range older.rows {
		if len(newer.rows[g]) == 0 {
			p.differs[g] = true
		}
		for _, e := range rows {
			if newer.m.entities[e] == nil {
				p.died = append(p.died, e)
			}
		}
	}
	p.strict = len(p.renamed) > 0
	for _, sure := range p.differs {
		p.strict = p.strict || sure
	}
	p.strict = p.strict || p.entries
	return p
}

// compareBoth notes what differs between two states of an entity, of which the older one may be
// nil.
func (d *world) compareBoth(p *gap, e ecs.Entity, newer, older *entity) {
	name := ""
	if older != nil {
		name = older.name
	}
	if newer.name != name {
		p.renamed[e] = newer.name
	}
	if older != nil {
		d.compareKinds(p, e, newer, older)
	}
	for k, c := range d.list {
		if !newer.group.set.has(k) || c.shared() != nil || k == chunkMarksKind || k == managedKind {
			continue
		}
		old, off := c.zero(), false
		had := older != nil && older.group.set.has(k)
		if had {
			old, off = older.values[k], older.off.has(k)
		}
		switch {
		case !sameValue(c, old, newer.values[k]) || off != newer.off.has(k):
			p.differs[newer.group] = true
			if had {
				p.changed[has{e, k}] = true
			}
		case vague.has(k):
			if had {
				p.changed[has{e, k}] = false
			}
			if !p.differs[newer.group] {
				p.differs[newer.group] = false // perhaps
			}
		}
	}
	if newer.entry == nil {
		return
	}
	if older == nil || older.entry == nil || older.entry.v != newer.entry.v || older.entry.off != newer.entry.off {
		p.entries = true
		if older != nil && older.entry != nil {
			p.changed[has{e, sparseLinkKind}] = true
		}
	}
}

// compareKinds notes which kinds an entity that is alive at both moments has at one of them only.
func (d *world) compareKinds(p *gap, e ecs.Entity, newer, older *entity) {
	note := func(k int, now, before bool) {
		if now && !before {
			p.gained[has{e, k}] = true
		} else if before && !now {
			p.lost[has{e, k}] = true
		}
	}
	for k := range d.list {
		note(k, newer.group.set.has(k), older.group.set.has(k))
	}
	note(sparseLinkKind, newer.entry != nil, older.entry != nil)
}

// diff compares two snapshots with Diff, and returns the delta; nil if that was refused.
func (d *world) diff(p *gap) (*ecs.Delta, error) {
	before := d.w.Hash()
	lost := errors.Join(p.older.s.Err(), p.newer.s.Err())
	delta, err := ecs.Diff(p.older.s, p.newer.s)
	if got := d.w.Hash(); got != before {
		return nil, fmt.Errorf("a comparison changed the world's hash; it said: %w", err)
	}
	must, may := d.refusals(p)
	said := ""
	if err != nil {
		said = err.Error()
	}
	switch {
	case lost != nil && err != nil && d.isFull(err):
	case lost != nil:
		if err == nil || !strings.Contains(said, "the snapshot is lost") || errors.Is(err, ecs.ErrDelta) {
			return nil, fmt.Errorf("in Diff: got %w, but a snapshot is lost: %w", err, lost)
		}
	case err == nil && must:
		return nil, fmt.Errorf("in Diff: got no error, although there is a reason for one")
	case err == nil:
		return delta, d.compareDelta(delta, p)
	case !errors.Is(err, ecs.ErrDelta):
		if !d.isFull(err) {
			return nil, fmt.Errorf("in Diff: %w", err)
		}
	case !must && !may:
		return nil, fmt.Errorf("in Diff: got %w, for which there is no reason", err)
	}
	d.result.Refused++
	return nil, d.w.Verify()
}

// refusals reports whether Diff must be refused, and whether it may be.
func (d *world) refusals(p *gap) (must, may bool) {
	for g, sure := range p.differs {
		if g.set.has(managedKind) || g.set.has(cellKind) {
			must, may = must || sure, true
		}
	}
	fewer := p.newer.m.indices < p.older.m.indices || p.newer.m.lendable < p.older.m.lendable
	return must || fewer, may || p.older.shorter != 0 && p.newer.serial >= p.older.shorter
}

// compareDelta compares the walks of a delta with the models.
func (d *world) compareDelta(delta *ecs.Delta, p *gap) error {
	order := func(a, b ecs.Entity) int { return int(a.Index()) - int(b.Index()) }
	born := slices.SortedFunc(delta.Born(), order) // the model does not know the order of archetypes
	slices.SortFunc(p.born, order)
	if !slices.Equal(born, p.born) {
		return fmt.Errorf("in Delta.Born: got %v want %v", born, p.born)
	}
	died := slices.SortedFunc(delta.Died(), order)
	slices.SortFunc(p.died, order)
	if !slices.Equal(died, p.died) {
		return fmt.Errorf("in Delta.Died: got %v want %v", died, p.died)
	}
	moved := map[ecs.Entity]bool{}
	for e, at := range delta.Moved() {
		want, is := p.moved[e]
		if !is || moved[e] || at[0].String() != want[0].a.String() || at[1].String() != want[1].a.String() {
			return fmt.Errorf("in Delta.Moved: %v: got %v want one of %d", e, at, len(p.moved))
		}
		moved[e] = true
	}
	names := maps.Collect(delta.Renamed())
	if len(moved) != len(p.moved) || !maps.Equal(names, p.renamed) {
		return fmt.Errorf("a delta: got %d moved, %v renamed; want %d, %v", len(moved), names, len(p.moved), p.renamed)
	}
	if delta.IsEmpty() &&
		(p.strict || len(p.changed) > 0 && slices.Contains(slices.Collect(maps.Values(p.changed)), true)) {
		return fmt.Errorf("a delta is empty")
	}
	return d.compareChanged(delta, p)
}

// compareChanged compares what Delta.Changed, Gained and Lost yield.
func (d *world) compareChanged(delta *ecs.Delta, p *gap) error {
	number := map[ecs.Type]int{}
	for k, c := range d.list {
		number[ecs.InfoOf(c.Type()).Type] = k
	}
	if d.m.set.known {
		number[ecs.InfoOf(d.sparseLink).Type] = sparseLinkKind
	}
	for name, both := range map[string]struct {
		walk iter.Seq2[ecs.Entity, ecs.Type]
		want map[has]bool
	}{"Gained": {delta.Gained(), p.gained}, "Lost": {delta.Lost(), p.lost}} {
		got := map[has]bool{}
		for e, of := range both.walk {
			k, known := number[of]
			if !known { // the tag of destroyed entities
				continue
			}
			if got[has{e, k}] {
				return fmt.Errorf("in Delta.%s: got %v of %v twice", name, of, e)
			}
			got[has{e, k}] = true
		}
		if !maps.Equal(got, both.want) {
			return fmt.Errorf("in Delta.%s: got %v want %v", name, got, both.want)
		}
	}
	left := maps.Clone(p.changed)
	maps.DeleteFunc(left, func(_ has, sure bool) bool { return !sure })
	seen := map[has]bool{}
	for e, of := range delta.Changed() {
		k, known := number[of]
		one := has{e, k}
		if _, may := p.changed[one]; !known || !may || seen[one] {
			x, was := p.newer.m.entities[e], p.older.m.entities[e]
			return fmt.Errorf("in Delta.Changed: got %v of %v (before: %v), which did not change: got %+v, was %+v",
				of, e, seen[one], x, was)
		}
		seen[one] = true
		delete(left, one)
	}
	for c := range left {
		return fmt.Errorf("in Delta.Changed: %v, kind %d, and %d others are missing", c.e, c.k, len(left)-1)
	}
	return nil
}
