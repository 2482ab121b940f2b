package worldfile_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// hostileRules are rules under which files are opened.
var hostileRules = map[string]*worldfile.Rules{
	"none": nil,
	"keep": {KeepUnknown: true},
	"drop": {Drop: []string{"Position", "imageAge"}, DropUnknown: true},
	"some": {Drop: []string{"Hit", "imageZone"}, KeepUnknown: true, KeepEntities: true},
}

// TestLies: with any bytes in the described sections of a file, and right checksums, it is
// described, planned and opened, or refused by an error, and takes no more Go memory than a file of
// some MiB may. What is opened is sound.
func TestLies(t *testing.T) {
	f := imageFile(t, 12)
	u := ecstest.NewUniverse(t, 64<<20)
	for name, lie := range imageLies {
		t.Run(name, func(t *testing.T) {
			bad := *f
			bad.Meta, bad.Compare = lie(f.Meta), true
			size := 0
			for _, section := range bad.Meta {
				size += len(section)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := worldfile.DescribeImage(&bad)
			t.Log("describe:", short(err))
			_, err = worldfile.PlanBetween(&bad, &bad)
			t.Log("plan:", short(err))
			for rules, r := range hostileRules {
				bad.Rules = r
				for _, register := range []func(w *ecs.World){func(w *ecs.World) { new(imaged).register(w, true) },
					func(*ecs.World) {}} {
					w, err := door.OpenImage(&bad, register, []ecs.Option{ecs.WithUniverse(u)})
					t.Log(rules, short(err))
					if err != nil {
						require.True(t, errors.Is(err, worldfile.ErrImage) || errors.Is(err, worldfile.ErrImageTypes) ||
							errors.Is(err, ecs.ErrLimit), "%v", err)
						continue
					}
					require.NoError(t, w.Verify())
					w.Clear()
					require.NoError(t, w.Verify())
					require.NoError(t, w.Close())
				}
			}
			runtime.ReadMemStats(&after)
			taken := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d MiB of Go memory, in all, for %d KiB", taken, size>>10)
			require.Less(t, taken, uint64(512+size>>10)) // ten openings
			require.Zero(t, u.Stats().LiveChunks)
		})
	}
}

// short returns the beginning of an error's text, quoted: it may have bytes that are hostile.
func short(err error) string {
	if err == nil {
		return "nil"
	}
	return strconv.Quote(err.Error()[:min(len(err.Error()), 150)])
}

// TestStreamOfMuch: a stream whose header announces terabytes is refused before memory is taken for
// them.
func TestStreamOfMuch(t *testing.T) {
	for part := range worldfile.ImageBulk {
		f := *imageFile(t, 12)
		f.Size[part] = 1 << 46
		f.Read = func(part, at int, dst []byte) error { return errors.New("there is nothing") }
		var m imaged
		_, err := door.OpenImage(&f, func(w *ecs.World) { m.register(w, false) }, nil)
		require.Error(t, err)
	}
}

// TestRowBlocksFarApart: a world that has many more rows once keeps a chunk whose row blocks have
// high numbers. In a file of it they get low ones, and nothing else changes.
func TestRowBlocksFarApart(t *testing.T) {
	var m imaged
	u := ecstest.NewUniverse(t, 256<<20)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	m.register(w, false)
	many, err := ecs.NewArchetype(m.w, m.flag).CreateN(1200 << 11)
	require.NoError(t, err)
	gone := many.Entities(nil)
	batch, err := ecs.NewArchetype(m.w, m.position).CreateN(3000)
	require.NoError(t, err)
	last := batch.Entities(nil)
	for i, e := range last {
		m.position.Set(e, ecstest.Position{X: float64(i), Y: 0})
	}
	m.w.DestroyList(gone)
	m.w.Shrink(0)
	s := m.w.Snapshot()
	o := opened(t, ecstest.NewFile(t, s), false)
	require.NoError(t, o.w.Verify())
	require.Equal(t, s.Hash(), o.w.Hash())
	for i, e := range last {
		require.Equal(t, ecstest.Position{X: float64(i), Y: 0}, *o.position.Get(e))
	}
	require.Less(t, rowBlocksOf(o.w), 64)
	require.GreaterOrEqual(t, rowBlocksOf(m.w), 1200)
	s.Close()
	require.NoError(t, m.w.Close())
}
