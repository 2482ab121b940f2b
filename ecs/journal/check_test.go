package journal

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/ecs/image"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// rotten is a disk that changes a bit of the files that it writes whose first bytes are given.
type rotten struct {
	disk.FileSystem
	first atomic.Pointer[string] // nil: of none
	rots  atomic.Int64
}

func (d *rotten) Create(path string) (disk.File, error) {
	f, err := d.FileSystem.Create(path)
	return &rottenFile{f, d, nil}, err
}

type rottenFile struct {
	disk.File
	d     *rotten
	first []byte
}

func (f *rottenFile) Write(b []byte) (int, error) {
	want := f.d.first.Load()
	if f.first == nil {
		f.first = bytes.Clone(b)
	}
	if want == nil || !strings.HasPrefix(string(f.first), *want) {
		return f.File.Write(b)
	}
	f.d.rots.Add(1)
	b = bytes.Clone(b)
	b[len(b)-1] ^= 4
	return f.File.Write(b)
}

// TestBaseIsReadBack: a new base or log that is not on the disk as it was written does not replace
// what is there; the journal goes on, and later ones do.
func TestBaseIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		first  string
		rebase bool
	}{"base of Rebase": {"\x89quarry\n", true}, "base of Compact": {"\x89quarry\n", false}, "log": {logMagic, false}} {
		t.Run(name, func(t *testing.T) {
			d, folder := new(rotten), t.TempDir()
			m, j, err := openCounters(d, folder, SyncEach(), CompactAt(0))
			require.NoError(t, err)
			m.step(t, 1)
			require.NoError(t, j.Commit())
			d.first.Store(&c.first)
			if c.rebase {
				require.Error(t, j.Rebase())
			} else {
				require.Error(t, compacted(j).Compaction)
			}
			require.Positive(t, d.rots.Load())
			require.Zero(t, j.Status().Base)
			list, err := d.List(folder)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{baseName(0), lockName, logName(0)}, list)
			m.step(t, 2)
			d.first.Store(nil)
			_ = j.Commit() // which tries again after 100 ms
			require.NoError(t, j.Sync())
			last, hash := j.Status().Committed, m.w.Hash()
			found, err := Check(folder)
			require.NoError(t, err)
			require.Equal(t, last, found.Commit)
			require.NoError(t, compacted(j).Compaction)
			require.NoError(t, j.Close())
			require.NoError(t, m.w.Close())
			isAt(t, folder, last, hash)
		})
	}
}

// namesAndBytes returns what a folder has.
func namesAndBytes(t testing.TB, folder string) map[string]string {
	all := map[string]string{}
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(b)
	}
	return all
}

// TestCheckOfEveryFlip: Check finds each byte that has changed, in base or log, unless a crash may
// have cut the log there; it changes nothing.
func TestCheckOfEveryFlip(t *testing.T) {
	base, log, _, ends := written(t)
	folder := t.TempDir()
	write := func(base, log []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
	}
	write(base, log)
	before := namesAndBytes(t, folder)
	found, err := Check(folder)
	require.NoError(t, err)
	require.Equal(t, Opened{Records: 5, Commit: 5}, found)
	require.Equal(t, before, namesAndBytes(t, folder), "no lock either")
	for at := 0; at < len(log); at += 4 * sparsely() {
		damaged := bytes.Clone(log)
		damaged[at] ^= 1 << (at % 8)
		write(base, damaged)
		found, err := Check(folder)
		if int64(at) >= ends[4] {
			require.NoError(t, err, "the mark")
			require.EqualValues(t, recordHeaderBytes, found.Cut)
			require.ErrorIs(t, found.Why, ErrLog)
			continue
		}
		require.ErrorIs(t, err, ErrLog, at)
		require.NotErrorIs(t, err, image.ErrFile)
	}
	for at := 0; at < len(base); at += len(base)/50 + 1 {
		damaged := bytes.Clone(base)
		damaged[at] ^= 1 << (at % 8)
		write(damaged, log)
		_, err := Check(folder)
		require.ErrorIs(t, err, image.ErrFile, at)
		require.ErrorContains(t, err, baseName(0))
	}
	write(base[:len(base)-1], log[:len(log)-recordHeaderBytes-1])
	found, err = Check(folder)
	require.ErrorIs(t, err, image.ErrFile)
	require.ErrorIs(t, err, ErrLog, "the log names another base")
	require.Equal(t, 4, found.Records, "it is read nevertheless")
	require.NoError(t, os.Remove(filepath.Join(folder, logName(0))))
	found, err = Check(folder)
	require.ErrorIs(t, err, image.ErrFile)
	require.True(t, found.NoLog)
	write(base, nil)
	_, err = Check(folder)
	require.ErrorIs(t, err, ErrLog)
	require.NoError(t, os.Remove(filepath.Join(folder, logName(0))))
	found, err = Check(folder)
	require.NoError(t, err)
	require.Equal(t, Opened{NoLog: true}, found)
	m, viewed, err := viewCounters(folder)
	require.NoError(t, err)
	require.NoError(t, m.w.Close())
	require.Equal(t, Opened{NoLog: true}, viewed)
	_, j, err := openCounters(disk.FileSystem{}, folder)
	require.NoError(t, err)
	require.Equal(t, Opened{NoLog: true}, j.Opened())
	require.NoError(t, j.Close())
	require.NoError(t, os.Remove(filepath.Join(folder, logName(0))))
	require.NoError(t, os.Remove(filepath.Join(folder, baseName(0))))
	_, err = Check(folder)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Check(filepath.Join(folder, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
