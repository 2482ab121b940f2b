package ecs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// dented is a world of many kinds of types, whose entities change at random.
type dented struct {
	w        *ecs.World
	position ecs.Component[Position]
	owner    ecs.Component[Owner]
	stun     ecs.Component[Stun]   // Enableable, TrackRows
	few      ecs.Component[Health] // MaxRows
	socket   ecs.Component[Socket] // Cleanup
	tag      ecs.Component[Tag]
	hits     ecs.Buffer[Hit]
	text     ecs.Buffer[byte]
	linked   ecs.Buffer[ecs.LinkedEntity]
	team     ecs.Shared[squad]
	box      ecs.Chunk[box]
	burning  ecs.Sparse[Burning]
	marked   ecs.Sparse[Marked]
	ids      []ecs.Entity
	promised []ecs.Entity
}

type squad struct {
	Name  string
	Rank  uint8
	Chief ecs.Entity
}

type box struct{ Low, High float64 }

// handles registers the types, which a fork has already.
func handles(w *ecs.World) *dented {
	return &dented{w: w, position: ecs.Register[Position](w), owner: ecs.Register[Owner](w), stun: ecs.Register[Stun](w, ecs.Enableable, ecs.TrackRows),
		few: ecs.Register[Health](w, ecs.MaxRows(70)), socket: ecs.Register[Socket](w, ecs.Cleanup), tag: ecs.Register[Tag](w),
		hits: ecs.RegisterBuffer[Hit](w, ecs.Inline(2)), text: ecs.RegisterBuffer[byte](w, ecs.Inline(5), ecs.Enableable), linked: ecs.RegisterBuffer[ecs.LinkedEntity](w),
		team: ecs.RegisterShared[squad](w), burning: ecs.RegisterSparse[Burning](w), marked: ecs.RegisterSparse[Marked](w, ecs.Enableable),
		box: ecs.RegisterChunk[box](w, ecs.Merge(func(into, from *box) {
			into.Low, into.High = min(into.Low, from.Low), max(into.High, from.High)
		}))}
}

// kinds are the archetypes in which entities are made.
func (x *dented) kinds(rng *rand.Rand) *ecs.Archetype {
	switch rng.IntN(7) {
	case 0:
		return ecs.NewArchetype(x.w, x.position)
	case 1:
		return ecs.NewArchetype(x.w, x.position, x.owner, x.stun, x.hits)
	case 2:
		return ecs.NewArchetype(x.w, x.owner, x.hits, x.text, x.socket)
	case 3:
		return ecs.NewArchetype(x.w, x.position, x.team.Of(squad{Name: "red", Rank: uint8(rng.IntN(3))}), x.text)
	case 4:
		return ecs.NewArchetype(x.w, x.box, x.few, x.stun)
	case 5:
		return ecs.NewArchetype(x.w)
	}
	return ecs.NewArchetype(x.w, x.tag, x.box, x.position)
}

// any returns an entity that may be alive.
func (x *dented) any(rng *rand.Rand) ecs.Entity {
	if len(x.ids) == 0 {
		return ecs.Null
	}
	i := rng.IntN(len(x.ids))
	if e := x.ids[i]; x.w.Alive(e) {
		return e
	}
	x.ids[i] = x.ids[len(x.ids)-1]
	x.ids = x.ids[:len(x.ids)-1]
	return ecs.Null
}

// step makes one change.
func (x *dented) step(t testing.TB, rng *rand.Rand) {
	w, e := x.w, x.any(rng)
	if rng.IntN(4) == 0 || e == ecs.Null {
		x.make(t, rng)
		return
	}
	switch rng.IntN(20) {
	case 0, 1:
		w.Destroy(e)
	case 2:
		x.position.Add(e, Position{X: rng.Float64()})
	case 3:
		x.hits.Add(e)
		x.text.Add(e)
	case 4:
		if !x.position.Remove(e) {
			x.socket.Remove(e)
		}
	case 5:
		x.stun.Remove(e)
	case 6:
		x.stun.Add(e, Stun{1})
		x.stun.Disable(e)
	case 7:
		x.position.Set(e, Position{X: rng.Float64(), Y: 3})
	case 8:
		x.owner.Set(e, Owner{x.any(rng)})
	case 9, 10:
		if b, ok := x.hits.Mut(e); ok {
			b.Append(make([]Hit, rng.IntN(4))...)
			if n := b.Len(); n > 2 && rng.IntN(2) == 0 {
				b.Slice()[rng.IntN(n)] = Hit{x.any(rng), rng.Int32()}
			}
		}
	case 11:
		if b, ok := x.text.Mut(e); ok {
			b.Append([]byte(fmt.Sprint(rng.IntN(1e9)))...)
			if rng.IntN(4) == 0 {
				b.Clear()
			}
		}
	case 12:
		if rng.IntN(2) == 0 {
			x.stun.Disable(e)
			x.text.Disable(e)
		} else {
			x.stun.Enable(e)
			x.text.Enable(e)
		}
	case 13:
		x.team.Add(e, squad{Name: "blue", Chief: x.any(rng)})
	case 14:
		x.team.Set(e, squad{Name: fmt.Sprint(rng.IntN(4))})
	case 15:
		w.SetName(e, fmt.Sprint("name ", rng.IntN(6)))
	case 16:
		w.SetName(e, "")
	default:
		x.rare(e, rng)
	}
}

// rare changes what lies beside the rows.
func (x *dented) rare(e ecs.Entity, rng *rand.Rand) {
	dying := ecs.Register[ecs.CleanupEntity](x.w)
	switch rng.IntN(6) {
	case 0:
		if !dying.Has(e) {
			x.burning.Add(e, Burning{rng.Float64(), 1})
			x.marked.Add(e, Marked{x.any(rng)})
		}
	case 1:
		x.burning.Set(e, Burning{2, 2})
		x.marked.Disable(e)
	case 2:
		x.burning.Remove(e)
	case 3:
		x.box.Set(e, box{-rng.Float64(), rng.Float64()})
	case 4:
		x.few.Set(e, Health{rng.Int32(), 1})
	case 5:
		x.w.Shrink(0)
	}
}

// make makes entities, in one of the ways.
func (x *dented) make(t testing.TB, rng *rand.Rand) {
	a := x.kinds(rng)
	switch rng.IntN(4) {
	case 0, 1:
		x.ids = append(x.ids, a.Create())
	case 2:
		batch, err := a.CreateN(rng.IntN(100))
		require.NoError(t, err)
		x.ids = batch.Entities(x.ids)
	case 3:
		if rng.IntN(3) > 0 {
			x.promised = append(x.promised, reserve(t, x.w, 1+rng.IntN(30))...)
			return
		}
		n := rng.IntN(len(x.promised) + 1)
		create(t, a, x.promised[:n])
		x.ids, x.promised = append(x.ids, x.promised[:n]...), x.promised[n:]
		if n = rng.IntN(len(x.promised) + 1); n < 5 {
			x.w.Unreserve(x.promised[:n])
			x.promised = x.promised[n:]
		}
	}
}

// tell returns all that two equal worlds have in common and Hash does not count.
func (x *dented) tell() string {
	var text bytes.Buffer
	w := x.w
	stats := w.Stats()
	fmt.Fprintln(&text, w.Hash(), stats.Reserved, stats.Alive, stats.Created, stats.Destroyed)
	for _, a := range w.Archetypes() {
		fmt.Fprintln(&text, a)
	}
	fmt.Fprintln(&text, x.burning.Entities(), x.burning.Values(), x.marked.Entities(), x.marked.Values())
	for _, e := range x.marked.Entities() {
		fmt.Fprint(&text, x.marked.Enabled(e))
	}
	for i := range 6 {
		e, ok := w.Named(fmt.Sprint("name ", i))
		fmt.Fprintln(&text, e, ok)
	}
	for rows := range ecs.NewQueryOfAll(w).Rows() {
		for _, e := range rows.Entities() {
			fmt.Fprint(&text, w.Name(e), " ")
		}
	}
	return text.String()
}

// encoded returns a delta as bytes.
func encoded(t testing.TB, older, newer *ecs.World) []byte {
	t.Helper()
	d, err := ecs.DiffWorlds(older, newer)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, ecs.EncodeDelta(&out, d))
	return out.Bytes()
}

// next returns the ids that a world gives next.
func (x *dented) next(t testing.TB) (ids []ecs.Entity) {
	batch, err := ecs.NewArchetype(x.w, x.tag).CreateN(300)
	require.NoError(t, err)
	return append(batch.Entities(nil), reserve(t, x.w, 100)...)
}

// TestDeltaModel: whatever has happened to a world since it was forked, the delta makes the fork
// equal, to the order of rows, the names and the next ids; and again, for the delta of what happens
// then.
func TestDeltaModel(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := handles(newWorld(t))
		for range rng.IntN(300) {
			x.step(t, rng)
		}
		fork, err := x.w.Fork()
		require.NoError(t, err)
		y := handles(fork)
		require.Equal(t, x.tell(), y.tell())
		for round := range 4 {
			for range rng.IntN(1 << rng.IntN(9)) {
				x.step(t, rng)
			}
			delta := encoded(t, fork, x.w)
			err := fork.ApplyDelta(bytes.NewReader(delta))
			require.NoError(t, err, "seed %d, round %d", seed, round)
			require.NoError(t, fork.Verify(), "seed %d, round %d", seed, round)
			require.Equal(t, x.tell(), y.tell(), "seed %d, round %d", seed, round)
			d, err := ecs.DiffWorlds(fork, x.w)
			require.NoError(t, err)
			require.True(t, d.IsEmpty() || onlyBoxes(d), "seed %d, round %d", seed, round)
		}
		require.Equal(t, x.next(t), y.next(t), "seed %d", seed)
		require.Equal(t, x.w.Hash(), fork.Hash())
		require.NoError(t, fork.Verify())
		require.NoError(t, fork.Close())
	}
}

// onlyBoxes reports whether two states differ at most in values of chunk types, which depend on how
// rows are cut into chunks.
func onlyBoxes(d *ecs.Delta) bool {
	for range d.Changed() {
		return false
	}
	return len(slices.Collect(d.Born()))+len(slices.Collect(d.Died())) == 0
}

// TestDeltaBesideSnapshots: a delta comes to a world that has snapshots, which keep what it writes:
// the world goes back to one of them, and the delta comes again.
func TestDeltaBesideSnapshots(t *testing.T) {
	for seed := range uint64(8) {
		x, y, delta := dent(t, 30+seed, 150)
		before, hash := y.tell(), y.w.Hash()
		s, other := y.w.Snapshot(), y.w.Snapshot()
		for range 2 {
			require.NoError(t, y.w.ApplyDelta(bytes.NewReader(delta)))
			require.Equal(t, x.tell(), y.tell(), "seed %d", seed)
			require.Equal(t, hash, other.Hash(), "seed %d", seed)
			require.NoError(t, other.Verify())
			require.NoError(t, y.w.Verify())
			require.NoError(t, y.w.Restore(s), "seed %d", seed)
			require.Equal(t, before, y.tell(), "seed %d", seed)
			require.NoError(t, y.w.Verify())
		}
	}
}
