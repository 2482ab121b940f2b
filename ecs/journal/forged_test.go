package journal

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// forged returns what looks like headers of records, whose checksums are right and by which a
// million commits were on the disk: one as logs of format 1 have it, and one of another log.
func forged() []byte {
	old := make([]byte, recordBytes1)
	copy(old, recordMagic1)
	for _, at := range []int{8, 16, 24} {
		binary.LittleEndian.PutUint64(old[at:], 1_000_000)
	}
	binary.LittleEndian.PutUint32(old[44:], crc(old[:44]))
	h := recordHeader{key: [8]byte{1, 2, 3}, number: 1_000_000, synced: 1_000_000}
	other := make([]byte, recordHeaderBytes+100)
	h.seal(other)
	return append(old, other...)
}

// TestForgedRecord: a text of the program that looks like the header of a record has no meaning for
// the log: a record that a crash cut behind it is cut off.
func TestForgedRecord(t *testing.T) {
	folder := t.TempDir()
	var texts ecs.Buffer[byte]
	register := func(w *ecs.World) { texts = ecs.RegisterBuffer[byte](w) }
	start := func() (*Journal, error) {
		return open(disk.FileSystem{}, folder, register, settingsOf("Open", register, []Option{SyncEach()}))
	}
	j, err := start()
	require.NoError(t, err)
	e := ecs.NewArchetype(j.w, texts).Create()
	require.NoError(t, j.Commit())
	hash := j.w.Hash()
	b, _ := texts.Mut(e)
	b.Append(bytes.Repeat(forged(), 50)...)
	require.NoError(t, j.Commit())
	end := j.Status().LogBytes
	require.NoError(t, j.Close())
	require.NoError(t, j.w.Close())

	path := filepath.Join(folder, logName(0))
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 50, bytes.Count(log, forged()))
	require.NoError(t, os.WriteFile(path, log[:end-1], 0o666))
	j, err = start()
	require.NoError(t, err)
	require.EqualValues(t, 1, j.Opened().Commit)
	require.Equal(t, hash, j.w.Hash())
	require.NoError(t, j.Close())
	require.NoError(t, j.w.Close())
}

// TestEpochs: a record of an epoch before that of the log or of the record before does not count,
// and the next record has the epoch of the last.
func TestEpochs(t *testing.T) {
	base, log, hashes, ends := written(t)
	log = log[:ends[4]] // without the mark
	resealed := func(log []byte, at int64, h recordHeader) {
		head := append(make([]byte, recordHeaderBytes), log[at+recordHeaderBytes:at+recordHeaderBytes+h.bytes]...)
		h.seal(head)
		copy(log[at:], head[:recordHeaderBytes])
	}
	later := bytes.Clone(log)
	h, err := decodeLog(later[:logHeaderBytes])
	require.NoError(t, err)
	last, why := h.decodeRecord(later[ends[3]:][:recordHeaderBytes])
	require.Empty(t, why)
	last.epoch = 7
	resealed(later, ends[3], last)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), later, 0o666))
	m, j, err := openCounters(disk.FileSystem{}, folder, SyncEach())
	require.NoError(t, err)
	require.Equal(t, hashes[5], m.w.Hash())
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	next, why := h.decodeRecord(readLog(t, folder)[ends[4]:][:recordHeaderBytes])
	require.Empty(t, why)
	require.EqualValues(t, 7, next.epoch)

	h.epoch = 1
	copy(log, h.encode())
	_, _, err = reopened(t, folder, base, log)
	require.ErrorIs(t, err, ErrLog, "that of record 2 says that record 1 was on the disk")
	opened, hash, err := reopened(t, folder, base, log, CutDamaged())
	require.NoError(t, err)
	require.Equal(t, hashes[0], hash)
	require.ErrorContains(t, opened.Why, "is of epoch 0, behind one of epoch 1")
}
