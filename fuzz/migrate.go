package fuzz

import (
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
)

// A second world in the same universe, with the same types under different numbers. Its entities
// come from the first world and go back.

// beside returns the second world, which is empty at first.
func (d *world) beside() (*world, error) {
	if d.second != nil {
		return d.second, nil
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(d.u), ecs.ChunkGrowth(d.growth))
	if err != nil {
		return nil, err
	}
	ecs.Register[gaps](w)
	ecs.RegisterShared[team](w)
	ecs.Register[stun](w, ecs.Enableable)
	spaceAll[point](w)
	second := &world{
		w: w, u: d.u, active: d.active, sets: d.sets, most: d.most, tight: d.tight, growth: d.growth, small: d.small,
	}
	second.list = register(w, d.apart, d.copied)
	second.m = newModel(second.list)
	second.all = &query{
		list: second.list, q: ecs.NewQuery(w, ecs.IncludeDisabled(), ecs.IncludePrefabs()), inDisabled: true,
		inPrefabs: true,
	}
	if d.chunkModels != nil {
		second.chunkModels = newChunkModels(w, second.list[chunkMarksKind])
	}
	d.second = second
	return second, nil
}

// migrate moves entities to the second world, or back, or changes some in the second world.
func (d *world) migrate(r record) error {
	second, err := d.beside()
	if err != nil {
		return err
	}
	switch {
	case r.kind&1 == 0:
		q := d.pickQuery(r)
		err = second.takeQuery(r, d, q)
	case r.kind&6 == 0:
		err = d.takeAll(r, second)
	case r.kind&6 == 2:
		err = second.takeAll(r, d)
	case r.kind&6 == 4:
		err = d.takeQuery(r, second, second.all)
	default:
		ops := []func(*world, record) error{(*world).createN, (*world).applyRows, (*world).destroyRows, (*world).append,
			(*world).applyList, (*world).toggleRows, (*world).setName, (*world).shrink, (*world).instantiate}
		err = ops[int(r.kind>>3)%len(ops)](second, r)
	}
	if err == nil {
		second.result.Steps++
		err = second.check()
	}
	if err != nil {
		return fmt.Errorf("second world: %w", err)
	}
	d.result.Refused += second.result.Refused
	d.result.Along += second.result.Along
	d.result.Merged += second.result.Merged
	second.result.Refused, second.result.Along, second.result.Merged = 0, 0, 0
	return nil
}

func (d *world) takeAll(r record, from *world) error {
	if err := panics("ecs: ", func() { _, _ = d.w.MoveAll(d.w) }); err != nil {
		return err
	}
	return d.take(r, from, slices.Clone(from.m.alive), func() (ecs.MoveResult, error) { return d.w.MoveAll(from.w) })
}

func (d *world) takeQuery(r record, from *world, q *query) error {
	list, err := from.matched(q)
	if err != nil {
		return err
	}
	return d.take(r, from, list, func() (ecs.MoveResult, error) { return d.w.MoveQuery(q.q) })
}

// take makes a call that moves the entities of a list from another world. All move or none.
func (d *world) take(r record, from *world, list []ecs.Entity, call func() (ecs.MoveResult, error)) error {
	if err := from.tend(); err != nil {
		return err
	}
	s, arrivals := from.foresee(list, change{clears: true}), map[*group]int{}
	want, touched, before := d.idsNeed(len(list)), touch{}, from.w.Hash()
	for _, e := range list {
		x := from.m.entities[e]
		g := d.m.groupOf(x.group.form)
		arrivals[g]++
		touched[g] = 0
		blocks := from.blocksNeed(x, x.group.set)
		want.run, want.chunks = max(want.run, blocks), want.chunks+blocks
	}
	want.blocks, want.entries = true, true
	if from.m.set.known {
		d.sparseLinks()
	}
	for g, n := range arrivals {
		rows := d.rowsNeed(g, n, false)
		want.run, want.chunks = max(want.run, rows.run), want.chunks+rows.chunks
	}
	d.sit(touched)
	var moved ecs.MoveResult
	done, err := d.attempt(want, func() (err error) {
		moved, err = call()
		return err
	})
	if !done {
		if err == nil && from.w.Hash() != before {
			err = fmt.Errorf("a move that failed changed the hash of the world that it was from")
		}
		return errors.Join(err, from.w.Verify())
	}
	if err := d.tendMoved(from, moved.Of); err != nil {
		return err
	}
	return errors.Join(d.arrive(r, from, list, moved, touched), from.fulfil(s))
}

// arrive adds entities that have come from another world to this model; the other world's model
// still has them.
func (d *world) arrive(r record, from *world, list []ecs.Entity, moved ecs.MoveResult, touched touch) error {
	was := map[ecs.Entity]*entity{}
	for _, e := range list {
		was[moved.Of(e)] = from.m.entities[e]
	}
	d.m.set.loose = true
	ids := moved.Entities(nil)
	if len(was) != len(list) || len(ids) != len(list) || moved.Len() != len(list) {
		return fmt.Errorf("%d entities of another world: got %d by %d names", len(list), len(ids), len(was))
	}
	in := map[ecs.Entity]*group{}
	for g, rows := range d.strangers() {
		for _, e := range rows {
			in[e] = g
		}
	}
	for _, e := range ids {
		old, g := was[e], in[e]
		if old == nil || g == nil || d.m.groupOf(old.group.form) != g {
			return fmt.Errorf("%v came from nowhere, or from another archetype", e)
		}
		x, err := d.m.create(e, g)
		if err != nil {
			return err
		}
		d.inherit(e, x, old, moved.Of)
		for k := range d.list {
			d.m.spill(x, k, old.spilled.has(k))
		}
		d.m.rename(e, x, old.name)
	}
	if len(in) != len(ids) {
		return fmt.Errorf("%d entities of another world: got %d new rows", len(list), len(in))
	}
	if err := d.reread(touched); err != nil {
		return err
	}
	return errors.Join(d.compareNames(), d.compareBatch(moved.Batch, len(ids), uint64(r.n), kinds(mix(uint64(r.n)))))
}
