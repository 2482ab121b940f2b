package fileformat

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// benchSize is 256 MiB of rows, records of a million ids, and some entries.
var benchSize = [worldfile.ImageBulk]int{256 << 20, 8 << 20, 1 << 20}

// benchImage is an image whose Read copies memory.
func benchImage() *worldfile.Image {
	img := fakeImage(1, benchSize)
	source := make([]byte, 256<<20)
	fakeBytes(1, 0, source)
	img.Read = func(_, at int, dst []byte) error {
		copy(dst, source[at:])
		return nil
	}
	return img
}

func benchBytes(img *worldfile.Image) int64 {
	p := planOf(lengthsOf(img))
	return p.total
}

func BenchmarkSaveDiscard(b *testing.B) {
	img := benchImage()
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		require.NoError(b, Save(img, io.Discard))
	}
}

// BenchmarkSavePageCache overwrites a file whose pages the system has.
func BenchmarkSavePageCache(b *testing.B) {
	img := benchImage()
	f, err := os.Create(filepath.Join(b.TempDir(), "world"))
	require.NoError(b, err)
	defer f.Close()
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		_, err := f.Seek(0, io.SeekStart)
		require.NoError(b, err)
		require.NoError(b, Save(img, f))
	}
}

// BenchmarkSaveNew writes a new file, without asking for a disk.
func BenchmarkSaveNew(b *testing.B) {
	img := benchImage()
	path := filepath.Join(b.TempDir(), "world")
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		b.StopTimer()
		_ = os.Remove(path)
		b.StartTimer()
		f, err := os.Create(path)
		require.NoError(b, err)
		require.NoError(b, Save(img, f))
		require.NoError(b, f.Close())
	}
}

// BenchmarkCopy is cp of the same file: reading it and writing another, 1 MiB at once.
func BenchmarkCopy(b *testing.B) {
	img := benchImage()
	dir := b.TempDir()
	from, err := os.Create(filepath.Join(dir, "from"))
	require.NoError(b, err)
	defer from.Close()
	require.NoError(b, Save(img, from))
	buffer := make([]byte, 1<<20)
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		b.StopTimer()
		_ = os.Remove(filepath.Join(dir, "to"))
		_, err := from.Seek(0, io.SeekStart)
		require.NoError(b, err)
		b.StartTimer()
		to, err := os.Create(filepath.Join(dir, "to"))
		require.NoError(b, err)
		_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, buffer)
		require.NoError(b, err)
		require.NoError(b, to.Close())
	}
}

// BenchmarkSaveFile waits for the disk.
func BenchmarkSaveFile(b *testing.B) {
	img := benchImage()
	path := filepath.Join(b.TempDir(), "world")
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		require.NoError(b, Replace(disk.FileSystem{}, img, path))
	}
}

// BenchmarkSaveTurns saves beside plain writes of as many bytes of memory, as C's write makes them,
// in turns: until the system has them, and until they are on the disk. It prints medians of both
// and their ratios.
func BenchmarkSaveTurns(b *testing.B) {
	img := benchImage()
	dir := b.TempDir()
	plain := make([]byte, benchBytes(img))
	fakeBytes(2, 0, plain)
	var took [4][]float64 // ms
	for b.Loop() {
		for i, do := range []func(f *os.File) error{
			func(f *os.File) error { _, err := f.Write(plain); return err },
			func(f *os.File) error { return Save(img, f) },
			func(f *os.File) error {
				if _, err := f.Write(plain); err != nil {
					return err
				}
				return f.Sync()
			},
			func(f *os.File) error { return Replace(disk.FileSystem{}, img, f.Name()+"2") },
		} {
			path := filepath.Join(dir, "world")
			f, err := os.Create(path)
			require.NoError(b, err)
			start := time.Now()
			require.NoError(b, do(f))
			took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/1e6)
			require.NoError(b, f.Sync()) // so that the next does not wait for this one's pages
			require.NoError(b, f.Close())
			_ = os.Remove(path)
			_ = os.Remove(path + "2")
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	of := func(i int) float64 { return took[i][len(took[i])/2] }
	b.ReportMetric(of(0), "write-ms")
	b.ReportMetric(of(1), "save-ms")
	b.ReportMetric(of(1)/of(0), "ratio")
	b.ReportMetric(of(2), "write-disk-ms")
	b.ReportMetric(of(3), "save-disk-ms")
	b.ReportMetric(of(3)/of(2), "ratio-disk")
}

// BenchmarkOpen reads what Open checks: the records of a million and of 40 million ids, from
// the page cache.
func BenchmarkOpen(b *testing.B) {
	for name, ids := range map[string]int{"1M": 1e6, "40M": 40e6} {
		b.Run(name, func(b *testing.B) {
			img := benchImage()
			img.Size[worldfile.ImageRecords] = 8 * ids
			img.Read = func(int, int, []byte) error { return nil }
			path := filepath.Join(b.TempDir(), "world")
			require.NoError(b, Replace(disk.FileSystem{}, img, path))
			for b.Loop() {
				_, closer, err := openScanned(path, false)
				require.NoError(b, err)
				require.NoError(b, closer.Close())
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	img := benchImage()
	var file bytes.Buffer
	file.Grow(int(benchBytes(img)))
	require.NoError(b, Save(img, &file))
	into := make([]byte, benchSize[0])
	fakeBytes(1, 0, into) // so that its pages are there
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		f, finish, err := Load(bytes.NewReader(file.Bytes()))
		require.NoError(b, err)
		for part, n := range f.Size {
			require.NoError(b, f.Read(part, 0, into[:n]))
		}
		require.NoError(b, finish())
	}
}

// BenchmarkCheck reads a file whose pages the system has.
func BenchmarkCheck(b *testing.B) {
	img := benchImage()
	f, err := os.Create(filepath.Join(b.TempDir(), "world"))
	require.NoError(b, err)
	defer f.Close()
	require.NoError(b, Save(img, f))
	b.SetBytes(benchBytes(img))
	for b.Loop() {
		require.NoError(b, Check(f, benchBytes(img)))
	}
}
