package scene_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// Mesh is a blob, Shape a component with one, Model authoring data that has its text.
type (
	Mesh  struct{ Points blob.Array[float32] }
	Shape struct {
		N    int32
		Mesh blob.Blob[Mesh]
	}
	Model struct {
		N      int32
		Points []float32
	}
)

func registerShapes(w *ecs.World) {
	ecs.Register[Shape](w)
	blob.Register(w)
}

func newShapes(t *testing.T, options ...scene.Option) *scene.Bakery {
	b, err := scene.NewBakery(registerShapes, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	scene.SetPartRows(b, 2)
	scene.AddBaker(b, "model", func(c *scene.Context, m Model) error {
		mesh := blob.NewBuilder[Mesh]()
		copy(blob.Allocate(mesh, &mesh.Root().Points, len(m.Points)), m.Points)
		scene.Put(c, c.Entity(), Shape{m.N, scene.AddBlob(c, mesh)})
		return nil
	})
	return b
}

func models(points ...float32) (list []scene.Object) {
	for i, p := range points {
		list = append(list, scene.Object{ID: string(rune('a' + i)), Value: Model{int32(i), []float32{p, p + 1}}})
	}
	return list
}

// TestBlobs: sections have blobs of equal content once, parts and live links lead to them, and they
// go with the section.
func TestBlobs(t *testing.T) {
	folder := t.TempDir()
	b := newShapes(t)
	report, err := b.Bake(folder, models(1, 2, 1, 1, 2))
	require.NoError(t, err)
	require.Equal(t, 5+2, report.Sections[0].Entities)
	require.Equal(t, 3, report.Sections[0].Parts)

	w, err := ecs.NewWorld()
	require.NoError(t, err)
	host := scene.NewHost(w, registerShapes)
	host.LiveLink()
	checked := 0
	host.Check(func(w *ecs.World) error {
		_, err := blob.NewStore(w, blob.Type[Mesh]())
		checked++
		return err
	})
	path := filepath.Join(folder, "main.world")
	section := host.Load(path)
	settle := func() {
		for host.Update(0) {
			time.Sleep(50 * time.Microsecond)
		}
		require.NoError(t, section.Err())
		require.NoError(t, w.Verify())
		require.NoError(t, host.Verify())
	}
	settle()
	require.Equal(t, 1, checked)
	blobs, err := blob.NewStore(w, blob.Type[Mesh]())
	require.NoError(t, err)
	shape := ecs.Register[Shape](w)
	points := func(id string) []float32 {
		return shape.Get(section.Entity(id)).Mesh.Get(blobs).Points.Slice()
	}
	require.Equal(t, []float32{1, 2}, points("a"))
	require.Equal(t, []float32{2, 3}, points("e"))
	require.Equal(t, shape.Get(section.Entity("a")).Mesh, shape.Get(section.Entity("d")).Mesh)
	require.Equal(t, 3, shape.Get(section.Entity("a")).Mesh.Count(blobs))

	a, same := section.Entity("a"), shape.Get(section.Entity("d")).Mesh
	edited := models(7, 2, 1, 1, 2)
	_, err = b.Bake(folder, edited)
	require.NoError(t, err)
	section.Reload()
	settle()
	require.Equal(t, a, section.Entity("a"))
	require.Equal(t, []float32{7, 8}, points("a"))
	require.Equal(t, []float32{1, 2}, points("d"))
	require.Equal(t, same, shape.Get(section.Entity("d")).Mesh, "what did not change keeps its blob")
	require.NoError(t, blobs.Check())
	require.NoError(t, blobs.Verify())

	fresh := newShapes(t, scene.Workers(1))
	full := t.TempDir()
	_, err = fresh.Bake(full, edited)
	require.NoError(t, err)
	requireSame(t, readFolder(t, full), readFolder(t, folder))

	section.Unload()
	settle()
	require.Zero(t, ecs.NewQueryOfAll(w).Count())
	require.NoError(t, blobs.Verify())
	require.NoError(t, errors.Join(host.Close(), w.Close()))
}

// TestCheckRefuses: a section that the game's check refuses fails, and nothing of it comes.
func TestCheckRefuses(t *testing.T) {
	_, paths := bakeTown(t, newTown(1, 10), 5)
	g := newGame(t)
	g.host.Check(func(w *ecs.World) error {
		if ecs.NewQueryOfAll(w).Count() > 0 {
			return os.ErrInvalid
		}
		return nil
	})
	require.ErrorIs(t, g.fail(paths["main"]), os.ErrInvalid)
	require.Zero(t, ecs.NewQueryOfAll(g.w).Count())
}

// TestBlobsNeedTypes: a bakery whose function does not register the types of blobs returns that
// error.
func TestBlobsNeedTypes(t *testing.T) {
	b := newBakery(t)
	scene.AddBaker(b, "model", func(c *scene.Context, m Model) error {
		scene.AddBlob(c, blob.NewBuilder[Mesh]())
		return nil
	})
	_, err := b.Bake(t.TempDir(), models(1))
	require.ErrorContains(t, err, "scene: AddBlob: the types of blobs are not registered")
}
