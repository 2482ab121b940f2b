package ecs_test

import (
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestManagedCleanup keeps the values of dead entities until somebody has seen to them:
// one by one, and many at once.
func TestManagedCleanup(t *testing.T) {
	w := ecstest.NewWorld(t)
	text, dying := ecs.RegisterManaged[string](w, ecs.Cleanup), ecs.Register[ecs.CleanupEntity](w)
	other := ecs.RegisterManaged[[]byte](w)
	a := ecs.NewArchetype(w, text, other, ecs.Register[ecstest.Position](w))
	var list []ecs.Entity
	for range 600 {
		e := a.Create()
		list = append(list, e)
		text.Set(e, "open")
		other.Set(e, []byte("gone"))
	}
	require.True(t, w.Destroy(list[0]))
	require.Equal(t, 599, w.DestroyQuery(ecs.NewQuery(w, ecs.With(other))))
	require.NoError(t, w.Verify())
	dead := ecs.NewQuery(w, ecs.Read(text), ecs.With(dying))
	require.Equal(t, 600, dead.Count())
	for rows := range dead.Rows() {
		for i := range rows.Len() {
			require.Equal(t, "open", *text.At(rows, i))
		}
	}
	require.Nil(t, other.Get(list[0]))
	require.True(t, text.Remove(list[0]))
	require.False(t, w.Alive(list[0]))
	_, err := ecs.NewChange(w, ecs.Remove(text)).ApplyQuery(dead)
	require.NoError(t, err)
	require.Zero(t, w.Stats().Alive)
	require.NoError(t, w.Verify())
}

// TestManagedIsCopied instantiates an entity: each copy has a value of its own, like an
// assignment in Go.
func TestManagedIsCopied(t *testing.T) {
	w := ecstest.NewWorld(t)
	list, position := ecs.RegisterManaged[[2]*int](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, list, position)
	e, none := a.Create(), a.Create()
	one := new(int)
	list.Set(e, [2]*int{one})
	batch, err := w.InstantiateN(e, 700)
	require.NoError(t, err)
	for rows := range batch.Rows() {
		for i := range rows.Len() {
			v := list.At(rows, i)
			require.Equal(t, [2]*int{one}, *v)
			v[1] = new(int)
		}
	}
	require.Equal(t, [2]*int{one}, *list.Get(e))
	require.Nil(t, list.Get(w.Instantiate(none)))
	require.NoError(t, w.Verify())
}

// TestManagedMovesToAnotherWorld moves rows with managed values, of one universe, where
// chunks change hands, and of two.
func TestManagedMovesToAnotherWorld(t *testing.T) {
	u := ecstest.NewWorld(t).Universe()
	for _, options := range [][]ecs.Option{
		{ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1))}, {ecs.ChunkGrowth(alloc.Fixed(1))},
	} {
		old, w := ecstest.NewWorld(t, options...), ecstest.NewWorld(t, options...)
		was := ecs.RegisterManaged[string](old)
		ecs.Register[ecstest.Position](w) // other numbers
		there := ecs.RegisterManaged[string](w)
		there.Set(ecs.NewArchetype(w, there).Create(), "first")
		batch, err := ecs.NewArchetype(old, was).CreateN(5000)
		require.NoError(t, err)
		var list []ecs.Entity
		for rows := range batch.Rows() {
			for i, e := range rows.Entities() {
				list = append(list, e)
				if len(list)%3 > 0 {
					*was.At(rows, i) = strings.Repeat("x", len(list)%100)
				}
			}
		}
		moved, err := w.MoveAll(old)
		require.NoError(t, err)
		for i, e := range list {
			p := there.Get(moved.Of(e))
			require.Equal(t, (i+1)%3 > 0, p != nil)
			require.True(t, p == nil || len(*p) == (i+1)%100)
		}
		require.NoError(t, w.Verify())
		require.NoError(t, old.Verify())
		require.NoError(t, old.Close())
		require.NoError(t, w.Close())
	}
}

// TestManagedIsRegisteredByMoves moves rows to a world that lacks the type.
func TestManagedIsRegisteredByMoves(t *testing.T) {
	old, w := ecstest.NewWorld(t), ecstest.NewWorld(t)
	was := ecs.RegisterManaged[string](old)
	e := ecs.NewArchetype(old, was).Create()
	was.Set(e, "here")
	moved, err := w.MoveAll(old)
	require.NoError(t, err)
	require.Equal(t, "here", *ecs.RegisterManaged[string](w).Get(moved.Of(e)))
	require.NoError(t, w.Verify())
	require.NoError(t, old.Verify())
}

// Bond is a managed value with links, in fields and behind a pointer.
type Bond struct {
	To    [2]ecs.Entity
	Notes *[]ecs.Entity
}

// TestManagedLinks: entities in fields of managed values follow copies, moves and clones;
// those behind pointers do not.
func TestManagedLinks(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	bond := ecs.RegisterManaged[Bond](w)
	a := ecs.NewArchetype(w, bond)
	e, empty := a.Create(), a.Create()
	notes := []ecs.Entity{e}
	bond.Set(e, Bond{To: [2]ecs.Entity{e, empty}, Notes: &notes})

	copied := w.Instantiate(e)
	require.Equal(t, Bond{To: [2]ecs.Entity{copied, empty}, Notes: &notes}, *bond.Get(copied))
	require.Nil(t, bond.Get(w.Instantiate(empty)))
	require.NoError(t, w.Verify())

	clone, err := w.Clone()
	require.NoError(t, err)
	twin, _ := clone.Entity(e.Index(), e.Version())
	blank, _ := clone.Entity(empty.Index(), empty.Version())
	require.Equal(t, Bond{To: [2]ecs.Entity{twin, blank}, Notes: &notes}, *ecs.RegisterManaged[Bond](clone).Get(twin))
	require.NoError(t, clone.Verify())
	require.NoError(t, clone.Close())

	moved, err := other.MoveAll(w)
	require.NoError(t, err)
	require.Equal(t, Bond{To: [2]ecs.Entity{moved.Of(e), moved.Of(empty)}, Notes: &notes},
		*ecs.RegisterManaged[Bond](other).Get(moved.Of(e)))
	require.Equal(t, []ecs.Entity{e}, notes)
	require.NoError(t, other.Verify())
}
