package image_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// spot is pos with a field renamed, spots a wider crate without one.
type (
	spot  struct{ X, Lat float32 }
	wares struct{ Goods uint32 }
)

// strictly opens the file of the older program as a newer one that knows some of its types.
func strictly(path string, options ...image.Option) (y float32, err error) {
	var spots ecs.Component[spot]
	w, err := image.Open(path, func(w *ecs.World) {
		spots = ecs.Register[spot](w)
		ecs.RegisterBuffer[wares](w, ecs.Inline(2))
		ecs.Register[fuel](w)
	}, append([]image.Option{image.Renamed("pos", "spot"), image.Renamed("crate", "wares")}, options...)...)
	if err != nil {
		return 0, err
	}
	q := ecs.NewQuery(w, ecs.Read(spots))
	for rows := range q.Rows() {
		y = spots.ReadOnly(rows)[0].Lat
	}
	q.Close()
	return y, w.Close()
}

// TestStrict: a field whose new name no rule has, and a type that DropUnknown drops, are lost
// without Strict, and refused by name with it, in Plan too; rules that name them allow it.
func TestStrict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.world")
	require.NoError(t, saveOld(path))
	y, err := strictly(path, image.DropUnknown())
	require.NoError(t, err)
	require.Zero(t, y, "it was .5")

	_, err = strictly(path, image.DropUnknown(), image.Strict())
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err,
		"the component type quarry/ecs/image_test.pos would lose Y float32, which no rule renames or drops\n\tin the file")
	named := []image.Option{image.Strict(), image.DropUnknown(), image.RenamedField("pos", "Y", "Lat")}
	_, err = strictly(path, named...)
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err, "the buffer type quarry/ecs/image_test.crate would lose Tons uint16")
	named = append(named, image.DropField("wares", "Tons"))
	_, err = strictly(path, named...)
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err, "the component type quarry/ecs/image_test.debt would be lost")
	named = append(named, image.Drop("debt", "anchors"))
	y, err = strictly(path, named...)
	require.NoError(t, err)
	require.EqualValues(t, .5, y)
	_, err = strictly(path, append(named[:2:2], image.DropField("spot", "Y"), image.DropField("crate", "Tons"),
		image.Drop("debt", "anchors"))...)
	require.NoError(t, err)

	plans, err := image.Plan(path, func(w *ecs.World) { ecs.Register[spot](w) }, image.Strict(),
		image.Renamed("pos", "spot"), image.KeepUnknown())
	require.NoError(t, err)
	fates := map[string]image.Fate{}
	for _, p := range plans {
		fates[p.Name] = p.Fate
	}
	require.Equal(t, image.Refused, fates["quarry/ecs/image_test.pos"])
	require.Equal(t, image.Kept, fates["quarry/ecs/image_test.fuel"])
}
