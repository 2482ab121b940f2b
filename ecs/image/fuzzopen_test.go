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

// edits are changes of a file: an offset, of 4 bytes, and a byte that is xored with the one there,
// over and over.
func edited(file, edits []byte, within func(at int64) int64) []byte {
	out := bytes.Clone(file)
	for ; len(edits) >= 5; edits = edits[5:] {
		at := within(int64(binary.LittleEndian.Uint32(edits)))
		out[at] ^= edits[4]
	}
	return out
}

// mendRows gives a file whose rows were changed the checksums of them.
func mendRows(file []byte, rows image.Section, sums image.Section) {
	table := crc32.MakeTable(crc32.Castagnoli)
	le := binary.LittleEndian
	for mib := int64(0); mib<<20 < rows.Bytes; mib++ {
		piece := file[rows.Offset+mib<<20:][:1<<20]
		le.PutUint32(file[sums.Offset+4*mib:], crc32.Checksum(piece, table))
	}
	end := sums.Offset + sums.Bytes - 4
	sum := crc32.Update(crc32.Checksum(file[:4092], table), table, file[sums.Offset:end])
	le.PutUint32(file[end:], sum)
}

// use goes through all that a world has, reads it by entity, changes some and ends all of it. It
// returns the panic of the library that stopped it, "" if none did; other panics go through.
func (m *f1World) use() (stopped string) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case string:
			stopped = x
		case runtime.Error: // an id in a row has an index beyond the records
			if stopped = x.Error(); !strings.Contains(stopped, "index out of range") &&
				!strings.Contains(stopped, "nil pointer") {
				panic(x)
			}
		case *ecs.LimitError:
			stopped = x.Error()
		default:
			panic(x)
		}
		if stopped != "" && !strings.Contains(stopped, ": ") {
			panic("a panic without a package: " + stopped)
		}
	}()
	_ = m.tell()
	all := ecs.NewQueryOfAll(m.w)
	defer all.Close()
	var list []ecs.Entity
	for rows := range all.Rows() {
		for i, e := range rows.Entities() {
			for _, c := range rows.Archetype().Components() {
				_ = fmt.Sprint(rows.Value(c.Type, i))
			}
			list = append(list, e)
		}
	}
	for _, e := range list {
		if !m.w.Alive(e) {
			continue
		}
		m.items.Append(e, f1Item{1, 2}, f1Item{3, 4})
		m.route.Set(e, f1Route{[]string{"a", "b"}})
		m.place.Add(e, f1Place{1, 1})
		m.w.Name(e)
	}
	for _, e := range list {
		if m.w.Alive(e) {
			m.w.Destroy(e)
		}
	}
	return ""
}

// editedWorld is the file that is edited.
type editedWorld struct {
	file       []byte
	rows, sums image.Section
}

func newEditedWorld(t testing.TB) *editedWorld {
	x := &editedWorld{file: formatOne(t)}
	path := filepath.Join(t.TempDir(), "one.world")
	require.NoError(t, os.WriteFile(path, x.file, 0o600))
	info, err := image.Describe(path)
	require.NoError(t, err)
	for _, s := range info.Sections {
		switch s.Name {
		case "rows":
			x.rows = s
		case "sums":
			x.sums = s
		}
	}
	return x
}

// try opens the file with edits in all ways. If they are in rows, their checksums are made right.
func (x *editedWorld) try(t *testing.T, edits []byte, inRows bool) {
	within := func(at int64) int64 { return at % int64(len(x.file)) }
	if inRows {
		within = func(at int64) int64 { return x.rows.Offset + at%min(x.rows.Bytes, 64<<10) }
	}
	changed := edited(x.file, edits, within)
	if inRows {
		mendRows(changed, x.rows, x.sums)
	}
	same := bytes.Equal(x.file, changed)
	path := filepath.Join(t.TempDir(), "edited.world")
	require.NoError(t, os.WriteFile(path, changed, 0o600))
	checked := image.Check(path)
	require.Equal(t, same || inRows, checked == nil, "%v", checked)
	for _, open := range []func(m *f1World) (*ecs.World, error){
		func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register) },
		func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register, image.Checked()) },
		func(m *f1World) (*ecs.World, error) { return image.Load(bytes.NewReader(changed), m.register) },
	} {
		var m f1World
		w, err := open(&m)
		if err != nil {
			require.ErrorIs(t, err, image.ErrFile)
			require.False(t, same)
			continue
		}
		sound := w.Verify()
		stopped := m.use()
		if same {
			require.NoError(t, sound)
			require.Empty(t, stopped)
		}
		if closed := w.Close(); sound == nil {
			require.NoError(t, closed)
		}
	}
}

// FuzzOpen changes bytes of a world file, anywhere, or in rows alone, whose checksums are then made
// right. A check refuses content with other checksums. A world that is opened all the same is
// walked, changed and ended: calls answer, or panic by name.
func FuzzOpen(f *testing.F) {
	x := newEditedWorld(f)
	f.Add([]byte{}, false)
	f.Add([]byte{0, 0, 0, 0, 1}, true)                     // an entity
	f.Add([]byte{4, 0, 0, 0, 2}, true)                     // its version
	f.Add([]byte{3, 8, 0, 0, 0x40}, true)                  // a tag
	f.Add([]byte{0, 16, 0, 0, 255}, false)                 // of types
	f.Add([]byte{0, 0, 64, 0, 1}, false)                   // of records
	f.Add([]byte{0, 0, 96, 0, 1, 9, 0, 96, 0, 255}, false) // of entries
	f.Fuzz(x.try)
}

// TestOpenOfEditedRows is a walk of FuzzOpen over bytes of rows that are not zero.
func TestOpenOfEditedRows(t *testing.T) {
	x := newEditedWorld(t)
	dice, step := rand.New(rand.NewPCG(1, 2)), 7
	switch {
	case testing.Short():
		step = 41
	case os.Getenv("QUARRY_LONG") != "":
		step = 1
	}
	for at, n := 0, 0; at < 64<<10; at++ {
		if x.file[int(x.rows.Offset)+at] == 0 && at%97 != 0 {
			continue
		}
		if n++; n%step == 0 {
			x.try(t, append(binary.LittleEndian.AppendUint32(nil, uint32(at)), byte(1+dice.IntN(255))), true)
		}
	}
}
