package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// bonds has entities in arrays within arrays, and a great many elements without a size: a walk that
// looks at each does not end.
type bonds struct {
	Rows [3]struct {
		Open  uint8
		Cells [2]struct {
			Next ecs.Entity
			N    uint8
		}
	}
	Empty [1 << 40]struct{}
	Last  ecs.Entity
}

func bondsOf(to ecs.Entity) (b bonds) {
	for i := range b.Rows {
		for j := range b.Rows[i].Cells {
			b.Rows[i].Cells[j].Next = to
		}
	}
	b.Last = to
	return b
}

// TestPlaceholdersInArrays: placeholders in arrays within arrays become the entities that are made,
// where rows are filled and where values are written one by one; those of others, and of what
// is created later, are refused.
func TestPlaceholdersInArrays(t *testing.T) {
	y, other := openYard(t), openYard(t)
	part, parts, tag := ecs.Register[bonds](y.w), ecs.RegisterBuffer[bonds](y.w), ecs.Register[[1 << 40]struct{}](y.w)
	a := ecs.NewArchetype(y.w, part, parts)
	old := a.Create()
	cb := y.open(t)
	made := cb.Create(a)
	Set(cb, made, part, bondsOf(made))
	Append(cb, made, parts, bonds{}, bondsOf(made))
	Set(cb, old, part, bondsOf(made))
	SetBuffer(cb, old, parts, bondsOf(made), bondsOf(old))
	Add(cb, old, tag, [1 << 40]struct{}{})
	stranger := other.open(t).Create(other.plain)
	var one bonds
	one.Rows[2].Cells[1].Next = stranger
	n := cb.Len()
	require.Contains(t, panicOf(func() { Set(cb, old, part, one) }), "placeholder")
	require.Equal(t, n, cb.Len(), "it was not recorded")
	require.NoError(t, cb.Play())
	e := cb.Made(made)
	require.True(t, y.w.Alive(e))
	require.Equal(t, e, part.Get(e).Rows[2].Cells[1].Next)
	for _, v := range []bonds{*part.Get(e), parts.Slice(e)[1], *part.Get(old), parts.Slice(old)[0]} {
		require.True(t, v == bondsOf(e))
	}
	require.True(t, parts.Slice(old)[1] == bondsOf(old))
	require.True(t, tag.Has(old))

	cb.Key(5)
	made = cb.Create(y.plain)
	cb.Key(4)
	one.Rows[2].Cells[1].Next = made
	Set(cb, old, part, one)
	SetBuffer(cb, old, parts, bonds{}, one)
	var refused *PlayError
	require.ErrorAs(t, cb.Play(), &refused)
	require.Equal(t, 2, refused.Count)
	require.Contains(t, refused.Failures[0].Why, "creation comes later in the order of playback")
}
