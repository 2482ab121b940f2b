package edit_test

import (
	"errors"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// crowd is a world with a type of every kind.
type crowd struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	owner    ecs.Component[ecstest.Owner]
	stun     ecs.Component[ecstest.Stun]
	hits     ecs.Buffer[ecstest.Hit]
	team     ecs.Shared[string]
	text     ecs.Managed[string]
	socket   ecs.Component[ecstest.Socket]
	log      ecs.Buffer[int64]
	prefab   ecs.Component[ecs.Prefab]
	linked   ecs.Buffer[ecs.LinkedEntity]
	marked   ecs.Sparse[ecstest.Marked]
	texts    *ecs.Query
}

func newCrowd(w *ecs.World) *crowd {
	x := &crowd{w: w, position: ecs.Register[ecstest.Position](w), owner: ecs.Register[ecstest.Owner](w),
		stun: ecs.Register[ecstest.Stun](w, ecs.Enableable), hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2)),
		team: ecs.RegisterShared[string](w), text: ecs.RegisterManaged[string](w),
		socket: ecs.Register[ecstest.Socket](w, ecs.Cleanup), log: ecs.RegisterBuffer[int64](w, ecs.Inline(1), ecs.Cleanup),
		prefab: ecs.Register[ecs.Prefab](w), linked: ecs.RegisterBuffer[ecs.LinkedEntity](w), marked: ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)}
	x.texts = ecs.NewQuery(w, ecs.Read(x.text), ecs.IncludePrefabs())
	return x
}

// values prints names and managed values, which the hash does not count.
func (x *crowd) values() (text string) {
	for rows := range x.texts.Rows() {
		for i, e := range rows.Entities() {
			if v := x.text.At(rows, i); v != nil {
				text += fmt.Sprint(e, x.w.Name(e), *v, " ")
			}
		}
	}
	return text
}

// kind returns the archetype of what fill makes, with more types.
func (x *crowd) kind(more ...ecs.Type) *ecs.Archetype {
	return ecs.NewArchetype(x.w, append(more, x.position, x.owner, x.stun, x.hits, x.text)...)
}

// fill makes n entities, each of which names the one before. Every 50th has a name,
// a text, and hits that have spilled. Where memory is refused there are fewer.
func (x *crowd) fill(r *ecstest.Refusals, n int, more ...ecs.Type) (ids []ecs.Entity) {
	a := x.kind(more...)
	r.Try("CreateN", func() error {
		b, err := a.CreateN(n)
		ids = b.Entities(nil)
		return err
	})
	for i, e := range ids {
		x.owner.Set(e, ecstest.Owner{Of: ids[max(i-1, 0)]})
		if i%25 == 0 {
			r.Try("Sparse.TryAdd", func() error {
				err := ecs.Try(func() { x.marked.Add(e, ecstest.Marked{By: ids[max(i-1, 0)]}) })
				return err
			})
		}
		if i%50 > 0 {
			continue
		}
		x.w.SetName(e, fmt.Sprint("name", i))
		x.text.Set(e, fmt.Sprint("text", i))
		r.Try("TryAppend", func() error {
			b, _ := x.hits.Mut(e)
			return ecs.Try(func() { b.Append(make([]ecstest.Hit, 3+10*i)...) })
		})
	}
	return ids
}

// refusedKinds runs calls on crowds whose universes refuse by s: x and y lie in one universe, z has
// its own.
func refusedKinds(s *alloc.Failures, growth alloc.Growth, asked map[string]int,
	calls func(r *ecstest.Refusals, x, y, z *crowd)) (first error) {
	var worlds []*ecs.World
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	v, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	defer func() {
		for _, w := range worlds {
			first = errors.Join(first, w.Close())
		}
		first = errors.Join(first, u.Verify(), v.Verify(), u.Close(), v.Close())
	}()
	for _, from := range []*alloc.Universe{u, u, v} {
		w, err := ecs.NewWorld(ecs.WithUniverse(from), ecs.ChunkGrowth(growth))
		if err != nil {
			return err
		}
		worlds = append(worlds, w)
	}
	x, y, z := newCrowd(worlds[0]), newCrowd(worlds[1]), newCrowd(worlds[2])
	r := &ecstest.Refusals{Failures: s, Asked: asked, Worlds: worlds, Values: func() string {
		return x.values() + "; " + y.values() + "; " + z.values()
	}}
	calls(r, x, y, z)
	return r.First
}

func refuseShared(r *ecstest.Refusals, x, _, _ *crowd) {
	ids := x.fill(r, 150, x.team.Of("red"))
	bare := x.fill(r, 150)
	for i := range min(2, len(ids), len(bare)) {
		r.Try("Shared.TrySet", func() error { err := ecs.Try(func() { x.team.Set(ids[i], "blue") }); return err })
		r.Try("Shared.TryAdd", func() error { err := ecs.Try(func() { x.team.Add(bare[i], "green") }); return err })
	}
	r.Try("Add by list", func() error {
		_, err := ecs.NewChange(x.w, ecs.Add(x.team.Of("grey"))).ApplyList(bare[:len(bare)/2])
		return err
	})
	r.Try("Put by query", func() error {
		_, err := ecs.NewChange(x.w, ecs.Put(x.team.Of("white"))).ApplyQuery(ecs.NewQuery(x.w,
			ecs.Where(x.team.Of("red"), x.team.Of("grey"))))
		return err
	})
	r.Try("Put by list", func() error {
		_, err := ecs.NewChange(x.w, ecs.Put(x.team.Of("black"))).ApplyList(append(ids[:len(ids):len(ids)], bare...))
		return err
	})
	r.Try("sparse by list", func() error {
		_, err := ecs.NewChange(x.w, ecs.Add(x.marked)).ApplyList(append(ids[:len(ids):len(ids)], bare...))
		return err
	})
	with := x.kind(x.team).With(x.team.Of("pink"))
	r.Try("With", func() error { _, err := with.CreateN(300); return err })
	x.w.Trim()
	for _, e := range bare[:min(1, len(bare))] {
		r.Try("Shared.TryRemove", func() error { err := ecs.Try(func() { x.team.Remove(e) }); return err })
	}
	r.Try("Remove by query", func() error {
		_, err := ecs.NewChange(x.w, ecs.Remove(x.team)).ApplyQuery(ecs.NewQuery(x.w, ecs.With(x.team)))
		return err
	})
}

func refuseDestroy(r *ecstest.Refusals, x, _, _ *crowd) {
	ids, others := x.fill(r, 600, x.socket, x.log), x.fill(r, 100, x.socket)
	x.fill(r, 100, x.log)
	for _, e := range ids[:min(3, len(ids))] {
		r.Try("TryAppend", func() error {
			b, _ := x.log.Mut(e)
			return ecs.Try(func() { b.Append(make([]int64, 2000)...) })
		})
	}
	if len(ids) > 0 {
		r.Try("TryDestroy", func() error { err := ecs.Try(func() { x.w.Destroy(ids[0]) }); return err })
		if leader := x.lead(r, ids[1:500]); leader != ecs.Null {
			r.Try("group", func() error { err := ecs.Try(func() { x.w.Destroy(leader) }); return err })
		}
	}
	r.Try("DestroyList", func() error { x.w.DestroyList(others[:len(others)/2]); return nil })
	r.Try("DestroyQuery", func() error {
		x.w.DestroyQuery(ecs.NewQuery(x.w, ecs.With(x.position), ecs.Any(x.socket, x.log)))
		return nil
	})
	dying := ecs.NewQuery(x.w, ecs.With(ecs.Register[ecs.CleanupEntity](x.w), x.socket))
	r.Try("Remove of cleanup", func() error {
		_, err := ecs.NewChange(x.w, ecs.Remove(x.socket)).ApplyQuery(dying)
		return err
	})
}

// lead makes an entity with a group, or Null.
func (x *crowd) lead(r *ecstest.Refusals, members []ecs.Entity) (leader ecs.Entity) {
	a := x.kind(x.linked)
	r.Try("TryCreate", func() (err error) { err = ecs.Try(func() { leader = a.Create() }); return err })
	if leader == ecs.Null {
		return leader
	}
	var list []ecs.LinkedEntity
	for _, e := range members {
		list = append(list, ecs.LinkedEntity{Entity: e})
	}
	r.Try("TryAppend", func() error {
		b, _ := x.linked.Mut(leader)
		return ecs.Try(func() { b.Append(list...) })
	})
	return leader
}

func refuseInstantiate(r *ecstest.Refusals, x, _, _ *crowd) {
	ids := x.fill(r, 101, x.socket, x.log, x.prefab, x.team.Of("red"))
	if len(ids) == 0 {
		return
	}
	r.Try("TryInstantiate", func() error { err := ecs.Try(func() { x.w.Instantiate(ids[100]) }); return err })
	r.Try("InstantiateN", func() error { _, err := x.w.InstantiateN(ids[50], 40); return err })
	r.Try("InstantiateGroup", func() error { _, err := x.w.InstantiateGroup(ids[40:60], 20); return err })
	if leader := x.lead(r, ids[45:55]); leader != ecs.Null {
		r.Try("group", func() error { _, err := x.w.InstantiateN(leader, 10); return err })
	}
}

func refuseMoves(r *ecstest.Refusals, x, y, z *crowd) {
	x.fill(r, 101, x.team.Of("red"), x.socket)
	x.fill(r, 300, x.log)
	y.fill(r, 10, y.team.Of("red"), y.socket)
	move := func(name string, to, from *crowd, q ecs.Term) {
		r.Try("MoveQuery "+name, func() error { _, err := to.w.MoveQuery(ecs.NewQuery(from.w, q)); return err })
		r.Try("MoveAll "+name, func() error { _, err := to.w.MoveAll(from.w); return err })
	}
	move("to y", y, x, ecs.With(x.team))
	move("to z", z, y, ecs.Where(y.team.Of("red")))
	z.fill(r, 10)
	move("back", x, z, ecs.With(z.log))
}

func refuseClones(r *ecstest.Refusals, x, _, _ *crowd) {
	x.fill(r, 200, x.team.Of("red"), x.socket)
	x.fill(r, 100, x.log)
	x.fill(r, 400, x.prefab)
	r.Try("Reserve", func() error { return x.w.Reserve(make([]ecs.Entity, 100)) })
	r.Try("Clone", func() error {
		u, open := x.w.Universe(), world.Tags.Open()
		x.w.Trim()
		live := u.Stats().LiveChunks
		c, err := x.w.Clone(ecs.WithUniverse(u))
		if err == nil {
			if c.Hash() != x.w.Hash() || c.Verify() != nil {
				return fmt.Errorf("the clone is another world: %v", c.Verify())
			}
			err = c.Close()
		}
		if now := u.Stats().LiveChunks; now > live || world.Tags.Open() != open {
			return fmt.Errorf("%d chunks and %d worlds before, %d and %d after: %v",
				live, open, now, world.Tags.Open(), err)
		}
		return err
	})
	x.w.DestroyQuery(ecs.NewQuery(x.w, ecs.With(x.prefab), ecs.Without(x.text)))
	before := r.State(false)
	for !ecstest.ShrinkSteps(x.w, 1) {
		r.Note("Shrink", nil)
	}
	if after := r.State(false); after != before {
		r.Note("Shrink", fmt.Errorf("from %s to %s", before, after))
	}
	x.w.Clear()
	x.w.Shrink(0)
	if stats := x.w.Stats(); stats.Alive+stats.Chunks+stats.Reserve+stats.Small+stats.Buffers > 0 {
		r.Note("Clear", fmt.Errorf("left %+v", stats))
	}
	x.fill(r, 100)
}

func refuseValues(r *ecstest.Refusals, x, _, _ *crowd) {
	type values struct {
		Position ecstest.Position
		Stun     *ecstest.Stun
		Hits     []ecstest.Hit
		Log      []int64
	}
	a := ecs.NewArchetype(x.w, x.position, x.hits, x.log)
	ecs.NewArchetype(x.w, x.position, x.hits, x.log, x.stun)
	b := ecs.NewBundle[values](x.w)
	for i := range 4 {
		v := values{ecstest.Position{X: 1}, &ecstest.Stun{Left: 2}, make([]ecstest.Hit, 500*i), make([]int64, 900*i)}
		if i%2 > 0 {
			v.Stun = nil
		}
		var e ecs.Entity
		r.TryValues("Bundle.TryCreate", func() (err error) { err = ecs.Try(func() { e = b.Create(v) }); return err })
		if e == ecs.Null {
			continue
		}
		v.Hits, v.Log = make([]ecstest.Hit, 700*i+9), make([]int64, 1300*i+9)
		r.TryValues("Bundle.TrySet", func() error { err := ecs.Try(func() { b.Set(e, v) }); return err })
		r.Try("Managed.TryAdd", func() error { err := ecs.Try(func() { x.text.Add(e, "late") }); return err })
	}
	var batch ecs.Batch
	r.Try("CreateN", func() (err error) { batch, err = a.CreateN(400); return err })
	r.Try("Managed by list", func() error {
		_, err := ecs.NewChange(x.w, ecs.Add(x.text)).ApplyList(batch.Entities(nil))
		return err
	})
}

// TestEveryFailureOfKinds: whichever request for memory is refused, alone or with all after
// it, no world has changed by the call that it was for, and nothing is lost.
func TestEveryFailureOfKinds(t *testing.T) {
	if ecstest.NewWorld(t).Universe().Size() <= 64<<20 {
		t.Skip("each world would be 64 MiB of the Go heap, and there are hundreds; other builds sweep")
	}
	growths := []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)}
	if testing.Short() {
		growths = growths[:1]
	}
	for name, c := range map[string]struct {
		calls func(r *ecstest.Refusals, x, y, z *crowd)
		ask   []string
	}{
		"shared":      {refuseShared, []string{"Shared.TrySet", "Shared.TryAdd", "Add by list", "Put by query", "Put by list", "With", "Shared.TryRemove"}},
		"destroy":     {refuseDestroy, []string{"TryDestroy", "DestroyList", "group", "DestroyQuery", "Remove of cleanup"}},
		"instantiate": {refuseInstantiate, []string{"TryInstantiate", "InstantiateN", "InstantiateGroup", "group"}},
		"move":        {refuseMoves, []string{"MoveQuery to y", "MoveAll to y", "MoveQuery to z", "MoveAll to z", "MoveQuery back", "MoveAll back"}},
		"clone":       {refuseClones, []string{"Clone"}},
		"values":      {refuseValues, []string{"Bundle.TryCreate", "Bundle.TrySet", "Managed.TryAdd", "Managed by list"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "clone" { // which counts the worlds that are open in the process
				t.Parallel()
			}
			for i, growth := range growths {
				asked := map[string]int{}
				run := func(s *alloc.Failures) error { return refusedKinds(s, growth, asked, c.calls) }
				require.NoError(t, run(&alloc.Failures{}))
				for _, call := range c.ask {
					require.True(t, i > 0 || asked[call] > 0, "%s asks for memory where there are no small chunks: %v",
						call, asked)
				}
				require.NoError(t, ecstest.CheckFailures(run))
			}
		})
	}
}
