package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
)

// Forks: worlds made of snapshots. A fork is driven like a world of its own, with the model of the
// moment as its model, while the first world goes on:
//
//	fork                              the world that it is of
//	ids of the moment, the same tag   the same hash, and the same hashes of its snapshots
//	the ids that came next then       all entities that are alive
//	operations, snapshots, restores   nothing

// fork makes a world of one of the snapshots, lets the one that there is live, or closes it.
func (d *world) fork(r record) error {
	switch {
	case d.twin == nil && len(d.snapshotModels) == 0:
		return d.snapshot(r)
	case d.twin == nil:
		return d.makeTwin(r)
	case r.kind&7 == 0:
		return d.closeTwin()
	}
	return d.liveTwin(r)
}

// makeTwin makes a fork of one of the snapshots.
func (d *world) makeTwin(r record) error {
	t := d.snapshotModels[int(r.who)%len(d.snapshotModels)]
	filed := r.kind&8 != 0
	from := d.forkOf
	if filed {
		from = d.openedOf
	}
	w, err := from(t)
	if w == nil || err != nil {
		return err
	}
	if d.twin, err = d.drive(w, t, filed); err == nil {
		err = errors.Join(d.twin.check(), d.twin.compareAll(), d.readSnapshotModel(t))
	}
	if err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	if d.result.Forked++; filed {
		d.result.Opened++
	}
	return nil
}

// forkOf makes a fork of a snapshot, or returns nil if that is refused: the snapshot is lost, it
// has rows of a managed type, or there is no memory. Then nothing has changed.
func (d *world) forkOf(t *snapshotModel) (*ecs.World, error) {
	if err := d.tend(); err != nil {
		return nil, err
	}
	lost, before := t.s.Err(), d.w.Hash()
	w, err := t.s.Fork(ecs.WithUniverse(d.u))
	if got := d.w.Hash(); got != before {
		return nil, fmt.Errorf("a fork changed the world's hash, it said: %w", err)
	}
	managed := !d.copied && t.rowsOfKind(managedKind)
	switch {
	case err == nil && (lost != nil || managed):
		return nil, fmt.Errorf("in Fork: got no error, although the snapshot is lost (%w) or has managed values: %v",
			lost, managed)
	case err == nil && w.Hash() != t.hash:
		return nil, fmt.Errorf("the hash of a fork: got %x want %x", w.Hash(), t.hash)
	case err == nil:
		return w, w.Verify()
	case lost == nil && !managed && !d.isFull(err):
		return nil, fmt.Errorf("in Fork: %w", err)
	}
	d.result.Refused++
	return nil, d.w.Verify()
}

// isFull reports whether an error means that there is no memory, which may be so: a copy of all
// rows takes about what the world has.
func (d *world) isFull(err error) bool {
	return errors.Is(err, alloc.ErrFull) && (d.tight || 4*d.u.Stats().LiveChunks > d.u.Size()/alloc.ChunkSize)
}

// drive returns a driver for a world that is in the state of a moment: with its versions, if it
// came from a file, else with everything marked as changed.
func (d *world) drive(w *ecs.World, t *snapshotModel, filed bool) (*world, error) {
	f := &world{w: w, u: d.u, active: d.active, sets: d.sets, most: d.most, tight: d.tight, growth: d.growth,
		small: d.small, apart: d.apart, copied: d.copied}
	f.list = register(w, d.apart, d.copied)
	f.m, f.unsorted = t.m.clone(), true
	f.m.list, f.m.version, f.sinces = f.list, w.Version(), []uint32{w.Version() - 1}
	if f.m.set.known {
		f.sparseLink = ecs.RegisterSparse[sparseLink](w, ecs.Enableable)
	}
	f.all = &query{
		list: f.list, q: ecs.NewQuery(w, ecs.IncludeDisabled(), ecs.IncludePrefabs()), inDisabled: true,
		inPrefabs: true,
	}
	f.adopt(t, filed)
	if !filed {
		for _, x := range f.m.entities {
			f.m.arrive(x)
			if x.entry != nil {
				f.m.mark(x)
			}
		}
		f.m.markAll()
	}
	f.m.trace = f.m.traceOf(t)
	if d.chunkModels == nil {
		return f, nil
	}
	f.chunkModels = newChunkModels(w, f.list[chunkMarksKind])
	return f, f.takeChunkModels(t, filed)
}

// adopt gives the model, which is a copy of another world's, groups of this world. Archetypes that
// have no rows are looked up, which pins them, as all are in a fork, but not in a world from a
// file; those that cannot be looked up are strays.
func (d *world) adopt(t *snapshotModel, filed bool) {
	m, groups := d.m, map[*group]*group{}
	m.groups, m.byForm = nil, map[form]*group{}
	known := d.w.Stats().Archetypes
	var last []*group
	for _, g := range t.m.groups {
		h := m.groupOf(g.form)
		h.rows, h.pinned, groups[g] = slices.Clone(t.rows[g]), true, h
		switch {
		case len(h.rows) > 0:
			at, _ := d.w.Locate(h.rows[0])
			h.a, h.pinned = at.Archetype, !filed || t.pinned[g]
		case g.set.has(cleanupEntityKind):
			delete(m.byForm, m.norm(g.form))
			continue
		default:
			h.a = ecs.NewArchetype(d.w, d.typesOf(h.form, 0)...)
		}
		if n := d.w.Stats().Archetypes; n > known {
			known, last = n, append(last, h)
			continue
		}
		m.groups = append(m.groups, h)
	}
	m.groups = append(m.groups, last...)
	m.strays = known - len(m.groups)
	for _, x := range m.entities {
		x.group = groups[x.group]
	}
}

// takeChunkModels takes the chunks with a value as they are, and compares the values with a
// moment's: each has the marks of all chunks of then that had a row of it. Chunks of a file are
// those of then, with their versions.
func (d *world) takeChunkModels(t *snapshotModel, filed bool) error {
	was := map[ecs.Entity]*chunkModel{}
	for _, held := range t.chunkModels {
		for _, l := range held.chunkModels {
			for _, e := range l.rows {
				was[e] = l
			}
		}
	}
	h, next := d.chunkMarks(), map[*ecs.Archetype]*holding{}
	d.chunkModels.byFirst = map[ecs.Entity]*chunkModel{}
	for rows := range d.chunkModels.q.Rows() {
		a := rows.Archetype()
		if next[a] == nil {
			next[a] = &holding{plan: a.Plan()}
		}
		l := &chunkModel{a: a, rows: slices.Clone(rows.Entities()), version: d.m.version}
		for _, e := range l.rows {
			if was[e] == nil {
				return fmt.Errorf("%v of %v had no chunk with a value at the moment", e, a)
			}
			l.value.Marks |= was[e].value.Marks
		}
		if then := was[l.rows[0]]; filed && !slices.Equal(l.rows, then.rows) {
			return fmt.Errorf("chunk %d of %v has rows %v, and had %v", len(next[a].chunkModels), a, l.rows, then.rows)
		} else if filed {
			l.version = then.version
		} else if !h.Changed(rows, l.version-1) {
			l.version--
		}
		if err := d.compareChunkModel(h, rows, l); err != nil {
			return fmt.Errorf("chunk %d of %d rows of %v: %w", len(next[a].chunkModels), rows.Len(), a, err)
		}
		next[a].chunkModels, d.chunkModels.byFirst[l.rows[0]] = append(next[a].chunkModels, l), l
	}
	d.chunkModels.of = next
	return nil
}

// sort gives the groups with rows the order of their archetypes.
func (d *world) sort() {
	at := map[*ecs.Archetype]int{}
	for i, a := range d.w.Archetypes() {
		at[a] = i + 1
	}
	place := func(g *group) int {
		if i := at[g.a]; i > 0 {
			return i
		}
		return len(at) + 1
	}
	byPlace := func(a, b *group) int { return place(a) - place(b) }
	if !slices.IsSortedFunc(d.m.groups, byPlace) {
		slices.SortStableFunc(d.m.groups, byPlace)
	}
}

// readSnapshotModel compares what a snapshot shows with its moment.
func (d *world) readSnapshotModel(t *snapshotModel) error {
	if t.s.Err() != nil {
		return nil
	}
	var hash uint64
	var bad error
	some := slices.Concat(d.m.dead[:min(3, len(d.m.dead))], t.m.alive[:min(3, len(t.m.alive))])
	err := ecs.Try(func() {
		hash, bad = t.s.Hash(), t.s.Verify()
		for _, e := range some {
			if want := t.m.entities[e] != nil; t.s.Alive(e) != want {
				bad = fmt.Errorf("in Snapshot.Alive(%v): got %v", e, !want)
			}
		}
	})
	switch {
	case err != nil && !d.isFull(err):
		return fmt.Errorf("in Snapshot.Hash: %w", err)
	case err == nil && hash != t.hash:
		return fmt.Errorf("the hash of a snapshot: got %x want %x", hash, t.hash)
	}
	return bad
}

// liveTwin applies an operation to the fork; the world and its snapshots stay as they are.
func (d *world) liveTwin(r record) error {
	before := d.w.Hash()
	ops := []func(*world, record) error{(*world).create, (*world).destroy, (*world).set, (*world).createN,
		(*world).applyRows,
		(*world).destroyRows, (*world).append, (*world).applyList, (*world).toggleRows, (*world).setName, (*world).add,
		(*world).remove,
		(*world).reserve, (*world).shrink, (*world).instantiate, (*world).advance, (*world).linkOne,
		(*world).snapshot, (*world).restore, (*world).closeSnapshot, (*world).applyDelta}
	f := d.twin
	err := ops[int(r.kind>>3)%len(ops)](f, r)
	if err == nil {
		f.result.Steps++
		err = f.check()
	}
	if err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	d.result.Refused += f.result.Refused
	f.result.Refused = 0
	if got := d.w.Hash(); got != before {
		return fmt.Errorf("an operation in a fork changed the world's hash")
	}
	if len(d.snapshotModels) == 0 {
		return nil
	}
	return d.readSnapshotModel(d.snapshotModels[int(r.who)%len(d.snapshotModels)])
}

// closeTwin compares the fork once more, and closes it.
func (d *world) closeTwin() error {
	f := d.twin
	if d.twin = nil; f == nil {
		return nil
	}
	if err := f.end(); err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	return nil
}
