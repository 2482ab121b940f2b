package journal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// bigCounter is what counters of a newer program have.
type bigCounter struct {
	More  int32
	Value int64
}

var bigRules = []Option{Base(image.Renamed("int64", "bigCounter"), image.RenamedField("bigCounter", "", "Value")),
	SyncEach(), CompactAt(0)}

// openBig opens a journal of counters in the newer program.
func openBig(d disk.Disk, folder string, options ...Option) (value ecs.Component[bigCounter], j *Journal, err error) {
	register := func(w *ecs.World) { value = ecs.Register[bigCounter](w) }
	j, err = open(d, folder, register, settingsOf("Open", register, append(options, bigRules...)))
	return value, j, err
}

// sumOfBig returns the sum of all counters.
func sumOfBig(w *ecs.World, value ecs.Component[bigCounter]) (sum int64) {
	q := ecs.NewQuery(w, ecs.Read(value))
	defer q.Close()
	for rows := range q.Rows() {
		for _, v := range value.Slice(rows) {
			sum += v.Value
		}
	}
	return sum
}

// sumOf is sumOfBig for the older program.
func (m *counters) sum() (sum int64) {
	for rows := range m.q.Rows() {
		for _, v := range m.value.Slice(rows) {
			sum += v
		}
	}
	return sum
}

// TestJournalUpgradeEveryFailure refuses each call to the system while a journal with records is
// opened in a program whose types have changed: nothing is open then, and one of the programs opens
// the journal, with all of it.
func TestJournalUpgradeEveryFailure(t *testing.T) {
	base, log, _, _ := written(t)
	folderOf := func() string {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
		return folder
	}
	m, j, err := openCounters(disk.FileSystem{}, folderOf())
	require.NoError(t, err)
	want := m.sum()
	require.NotZero(t, want)
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	count := &faulty{left: -1}
	value, j, err := openBig(count, folderOf())
	require.NoError(t, err)
	require.Equal(t, want, sumOfBig(j.World(), value))
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
	older, newer := 0, 0
	folder := ""
	for at := range count.calls {
		require.NoError(t, os.RemoveAll(folder)) // all together they fill a small disk
		folder = folderOf()
		value, j, err := openBig(&faulty{left: at, why: syscall.EIO}, folder)
		if err == nil {
			require.Equal(t, want, sumOfBig(j.World(), value))
			_ = j.Close() // the disk fails
			require.NoError(t, j.World().Close())
			continue
		}
		require.ErrorIs(t, err, syscall.EIO)
		if _, missing := os.Stat(filepath.Join(folder, logName(0))); missing == nil {
			if _, missing := os.Stat(filepath.Join(folder, logName(6))); missing != nil {
				m, j, err := openCounters(disk.FileSystem{}, folder)
				require.NoError(t, err, "call %d", at)
				require.Equal(t, want, m.sum())
				require.NoError(t, j.Close())
				require.NoError(t, m.w.Close())
				older++
				continue
			}
		}
		value, j, err = openBig(disk.FileSystem{}, folder)
		require.NoError(t, err, "call %d", at)
		require.Equal(t, want, sumOfBig(j.World(), value))
		require.NoError(t, j.Close())
		require.NoError(t, j.World().Close())
		newer++
	}
	require.Greater(t, older, 10)
	require.Greater(t, newer, 1)
}

// TestJournalUpgradeWithoutMemory: memory that runs out while records are applied or converted
// leaves nothing open.
func TestJournalUpgradeWithoutMemory(t *testing.T) {
	base, log, _, _ := written(t)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
	small, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	var taken []alloc.ChunkIndex
	for {
		c, _, err := small.Alloc(1)
		if err != nil {
			break
		}
		taken = append(taken, c)
	}
	_, _, err = openBig(disk.FileSystem{}, folder, Base(image.Into(small)))
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Equal(t, len(taken), small.Stats().LiveChunks)
	for _, c := range taken {
		small.Free(c, 1)
	}
	require.NoError(t, small.Close())
	m, j, err := openCounters(disk.FileSystem{}, folder)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
}
