package simdisk_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/disk"
	"quarry/internal/disk/simdisk"
)

const path = "folder/file"

// read returns what a process finds in a file; nil if there is none.
func read(t *testing.T, d *simdisk.Disk) []byte {
	f, err := d.Process().Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	b := make([]byte, size)
	_, err = f.ReadAt(b, 0)
	require.NoError(t, err)
	return b
}

// two returns a disk with a file, and its bytes and those that are to replace them.
func two(t *testing.T) (d *simdisk.Disk, old, new []byte) {
	old, new = bytes.Repeat([]byte("old."), 10_000), bytes.Repeat([]byte("new,"), 9_000)
	d = simdisk.New()
	require.NoError(t, disk.MakeFolders(d.Process(), "folder"))
	require.NoError(t, disk.SyncAbove(d.Process(), "folder"))
	require.NoError(t, replace(d, old))
	return d, old, new
}

func replace(d *simdisk.Disk, b []byte) error {
	return disk.Replace(d.Process(), path, func(to io.Writer) error {
		_, err := to.Write(b[:len(b)/3])
		if err == nil {
			_, err = to.Write(b[len(b)/3:])
		}
		return err
	})
}

// TestReplaceIsWhole: a power loss at any step of disk.Replace leaves the old file or the new one,
// and after its last the new one.
func TestReplaceIsWhole(t *testing.T) {
	d, old, new := two(t)
	first, dice := d.Steps(), rand.New(rand.NewPCG(1, 2))
	require.NoError(t, replace(d, new))
	require.Equal(t, new, read(t, d))
	found := map[string]int{}
	for n := first; n <= d.Steps(); n++ {
		for range 40 {
			b := read(t, d.Loss(n, dice))
			require.True(t, bytes.Equal(b, old) || bytes.Equal(b, new) && n > first, "step %d", n)
			require.True(t, n < d.Steps() || bytes.Equal(b, new))
			found[string(b)]++
		}
	}
	require.Len(t, found, 2)
	require.Nil(t, read(t, d.Loss(0, dice)))
}

// TestWhatIsNotSynced: without syncs a power loss leaves a file of another length, with zeros, with
// its later half alone, or none at all.
func TestWhatIsNotSynced(t *testing.T) {
	d, old, new := two(t)
	p, dice := d.Process(), rand.New(rand.NewPCG(1, 2))
	f, err := p.Create("folder/other")
	require.NoError(t, err)
	for _, half := range [][]byte{new[:20_000], new[20_000:]} {
		_, err = f.Write(half)
		require.NoError(t, err)
	}
	require.NoError(t, p.Rename("folder/other", path))
	require.Equal(t, new, read(t, d))
	var stays, whole, empty, zeros, later int
	for range 400 {
		switch b := read(t, d.Loss(d.Steps(), dice)); {
		case bytes.Equal(b, old):
			stays++
		case bytes.Equal(b, new):
			whole++
		case len(b) == 0:
			empty++
		case len(b) == len(new) && b[0] == 0 && bytes.Equal(b[20_000:], new[20_000:]):
			later++
		case len(bytes.Trim(b, "\x00")) == 0:
			zeros++
		}
	}
	require.NotContains(t, []int{stays, whole, empty, zeros, later}, 0)
}

// TestKilled: a process that is killed has no lock and does nothing more; what it wrote is there
// for the next one, though not for one after a power loss.
func TestKilled(t *testing.T) {
	d, old, _ := two(t)
	p, other := d.Process(), d.Process()
	_, err := p.Lock("folder/lock")
	require.NoError(t, err)
	_, err = other.Lock("folder/lock")
	require.ErrorIs(t, err, disk.ErrLocked)
	f, err := p.OpenLog(path)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("!"), 0)
	require.NoError(t, err)
	p.Kill()
	_, err = f.WriteAt([]byte("?"), 0)
	require.ErrorIs(t, err, simdisk.ErrKilled)
	require.ErrorIs(t, f.Sync(), simdisk.ErrKilled)
	require.ErrorIs(t, p.Remove(path), simdisk.ErrKilled)
	_, err = other.Lock("folder/lock")
	require.NoError(t, err)
	require.Equal(t, "!", string(read(t, d)[:1]))
	found := map[string]bool{}
	for dice := rand.New(rand.NewPCG(1, 2)); len(found) < 2; {
		b := read(t, d.Loss(d.Steps(), dice))
		require.True(t, bytes.Equal(old[1:], b[1:]))
		found[string(b[:1])] = true
	}
}

// TestSyncFails: a sync that failed has lost what it was to bring to the disk, which processes see
// nevertheless, and the next sync succeeds in vain.
func TestSyncFails(t *testing.T) {
	d, old, _ := two(t)
	p := d.Process()
	f, err := p.OpenLog(path)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("!"), 0)
	require.NoError(t, err)
	p.Before = func(string, string) error { return io.ErrUnexpectedEOF }
	require.ErrorIs(t, f.Sync(), io.ErrUnexpectedEOF)
	n, err := f.WriteAt([]byte("ab"), 2)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, 1, n, "half")
	p.Before = func(string, string) error { return nil }
	require.NoError(t, f.Sync())
	require.Equal(t, "!la", string(read(t, d)[:3]))
	require.Equal(t, "ola", string(read(t, d.Loss(d.Steps(), rand.New(rand.NewPCG(1, 2))))[:3]))
	require.Equal(t, "old", string(old[:3]))
}
