package image_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// Types of every kind, as a program has them first and later.
type (
	firstPort  struct{ Name string }
	laterPort  struct{ Name, Country string }
	firstLog   struct{ Lines []string }
	laterLog   struct{ Pages []string }
	firstWear  struct{ Hull uint8 }
	laterWear  struct{ Hull, Sails uint16 }
	firstSum   struct{ Rows int32 }
	laterSum   struct{ Rows int64 }
	firstBound struct{ To ecs.Entity }
	laterBound struct {
		By ecs.Entity
		To ecs.Entity
	}
)

func textCodec[T any](lines func(*T) *[]string) ecs.TypeOption {
	return ecs.Codec(func(b []byte, v *T) ([]byte, error) { return append(b, byte(len(*lines(v)))), nil },
		func(b []byte, v *T) error { *lines(v) = make([]string, b[0]); return nil })
}

func registerFirst(w *ecs.World) {
	ecs.RegisterShared[firstPort](w)
	ecs.RegisterManaged[firstLog](w, textCodec(func(l *firstLog) *[]string { return &l.Lines }))
	ecs.RegisterSparse[firstWear](w)
	ecs.RegisterChunk[firstSum](w)
	ecs.Register[firstBound](w, ecs.Enableable)
	ecs.RegisterBuffer[crate](w, ecs.Inline(2))
	ecs.Register[anchors](w, ecs.TrackRows, ecs.MaxRows(64))
	ecs.Register[pos](w)
	ecs.Register[debt](w)
}

func registerLater(w *ecs.World) {
	ecs.Register[anchors](w, ecs.Cleanup)
	ecs.RegisterBuffer[cargo](w)
	ecs.RegisterShared[laterPort](w)
	ecs.RegisterManaged[laterLog](w, textCodec(func(l *laterLog) *[]string { return &l.Pages }))
	ecs.RegisterSparse[laterWear](w)
	ecs.RegisterChunk[laterSum](w)
	ecs.Register[laterBound](w)
	ecs.Register[place](w)
}

// saveOf saves a world that has an entity with each registered type.
func saveOf(t *testing.T, register func(*ecs.World)) string {
	path := filepath.Join(t.TempDir(), "of.world")
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	register(w)
	var types []ecs.Type
	for _, c := range w.Components()[4:] {
		switch c.Kind {
		case ecs.KindShared:
			if c.Name == "firstPort" {
				types = append(types, ecs.RegisterShared[firstPort](w).Of(firstPort{"Bergen"}))
			} else {
				types = append(types, ecs.RegisterShared[laterPort](w).Of(laterPort{"Bergen", "Norway"}))
			}
		case ecs.KindSparse:
		default:
			types = append(types, c.Type)
		}
	}
	e := ecs.NewArchetype(w, types...).Create()
	if w.Components()[6].Name == "sparse firstWear" {
		ecs.RegisterSparse[firstWear](w).Add(e, firstWear{3})
	}
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, w.Close())
	return path
}

// TestPlanBetween: types of every kind that a newer file describes have the fates that they have in
// the program that saved it.
func TestPlanBetween(t *testing.T) {
	first, later := saveOf(t, registerFirst), saveOf(t, registerLater)
	renames := []image.Option{
		image.Renamed("firstPort", "laterPort"), image.Renamed("firstLog", "laterLog"),
		image.Renamed("firstWear", "laterWear"),
		image.Renamed("firstSum", "laterSum"), image.Renamed("firstBound", "laterBound"),
		image.Renamed("crate", "cargo"),
		image.Renamed("pos", "place"),
	}
	fates := map[image.Fate]int{}
	for _, with := range [][]image.Option{nil, renames,
		append(renames, image.Drop("debt"), image.RenamedField("anchors", "N", "M")),
		append(renames, image.DropUnknown()), append(renames, image.KeepUnknown())} {
		for _, to := range []struct {
			path     string
			register func(*ecs.World)
		}{{first, registerFirst}, {later, registerLater}} {
			want, err := image.Plan(first, to.register, with...)
			require.NoError(t, err)
			got, err := image.PlanBetween(first, to.path, with...)
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, want[i].String(), got[i].String())
				fates[want[i].Fate]++
			}
		}
	}
	for _, fate := range []image.Fate{image.Same, image.Converted, image.Dropped, image.Kept, image.Refused} {
		require.Positive(t, fates[fate], "%v", fate)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, paths := range [][2]string{{first, none}, {none, later}} {
		_, err := image.PlanBetween(paths[0], paths[1])
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.NoError(t, os.WriteFile(none, make([]byte, 5000), 0o600))
	_, err := image.PlanBetween(first, none)
	require.ErrorIs(t, err, image.ErrFile)
	require.False(t, errors.Is(err, image.ErrTypes))
}
