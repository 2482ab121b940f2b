package image_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// Types as an older program had them, and as this one has them.
type (
	pos     struct{ X, Y float32 }
	crate   struct{ Goods, Tons uint16 }
	fuel    struct{ Liters int32 }
	debt    struct{ Owed int64 }
	place   struct{ X, Y, Z float64 }
	cargo   struct{ Goods, Tons uint32 }
	tank    struct{ Milliliters int64 }
	anchors struct{ N int8 }
)

// saveOld writes a file of the older program.
func saveOld(path string) error {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	where, crates, liters := ecs.Register[pos](w), ecs.RegisterBuffer[crate](w, ecs.Inline(2)), ecs.Register[fuel](w)
	owed, held := ecs.Register[debt](w), ecs.Register[anchors](w)
	batch, err := ecs.NewArchetype(w, where, crates, liters, owed, held).CreateN(3)
	if err != nil {
		return err
	}
	for i, e := range batch.Entities(nil) {
		where.Set(e, pos{float32(i), 0.5})
		liters.Set(e, fuel{int32(i)})
		held.Set(e, anchors{int8(i)})
		crates.Append(e, make([]crate, 3)...)
		crates.Append(e, crate{7, 40})
	}
	if err := image.SaveFile(w, path); err != nil {
		return err
	}
	return w.Close()
}

// options of the newer program for files of the older one.
func options() []image.Option {
	return []image.Option{
		image.Renamed("pos", "place"),
		image.Renamed("crate", "cargo"),
		image.Renamed("fuel", "tank"),
		image.Convert("fuel", func(f fuel) tank { return tank{1000 * int64(f.Liters)} }),
		image.Drop("debt"),
		image.Keep("anchors"),
	}
}

func ExamplePlan() {
	folder, err := os.MkdirTemp("", "quarry")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "old.world")
	if err := saveOld(path); err != nil {
		panic(err)
	}
	register := func(w *ecs.World) {
		ecs.Register[place](w)
		ecs.RegisterBuffer[cargo](w, ecs.Inline(4))
		ecs.Register[tank](w)
	}
	plans, err := image.Plan(path, register, options()...)
	if err != nil {
		panic(err)
	}
	for _, p := range plans[4:] { // the first are built in
		fmt.Println(p)
	}
	// Output:
	// component quarry/ecs/image_test.pos: converted, is quarry/ecs/image_test.place
	// 	X float32 becomes X float64
	// 	Y float32 becomes Y float64
	// 	Z float64 is new, and zero
	// buffer quarry/ecs/image_test.crate: converted, is quarry/ecs/image_test.cargo
	// 	Goods uint16 becomes Goods uint32
	// 	Tons uint16 becomes Tons uint32
	// 	4 elements lie in a row, not 2
	// component quarry/ecs/image_test.fuel: converted, is quarry/ecs/image_test.tank
	// 	a function converts image_test.fuel to image_test.tank
	// component quarry/ecs/image_test.debt: dropped
	// component quarry/ecs/image_test.anchors: kept
}

// TestOpenConverts: Open and Load convert the types of Plan.
func TestOpenConverts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.world")
	require.NoError(t, saveOld(path))
	var (
		where ecs.Component[place]
		crate ecs.Buffer[cargo]
		fuel  ecs.Component[tank]
	)
	register := func(w *ecs.World) {
		where, crate, fuel = ecs.Register[place](w), ecs.RegisterBuffer[cargo](w, ecs.Inline(4)), ecs.Register[tank](w)
	}
	look := func(w *ecs.World, err error) {
		require.NoError(t, err)
		require.NoError(t, w.Verify())
		i := 0
		q := ecs.NewQueryOfAll(w)
		for rows := range q.Rows() {
			for _, e := range rows.Entities() {
				require.Equal(t, place{float64(i), 0.5, 0}, *where.Get(e))
				require.Equal(t, tank{1000 * int64(i)}, *fuel.Get(e))
				require.Equal(t, []cargo{{}, {}, {}, {7, 40}}, crate.Slice(e))
				require.Len(t, rows.Archetype().Components(), 4)
				i++
			}
		}
		require.Equal(t, 3, i)
		require.NoError(t, w.Close())
	}
	look(image.Open(path, register, options()...))
	for _, more := range [][]image.Option{ // what is read otherwise is converted too
		{image.Trusted()}, {image.InMemory()}, {image.Checked()}, {image.Trusted(), image.InMemory()},
		{image.Trusted(), image.Checked()},
	} {
		look(image.Open(path, register, append(more, options()...)...))
		look(image.Open(path, register, append(options(), more...)...))
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	look(image.Load(f, register, options()...))
	require.NoError(t, f.Close())
	_, err = image.Open(path, register)
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err, "image_test.pos is not registered")
	_, err = image.Plan(filepath.Join(t.TempDir(), "none"), register)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.PanicsWithValue(t, "image: Convert: the function is nil", func() { image.Convert[pos, place]("pos", nil) })
	require.PanicsWithValue(t, "image: Renamed: the name of a type is empty", func() { image.Renamed("pos", "") })
	require.PanicsWithValue(t, "image: Drop: the name of a type is empty", func() { image.Drop("pos", "") })
	require.Equal(t, "Fate(9)", image.Fate(9).String())
}

// TestTrustedRenamed: where no type is converted, the rows of a renamed type are mapped, and the
// records of ids are believed or checked.
func TestTrustedRenamed(t *testing.T) {
	type older struct{ A, B int32 }
	type newer struct{ A, B int32 }
	path := filepath.Join(t.TempDir(), "renamed.world")
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	was := ecs.Register[older](w)
	batch, err := ecs.NewArchetype(w, was).CreateN(5000)
	require.NoError(t, err)
	all := batch.Entities(nil)
	for i, e := range all {
		was.Set(e, older{int32(i), -int32(i)})
	}
	for i := 0; i < len(all); i += 3 {
		w.Destroy(all[i])
	}
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, w.Close())
	for _, more := range [][]image.Option{nil, {image.Trusted()}, {image.Trusted(), image.InMemory()}} {
		var now ecs.Component[newer]
		w, err := image.Open(path, func(w *ecs.World) { now = ecs.Register[newer](w) },
			append(more, image.Renamed("older", "newer"))...)
		require.NoError(t, err)
		for i, e := range all {
			if i%3 == 0 {
				require.False(t, w.Alive(e))
				continue
			}
			require.Equal(t, newer{int32(i), -int32(i)}, *now.Get(e))
			now.Set(e, newer{7, 8})
		}
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	}
}

// TestConvertFromATag: a function makes the values of entities that had a type without bytes.
func TestConvertFromATag(t *testing.T) {
	type wet struct{}
	type damp struct{ Percent [3]int64 }
	path := filepath.Join(t.TempDir(), "wet.world")
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	batch, err := ecs.NewArchetype(w, ecs.Register[wet](w)).CreateN(50)
	require.NoError(t, err)
	all := batch.Entities(nil)
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, w.Close())
	var now ecs.Component[damp]
	w, err = image.Open(path, func(w *ecs.World) { now = ecs.Register[damp](w) }, image.Renamed("wet", "damp"),
		image.Convert("wet", func(wet) damp { return damp{[3]int64{1, 2, 100}} }))
	require.NoError(t, err)
	for _, e := range all {
		require.Equal(t, damp{[3]int64{1, 2, 100}}, *now.Get(e))
	}
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
}
