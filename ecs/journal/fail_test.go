package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/internal/disk"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// faulty is a disk on which the nth call fails, and all after it too until it is mended; a write
// that fails writes half.
type faulty struct {
	disk.FileSystem
	mu    sync.Mutex
	left  int // calls until one fails; negative: none does
	calls int
	why   error
	full  bool // steps that need room fail with why, all others succeed
}

func (d *faulty) fails(step string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.left == 0 || d.full && (step == "create" || step == "write" || step == "write log") {
		return fmt.Errorf("%s: %w", step, d.why)
	}
	if d.left > 0 {
		d.left--
	}
	return nil
}

// mend lets calls succeed again.
func (d *faulty) mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.full = -1, false
}

// fill makes the disk full until it is mended.
func (d *faulty) fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = true
}

func (d *faulty) Create(path string) (disk.File, error) {
	if err := d.fails("create"); err != nil {
		return nil, err
	}
	f, err := d.FileSystem.Create(path)
	return faultyFile{f, d}, err
}

func (d *faulty) Rename(from, to string) error {
	if err := d.fails("rename"); err != nil {
		return err
	}
	return d.FileSystem.Rename(from, to)
}

func (d *faulty) Remove(path string) error {
	if err := d.fails("remove"); err != nil {
		return err
	}
	return d.FileSystem.Remove(path)
}

func (d *faulty) SyncFolder(path string) error {
	if err := d.fails("sync folder"); err != nil {
		return err
	}
	return nil // the system's is slow, and no test cuts the power
}

func (d *faulty) OpenLog(path string) (disk.Log, error) {
	if err := d.fails("open log"); err != nil {
		return nil, err
	}
	f, err := d.FileSystem.OpenLog(path)
	return faultyLog{f, d}, err
}

func (d *faulty) Open(path string) (disk.Reader, error) {
	if err := d.fails("open"); err != nil {
		return nil, err
	}
	f, err := d.FileSystem.Open(path)
	return struct{ disk.Reader }{f}, err // which disk.Fresh leaves alone, for speed
}

func (d *faulty) List(folder string) ([]string, error) {
	if err := d.fails("list"); err != nil {
		return nil, err
	}
	return d.FileSystem.List(folder)
}

type faultyFile struct {
	disk.File
	on *faulty
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.on.fails("write"); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

func (f faultyFile) Sync() error { return f.on.fails("sync") }

type faultyLog struct {
	disk.Log
	on *faulty
}

func (f faultyLog) WriteAt(b []byte, at int64) (int, error) {
	if err := f.on.fails("write log"); err != nil {
		n, _ := f.Log.WriteAt(b[:len(b)/2], at)
		return n, err
	}
	return f.Log.WriteAt(b, at)
}

func (f faultyLog) ReadAt(b []byte, at int64) (int, error) {
	if err := f.on.fails("read log"); err != nil {
		return 0, err
	}
	return f.Log.ReadAt(b, at)
}

func (f faultyLog) Truncate(n int64) error {
	if err := f.on.fails("truncate"); err != nil {
		return err
	}
	return f.Log.Truncate(n)
}

func (f faultyLog) Sync() error { return f.on.fails("sync log") }

// counters is a small world that counts.
type counters struct {
	w     *ecs.World
	value ecs.Component[int64]
	q     *ecs.Query
}

func (m *counters) register(w *ecs.World) {
	*m = counters{w: w, value: ecs.Register[int64](w)}
	m.q = ecs.NewQuery(w, ecs.Write(m.value))
}

// step makes an entity and counts in all.
func (m *counters) step(t testing.TB, number int) {
	_, err := ecs.NewArchetype(m.w, m.value).CreateN(3)
	require.NoError(t, err)
	for rows := range m.q.Rows() {
		for i := range m.value.Slice(rows) {
			m.value.Slice(rows)[i] += int64(number)
		}
	}
}

func openCounters(d disk.Disk, folder string, options ...Option) (m counters, j *Journal, err error) {
	s := settingsOf("Open", func(w *ecs.World) { m.register(w) }, options)
	j, err = open(d, folder, func(w *ecs.World) { m.register(w) }, s)
	return m, j, err
}

// life journals some commits on a disk, some of which may fail, with a compaction and a Rebase, and
// returns the hashes of the states by the numbers of their commits. It checks that the world is
// what it would be without a journal.
func life(t testing.TB, d *faulty, folder string) (hashes map[uint64]uint64, acknowledged uint64) {
	hashes = map[uint64]uint64{}
	m, j, err := openCounters(d, folder, SyncEach(), CompactAt(0))
	if err != nil {
		return hashes, 0
	}
	hashes[0] = m.w.Hash()
	var alone counters
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	alone.register(w)
	commit := func(number int) {
		m.step(t, number)
		alone.step(t, number)
		j.mu.Lock()
		hashes[j.committed+1] = m.w.Hash()
		j.mu.Unlock()
		err := j.Commit()
		require.Equal(t, err == nil, j.Acknowledged() == j.Status().Committed, "%v", err)
	}
	for number := range 4 {
		commit(number)
	}
	j.Compact()
	for j.Status().Compacting {
		time.Sleep(time.Millisecond)
	}
	for number := range 3 {
		commit(number)
	}
	j.mu.Lock()
	hashes[j.committed+1] = m.w.Hash()
	j.mu.Unlock()
	_ = j.Rebase() // reports what Acknowledged does
	commit(9)
	acknowledged = j.Acknowledged()
	require.NoError(t, m.w.Verify())
	require.Equal(t, alone.w.Hash(), m.w.Hash())
	_ = j.Close() // the disk may refuse that too
	require.NoError(t, m.w.Close())
	return hashes, acknowledged
}

// TestJournalEveryFailure refuses each call to the system, once and from then on, and writes half
// of what is written: what was acknowledged is there when the journal is opened again, as a whole,
// and the world was never touched.
func TestJournalEveryFailure(t *testing.T) {
	count := &faulty{left: -1}
	hashes, last := life(t, count, t.TempDir())
	require.EqualValues(t, 9, last)
	require.Len(t, hashes, 10)
	for at := range count.calls {
		if !long.On() && at%3 != 0 { // in the short form each third call, so each kind of step
			continue
		}
		d := &faulty{left: at, why: syscall.ENOSPC}
		folder := t.TempDir()
		hashes, acknowledged := life(t, d, folder)
		m, j, err := openCounters(disk.FileSystem{}, folder)
		require.NoError(t, err, "call %d", at)
		opened := j.Opened()
		require.GreaterOrEqual(t, opened.Commit, acknowledged, "call %d: %+v", at, opened)
		if hash, known := hashes[opened.Commit]; known {
			require.Equal(t, hash, m.w.Hash(), "call %d: %+v", at, opened)
		} else {
			require.Zero(t, opened.Commit)
		}
		require.NoError(t, m.w.Verify())
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
		require.NoError(t, os.RemoveAll(folder)) // all together they fill a small disk
	}
}

// TestJournalGoesOn: after a write that failed, the next Sync has all changes; after a sync that
// failed, Rebase is asked for, and helps.
func TestJournalGoesOn(t *testing.T) {
	for _, step := range []string{"write", "sync"} {
		d, folder := &faulty{left: -1, why: syscall.ENOSPC}, t.TempDir()
		m, j, err := openCounters(d, folder, SyncNever())
		require.NoError(t, err)
		m.step(t, 1)
		require.NoError(t, j.Commit())
		if step == "sync" {
			for j.Status().Written < 1 {
				time.Sleep(time.Millisecond)
			}
		}
		d.mu.Lock()
		d.left = 0
		d.mu.Unlock()
		m.step(t, 2)
		_ = j.Commit()
		err = j.Sync()
		require.ErrorIs(t, err, syscall.ENOSPC)
		d.mend()
		if errors.Is(err, ErrRebase) { // it could not be cut back either, as truncate failed
			require.ErrorIs(t, j.Commit(), ErrRebase)
			require.NoError(t, j.Rebase())
		}
		m.step(t, 3)
		require.NoError(t, j.Sync())
		require.NoError(t, j.Commit())
		require.NoError(t, j.Sync())
		require.Equal(t, j.Status().Committed, j.Acknowledged())
		hash := m.w.Hash()
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
		m, j, err = openCounters(disk.FileSystem{}, folder)
		require.NoError(t, err)
		require.Equal(t, hash, m.w.Hash(), step)
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
	}
}

// sparsely returns how far apart the bytes are at which a log is cut or damaged; QUARRY_LONG takes
// each.
func sparsely() int {
	switch {
	case os.Getenv("QUARRY_LONG") != "":
		return 1
	case testing.Short():
		return 29
	}
	return 7
}

// written returns the files of a small journal, and the hashes of the states of its commits; where
// ends[i] is the end of record i+1.
func written(t testing.TB) (base, log []byte, hashes []uint64, ends []int64) {
	folder := t.TempDir()
	m, j, err := openCounters(disk.FileSystem{}, folder, SyncNever(), CompactAt(0))
	require.NoError(t, err)
	hashes = append(hashes, m.w.Hash())
	for number := range 5 {
		m.step(t, number)
		hashes = append(hashes, m.w.Hash())
		require.NoError(t, j.Commit())
		require.NoError(t, j.Sync())
		ends = append(ends, j.Status().LogBytes)
	}
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	base, err = os.ReadFile(filepath.Join(folder, baseName(0)))
	require.NoError(t, err)
	return base, readLog(t, folder), hashes, ends
}

// readLog returns the log in a folder, whose base has the number 0.
func readLog(t testing.TB, folder string) []byte {
	log, err := os.ReadFile(filepath.Join(folder, logName(0)))
	require.NoError(t, err)
	return log
}

// reopened opens a journal of files in a folder of its own, and returns its state.
func reopened(t testing.TB, folder string, base, log []byte,
	options ...Option) (opened Opened, hash uint64, err error) {
	require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
	m, j, err := openCounters(&faulty{left: -1}, folder, options...)
	if err != nil {
		return opened, 0, err
	}
	opened, hash = j.Opened(), m.w.Hash()
	require.NoError(t, m.w.Verify())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	return opened, hash, nil
}

// TestJournalOfEveryPrefix: each prefix of a log gives the state of its last complete record.
func TestJournalOfEveryPrefix(t *testing.T) {
	base, log, hashes, ends := written(t)
	folder := t.TempDir()
	for n := logHeaderBytes; n <= len(log); n++ {
		if n%sparsely() != 0 {
			continue
		}
		complete, end := 0, int64(logHeaderBytes)
		for complete < len(ends) && int64(n) >= ends[complete] {
			end = ends[complete]
			complete++
		}
		opened, hash, err := reopened(t, folder, base, log[:n])
		require.NoError(t, err, n)
		require.Equal(t, hashes[complete], hash, n)
		require.Equal(t, complete, opened.Records)
		if n == len(log) {
			end = int64(n) // there is a mark
		}
		require.Equal(t, int64(n)-end, opened.Cut)
		require.Equal(t, opened.Cut > 0, opened.Why != nil)
		info, err := os.Stat(filepath.Join(folder, logName(0)))
		require.NoError(t, err)
		if complete > 0 {
			end = ends[complete-1] + recordHeaderBytes
		}
		require.Equal(t, end, info.Size(), "what does not count is gone, and a mark is there")
	}
	for n := 0; n < logHeaderBytes; n += 9 {
		_, _, err := reopened(t, folder, base, log[:n])
		require.ErrorIs(t, err, ErrLog, n)
		opened, hash, err := reopened(t, folder, base, log[:n], CutDamaged())
		require.NoError(t, err, n)
		require.Equal(t, hashes[0], hash, n)
		require.EqualValues(t, n, opened.Cut)
		require.ErrorIs(t, opened.Why, ErrLog)
		_, hash, err = reopened(t, folder, base, readLog(t, folder))
		require.NoError(t, err, n)
		require.Equal(t, hashes[0], hash, n)
	}
}

// TestJournalOfEveryFlip: a log with any byte changed is refused where later records, or the mark
// at the end, show that the damaged one was on the disk. Without the mark the last record may have
// been cut by a crash, and goes. It never gives a state that no commit had. CutDamaged gives the
// state before.
func TestJournalOfEveryFlip(t *testing.T) {
	base, log, hashes, ends := written(t)
	folder := t.TempDir()
	for at := range log {
		if at%sparsely() != 0 {
			continue
		}
		damaged := bytes.Clone(log)
		damaged[at] ^= 1 << (at % 8)
		in := 0
		for in < len(ends) && int64(at) >= ends[in] {
			in++
		}
		_, hash, err := reopened(t, folder, base, damaged)
		switch {
		case at < logHeaderBytes:
			require.ErrorIs(t, err, ErrLog, at)
			in = 0 // no record can be trusted
		case in == len(ends): // the mark
			require.NoError(t, err, at)
			require.Equal(t, hashes[in], hash, at)
		default:
			require.ErrorIs(t, err, ErrLog, at)
		}
		if in == len(ends)-1 {
			_, hash, err = reopened(t, folder, base, damaged[:ends[in]])
			require.NoError(t, err, at)
			require.Equal(t, hashes[in], hash, at)
		}
		opened, hash, err := reopened(t, folder, base, damaged, CutDamaged())
		require.NoError(t, err, at)
		require.Equal(t, hashes[in], hash, at)
		require.Equal(t, in, opened.Records)
	}
}

// TestJournalOfSplices: records that are left out, repeated or from elsewhere do not count.
func TestJournalOfSplices(t *testing.T) {
	base, log, hashes, ends := written(t)
	folder := t.TempDir()
	record := func(i int) []byte {
		if i == 0 {
			return log[logHeaderBytes:ends[0]]
		}
		return log[ends[i-1]:ends[i]]
	}
	for name, c := range map[string]struct {
		records []int
		want    int
	}{"twice": {[]int{0, 0}, 1}, "without one": {[]int{0, 2}, 1}, "without the first": {[]int{1}, 0}, "exchanged": {
		[]int{1, 0}, 0,
	}} {
		spliced := bytes.Clone(log[:logHeaderBytes])
		for _, i := range c.records {
			spliced = append(spliced, record(i)...)
		}
		_, hash, err := reopened(t, folder, base, spliced, CutDamaged())
		require.NoError(t, err, name)
		require.Equal(t, hashes[c.want], hash, name)
	}
	otherBase, otherLog, _, otherEnds := written(t)
	require.False(t, bytes.Equal(base, otherBase))
	_, hash, err := reopened(t, folder, base,
		append(bytes.Clone(log[:logHeaderBytes]), otherLog[logHeaderBytes:otherEnds[0]]...))
	require.NoError(t, err)
	require.Equal(t, hashes[0], hash, "the record is another journal's")
	other := bytes.Clone(base)
	other[len(other)-1] ^= 1
	_, _, err = reopened(t, folder, other, log)
	require.ErrorIs(t, err, ErrLog)
	require.NoError(t, os.Remove(filepath.Join(folder, baseName(0))))
	_, _, err = openCounters(disk.FileSystem{}, folder)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestJournalTidies: opening removes what crashes leave, temporary files and files of other
// numbers, and nothing else.
func TestJournalTidies(t *testing.T) {
	base, log, hashes, _ := written(t)
	folder := t.TempDir()
	stay := []string{baseName(0), lockName, logName(0), "notes.text"}
	for _, name := range []string{"notes.text", ".quarry-1234.tmp", baseName(7), baseName(1 << 63)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), base[:100], 0o666))
	}
	_, hash, err := reopened(t, folder, base, log)
	require.NoError(t, err)
	require.Equal(t, hashes[len(hashes)-1], hash)
	names, err := disk.FileSystem{}.List(folder)
	require.NoError(t, err)
	require.ElementsMatch(t, stay, names)
}

// TestJournalIsAlone: a second journal in a folder is refused until the first is closed.
func TestJournalIsAlone(t *testing.T) {
	folder := t.TempDir()
	m, j, err := openCounters(disk.FileSystem{}, folder)
	require.NoError(t, err)
	if _, other, err := openCounters(disk.FileSystem{}, folder); err == nil {
		for _, j := range []*Journal{other, j} {
			require.NoError(t, j.Close())
			require.NoError(t, j.w.Close())
		}
		t.Skip("no locks here")
	} else {
		require.ErrorIs(t, err, ErrInUse)
	}
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	m, j, err = openCounters(disk.FileSystem{}, folder)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	require.Panics(t, func() { _ = j.Sync() })
}

// TestJournalReadError: where the log cannot be read, opening fails and changes nothing.
func TestJournalReadError(t *testing.T) {
	base, log, hashes, _ := written(t)
	folder := t.TempDir()
	for at := range 12 {
		require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
		d := &faulty{left: at, why: syscall.EIO}
		m, j, err := openCounters(d, folder)
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO)
		} else {
			d.mend()
			require.Equal(t, hashes[5], m.w.Hash())
			require.NoError(t, j.Close())
			require.NoError(t, m.w.Close())
		}
		after, err := os.ReadFile(filepath.Join(folder, logName(0)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(log, after))
	}
}

// TestLogOfAnotherFormat: a log that a later version wrote is whole, so it is refused and stays as
// it is, with CutDamaged too.
func TestLogOfAnotherFormat(t *testing.T) {
	base, log, _, _ := written(t)
	folder := t.TempDir()
	later := bytes.Clone(log)
	binary.LittleEndian.PutUint32(later[8:], logFormat+1)
	binary.LittleEndian.PutUint32(later[60:], crc(later[:60]))
	for _, options := range [][]Option{nil, {CutDamaged()}} {
		_, _, err := reopened(t, folder, base, later, options...)
		require.ErrorIs(t, err, ErrLog)
		require.ErrorContains(t, err, "its format is 3")
		require.Equal(t, later, readLog(t, folder))
	}
}
