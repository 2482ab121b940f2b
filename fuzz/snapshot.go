package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
)

// Snapshots of the world, several alive at once, and the way back to them.

// mostSnapshotModels is the most snapshots that are alive.
const mostSnapshotModels = 4

// snapshot takes a snapshot.
func (d *world) snapshot(r record) error {
	if len(d.snapshotModels) == mostSnapshotModels {
		return d.restore(r)
	}
	if err := d.tend(); err != nil {
		return err
	}
	d.taken++
	t := &snapshotModel{version: d.m.version, hash: d.w.Hash(), serial: d.taken}
	t.s = d.w.Snapshot()
	d.sinces = append(d.sinces, d.m.version)
	d.m.version++
	switch s := t.s; {
	case s.Err() != nil || s.World() != d.w:
		return fmt.Errorf("in Snapshot: got one that is lost, or of another world: %w", s.Err())
	case s.Version() != t.version || s.Len() != len(d.m.entities) || s.Kept() != 0:
		return fmt.Errorf("in Snapshot: got version %d, %d entities, %d B kept; want %d, %d and none",
			s.Version(), s.Len(), s.Kept(), t.version, len(d.m.entities))
	case d.w.Hash() != t.hash:
		return fmt.Errorf("a snapshot changed the world's hash")
	}
	t.keep(d.m)
	if d.chunkModels != nil {
		t.chunkModels = d.chunkModels.clone()
	}
	d.m.trace = d.m.traceOf(t)
	d.snapshotModels = append(d.snapshotModels, t)
	return nil
}

// restore goes back to one of the snapshots, if the world can. It cannot if there are managed
// values that snapshots lack, if the snapshot is lost, and if there is no memory to keep what newer
// ones need; then nothing has changed.
func (d *world) restore(r record) error {
	if len(d.snapshotModels) == 0 {
		return d.snapshot(r)
	}
	if err := d.tend(); err != nil {
		return err
	}
	t := d.snapshotModels[int(r.who)%len(d.snapshotModels)]
	lost := t.s.Err()
	var others []*snapshotModel // that are not lost
	for _, o := range d.snapshotModels {
		if o.s.Err() == nil {
			others = append(others, o)
		}
	}
	refused := lost != nil || !d.copied && (t.rowsOfKind(managedKind) || d.m.rowsOfKind(managedKind))
	before := d.w.Hash()
	shifted := t.shifted()
	err := d.w.Restore(t.s)
	for _, o := range others {
		if lost := o.s.Err(); lost != nil {
			return fmt.Errorf("a restore, which said %w, lost another snapshot: %w", err, lost)
		}
	}
	switch {
	case err != nil:
		return d.refuse(err, refused, before)
	case refused:
		return fmt.Errorf("in Restore: got no error, although the snapshot is lost (%w) or there are managed values",
			lost)
	}
	for _, g := range shifted {
		g.stirred = d.m.version
	}
	return d.restored(t)
}

// refuse checks that a refusal of Restore has a reason and changed nothing.
func (d *world) refuse(err error, must bool, hash uint64) error {
	if free := d.u.Size()/alloc.ChunkSize - d.u.Stats().LiveChunks; !must &&
		(!errors.Is(err, alloc.ErrFull) || free > mostLeft) {
		return fmt.Errorf("in Restore: %d chunks are free: %w", free, err)
	}
	if got := d.w.Hash(); got != hash {
		return fmt.Errorf("a restore that was refused changed the world's hash; it said: %w", err)
	}
	if bad := d.w.Verify(); bad != nil {
		return fmt.Errorf("after a restore that was refused: %w; it said: %w", bad, err)
	}
	d.result.Refused++
	return d.compareMany()
}

// mostLeft is the most free chunks with which there may be no room for what a restore needs: the
// longest run is one of a sparse set's.
const mostLeft = 16

// restored compares the world with a moment to which it has gone back.
func (d *world) restored(t *snapshotModel) error {
	var since []ecs.Entity
	for e := range d.m.entities {
		if t.m.entities[e] == nil {
			since = append(since, e)
		}
	}
	d.m.restore(t)
	d.m.retireSince(t, d.newest())
	d.m.strays = min(d.m.strays, max(0, d.w.Stats().Archetypes-len(d.m.groups)))
	d.result.Restored++
	for _, o := range d.snapshotModels {
		if o.shorter == 0 && (t.m.indices < o.m.indices || t.m.lendable < o.m.lendable) {
			o.shorter = d.taken + 1
		}
	}
	for _, e := range since {
		if d.w.Alive(e) {
			return fmt.Errorf("%v, which came after the snapshot, is alive after a restore", e)
		}
	}
	if err := d.restoreChunkModels(t); err != nil {
		return err
	}
	if err := d.w.Verify(); err != nil {
		return err
	}
	if err := d.compareMany(); err != nil {
		return err
	}
	if got := d.w.Hash(); got != t.hash {
		return fmt.Errorf("the hash after a restore: got %x want %x", got, t.hash)
	}
	return nil
}

// compareMany is compareAll, or looks at the rows of all archetypes while the world is large.
func (d *world) compareMany() error {
	if len(d.m.entities) < verifyBelow {
		return d.compareAll()
	}
	all := touch{}
	for _, g := range d.m.groups {
		all[g] = 0
	}
	return errors.Join(d.compareSome(all), d.walk(d.all, visit{}), d.compareNames())
}

// closeSnapshot closes a snapshot, or all of them.
func (d *world) closeSnapshot(r record) error {
	for len(d.snapshotModels) > 0 {
		i := int(r.who) % len(d.snapshotModels)
		t, hash := d.snapshotModels[i], d.w.Hash()
		d.snapshotModels = slices.Delete(d.snapshotModels, i, i+1)
		t.s.Close()
		t.s.Close()
		if got := d.w.Hash(); got != hash {
			return fmt.Errorf("a snapshot that was closed changed the world's hash")
		}
		for _, f := range []func(){
			func() { _ = d.w.Restore(t.s) },
			func() { t.s.Kept() },
		} {
			if err := panics("ecs: ", f); err != nil {
				return fmt.Errorf("a closed snapshot: %w", err)
			}
		}
		if d.m.trace != nil && d.m.trace.of == t {
			d.m.trace = nil
		}
		if r.n&3 != 0 {
			return nil
		}
	}
	return nil
}

// tryRestore restores and closes a snapshot where both are refused, or panics with the text of the
// world.
func (d *world) tryRestore() {
	t := d.newest()
	if t == nil {
		panic("ecs: there is no snapshot")
	}
	if err := panics("ecs: ", t.s.Close); err != nil {
		panic(err)
	}
	_ = d.w.Restore(t.s)
}

// lose counts the snapshots that have been lost.
func (d *world) lose() {
	for _, t := range d.snapshotModels {
		if !t.lost && t.s.Err() != nil {
			t.lost = true
			d.result.Lost++
		}
	}
}

// newest returns the newest of the snapshots, or nil.
func (d *world) newest() *snapshotModel {
	if len(d.snapshotModels) == 0 {
		return nil
	}
	return d.snapshotModels[len(d.snapshotModels)-1]
}

// clone returns a copy of the chunks.
func (l *chunkModels) clone() map[*ecs.Archetype]*holding {
	c := make(map[*ecs.Archetype]*holding, len(l.of))
	for a, h := range l.of {
		g := &holding{plan: h.plan}
		for _, chunkModel := range h.chunkModels {
			one := *chunkModel
			g.chunkModels = append(g.chunkModels, &one)
		}
		c[a] = g
	}
	return c
}

// restoreChunkModels puts the model of the values of chunks back to a moment, and compares it.
func (d *world) restoreChunkModels(t *snapshotModel) error {
	if d.chunkModels == nil {
		return nil
	}
	stirred := map[*ecs.Archetype]bool{}
	for _, g := range d.m.groups {
		stirred[g.a] = g.stirred == d.m.version
	}
	now := d.chunkModels.of
	d.chunkModels.of, d.chunkModels.byFirst = t.chunkModels, nil
	d.chunkModels.of = d.chunkModels.clone()
	d.chunkModels.byFirst = map[ecs.Entity]*chunkModel{}
	for a, h := range d.chunkModels.of {
		for i, l := range h.chunkModels {
			d.chunkModels.byFirst[l.rows[0]] = l
			l.version = d.m.version
			if was := now[a]; !stirred[a] && was != nil && was.chunkModels[i].value == l.value {
				l.version = was.chunkModels[i].version
			}
		}
	}
	return d.tend()
}
