package world_test

import (
	"math"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"
	"quarry/layout"

	"github.com/stretchr/testify/require"
)

// hollow has a great many elements without a size; a walk that looks at each does not end.
type hollow struct {
	To    ecs.Entity
	Empty [1 << 40]struct{ A [0]ecs.Entity }
	N     int32
}

// oddHollow is not == to itself when X is a NaN, and may hold what Go cannot compare.
type oddHollow struct {
	X     float64
	Empty [1 << 40]struct{}
	Any   any
}

// TestTypesWithoutEnd: types with arrays of elements that have no size are of each kind, and no
// call walks those elements.
func TestTypesWithoutEnd(t *testing.T) {
	w := ecstest.NewWorld(t)
	type empty [1 << 40]struct{}
	tag, nothing := ecs.Register[[1 << 40]struct{}](w), ecs.Register[empty](w)
	part, parts := ecs.Register[hollow](w), ecs.RegisterBuffer[hollow](w)
	managed := ecs.RegisterManaged[hollow](w)
	shared, value, odd := ecs.RegisterShared[hollow](w), ecs.RegisterShared[empty](w), ecs.RegisterShared[oddHollow](w)
	all := ecs.NewArchetype(w, tag, nothing, part, parts, managed, shared, value.Of(empty{}), odd)
	e := all.Create()
	part.Set(e, hollow{To: e, N: 1})
	parts.Append(e, hollow{To: e, N: 2}, hollow{N: 3})
	managed.Set(e, hollow{To: e, N: 4})
	shared.Set(e, hollow{To: e, N: 5})
	for range 2 { // the second finds the first, part by part
		require.True(t, odd.Set(e, oddHollow{X: math.NaN(), Any: hollow{}}))
	}
	require.Len(t, odd.Values(nil), 1)
	require.Panics(t, func() { odd.Set(e, oddHollow{Any: []hollow{}}) }, "Go cannot compare it")
	require.NotZero(t, w.Hash())
	require.NoError(t, w.Verify())
	at, _ := w.Locate(e)
	require.Equal(t,
		"[[1099511627776]struct {} empty hollow []hollow managed hollow hollow=(long) empty=(long) oddHollow=(long)]",
		at.Archetype.String())

	type holder struct {
		Nothing empty
		Part    *hollow
		Parts   []hollow
	}
	bundle := ecs.NewBundle[holder](w)
	made := bundle.Create(holder{Part: &hollow{N: 6}, Parts: []hollow{{N: 7}}})
	got, ok := bundle.Get(made)
	require.True(t, ok && got.Part.N == 6 && got.Parts[0].N == 7)
	type seen struct {
		Nothing ecs.R[empty]
		Part    ecs.W[hollow]
		Parts   ecs.BufferR[hollow]
	}
	view := ecs.NewView[seen](w)
	n := 0
	for rows, v := range view.Rows() {
		n += len(v.Part) + len(nothing.Slice(rows))
	}
	require.Equal(t, 4, n)

	copied := w.Instantiate(e)
	require.True(t, part.Get(copied).To == copied && parts.Slice(copied)[0].To == copied &&
		managed.Get(copied).To == copied)
	clone, err := w.Clone()
	require.NoError(t, err)
	defer clone.Close()
	require.Equal(t, w.Hash(), clone.Hash())
	twin, _ := clone.Entity(e.Index(), e.Version())
	require.Equal(t, twin, ecs.Register[hollow](clone).Get(twin).To)
	was, _ := ecs.RegisterShared[hollow](clone).Get(twin)
	require.Equal(t, twin, was.To)
}

// bonds has arrays in arrays, of which elements have entities.
type bonds struct {
	ID   uint16
	Rows [3]struct {
		To    ecs.Entity
		Cells [2]struct {
			Open uint8
			Next ecs.Entity
		}
	}
	Ring [4]ecs.Entity
}

// each returns the entities of a value, one by one.
func (b *bonds) each() (all []*ecs.Entity) {
	for i := range b.Rows {
		all = append(all, &b.Rows[i].To, &b.Rows[i].Cells[0].Next, &b.Rows[i].Cells[1].Next)
	}
	for i := range b.Ring {
		all = append(all, &b.Ring[i])
	}
	return all
}

// TestLinksInArrays: entities in arrays within arrays follow copies and clones, in values of each
// kind.
func TestLinksInArrays(t *testing.T) {
	w := ecstest.NewWorld(t)
	part, parts := ecs.Register[bonds](w), ecs.RegisterBuffer[bonds](w)
	managed, shared := ecs.RegisterManaged[bonds](w), ecs.RegisterShared[bonds](w)
	a := ecs.NewArchetype(w, part, parts, managed, shared)
	e, other := a.Create(), a.Create()
	mixed := func(one, two ecs.Entity) (b bonds) {
		b.ID = 7
		for i, at := range b.each() {
			*at = []ecs.Entity{one, two, ecs.Null}[i%3]
		}
		return b
	}
	b := mixed(e, other)
	part.Set(e, b)
	parts.Append(e, bonds{}, b, b)
	managed.Set(e, b)
	shared.Set(e, b)

	copied, want := w.Instantiate(e), b
	for _, at := range want.each() {
		if *at == e {
			*at = ecs.Null
		}
	}
	want = mixed(copied, other)
	require.Equal(t, want, *part.Get(copied))
	require.Equal(t, []bonds{{}, want, want}, parts.Slice(copied))
	require.Equal(t, want, *managed.Get(copied))

	clone, err := w.Clone()
	require.NoError(t, err)
	defer clone.Close()
	twin, _ := clone.Entity(e.Index(), e.Version())
	second, _ := clone.Entity(other.Index(), other.Version())
	want = mixed(twin, second)
	require.Equal(t, want, *ecs.Register[bonds](clone).Get(twin))
	require.Equal(t, []bonds{{}, want, want}, ecs.RegisterBuffer[bonds](clone).Slice(twin))
	require.Equal(t, want, *ecs.RegisterManaged[bonds](clone).Get(twin))
	v, _ := ecs.RegisterShared[bonds](clone).Get(twin)
	require.Equal(t, want, v)
	require.Equal(t, w.Hash(), clone.Hash())
}

// linkEntries counts the entries of a list of links.
func linkEntries(links []world.Link) (n int) {
	for _, l := range links {
		n += 1 + linkEntries(l.Each)
	}
	return n
}

// TestLinksAreAsLongAsWritten: what a world keeps of a type does not grow with its arrays.
func TestLinksAreAsLongAsWritten(t *testing.T) {
	w := ecstest.NewWorld(t)
	for n, of := range map[int]ecs.Type{
		0: ecs.Register[[2000]float64](w),
		1: ecs.RegisterBuffer[ecs.LinkedEntity](w),
		2: ecs.Register[[2000]ecs.Entity](w),
		3: ecs.RegisterManaged[[100]struct{ A, B ecs.Entity }](w),
		4: ecs.RegisterBuffer[[100][100]struct {
			A ecs.Entity
			B int
			C ecs.Entity
		}](w),
	} {
		require.Equal(t, n, linkEntries(door.FactsOf(of).Links), "%v", of)
	}
	require.Equal(t, 2, linkEntries(door.FactsOf(ecs.Register[[1000]struct {
		A ecs.Entity
		B int
	}](w)).Links))
	require.Equal(t, 2, linkEntries(door.FactsOf(ecs.RegisterManaged[[1 << 20]ecs.Entity](w)).Links))
	require.Equal(t, 2, linkEntries(door.FactsOf(ecs.RegisterBuffer[[1 << 16]struct {
		A ecs.Entity
		B int
	}](w)).Links))
	require.LessOrEqual(t, longestFields(w), 5, "what Hash reads of a value")
}

// TestHashOfArrays: a value counts as its parts do one behind the other, whether they are written
// out or in arrays.
func TestHashOfArrays(t *testing.T) {
	hash := func(w *ecs.World, e ecs.Entity) uint64 {
		require.NoError(t, w.Verify())
		return w.Hash()
	}
	var inArrays, writtenOut uint64
	{
		type Cell struct {
			A [2]struct {
				Open uint8
				To   ecs.Entity
			}
			B [2]ecs.Entity
			C [3]uint16
		}
		w := ecstest.NewWorld(t)
		cell := ecs.Register[Cell](w)
		e := ecs.NewArchetype(w, cell).Create()
		c := Cell{B: [2]ecs.Entity{e, ecs.Null}, C: [3]uint16{3, 4, 5}}
		c.A[0].Open, c.A[0].To, c.A[1].Open = 1, e, 2
		cell.Set(e, c)
		inArrays = hash(w, e)
	}
	{
		type Cell struct {
			Open0   uint8
			To0     ecs.Entity
			Open1   uint8
			To1     ecs.Entity
			B0, B1  ecs.Entity
			C, D, E uint16
		}
		w := ecstest.NewWorld(t)
		cell := ecs.Register[Cell](w)
		e := ecs.NewArchetype(w, cell).Create()
		cell.Set(e, Cell{Open0: 1, To0: e, Open1: 2, B0: e, C: 3, D: 4, E: 5})
		writtenOut = hash(w, e)
	}
	require.Equal(t, writtenOut, inArrays)
}

// longestFields returns how many entries the longest list has of what Hash reads of a value.
func longestFields(w *ecs.World) (most int) {
	for _, t := range door.World(w).Types.List {
		most = max(most, entriesOf(t.Fields))
	}
	return most
}

func entriesOf(fields []layout.Field) (n int) {
	for _, f := range fields {
		n += 1 + entriesOf(f.Each)
	}
	return n
}
