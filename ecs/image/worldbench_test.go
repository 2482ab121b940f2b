package image_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/fileformat"

	"github.com/stretchr/testify/require"
)

// benchSizes are numbers of entities of 40 bytes; the large one takes 5 GB and runs if it is asked
// for.
func benchSizes() []int {
	if os.Getenv("QUARRY_LONG") != "" {
		return []int{1_000_000, 40_000_000}
	}
	return []int{1_000_000}
}

// savedTown saves a world and returns the path and its hash.
func savedTown(b testing.TB, n int) (path string, size int64) {
	u, err := alloc.NewUniverse(alloc.Size(8 << 30))
	require.NoError(b, err)
	m := newTown(b, n, ecs.WithUniverse(u))
	path = filepath.Join(b.TempDir(), "town.world")
	require.NoError(b, image.SaveFile(m.w, path))
	m.close(b)
	require.NoError(b, u.Close())
	info, err := os.Stat(path)
	require.NoError(b, err)
	return path, info.Size()
}

// BenchmarkOpen: the file of a world is opened, its rows counted and one of them read; all are
// read; all positions are written. Beside it, the file is loaded, checked and read by the system
// alone.
func BenchmarkOpen(b *testing.B) {
	for _, n := range benchSizes() {
		path, size := savedTown(b, n)
		do := func(name string, use func(m *town), options ...image.Option) {
			b.Run(fmt.Sprint(name, "/n=", n), func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					m := opened(b, path, options...)
					use(m)
					b.StopTimer()
					m.close(b)
					b.StartTimer()
				}
			})
		}
		do("open", func(m *town) {
			require.Equal(b, n, m.moving.Count())
			for rows := range m.moving.Rows() {
				require.Equal(b, 1.0, m.position.ReadOnly(rows)[0].Y)
				break
			}
		})
		do("trusted", func(m *town) {
			require.Equal(b, n, m.moving.Count())
			for rows := range m.moving.Rows() {
				require.Equal(b, 1.0, m.position.ReadOnly(rows)[0].Y)
				break
			}
		}, image.Trusted())
		do("checked", func(m *town) {}, image.Checked())
		do("read", func(m *town) {
			sum := 0.0
			for rows := range m.moving.Rows() {
				p, v := m.position.ReadOnly(rows), m.velocity.ReadOnly(rows)
				for i := range p {
					sum += p[i].X + v[i].Y
				}
			}
			require.Positive(b, sum)
		})
		do("write", func(m *town) { m.step() })
		do("writeinmemory", func(m *town) { m.step() }, image.InMemory())
		b.Run(fmt.Sprint("load/n=", n), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				f, err := os.Open(path)
				require.NoError(b, err)
				var m town
				_, err = image.Load(f, m.register)
				require.NoError(b, err)
				b.StopTimer()
				require.NoError(b, f.Close())
				m.close(b)
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprint("check/n=", n), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				require.NoError(b, image.Check(path))
			}
		})
		b.Run(fmt.Sprint("plainread/n=", n), func(b *testing.B) {
			b.SetBytes(size)
			buffer := make([]byte, 1<<20)
			for b.Loop() {
				f, err := os.Open(path)
				require.NoError(b, err)
				_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer)
				require.NoError(b, err)
				require.NoError(b, f.Close())
			}
		})
	}
}

// BenchmarkOpenPlain: the file of a world of one archetype of 40 bytes, without buffers, sparse
// types and names, is opened and looked at, or all its positions are written.
func BenchmarkOpenPlain(b *testing.B) {
	const n = 1_000_000
	path := filepath.Join(b.TempDir(), "plain.world")
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	positions := ecs.Register[position](w)
	_, err = ecs.NewArchetype(w, positions, ecs.Register[velocity](w), ecs.Register[mark](w)).CreateN(n)
	require.NoError(b, err)
	require.NoError(b, image.SaveFile(w, path))
	require.NoError(b, w.Close())
	open := func(b *testing.B, options ...image.Option) (*ecs.World, *ecs.Query) {
		var q *ecs.Query
		w, err := image.Open(path, func(w *ecs.World) {
			positions = ecs.Register[position](w)
			ecs.Register[velocity](w)
			ecs.Register[mark](w)
			q = ecs.NewQuery(w, ecs.Write(positions))
		}, options...)
		require.NoError(b, err)
		return w, q
	}
	for name, option := range map[string]image.Option{
		"checked": func(*fileformat.Settings) {}, "trusted": image.Trusted(), "inmemory": image.InMemory(),
	} {
		b.Run("look/"+name, func(b *testing.B) {
			for b.Loop() {
				w, q := open(b, option)
				sum := float64(q.Count())
				for rows := range q.Rows() {
					sum += positions.ReadOnly(rows)[0].X
					break
				}
				b.StopTimer()
				require.EqualValues(b, n, sum)
				require.NoError(b, w.Close())
				b.StartTimer()
			}
		})
		b.Run("write/"+name, func(b *testing.B) {
			for b.Loop() {
				w, q := open(b, option)
				for rows := range q.Rows() {
					list := positions.Slice(rows)
					for i := range list {
						list[i] = position{1, 2}
					}
				}
				b.StopTimer()
				require.NoError(b, w.Close())
				b.StartTimer()
			}
		})
	}
	arrays := func() { readToArrays(b, path, n) }
	b.Run("arrays", func(b *testing.B) {
		for b.Loop() {
			arrays()
		}
	})
	b.Run("inmemory/arrays", func(b *testing.B) {
		inTurns(b, arrays, func() *ecs.World {
			w, q := open(b, image.InMemory())
			for rows := range q.Rows() {
				list := positions.Slice(rows)
				for i := range list {
					list[i] = position{1, 2}
				}
			}
			return w
		})
	})
}

// readToArrays reads the bytes of n rows of 40 bytes and writes 16 of each.
func readToArrays(b *testing.B, path string, n int) {
	f, err := os.Open(path)
	require.NoError(b, err)
	all := make([]byte, 40*n)
	_, err = io.ReadFull(f, all)
	require.NoError(b, err)
	p := unsafe.Slice((*position)(unsafe.Pointer(&all[0])), n) // Safe because positions have no pointers.
	for i := range p {
		p[i] = position{1, 2}
	}
	require.NoError(b, f.Close())
}

// inTurns runs both in turns and reports their medians, and the ratio.
func inTurns(b *testing.B, arrays func(), inMemory func() *ecs.World) {
	var took [2][]float64 // ms
	timed := func(i int, f func()) {
		start := time.Now()
		f()
		took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/1e6)
	}
	for b.Loop() {
		timed(0, arrays)
		var w *ecs.World
		timed(1, func() { w = inMemory() })
		require.NoError(b, w.Close())
	}
	for i := range took {
		slices.Sort(took[i])
	}
	of := func(i int) float64 { return took[i][len(took[i])/2] }
	b.ReportMetric(of(0), "arrays-ms")
	b.ReportMetric(of(1), "inmemory-ms")
	b.ReportMetric(of(1)/of(0), "ratio")
}
