package journal

import (
	"os"
	"syscall"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs/image"
	"quarry/internal/debug"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// count changes all values and makes no entity.
func (m *counters) count(by int64) {
	for rows := range m.q.Rows() {
		for i := range m.value.Slice(rows) {
			m.value.Slice(rows)[i] += by
		}
	}
}

// isAt requires that a folder has the state of a commit.
func isAt(t *testing.T, folder string, commit, hash uint64) {
	m, j, err := openCounters(disk.FileSystem{}, folder)
	require.NoError(t, err)
	require.Equal(t, commit, j.Opened().Commit)
	require.Equal(t, hash, m.w.Hash())
	require.NoError(t, m.w.Verify())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
}

// compacted compacts and waits until that has ended.
func compacted(j *Journal) Status {
	j.Compact()
	for j.Status().Compacting {
		time.Sleep(time.Millisecond)
	}
	return j.Status()
}

// TestJournalOfAFullDisk: commits on a full disk return an error and are not lost; with room again
// the next one has all that changed, in the same log. A compaction on a full disk leaves the log as
// it is.
func TestJournalOfAFullDisk(t *testing.T) {
	d, folder := &faulty{left: -1, why: syscall.ENOSPC}, t.TempDir()
	m, j, err := openCounters(d, folder, SyncEach(), CompactAt(0))
	require.NoError(t, err)
	m.step(t, 1)
	require.NoError(t, j.Commit())
	before := j.Status().LogBytes
	d.fill()
	for number := range 5 {
		m.step(t, number)
		err := j.Commit()
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NotErrorIs(t, err, ErrRebase)
		require.EqualValues(t, 1, j.Acknowledged())
	}
	require.ErrorIs(t, j.Sync(), syscall.ENOSPC)
	require.ErrorIs(t, j.Status().Err, syscall.ENOSPC)
	info, err := os.Stat(j.path(logName(0)))
	require.NoError(t, err)
	require.Equal(t, before, info.Size(), "halves of records were cut off")
	d.mend()
	require.NoError(t, j.Sync())
	s := j.Status()
	require.EqualValues(t, 6, s.Acknowledged)
	require.EqualValues(t, 4, s.Joined)
	require.Zero(t, s.Base, "the log goes on")
	m.step(t, 7)
	require.NoError(t, j.Commit())

	d.fill()
	s = compacted(j)
	require.ErrorIs(t, s.Compaction, syscall.ENOSPC)
	require.Zero(t, s.Base)
	require.NoError(t, s.Err)
	d.mend()
	m.step(t, 8)
	require.NoError(t, j.Commit())
	s = compacted(j)
	require.NoError(t, s.Compaction)
	require.EqualValues(t, 8, s.Base)
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, list, 3, "%v", list)
	hash := m.w.Hash()
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	isAt(t, folder, 8, hash)
}

// TestJournalOfALostSnapshot: where memory ran out, so that the commit before is lost, there is no
// delta: the next commit is a base. Where the commit itself is lost, the one after has all that
// changed.
func TestJournalOfALostSnapshot(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	// full runs f while the universe has no chunk left.
	full := func(f func()) {
		var hog []alloc.ChunkIndex
		for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
			hog = append(hog, c)
		}
		f()
		for _, c := range hog {
			u.Free(c, 1)
		}
	}
	d, folder := &faulty{left: -1, why: syscall.ENOSPC}, t.TempDir()
	m, j, err := openCounters(d, folder, SyncEach(), CompactAt(0), Base(image.Into(u)))
	require.NoError(t, err)
	m.step(t, 1)
	require.NoError(t, j.Commit())
	full(func() { m.count(10) })
	require.ErrorIs(t, j.out.last.s.Err(), alloc.ErrFull)
	require.NoError(t, j.Commit())
	require.EqualValues(t, 2, j.Status().Base)
	m.count(100)
	require.NoError(t, j.Commit())
	require.EqualValues(t, 2, j.Status().Base, "a record again")

	d.fill()
	m.count(1000)
	require.ErrorIs(t, j.Commit(), syscall.ENOSPC)
	full(func() { m.count(10_000) })
	d.mend()
	err = j.Sync()
	require.ErrorIs(t, err, alloc.ErrFull, "neither record nor base of commit 4")
	require.NotErrorIs(t, err, ErrRebase)
	require.EqualValues(t, 3, j.Acknowledged())
	time.Sleep(retryPause)
	require.NoError(t, j.Commit())
	require.EqualValues(t, 2, j.Status().Base, "commit 3 is there to compare with")
	require.EqualValues(t, 5, j.Acknowledged())
	require.NoError(t, j.Status().Err)
	hash := m.w.Hash()
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
	isAt(t, folder, 5, hash)
}

// TestWorldIsClosedFirst: a world whose journal is open is not closed, and the error names the
// journal; what could not be written so far is written by Close of the journal, and then the world
// closes.
func TestWorldIsClosedFirst(t *testing.T) {
	d, folder := &faulty{left: -1, why: syscall.ENOSPC}, t.TempDir()
	m, j, err := openCounters(d, folder, SyncEach(), CompactAt(0))
	require.NoError(t, err)
	m.step(t, 1)
	require.NoError(t, j.Commit())
	require.EqualError(t, m.w.Close(), "ecs: World.Close: the journal in "+folder+" is open; close it first")
	require.False(t, m.w.Closed())
	m.step(t, 2)
	d.fill()
	require.ErrorIs(t, j.Commit(), syscall.ENOSPC)
	hash := m.w.Hash()
	require.ErrorContains(t, m.w.Close(), folder)
	d.mend()
	require.NoError(t, m.w.Verify())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	require.NoError(t, m.w.Close())
	isAt(t, folder, 2, hash)

	m, j, err = openCounters(d, folder, SyncEach(), CompactAt(0))
	require.NoError(t, err)
	d.fill()
	m.step(t, 3)
	require.ErrorIs(t, j.Commit(), syscall.ENOSPC)
	require.ErrorIs(t, j.Close(), syscall.ENOSPC)
	require.NoError(t, m.w.Close(), "the journal is closed, though it could not write all")
	isAt(t, folder, 2, hash)
}

// TestJournalAllocations: what a commit and its record allocate does not depend on how many
// entities have changed.
func TestJournalAllocations(t *testing.T) {
	if debug.On {
		t.Skip("debug builds allocate")
	}
	allocations := func(steps int) float64 {
		m, j, err := openCounters(&faulty{left: -1}, t.TempDir(), SyncNever(), CompactAt(0))
		require.NoError(t, err)
		for range steps {
			m.step(t, 1)
		}
		commit := func() {
			m.count(1)
			require.NoError(t, j.Commit())
			require.NoError(t, j.Sync())
		}
		for range 20 {
			commit()
		}
		n := testing.AllocsPerRun(50, commit)
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
		return n
	}
	few, many := allocations(1), allocations(3000)
	t.Logf("%v allocations for 3 entities, %v for 9,000", few, many)
	require.Less(t, many, few+30)
}
