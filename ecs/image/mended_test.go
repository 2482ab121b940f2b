package image_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// Files that are damaged, or made up, and have right checksums: nothing but their content can show
// it.

// mended is a world file and where its sections lie.
type mended struct {
	file     []byte
	sections []image.Section // the header first
}

func newMended(t testing.TB, file []byte) *mended {
	path := filepath.Join(t.TempDir(), "sound.world")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	info, err := image.Describe(path)
	require.NoError(t, err)
	return &mended{file, info.Sections}
}

// section returns a section of the file, by its name.
func (x *mended) section(name string) image.Section {
	for _, s := range x.sections {
		if s.Name == name {
			return s
		}
	}
	panic(name)
}

// bytesOf returns the bytes of a section.
func (x *mended) bytesOf(file []byte, name string) []byte {
	s := x.section(name)
	return file[s.Offset:][:s.Bytes]
}

// mend gives a changed file right checksums.
func (x *mended) mend(file []byte) {
	table, le := crc32.MakeTable(crc32.Castagnoli), binary.LittleEndian
	for i, s := range x.sections[1:7] {
		le.PutUint32(file[64+32*i+4:], crc32.Checksum(x.bytesOf(file, s.Name), table))
	}
	own := crc32.Checksum(file[:4092], table)
	le.PutUint32(file[4092:], own)
	sums := x.bytesOf(file, "sums")
	to := sums
	for _, name := range []string{"rows", "records", "entries"} {
		for b := x.bytesOf(file, name); len(b) > 0; to = to[4:] {
			n := min(len(b), 1<<20)
			le.PutUint32(to, crc32.Checksum(b[:n], table))
			b = b[n:]
		}
	}
	le.PutUint32(to, crc32.Update(own, table, sums[:len(sums)-4]))
}

// changed returns the file with changes that change makes, and right checksums.
func (x *mended) changed(change func(file []byte)) []byte {
	file := bytes.Clone(x.file)
	change(file)
	x.mend(file)
	return file
}

// try opens a file with right checksums in all ways, and uses what is opened. What Checked and Load
// accept is sound.
func try(t *testing.T, file []byte) (accepted int) {
	path := filepath.Join(t.TempDir(), "changed.world")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	defer os.Remove(path) // before the next is written
	require.NoError(t, image.Check(path))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = image.Describe(path)
	_, err := image.Plan(path, new(f1World).register)
	_, between := image.PlanBetween(path, path)
	if between == nil { // otherwise a type that no entity has may be one that nobody could register
		require.NoError(t, err)
	}
	for i, open := range []func(m *f1World) (*ecs.World, error){
		func(m *f1World) (*ecs.World, error) { return image.Load(bytes.NewReader(file), m.register) },
		func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register, image.Checked()) },
		func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register) },
		func(m *f1World) (*ecs.World, error) {
			return image.Open(path, func(w *ecs.World) { new(f1World).register(w); m.w = w }, image.Checked(),
				image.Drop("f1Place", "f1Item"))
		},
		func(m *f1World) (*ecs.World, error) {
			return image.Open(path, func(w *ecs.World) { m.w = w }, image.Checked(), image.KeepUnknown(),
				image.DropUnknown())
		},
	} {
		var m f1World
		w, err := open(&m)
		if err != nil {
			continue
		}
		accepted++
		sound := w.Verify()
		if i != 2 {
			require.NoError(t, sound, "way %d", i)
		}
		if i < 3 {
			if stopped := m.use(); i != 2 {
				require.Empty(t, stopped)
			}
		}
		if i == 2 {
			closeTrusted(w)
			continue
		}
		require.NoError(t, w.Close())
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(400), "MiB of Go memory")
	return accepted
}

// closeTrusted closes a world of rows that nobody has checked: two buffers may have one block.
func closeTrusted(w *ecs.World) {
	defer func() {
		if x := recover(); x != nil && !strings.Contains(fmt.Sprint(x), ": ") {
			panic(x)
		}
	}()
	_ = w.Close()
}

// eachTurn calls visit some times: more with QUARRY_LONG.
func eachTurn(n int, visit func(turn int, dice *rand.Rand)) {
	if os.Getenv("QUARRY_LONG") != "" {
		n *= 100
	}
	for turn := range n {
		visit(turn, rand.New(rand.NewPCG(uint64(turn), 6)))
	}
}

// TestOpenOfMendedRecords: a record with another version or location, though its checksum is right,
// is refused however the file is opened: look-ups follow records without a bound.
func TestOpenOfMendedRecords(t *testing.T) {
	x := newMended(t, formatOne(t))
	le := binary.LittleEndian
	for name, change := range map[string]func(records []byte){
		"far away":        func(r []byte) { le.PutUint32(r[8*1+4:], 0xffff_f800) },
		"behind the rows": func(r []byte) { le.PutUint32(r[8*1+4:], le.Uint32(r[8*1+4:])+100) },
		"to another's":    func(r []byte) { copy(r[8*1+4:8*1+8], r[8*2+4:8*2+8]) },
		"nowhere":         func(r []byte) { le.PutUint32(r[8*1+4:], 0) },
		"dead":            func(r []byte) { le.PutUint64(r[8*1:], 2) },
		"free, alive":     func(r []byte) { copy(r[8*20:8*21], r[8*1:8*2]) },
		"dead, somewhere": func(r []byte) { le.PutUint32(r[8*20+4:], 1<<11) },
		"of index 0":      func(r []byte) { copy(r[:8], r[8*1:8*2]) },
		"of the last":     func(r []byte) { copy(r[len(r)-8:], r[8*1:8*2]) },
	} {
		t.Run(name, func(t *testing.T) {
			file := x.changed(func(file []byte) { change(x.bytesOf(file, "records")) })
			require.Zero(t, try(t, file))
		})
	}
	require.Equal(t, 5, try(t, x.file))
}

// TestCheckedComparesRows: an id in a row, and two records that were exchanged, are found where
// rows are read.
func TestCheckedComparesRows(t *testing.T) {
	x := newMended(t, formatOne(t))
	exchanged := x.changed(func(file []byte) {
		r := x.bytesOf(file, "records")
		a, b := r[8*1+4:8*1+8], r[8*2+4:8*2+8]
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	})
	other := x.changed(func(file []byte) { x.bytesOf(file, "rows")[0] ^= 3 })
	for _, file := range [][]byte{exchanged, other} {
		path := filepath.Join(t.TempDir(), "changed.world")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		_, err := image.Open(path, new(f1World).register, image.Checked())
		require.ErrorIs(t, err, image.ErrFile)
		require.ErrorContains(t, err, "whose record does not lead there")
		_, err = image.Load(bytes.NewReader(file), new(f1World).register)
		require.ErrorIs(t, err, image.ErrFile)
	}
}

// TestOpenOfMendedSections changes bytes of each section in turn, and mends the checksums.
func TestOpenOfMendedSections(t *testing.T) {
	x := newMended(t, formatOne(t))
	for _, s := range x.sections[1:10] {
		t.Run(s.Name, func(t *testing.T) {
			accepted := 0
			eachTurn(12, func(turn int, dice *rand.Rand) {
				var edits []string
				file := x.changed(func(file []byte) {
					b := x.bytesOf(file, s.Name)
					for range 1 + dice.IntN(2) {
						at, flip := pick(b, dice), byte(1+dice.IntN(255))
						if turn%3 == 0 {
							flip = 1 << dice.IntN(8)
						}
						b[at] ^= flip
						edits = append(edits, fmt.Sprintf("byte %d ^ %#x", at, flip))
					}
				})
				t.Logf("turn %d: %v", turn, edits)
				accepted += try(t, file)
			})
			t.Logf("%d accepted", accepted)
		})
	}
}

// pick returns a byte of a section, mostly one near another that is not zero.
func pick(b []byte, dice *rand.Rand) (at int) {
	for range 1000 {
		if at = dice.IntN(len(b)); bytes.IndexFunc(b[max(0, at-8):min(at+8, len(b))],
			func(r rune) bool { return r != 0 }) >= 0 {
			break
		}
	}
	return at
}
