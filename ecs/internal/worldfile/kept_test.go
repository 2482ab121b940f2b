package worldfile_test

import (
	"errors"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// TestKeptGoValues: managed and shared types that nobody has registered keep the bytes of their
// values, through snapshots, restores, clones, forks, moves to another world and structural
// changes, and a program that has the types finds the values in the next file.
func TestKeptGoValues(t *testing.T) {
	var m library
	m.register(ecstest.NewWorld(t), true)
	all := m.populate(t, 120)
	f := imageOfWorld(t, m.w)
	f.Rules = &worldfile.Rules{KeepUnknown: true}
	open := func(options ...ecs.Option) *ecs.World {
		w, err := door.OpenImage(f, func(*ecs.World) {}, options)
		require.NoError(t, err)
		require.NoError(t, w.Verify())
		return w
	}
	// back requires that a world of kept types is what the program knows.
	back := func(w *ecs.World) {
		require.NoError(t, w.Verify())
		o := m.opened(t, imageOfWorld(t, w), true)
		m.same(t, o, all)
		require.Equal(t, m.w.Hash(), o.w.Hash())
		require.NoError(t, o.w.Close())
	}
	w := open()
	names := []string{}
	for _, c := range w.Components()[4:] {
		names = append(names, c.Kind.String()+" "+c.Name)
	}
	require.Equal(t, []string{"managed managed stamped", "managed managed stamped", "managed managed note",
		"component imageAge", "buffer []Hit", "shared stamped", "shared flag"}, names)
	require.Contains(t, fmt.Sprint(w.Value(all[1], w.Components()[6].Type)), "110 111 116 101 32 49", "note 1")
	back(w)

	s := w.Snapshot()
	fork, err := s.Fork()
	require.NoError(t, err)
	require.NoError(t, fork.Verify())
	require.NoError(t, fork.Close())
	q := ecs.NewQueryOfAll(w)
	require.Positive(t, w.DestroyQuery(q))
	require.NoError(t, w.Restore(s))
	s.Close()
	back(w)
	clone, err := w.Clone()
	require.NoError(t, err)
	require.NoError(t, clone.Verify())
	o := m.opened(t, imageOfWorld(t, clone), true)
	require.Equal(t, m.w.Stats().Alive, o.w.Stats().Alive)
	require.NoError(t, errors.Join(o.w.Close(), clone.Close()))

	// Another world takes all entities in, with a type beside them.
	other := open(ecs.WithUniverse(w.Universe()))
	alive := other.Stats().Alive
	moved, err := w.MoveAll(other)
	require.NoError(t, err)
	require.Equal(t, alive, moved.Len())
	require.NoError(t, errors.Join(w.Verify(), other.Verify(), other.Close()))
	require.Len(t, w.Components(), 11, "no type came twice")
	tag := ecs.Register[ecstest.Hit](w)
	for i, e := range all {
		if w.Alive(e) && i%2 == 0 {
			require.True(t, tag.Add(e, ecstest.Hit{}))
		}
	}
	require.NoError(t, w.Verify())
	o = new(library)
	x, err := door.OpenImage(imageOfWorld(t, w),
		func(w *ecs.World) { o.register(w, true); ecs.Register[ecstest.Hit](w) }, nil)
	require.NoError(t, err)
	require.Equal(t, 2*alive, x.Stats().Alive)
	m.same(t, o, all)
	require.NoError(t, errors.Join(x.Close(), w.Close()))
}

// TestKeptSharedEntities: a shared value with entities cannot be kept, for a clone could not rename
// them; and an archetype with the zero value of a kept type, which came from no file, cannot be
// saved.
func TestKeptSharedEntities(t *testing.T) {
	type owned struct {
		By   ecs.Entity
		Name string
	}
	type plain struct {
		Name string
		N    int16
	}
	w := ecstest.NewWorld(t)
	ecs.NewArchetype(w, ecs.RegisterShared[plain](w).Of(plain{"one", 7}))
	for _, v := range []plain{{"", 0}, {"two", -1}} {
		ecs.NewArchetype(w, ecs.RegisterShared[plain](w).Of(v)).Create()
	}
	f := imageOfWorld(t, w)
	f.Rules = &worldfile.Rules{KeepUnknown: true}
	x, err := door.OpenImage(f, func(*ecs.World) {}, nil)
	require.NoError(t, err)
	require.NoError(t, x.Verify())
	kept := x.Components()[4].Type
	imageOfWorld(t, x)
	ecs.NewArchetype(x, kept).Create()
	require.NoError(t, x.Verify())
	x.Hash()
	_, err = door.ImageOfWorld(x)
	require.EqualError(t, err,
		"a value of the shared type plain cannot be written: it is the zero value of a type that is kept, whose bytes are not known")
	require.NoError(t, x.Close())

	e := ecs.NewArchetype(w).Create()
	ecs.NewArchetype(w, ecs.RegisterShared[owned](w).Of(owned{e, "x"})).Create()
	f = imageOfWorld(t, w)
	f.Rules = &worldfile.Rules{KeepUnknown: true}
	_, err = door.OpenImage(f, func(*ecs.World) {}, nil)
	require.EqualError(t, err,
		"types differ: the shared type quarry/ecs/internal/worldfile_test.owned cannot be kept: By Entity of a shared value is an entity, which only the type can rename")
}

// TestManagedImageWithoutMemory: each request for memory of a world with managed types is refused
// once, and all from it on, where the types are known and where they are kept: there is no world
// then, and nothing is left in the universe.
func TestManagedImageWithoutMemory(t *testing.T) {
	var m library
	m.register(ecstest.NewWorld(t), true)
	all := m.populate(t, 40)
	f := imageOfWorld(t, m.w)
	worlds := world.Tags.Open()
	for _, rules := range []*worldfile.Rules{nil, {KeepUnknown: true}} {
		f.Rules = rules
		require.NoError(t, alloc.CheckEveryFailure(func(fail *alloc.Failures) error {
			u, err := alloc.NewUniverse(alloc.Size(32<<20), alloc.InjectFailures(fail))
			if err != nil {
				return err
			}
			var o library
			w, err := door.OpenImage(f, func(w *ecs.World) {
				if rules == nil {
					o.register(w, true)
				}
			}, []ecs.Option{ecs.WithUniverse(u)})
			if err == nil {
				if rules == nil {
					m.same(t, &o, all)
				}
				err = errors.Join(w.Verify(), w.Close())
			}
			if n := u.Stats().LiveChunks; n > 0 {
				err = errors.Join(err, alloc.ErrLeak)
			}
			return errors.Join(err, u.Close())
		}))
		require.Equal(t, worlds, world.Tags.Open())
	}
}
