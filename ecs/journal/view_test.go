package journal

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// viewCounters views a journal of counters.
func viewCounters(folder string, options ...Option) (m counters, found Opened, err error) {
	_, found, err = View(folder, func(w *ecs.World) { m.register(w) }, options...)
	return m, found, err
}

// TestView: a view is the world that Open would give, of a folder with and without records, damaged
// or cut, and nothing in the folder changes.
func TestView(t *testing.T) {
	base, log, hashes, ends := written(t)
	damaged := append([]byte{}, log...)
	damaged[ends[2]+5] ^= 1
	headless := append([]byte{}, log...)
	headless[20] ^= 1
	for name, c := range map[string]struct {
		log     []byte // nil: none
		options []Option
		want    Opened // but Why
		err     error
	}{
		"whole":            {log: log, want: Opened{Records: 5, Commit: 5}},
		"torn":             {log: log[:ends[3]+100], want: Opened{Records: 4, Commit: 4, Cut: 100}},
		"no log":           {want: Opened{NoLog: true}},
		"damaged":          {log: damaged, err: ErrLog},
		"cut":              {log: damaged, options: []Option{CutDamaged()}, want: Opened{Records: 3, Commit: 3, Cut: int64(len(log)) - ends[2]}},
		"header":           {log: headless, err: ErrLog},
		"without a header": {log: headless, options: []Option{CutDamaged()}, want: Opened{Cut: int64(len(log))}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o444))
			if c.log != nil {
				require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), c.log, 0o444))
			}
			require.NoError(t, os.WriteFile(filepath.Join(folder, ".quarry-12345678.tmp"), nil, 0o444))
			before := namesAndBytes(t, folder)
			require.NoError(t, os.Chmod(folder, 0o555))
			defer func() { require.NoError(t, os.Chmod(folder, 0o755)) }()
			m, found, err := viewCounters(folder, c.options...)
			require.Equal(t, before, namesAndBytes(t, folder))
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want.Cut > 0, found.Why != nil)
			found.Why = nil
			require.Equal(t, c.want, found)
			require.Equal(t, hashes[found.Commit], m.w.Hash())
			require.NoError(t, m.w.Verify())
			m.step(t, 7) // it is a world as any other
			require.NoError(t, m.w.Close())
			require.Equal(t, before, namesAndBytes(t, folder))
		})
	}
	for _, folder := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		_, _, err := viewCounters(folder)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

// TestViewConverts: where types have changed, the view has the new ones, and the folder stays.
func TestViewConverts(t *testing.T) {
	base, log, _, _ := written(t)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, baseName(0)), base, 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, logName(0)), log, 0o666))
	before := namesAndBytes(t, folder)
	old, _, err := viewCounters(folder)
	require.NoError(t, err)
	var value ecs.Component[bigCounter]
	w, found, err := View(folder, func(w *ecs.World) { value = ecs.Register[bigCounter](w) }, bigRules...)
	require.NoError(t, err)
	require.Equal(t, Opened{Records: 5, Commit: 5, Converted: true}, found)
	require.Equal(t, old.sum(), sumOfBig(w, value))
	require.NoError(t, old.w.Close())
	require.NoError(t, w.Close())
	_, _, err = View(folder, func(*ecs.World) {})
	require.Error(t, err)
	require.PanicsWithValue(t, "broken", func() { _, _, _ = View(folder, func(*ecs.World) { panic("broken") }) })
	require.Equal(t, before, namesAndBytes(t, folder))
}

// TestViewBesideTheJournal: while a journal commits, compacts and makes new bases, views and checks
// always succeed, and a view has the state of a commit that is no older than the last that was
// acknowledged before.
func TestViewBesideTheJournal(t *testing.T) {
	folder := t.TempDir()
	m, j, err := openCounters(disk.FileSystem{}, folder, SyncEach(), CompactAt(0))
	require.NoError(t, err)
	var mu sync.Mutex
	hashes := map[uint64]uint64{0: m.w.Hash()}
	stop, views := make(chan struct{}), 0
	var viewer sync.WaitGroup
	viewer.Go(func() {
		defer close(stop)
		for range 12 {
			least := j.Acknowledged()
			if _, err := Check(folder); err != nil {
				t.Error(err)
				return
			}
			v, found, err := viewCounters(folder)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			want, known := hashes[found.Commit]
			mu.Unlock()
			if !known || want != v.w.Hash() || found.Commit < least || found.Why != nil && found.Cut == 0 {
				t.Errorf("a view of %+v, at least %d was acknowledged", found, least)
			}
			if err := v.w.Close(); err != nil {
				t.Error(err)
			}
			views++
		}
	})
	for number := uint64(1); ; number++ {
		select {
		case <-stop:
			viewer.Wait()
			require.Equal(t, 12, views)
			require.NoError(t, j.Close())
			require.NoError(t, m.w.Close())
			return
		default:
		}
		m.step(t, int(number%7))
		mu.Lock()
		hashes[number] = m.w.Hash()
		mu.Unlock()
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
}
