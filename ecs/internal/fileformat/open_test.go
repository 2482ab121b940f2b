package fileformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// fakePath returns the path of the file of a fake image.
func fakePath(t testing.TB, seed uint64, size [worldfile.ImageBulk]int) string {
	path := filepath.Join(t.TempDir(), "world")
	require.NoError(t, Replace(disk.FileSystem{}, fakeImage(seed, size), path))
	return path
}

// openScanned is Open, and a scan of the records, as programs open files.
func openScanned(path string, check bool) (*worldfile.File, io.Closer, error) {
	f, closer, err := Open(path, check)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Scan(worldfile.ImageRecords, func(int, []byte) error { return nil }); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), closer.Close())
	}
	return f, closer, nil
}

// TestScanAndFill: they give the bytes of a part; a flip in any MiB is named, whatever visit makes
// of other MiBs, and without one the error of visit for the first MiB is returned.
func TestScanAndFill(t *testing.T) {
	size := [worldfile.ImageBulk]int{4 * granuleBytes, 5*sumEvery + 512, 0}
	path := fakePath(t, 7, size)
	f, closer, err := Open(path, false)
	require.NoError(t, err)
	defer closer.Close()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	for part, n := range size[:worldfile.ImageEntries] {
		want, all, scanned := make([]byte, n), make([]byte, n), make([]byte, n)
		require.NoError(t, fakeImage(7, size).Read(part, 0, want))
		require.NoError(t, f.Fill(part, all))
		require.NoError(t, f.Scan(part, func(at int, b []byte) error { copy(scanned[at:], b); return nil }))
		require.True(t, bytes.Equal(want, all) && bytes.Equal(want, scanned))
		refusal := func(at int) error { return fmt.Errorf("not this: %d", at/sumEvery) }
		require.EqualError(t, f.Scan(part, func(at int, _ []byte) error { return refusal(at) }), "not this: 0")
		for mib := range (n + sumEvery - 1) / sumEvery {
			at := f.At[part] + int64(mib*sumEvery+11)
			_, err := file.WriteAt([]byte{^want[mib*sumEvery+11]}, at)
			require.NoError(t, err)
			for _, err := range []error{f.Fill(part, all), f.Scan(part, func(int, []byte) error { return errTest })} {
				require.ErrorIs(t, err, worldfile.ErrImage)
				require.ErrorContains(t, err, fmt.Sprintf("is damaged between bytes %d and ", at-11))
			}
			_, err = file.WriteAt(want[mib*sumEvery+11:][:1], at)
			require.NoError(t, err)
		}
	}
}

// TestOpenWhatWasSaved: all sections are there, and the offsets are those of the bulk parts.
func TestOpenWhatWasSaved(t *testing.T) {
	for _, size := range testSizes {
		path := fakePath(t, 7, size)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, whole := range []bool{false, true} {
			for _, piece := range testPieces() {
				f, closer, err := openScanned(path, whole)
				require.NoError(t, err)
				readAll(t, f, fakeImage(7, size), piece)
				for part, at := range f.At {
					if part != worldfile.ImageEntries {
						require.Zero(t, at%granuleBytes)
					}
					if n := min(size[part], 16); n > 0 {
						b := make([]byte, n)
						_, err := f.Map.ReadAt(b, at)
						require.NoError(t, err)
						require.Equal(t, file[at:at+int64(n)], b)
					}
				}
				require.NoError(t, closer.Close())
			}
		}
		require.NoError(t, CheckFile(path))
	}
}

// TestEntriesWithoutRows: where rows and records are mapped, entries are all that is read.
func TestEntriesWithoutRows(t *testing.T) {
	f, closer, err := openScanned(fakePath(t, 7, mixed), false)
	require.NoError(t, err)
	defer closer.Close()
	b := make([]byte, mixed[worldfile.ImageEntries])
	require.NoError(t, f.Read(worldfile.ImageEntries, 0, b))
	want := make([]byte, len(b))
	require.NoError(t, fakeImage(7, mixed).Read(worldfile.ImageEntries, 0, want))
	require.True(t, bytes.Equal(want, b))
}

// TestReadsAreInOrder: bytes that are not the next ones, twice the same, or more than there are.
func TestReadsAreInOrder(t *testing.T) {
	f, closer, err := openScanned(fakePath(t, 7, mixed), false)
	require.NoError(t, err)
	defer closer.Close()
	file, _ := fakeFile(t, 7, mixed)
	for name, open := range map[string]func() *worldfile.File{
		"file": func() *worldfile.File { return f },
		"stream": func() *worldfile.File {
			f, _, err := Load(bytes.NewReader(file))
			require.NoError(t, err)
			return f
		},
	} {
		f := open()
		b := make([]byte, granuleBytes)
		require.ErrorContains(t, f.Read(worldfile.ImageRows, sumEvery, b),
			"section rows: 2097152 bytes from its byte 1048576 on are read, the next is 0 of 4194304", name)
		require.NoError(t, f.Read(worldfile.ImageRows, 0, b))
		require.ErrorContains(t, f.Read(worldfile.ImageRows, 0, b), "the next is 2097152 of 4194304", name)
		require.ErrorContains(t, f.Read(worldfile.ImageRows, granuleBytes, make([]byte, granuleBytes+1)),
			"2097153 bytes from its byte 2097152 on", name)
		require.NoError(t, f.Read(worldfile.ImageRows, granuleBytes, b), name)
	}
	s, finish, err := Load(bytes.NewReader(file))
	require.NoError(t, err)
	require.ErrorContains(t, s.Read(worldfile.ImageEntries, 0, make([]byte, 8)),
		"section entries is read, and rows only up to its byte 0 of 4194304")
	require.Error(t, finish())
	s, finish, err = Load(bytes.NewReader(file))
	require.NoError(t, err)
	require.NoError(t, s.Read(worldfile.ImageRows, 0, make([]byte, granuleBytes)))
	require.ErrorContains(t, finish(), "section sums is read, and rows only up to its byte 2097152 of 4194304")
	require.ErrorIs(t, finish(), errFinished)
	require.ErrorIs(t, s.Read(worldfile.ImageRows, granuleBytes, make([]byte, granuleBytes)), errFinished)
}

// TestManyRecordsAreChecked: enough for several goroutines, a flip in any MiB is named.
func TestManyRecordsAreChecked(t *testing.T) {
	const mibs = 20
	size := [worldfile.ImageBulk]int{0, mibs*sumEvery - 8, 0}
	path := fakePath(t, 7, size)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	h := header{plan: planOf(lengthsOf(fakeImage(7, size)))}
	for mib := range mibs {
		at := h.at[firstBulk+worldfile.ImageRecords] + int64(mib*sumEvery+999)
		var was [1]byte
		_, err := f.ReadAt(was[:], at)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte{^was[0]}, at)
		require.NoError(t, err)
		_, _, err = openScanned(path, false)
		require.ErrorIs(t, err, worldfile.ErrImage)
		require.ErrorContains(t, err, fmt.Sprintf("section records is damaged between bytes %d and ", at-999))
		_, err = f.WriteAt(was[:], at)
		require.NoError(t, err)
	}
	_, closer, err := openScanned(path, false)
	require.NoError(t, err)
	require.NoError(t, closer.Close())
}

// TestNoFile: what is not there, a folder, and files that are too short to have a header.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	open := func(path string) []error {
		_, _, plain := openScanned(path, false)
		_, _, whole := openScanned(path, true)
		return []error{plain, whole, CheckFile(path)}
	}
	for _, err := range open(filepath.Join(dir, "none")) {
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NotErrorIs(t, err, worldfile.ErrImage)
	}
	for _, path := range []string{dir, os.DevNull} {
		for _, err := range open(path) {
			require.ErrorIs(t, err, worldfile.ErrImage)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "it is no regular file, but ")
		}
	}
	for n := range 20 {
		path := filepath.Join(dir, "short")
		require.NoError(t, os.WriteFile(path, make([]byte, n*n), 0o600))
		for _, err := range open(path) {
			require.ErrorIs(t, err, worldfile.ErrImage)
			require.ErrorContains(t, err, fmt.Sprintf("it ends in the header, after %d bytes", n*n))
		}
	}
}

// TestFileThatIsCut: the file loses bytes after it was opened.
func TestFileThatIsCut(t *testing.T) {
	path := fakePath(t, 7, mixed)
	f, closer, err := openScanned(path, false)
	require.NoError(t, err)
	defer closer.Close()
	require.NoError(t, os.Truncate(path, f.At[worldfile.ImageRows]+100))
	err = f.Read(worldfile.ImageRows, 0, make([]byte, granuleBytes))
	require.ErrorIs(t, err, worldfile.ErrImage)
	require.ErrorContains(t, err, fmt.Sprintf("it ends after %d bytes: it was cut while it was read",
		f.At[worldfile.ImageRows]+100))
}

// failingAt gives the bytes of a file up to one, and an error for reads behind it.
type failingAt struct {
	file *bytes.Reader
	at   int64
}

func (f failingAt) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.at {
		return 0, errTest
	}
	return f.file.ReadAt(b, at)
}

// TestReadErrorWhileOpening: an error of the system comes back from each read, and is no verdict.
func TestReadErrorWhileOpening(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	open := func(at int64) error {
		r := &reader{r: failingAt{bytes.NewReader(file), at}}
		_, err := r.open(h.total)
		if err == nil {
			err = r.scan(worldfile.ImageRecords, func(int, []byte) error { return nil })
		}
		return err
	}
	for _, at := range []int64{0, headerBytes, h.at[3], h.at[firstBulk], h.total - 1} {
		err := open(at)
		require.True(t, errors.Is(err, errTest) && !errors.Is(err, worldfile.ErrImage), err)
		require.ErrorIs(t, Check(failingAt{bytes.NewReader(file), at}, h.total), errTest)
	}
	require.NoError(t, open(h.total))
}
