package worldfile_test

import (
	"errors"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// TestImageWithoutMemory: each request for memory of opening is refused once, and all from it on:
// there is no world then, and nothing is left in the universe.
func TestImageWithoutMemory(t *testing.T) {
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, 300)
	s := m.w.Snapshot()
	f, want := ecstest.NewFile(t, s), s.Hash()
	worlds := world.Tags.Open()
	require.NoError(t, alloc.CheckEveryFailure(func(fail *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(32<<20), alloc.InjectFailures(fail))
		if err != nil {
			return err
		}
		var o imaged
		w, err := door.OpenImage(f, func(w *ecs.World) { o.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
		if err == nil {
			if w.Hash() != want {
				err = errors.New("another hash")
			}
			err = errors.Join(err, w.Verify(), w.Close())
		}
		if n := u.Stats().LiveChunks; n > 0 {
			err = errors.Join(err, alloc.ErrLeak)
		}
		return errors.Join(err, u.Close())
	}))
	require.Equal(t, worlds, world.Tags.Open())
}

// TestImageReadPanics: a panic of what reads the file goes through and leaves nothing behind.
func TestImageReadPanics(t *testing.T) {
	f := imageFile(t, 300)
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	worlds := world.Tags.Open()
	for part := range f.Size {
		bad := *f
		bad.Read = func(of, from int, dst []byte) error {
			if of == part {
				panic("the reader is broken")
			}
			return f.Read(of, from, dst)
		}
		require.PanicsWithValue(t, "the reader is broken", func() {
			var o imaged
			_, _ = door.OpenImage(&bad, func(w *ecs.World) { o.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
		})
		require.Zero(t, u.Stats().LiveChunks, "part %d", part)
		require.Equal(t, worlds, world.Tags.Open())
	}
	require.NoError(t, u.Close())
}

// TestImageReadFails: an error of the file ends opening, wherever it comes.
func TestImageReadFails(t *testing.T) {
	f := imageFile(t, 300)
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	broken := errors.New("the disk is gone")
	for at := 0; ; at++ {
		bad, n := *f, 0
		bad.Read = func(part, from int, dst []byte) error {
			if n++; n > at {
				return broken
			}
			return f.Read(part, from, dst)
		}
		var o imaged
		w, err := door.OpenImage(&bad, func(w *ecs.World) { o.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
		if err == nil {
			require.Greater(t, at, 3)
			require.NoError(t, w.Close())
			break
		}
		require.ErrorIs(t, err, broken)
		require.Zero(t, u.Stats().LiveChunks)
	}
	require.NoError(t, u.Close())
}
