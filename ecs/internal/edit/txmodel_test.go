package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"

	"github.com/stretchr/testify/require"
)

// deals is a world whose entities change by transactions, or, the slow twin, by one call after the
// other.
type deals struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	owner    ecs.Component[ecstest.Owner]
	stun     ecs.Component[ecstest.Stun] // Enableable
	socket   ecs.Component[ecstest.Socket]
	port     ecs.Component[int32] // Cleanup, as socket
	hits     ecs.Buffer[ecstest.Hit]
	linked   ecs.Buffer[ecs.LinkedEntity]
	name     ecs.Managed[string]
	team     ecs.Shared[string]
	kinds    []*ecs.Archetype
	changes  []*ecs.Change
	tx       edit.Tx

	archetypes int // that there were when tx began
}

func newDeals(t *testing.T, options ...ecs.Option) *deals {
	w := ecstest.NewWorld(t, options...)
	x := &deals{w: w, position: ecs.Register[ecstest.Position](w), owner: ecs.Register[ecstest.Owner](w),
		stun:   ecs.Register[ecstest.Stun](w, ecs.Enableable),
		socket: ecs.Register[ecstest.Socket](w, ecs.Cleanup), port: ecs.Register[int32](w, ecs.Cleanup),
		hits:   ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2)),
		linked: ecs.RegisterBuffer[ecs.LinkedEntity](w), name: ecs.RegisterManaged[string](w),
		team: ecs.RegisterShared[string](w)}
	prefab := ecs.Register[ecs.Prefab](w)
	x.kinds = []*ecs.Archetype{
		ecs.NewArchetype(w, x.position),
		ecs.NewArchetype(w, x.position, x.owner, x.stun, x.hits, x.name, x.team.Of("red")),
		ecs.NewArchetype(w, x.owner, x.hits, x.socket, x.port),
		ecs.NewArchetype(w, x.linked, x.owner, x.name, prefab),
		ecs.NewArchetype(w, x.team.Of("blue"), x.socket, x.stun),
	}
	x.changes = []*ecs.Change{
		ecs.NewChange(w, ecs.Remove(x.position, x.owner)),
		ecs.NewChange(w, ecs.Add(x.position, x.hits)),
		ecs.NewChange(w, ecs.Remove(x.hits, x.name), ecs.Add(x.stun)),
		ecs.NewChange(w, ecs.Add(x.name, x.owner), ecs.Remove(x.stun)),
		ecs.NewChange(w, ecs.Add(x.hits, x.name, x.stun)),
		ecs.NewChange(w, ecs.Put(x.team.Of("green"))),
		ecs.NewChange(w, ecs.Remove(x.team)),
		ecs.NewChange(w, ecs.Add(x.team.Of("red")), ecs.Remove(x.socket)),
		ecs.NewChange(w, ecs.Add(x.socket), ecs.Remove(x.port)),
		ecs.NewChange(w, ecs.Add(x.port)),
		ecs.Into(x.kinds[1]),
		ecs.Into(x.kinds[4]),
		door.Destruction(w),
	}
	return x
}

// archetype returns that of an entity.
func (x *deals) archetype(e ecs.Entity) *ecs.Archetype {
	p, _ := x.w.Locate(e)
	return p.Archetype
}

// show returns all that an entity has, with the entities that it names by index and version: the
// tag is the world's.
func (x *deals) show(e ecs.Entity) string {
	name := func(e ecs.Entity) string { return fmt.Sprint(e.Index(), e.Version()) }
	text := fmt.Sprint(name(e), x.archetype(e))
	if p := x.position.Get(e); p != nil {
		text += fmt.Sprint(" at ", *p)
	}
	if o := x.owner.Get(e); o != nil {
		text += " of " + name(o.Of)
	}
	if x.stun.Has(e) {
		text += fmt.Sprint(" stun ", *x.stun.Get(e), x.stun.Enabled(e))
	}
	if s := x.socket.Get(e); s != nil {
		text += fmt.Sprint(" socket ", *s)
	}
	if p := x.port.Get(e); p != nil {
		text += fmt.Sprint(" port ", *p)
	}
	for _, h := range x.hits.Slice(e) {
		text += fmt.Sprint(" hit ", name(h.By), h.Damage)
	}
	for _, l := range x.linked.Slice(e) {
		text += " link " + name(l.Entity)
	}
	if n := x.name.Get(e); n != nil {
		text += " name " + *n
	}
	return text
}

// all returns the entities that there are, in order of their indices.
func (x *deals) all() []ecs.Entity {
	q := ecs.NewQuery(x.w, ecs.IncludePrefabs())
	defer q.Close()
	list := q.Entities(nil)
	slices.SortFunc(list, func(a, b ecs.Entity) int { return int(a.Index()) - int(b.Index()) })
	return list
}

// write gives entities values, the same ones in both worlds.
func (x *deals) write(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 6))
	all := x.all()
	for _, e := range all {
		n := rng.IntN(1000)
		other := all[rng.IntN(len(all))]
		if n%4 == 0 {
			continue // it stays as it came
		}
		x.position.Set(e, ecstest.Position{X: float64(n)})
		x.owner.Set(e, ecstest.Owner{Of: other})
		x.stun.Set(e, ecstest.Stun{Left: float32(n)})
		x.socket.Set(e, ecstest.Socket{FD: int32(n)})
		x.port.Set(e, int32(n))
		x.name.Set(e, fmt.Sprint(n))
		if d, ok := x.hits.Mut(e); ok && d.Len() < 9 {
			for i := range n % 5 { // three and more spill
				d.Append(ecstest.Hit{By: other, Damage: int32(n + i)})
			}
		}
		if d, ok := x.linked.Mut(e); ok && d.Len() < 3 {
			d.Append(ecs.LinkedEntity{Entity: other})
		}
		if n%7 == 1 {
			x.stun.Disable(e)
		}
	}
}

// deal is a group of a transaction, by numbers that mean the same in both worlds.
type deal struct {
	kind    int // of new ones; -1: none are new
	copied  int // index in all of what is copied; -1: there are no copies
	n       int
	list    []int // indices in all of those that move, of one archetype
	changes []int
}

// someDeals draws groups. Entities of one archetype are divided among up to three.
func (x *deals) someDeals(rng *rand.Rand) (list []deal) {
	all := x.all()
	some := func() (changes []int) {
		for range rng.IntN(5) {
			changes = append(changes, rng.IntN(len(x.changes)))
		}
		return changes
	}
	byArchetype := map[*ecs.Archetype][]int{}
	var archetypes []*ecs.Archetype
	for i, e := range all {
		a := x.archetype(e)
		if byArchetype[a] == nil {
			archetypes = append(archetypes, a)
		}
		byArchetype[a] = append(byArchetype[a], i)
	}
	for range rng.IntN(3) {
		list = append(list, deal{kind: -1, copied: rng.IntN(len(all)), n: rng.IntN(40), changes: some()})
	}
	for range rng.IntN(3) {
		list = append(list, deal{kind: rng.IntN(len(x.kinds)), copied: -1, n: rng.IntN(300), changes: some()})
	}
	for _, a := range archetypes {
		ids := byArchetype[a]
		rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		for range rng.IntN(4) {
			k := rng.IntN(len(ids) + 1)
			list = append(list, deal{kind: -1, copied: -1, list: ids[:k], changes: some()})
			ids = ids[k:]
		}
	}
	return list
}

// begin works the outcomes of deals out and begins a transaction of those that can be: what is to
// copy is not dying, and neither copies nor new ones end at once. Play reports which.
func (x *deals) begin(t *testing.T, list []deal) (groups []deal) {
	all, outs := x.all(), []edit.Outcome(nil)
	for _, d := range list {
		var out edit.Outcome
		switch {
		case d.kind >= 0:
			out = edit.OutcomeOf(door.Archetype(x.kinds[d.kind]))
		case d.copied >= 0:
			a := x.archetype(all[d.copied])
			if a.Has(ecs.Register[ecs.CleanupEntity](x.w)) {
				continue
			}
			var err error
			out, err = edit.OutcomeOfCopies(door.Archetype(a))
			require.NoError(t, err)
		case len(d.list) == 0:
			continue
		default:
			out = edit.OutcomeOf(door.Archetype(x.archetype(all[d.list[0]])))
		}
		for _, c := range d.changes {
			out = after(t, out, x.changes[c])
		}
		if door.At(&out) != nil || len(d.list) > 0 {
			groups, outs = append(groups, d), append(outs, out)
		}
	}
	x.archetypes = x.w.Stats().Archetypes
	x.tx.Begin(door.World(x.w), "deal")
	for i, d := range groups {
		switch {
		case d.kind >= 0:
			x.tx.Create(&outs[i], d.n)
		case d.copied >= 0:
			x.tx.Copy(entity.ID(all[d.copied]), &outs[i], d.n)
		default:
			x.tx.Move(door.IDs(at(all, d.list)), &outs[i])
		}
	}
	return groups
}

func at(all []ecs.Entity, indices []int) (list []ecs.Entity) {
	for _, i := range indices {
		list = append(list, all[i])
	}
	return list
}

// run plays what is reserved, and checks the batches. all is who there was.
func (x *deals) run(t *testing.T, all []ecs.Entity, groups []deal, text string) {
	for i, d := range groups {
		b := door.Batch(x.tx.Run(i))
		list := b.Entities(nil)
		require.Equal(t, b.Len(), len(list), text)
		if len(list) > 0 && len(d.list) > 0 {
			ecstest.RequireSame(t, at(all, d.list), list, text)
		}
	}
	x.tx.Finish()
}

// do makes deals by one call after the other.
func (x *deals) do(t *testing.T, groups []deal) {
	all := x.all()
	for _, d := range groups {
		list := at(all, d.list)
		switch {
		case d.kind >= 0:
			b, err := x.kinds[d.kind].CreateN(d.n)
			require.NoError(t, err)
			list = b.Entities(nil)
		case d.copied >= 0:
			b, err := x.w.InstantiateN(all[d.copied], d.n)
			require.NoError(t, err)
			list = b.Entities(nil)[:d.n]
		}
		for _, c := range d.changes {
			for _, e := range list {
				if x.w.Alive(e) {
					_, err := x.changes[c].Apply(e)
					require.NoError(t, err)
				}
			}
		}
	}
}

// compare compares all entities of two worlds.
func (x *deals) compare(t *testing.T, y *deals, text string) {
	t.Helper()
	require.NoError(t, x.w.Verify(), text)
	mine, theirs := x.all(), y.all()
	require.Len(t, mine, len(theirs), text)
	for i, e := range mine {
		if a, b := x.show(e), y.show(theirs[i]); a != b {
			t.Fatalf("%s:\n%s, not\n%s", text, a, b)
		}
	}
}

// TestTransactionAgainstSingleCalls plays transactions beside a world where everything is done by
// one call after the other.
func TestTransactionAgainstSingleCalls(t *testing.T) {
	for seed, growth := range ecstest.ChunkSizes {
		rng := rand.New(rand.NewPCG(43, uint64(seed)))
		x, y := newDeals(t, ecs.ChunkGrowth(growth)), newDeals(t, ecs.ChunkGrowth(growth))
		for i := range ecstest.StepsOf(60) {
			text := fmt.Sprintf("chunks %d, step %d", seed, i)
			if n := len(x.all()); n < 50 || n > 2_000 {
				for _, d := range []*deals{x, y} {
					d.w.Clear()
					for k, a := range d.kinds {
						_, err := a.CreateN(20 + 200*(i+k)%500)
						require.NoError(t, err)
					}
				}
			}
			x.write(uint64(i))
			y.write(uint64(i))
			groups := x.begin(t, x.someDeals(rng))
			all := x.all()
			require.NoError(t, x.tx.Reserve(), text)
			x.run(t, all, groups, text)
			y.do(t, groups)
			x.compare(t, y, text)
			if i%10 == 9 { // outcomes lead to archetypes that are given up, and made again
				x.w.Shrink(0)
				y.w.Shrink(0)
			}
		}
	}
}

// TestTransactionScarce: with every number of free chunks a transaction is refused as a whole, or
// plays as with all of them.
func TestTransactionScarce(t *testing.T) {
	for seed, growth := range ecstest.ChunkSizes {
		rng := rand.New(rand.NewPCG(44, uint64(seed)))
		u := ecstest.NewUniverse(t, 4<<20)
		x, y := newDeals(t, ecs.WithUniverse(u), ecs.ChunkGrowth(growth)), newDeals(t, ecs.ChunkGrowth(growth))
		for _, d := range []*deals{x, y} {
			for _, a := range d.kinds {
				_, err := a.CreateN(300)
				require.NoError(t, err)
			}
			for i := range 3 {
				d.write(uint64(i))
			}
		}
		var list []deal
		for i := range 4 {
			list = append(list, deal{kind: -1, copied: 301 + 300*(i/2), n: 300}, deal{kind: i, copied: -1, n: 2_500})
		}
		list = append(list, x.someDeals(rng)...)
		h, refusals := &tight{u: u}, 0
		t.Cleanup(h.release)
		before := x.w.Hash()
		for free := 0; ; free++ {
			text := fmt.Sprintf("chunks %d, %d free", seed, free)
			x.w.Trim()
			h.leave(free)
			groups := x.begin(t, list)
			all, err := x.all(), x.tx.Reserve()
			if err == nil {
				x.run(t, all, groups, text)
				y.do(t, groups)
				x.compare(t, y, text)
				break
			}
			refusals++
			var limit *ecs.LimitError
			require.ErrorAs(t, err, &limit, text)
			require.Equal(t, "deal", limit.Op)
			require.Equal(t, before, x.w.Hash(), text)
			require.Equal(t, x.archetypes, x.w.Stats().Archetypes, text)
			require.NoError(t, x.w.Verify(), text)
			require.False(t, door.Locked(x.w), text)
		}
		require.Greater(t, refusals, 5)
	}
}
