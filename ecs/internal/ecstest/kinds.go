package ecstest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Kinds is a world of many kinds of types, whose entities change at random.
type Kinds struct {
	World    *ecs.World
	Position ecs.Component[Position]
	Owner    ecs.Component[Owner]
	Stun     ecs.Component[Stun]   // Enableable, TrackRows
	few      ecs.Component[Health] // MaxRows
	socket   ecs.Component[Socket] // Cleanup
	Tag      ecs.Component[Tag]
	Hits     ecs.Buffer[Hit]
	text     ecs.Buffer[byte]
	linked   ecs.Buffer[ecs.LinkedEntity]
	Team     ecs.Shared[Squad]
	Box      ecs.Chunk[box]
	Burning  ecs.Sparse[Burning]
	Marked   ecs.Sparse[Marked]
	ids      []ecs.Entity
	reserved []ecs.Entity
}

// Squad is a shared type.
type Squad struct {
	Name  string
	Rank  uint8
	Chief ecs.Entity
}

type box struct{ Low, High float64 }

// RegisterKinds registers the types, which a fork has already.
func RegisterKinds(w *ecs.World) *Kinds {
	return &Kinds{World: w, Position: ecs.Register[Position](w), Owner: ecs.Register[Owner](w),
		Stun: ecs.Register[Stun](w, ecs.Enableable, ecs.TrackRows),
		few:  ecs.Register[Health](w, ecs.MaxRows(70)), socket: ecs.Register[Socket](w, ecs.Cleanup),
		Tag:  ecs.Register[Tag](w),
		Hits: ecs.RegisterBuffer[Hit](w, ecs.Inline(2)), text: ecs.RegisterBuffer[byte](w, ecs.Inline(5),
			ecs.Enableable), linked: ecs.RegisterBuffer[ecs.LinkedEntity](w),
		Team: ecs.RegisterShared[Squad](w), Burning: ecs.RegisterSparse[Burning](w),
		Marked: ecs.RegisterSparse[Marked](w, ecs.Enableable),
		Box: ecs.RegisterChunk[box](w, ecs.Merge(func(into, from *box) {
			into.Low, into.High = min(into.Low, from.Low), max(into.High, from.High)
		}))}
}

// archetype returns one of those in which entities are made.
func (x *Kinds) archetype(rng *rand.Rand) *ecs.Archetype {
	switch rng.IntN(7) {
	case 0:
		return ecs.NewArchetype(x.World, x.Position)
	case 1:
		return ecs.NewArchetype(x.World, x.Position, x.Owner, x.Stun, x.Hits)
	case 2:
		return ecs.NewArchetype(x.World, x.Owner, x.Hits, x.text, x.socket)
	case 3:
		return ecs.NewArchetype(x.World, x.Position, x.Team.Of(Squad{Name: "red", Rank: uint8(rng.IntN(3))}), x.text)
	case 4:
		return ecs.NewArchetype(x.World, x.Box, x.few, x.Stun)
	case 5:
		return ecs.NewArchetype(x.World)
	}
	return ecs.NewArchetype(x.World, x.Tag, x.Box, x.Position)
}

// any returns an entity that may be alive.
func (x *Kinds) any(rng *rand.Rand) ecs.Entity {
	if len(x.ids) == 0 {
		return ecs.Null
	}
	i := rng.IntN(len(x.ids))
	if e := x.ids[i]; x.World.Alive(e) {
		return e
	}
	x.ids[i] = x.ids[len(x.ids)-1]
	x.ids = x.ids[:len(x.ids)-1]
	return ecs.Null
}

// Step makes one change.
func (x *Kinds) Step(t testing.TB, rng *rand.Rand) {
	w, e := x.World, x.any(rng)
	if rng.IntN(4) == 0 || e == ecs.Null {
		x.make(t, rng)
		return
	}
	switch rng.IntN(20) {
	case 0, 1:
		w.Destroy(e)
	case 2:
		x.Position.Add(e, Position{X: rng.Float64()})
	case 3:
		x.Hits.Add(e)
		x.text.Add(e)
	case 4:
		if !x.Position.Remove(e) {
			x.socket.Remove(e)
		}
	case 5:
		x.Stun.Remove(e)
	case 6:
		x.Stun.Add(e, Stun{1})
		x.Stun.Disable(e)
	case 7:
		x.Position.Set(e, Position{X: rng.Float64(), Y: 3})
	case 8:
		x.Owner.Set(e, Owner{x.any(rng)})
	case 9, 10:
		if b, ok := x.Hits.Mut(e); ok {
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
			x.Stun.Disable(e)
			x.text.Disable(e)
		} else {
			x.Stun.Enable(e)
			x.text.Enable(e)
		}
	case 13:
		x.Team.Add(e, Squad{Name: "blue", Chief: x.any(rng)})
	case 14:
		x.Team.Set(e, Squad{Name: fmt.Sprint(rng.IntN(4))})
	case 15:
		w.SetName(e, fmt.Sprint("name ", rng.IntN(6)))
	case 16:
		w.SetName(e, "")
	default:
		x.rare(e, rng)
	}
}

// rare changes what lies beside the rows.
func (x *Kinds) rare(e ecs.Entity, rng *rand.Rand) {
	dying := ecs.Register[ecs.CleanupEntity](x.World)
	switch rng.IntN(6) {
	case 0:
		if !dying.Has(e) {
			x.Burning.Add(e, Burning{rng.Float64(), 1})
			x.Marked.Add(e, Marked{x.any(rng)})
		}
	case 1:
		x.Burning.Set(e, Burning{2, 2})
		x.Marked.Disable(e)
	case 2:
		x.Burning.Remove(e)
	case 3:
		x.Box.Set(e, box{-rng.Float64(), rng.Float64()})
	case 4:
		x.few.Set(e, Health{rng.Int32(), 1})
	case 5:
		x.World.Shrink(0)
	}
}

// make makes entities, in one of the ways.
func (x *Kinds) make(t testing.TB, rng *rand.Rand) {
	a := x.archetype(rng)
	switch rng.IntN(4) {
	case 0, 1:
		x.ids = append(x.ids, a.Create())
	case 2:
		batch, err := a.CreateN(rng.IntN(100))
		require.NoError(t, err)
		x.ids = batch.Entities(x.ids)
	case 3:
		if rng.IntN(3) > 0 {
			x.reserved = append(x.reserved, Reserve(t, x.World, 1+rng.IntN(30))...)
			return
		}
		n := rng.IntN(len(x.reserved) + 1)
		CreateReserved(t, a, x.reserved[:n])
		x.ids, x.reserved = append(x.ids, x.reserved[:n]...), x.reserved[n:]
		if n = rng.IntN(len(x.reserved) + 1); n < 5 {
			x.World.Unreserve(x.reserved[:n])
			x.reserved = x.reserved[n:]
		}
	}
}

// State returns all that two equal worlds have in common and Hash does not count.
func (x *Kinds) State() string {
	var text bytes.Buffer
	w := x.World
	stats := w.Stats()
	fmt.Fprintln(&text, w.Hash(), stats.Reserved, stats.Alive, stats.Created, stats.Destroyed)
	for _, a := range w.Archetypes() {
		fmt.Fprintln(&text, a)
	}
	fmt.Fprintln(&text, x.Burning.Entities(), x.Burning.Values(), x.Marked.Entities(), x.Marked.Values())
	for _, e := range x.Marked.Entities() {
		fmt.Fprint(&text, x.Marked.Enabled(e))
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

// NextIDs returns the ids that a world gives next.
func (x *Kinds) NextIDs(t testing.TB) (ids []ecs.Entity) {
	batch, err := ecs.NewArchetype(x.World, x.Tag).CreateN(300)
	require.NoError(t, err)
	return append(batch.Entities(nil), Reserve(t, x.World, 100)...)
}
