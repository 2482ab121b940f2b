package worldfile_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// attempt opens a file that may be damaged, in a universe of others. It uses the world in all ways
// if it is sound, or if use is set, and closes it. It returns false if there was none.
func attempt(t testing.TB, u *alloc.Universe, f *worldfile.File, use bool) (ok bool) {
	var m imaged
	w, err := door.OpenImage(f, func(w *ecs.World) { m.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
	if err != nil {
		return false
	}
	if w.Verify() == nil || use {
		m.use(t)
	}
	_ = w.Close()
	return true
}

// use reads and writes all that the world has; panics with texts of the library are fine.
func (m *imaged) use(t testing.TB) {
	defer func() {
		switch x := recover().(type) {
		case nil, string, *ecs.LimitError, runtime.Error: // an id beyond the records is a nil record
		default:
			t.Fatalf("panic: %v", x)
		}
	}()
	q := ecs.NewQueryOfAll(m.w)
	var all []ecs.Entity
	for rows := range q.Rows() {
		for i, e := range rows.Entities() {
			for _, c := range rows.Archetype().Components() {
				_ = rows.Value(c.Type, i)
			}
			all = append(all, e)
		}
	}
	m.change(t, all)
	for _, e := range all {
		if m.w.Alive(e) {
			m.w.Destroy(e)
		}
	}
}

// TestImageOfDamagedSections: with any byte of the described sections flipped, though their
// checksums are right, the file is refused, or Verify returns an error, or the world is sound. The
// short form takes one byte in seven, and those of the counts that each section begins with.
func TestImageOfDamagedSections(t *testing.T) {
	t.Parallel()
	f := imageFile(t, 12)
	u := ecstest.NewUniverse(t, 64<<20)
	refused, opened := 0, 0
	var last [3]int
	t.Cleanup(func() { t.Logf("the last was section %d, byte %d, xor %d", last[0], last[1], last[2]) })
	all := make([]byte, 255)
	for i := range all {
		all[i] = byte(i + 1)
	}
	for section := range f.Meta {
		whole := f.Meta[section]
		for at := range whole {
			if !long.On() && at%7 != 0 && at >= 12 || testing.Short() && at%13 != 0 && at != 4 {
				continue
			}
			flips := []byte{1, 0x80, 0xff, byte(rand.IntN(255) + 1)}
			if at == 4 || at < 12 && long.On() || long.Times() >= 10 { // what a section begins with are counts
				flips = all
			}
			for _, flip := range flips {
				last = [3]int{section, at, int(flip)}
				bad := *f
				bad.Meta[section] = append([]byte(nil), whole...)
				bad.Meta[section][at] ^= flip
				if attempt(t, u, &bad, false) {
					opened++
				} else {
					refused++
				}
			}
			bad := *f
			bad.Meta[section] = whole[:at]
			require.False(t, attempt(t, u, &bad, false), "section %d, cut at %d", section, at)
		}
	}
	require.Zero(t, u.Stats().LiveChunks, "what was refused left chunks")
	require.NoError(t, u.Close())
	t.Logf("%d refused, %d opened", refused, opened)
	require.Greater(t, refused, opened/4)
}

// TestImageOfDamagedRows: with any byte of rows or blocks flipped, calls return, or panic by name.
// Records and entries have checksums that are compared before anyone looks at them.
func TestImageOfDamagedRows(t *testing.T) {
	f := imageFile(t, 12)
	rows := make([]byte, f.Size[worldfile.ImageRows])
	require.NoError(t, f.Read(worldfile.ImageRows, 0, rows))
	used := len(rows)
	for used > 0 && rows[used-1] == 0 {
		used--
	}
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	refused, opened := 0, 0
	for at := range used {
		if testing.Short() && at%29 != 0 || !long.On() && at%16 != 0 && rows[at] == 0 {
			continue
		}
		bad, flip := *f, byte(rand.IntN(255)+1)
		bad.Read = func(part, from int, dst []byte) error {
			err := f.Read(part, from, dst)
			if part == worldfile.ImageRows && at >= from && at < from+len(dst) {
				dst[at-from] ^= flip
			}
			return err
		}
		if attempt(t, u, &bad, true) {
			opened++
		} else {
			refused++
		}
	}
	t.Logf("%d refused, %d opened", refused, opened)
	if !testing.Short() {
		require.Positive(t, refused, "headers of buffers")
	}
	require.Greater(t, opened, refused)
}

// TestImageOfOtherCounts: a header that was cleared leaves a block to nobody, and an entity that
// stands twice among the entries of a sparse type would have two values; both are refused.
func TestImageOfOtherCounts(t *testing.T) {
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	list, err := ecs.NewArchetype(m.w, m.hits).CreateN(3)
	require.NoError(t, err)
	for i, e := range list.Entities(nil) {
		b, _ := m.hits.Mut(e)
		b.Append(make([]ecstest.Hit, 9)...)
		b.Resize(1) // whose block stays
		m.trait.Add(e, imageTrait{})
		require.True(t, i < 3)
	}
	s := m.w.Snapshot()
	f := ecstest.NewFile(t, s)
	s.Close()
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	open := func(why string, change func(part int, all []byte) int) {
		bad, changed := *f, 0
		bad.Read = func(part, from int, dst []byte) error {
			all := make([]byte, f.Size[part])
			err := f.Read(part, 0, all)
			changed += change(part, all)
			copy(dst, all[from:])
			return err
		}
		var o imaged
		_, err := door.OpenImage(&bad, func(w *ecs.World) { o.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
		require.Positive(t, changed)
		require.ErrorContains(t, err, why)
		require.ErrorIs(t, err, worldfile.ErrImage)
	}
	open("2 buffers have spilled, there are 3 blocks", func(part int, all []byte) (n int) {
		for at := 0; part == worldfile.ImageRows && n == 0 && at < len(all)-8; at += 4 {
			// No entity, whose tag is above.
			if ref, length := binary.LittleEndian.Uint32(all[at:]),
				binary.LittleEndian.Uint32(all[at+4:]); ref%1024 == 1 && ref > 1 && ref < 1<<20 && length == 1 {
				clear(all[at : at+4])
				n++
			}
		}
		return n
	})
	open("which is not alive or has another", func(part int, all []byte) int {
		if part != worldfile.ImageEntries {
			return 0
		}
		return copy(all[8:16], all[:8])
	})
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}
