package image_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// narrowBody is a type of a file, wideBody what it has become.
type (
	narrowBody struct {
		X, Y, Z float32
		Kind    int32
	}
	wideBody struct {
		Kind    int64
		X, Y, Z float64
	}
)

// BenchmarkOpenConverted: the file of a million entities is opened whose type of 16 bytes is the
// same, has become one of 32, field by field or by a function, or is dropped. Beside them are 24
// bytes of other types, which stay.
func BenchmarkOpenConverted(b *testing.B) {
	const n = 1_000_000
	path := filepath.Join(b.TempDir(), "bodies.world")
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	body := ecs.Register[narrowBody](w)
	a := ecs.NewArchetype(w, body, ecs.Register[velocity](w), ecs.Register[mark](w))
	batch, err := a.CreateN(n)
	require.NoError(b, err)
	at := int32(0)
	for rows := range batch.Rows() {
		for i := range body.Slice(rows) {
			body.Slice(rows)[i] = narrowBody{float32(at), 1, 2, at}
			at++
		}
	}
	require.NoError(b, image.SaveFile(w, path))
	require.NoError(b, w.Close())
	others := func(w *ecs.World) { ecs.Register[velocity](w); ecs.Register[mark](w) }
	var wide ecs.Component[wideBody]
	changed := func(w *ecs.World) {
		others(w)
		wide = ecs.Register[wideBody](w)
	}
	for _, c := range []struct {
		name     string
		register func(*ecs.World)
		options  []image.Option
	}{
		{"same", func(w *ecs.World) { others(w); ecs.Register[narrowBody](w) }, nil},
		{"fields", changed, []image.Option{image.Renamed("narrowBody", "wideBody")}},
		{"function", changed, []image.Option{image.Renamed("narrowBody", "wideBody"),
			image.Convert("narrowBody", func(v narrowBody) wideBody {
				return wideBody{int64(v.Kind), float64(v.X), float64(v.Y), float64(v.Z)}
			})}},
		{"dropped", others, []image.Option{image.Drop("narrowBody")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(n * 40)
			for b.Loop() {
				w, err := image.Open(path, c.register, c.options...)
				require.NoError(b, err)
				b.StopTimer()
				if c.name == "fields" || c.name == "function" {
					e := ecs.NewQuery(w, ecs.Read(wide)).Count()
					require.Equal(b, n, e)
				}
				require.NoError(b, w.Close())
				b.StartTimer()
			}
		})
	}
}
