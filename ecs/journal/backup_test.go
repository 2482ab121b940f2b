package journal

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// TestBackup: copies of a journal that commits, compacts and makes new bases meanwhile are journals
// of a commit that was in the log when the copy began, or a later one.
func TestBackup(t *testing.T) {
	m, j, err := openCounters(disk.FileSystem{}, t.TempDir(), SyncEach(), CompactAt(0))
	require.NoError(t, err)
	hashes := map[uint64]uint64{0: m.w.Hash()}
	type backup struct {
		folder string
		least  uint64
		commit uint64
		err    error
	}
	backups := make([]backup, 6)
	for i := range backups {
		backups[i].folder = filepath.Join(t.TempDir(), "copies", "last")
	}
	number := uint64(0)
	commit := func() {
		number++
		m.step(t, int(number%7))
		hashes[number] = m.w.Hash()
		switch number % 9 {
		case 4:
			j.Compact()
			require.NoError(t, j.Commit())
		case 8:
			require.NoError(t, j.Rebase())
		default:
			require.NoError(t, j.Commit())
		}
	}
	for i := range backups {
		b := &backups[i]
		var copier sync.WaitGroup
		if i > 0 {
			commit()
		}
		done := make(chan struct{})
		copier.Go(func() {
			defer close(done)
			b.least = j.Acknowledged()
			b.commit, b.err = j.Backup(b.folder)
		})
		for going := true; going; {
			select {
			case <-done:
				going = false
			default:
				commit()
			}
		}
		copier.Wait()
	}
	_, err = j.Backup(backups[0].folder)
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = j.Backup(j.folder)
	if runtime.GOOS != "js" { // where folders have no locks
		require.ErrorIs(t, err, ErrInUse)
	}
	require.Error(t, err)
	require.NoError(t, j.Close())
	require.Panics(t, func() { _, _ = j.Backup(t.TempDir()) })
	require.NoError(t, m.w.Close())
	for _, b := range backups {
		require.NoError(t, b.err)
		require.GreaterOrEqual(t, b.commit, b.least)
		found, err := Check(b.folder)
		require.NoError(t, err)
		require.Equal(t, b.commit, found.Commit)
		require.NoError(t, found.Why)
		isAt(t, b.folder, b.commit, hashes[b.commit])
	}
}

// TestBackupEveryFailure refuses each call to the system while a backup is made, once and from then
// on: the copy is whole or opens not at all, and the journal goes on.
func TestBackupEveryFailure(t *testing.T) {
	d := &faulty{left: -1, why: syscall.EIO}
	m, j, err := openCounters(d, t.TempDir(), SyncEach(), CompactAt(0))
	require.NoError(t, err)
	for number := range 3 {
		m.step(t, number)
		require.NoError(t, j.Commit())
	}
	require.Eventually(t, func() bool { // the mark is there, so nothing else is under way
		info, err := os.Stat(j.path(logName(0)))
		return err == nil && info.Size() == j.Status().LogBytes+recordHeaderBytes
	}, 10*time.Second, time.Millisecond)
	hash, failed, whole := m.w.Hash(), 0, 0
	for at := 0; ; at++ {
		folder := filepath.Join(t.TempDir(), "copy")
		d.mu.Lock()
		d.left = at
		d.mu.Unlock()
		_, err := j.Backup(folder)
		d.mu.Lock()
		done := d.left > 0 // not all calls were made
		d.mu.Unlock()
		d.mend()
		if err == nil {
			isAt(t, folder, 3, hash)
		} else {
			failed++
			require.ErrorIs(t, err, syscall.EIO, at)
			if v, found, err := viewCounters(folder); err == nil {
				whole++ // a step behind the last name failed
				require.EqualValues(t, 3, found.Commit)
				require.NoError(t, v.w.Close())
			} else {
				require.ErrorIs(t, err, fs.ErrNotExist, at)
			}
		}
		require.NoError(t, j.Status().Err)
		if done {
			break
		}
	}
	require.Greater(t, failed-whole, 10)
	m.step(t, 5)
	require.NoError(t, j.Commit())
	d.mu.Lock()
	d.left = 0
	d.mu.Unlock()
	m.step(t, 5)
	require.ErrorIs(t, j.Commit(), ErrRebase)
	d.mend()
	folder := t.TempDir()
	_, err = j.Backup(folder)
	require.ErrorIs(t, err, ErrRebase)
	require.NoError(t, j.Rebase())
	_, err = j.Backup(folder)
	require.NoError(t, err)
	_, err = os.Lstat(filepath.Join(folder, baseName(j.Status().Base)))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
}
