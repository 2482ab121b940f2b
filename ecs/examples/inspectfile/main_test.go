package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/image"
)

// printed is what run prints of the small world, but for the bytes of described sections: layouts
// are of the CPU's cache lines, which a file has.
const printed = `harbour.world: format 1, 6291604 bytes, 1040 entities, 8192 ids, 2 names, version 1

   offset    bytes  checksum  section
        0     4096      good  header
        .        .      good  types
        .        .      good  tables
        .        .      good  ids
        .        .      good  names
        .        .      good  sparse
        .        .      good  managed
  2097152  2097152  not read  rows
  4194304    65536  not read  records
  6291456      128  not read  entries
  6291584       20      good  sums

  rows  chunks  bytes  archetype
  1000       1  32768  place
    20       1   2048  place speed crate banner={Country:"Norway"} route
    20       1   2048  place speed crate banner={Country:"Chile"} route
     2       -     24  fire
     2       -     68  route
    16       -    512  blocks of buffers

  bytes       kind  type
      0  component  quarry/ecs.DisabledEntity {}
      0  component  quarry/ecs.Prefab {}
      0  component  quarry/ecs.CleanupEntity {}
    144     buffer  quarry/ecs.LinkedEntity, inline 16 {Entity Entity}
     16  component  quarry/ecs/examples/inspectfile.place {X float64, Y float64}
     16  component  quarry/ecs/examples/inspectfile.speed, enableable {X float64, Y float64}
     32     buffer  quarry/ecs/examples/inspectfile.crate, inline 2 {Goods uint32, Tons uint32}
      0     shared  quarry/ecs/examples/inspectfile.banner {Country string}
      4     sparse  quarry/ecs/examples/inspectfile.fire {Since float32}
      4    managed  quarry/ecs/examples/inspectfile.route, codec {Ports slice}
`

var described = regexp.MustCompile(`(?m)^ +[1-9]\d* +\d+(      good  (types|tables|ids|names|sparse|managed))$`)

func settled(out string) string { return described.ReplaceAllString(out, "        .        .$1") }

func TestSmallWorld(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, "", false, ""))
	require.Equal(t, printed, settled(out.String()))
	out.Reset()
	require.NoError(t, run(&out, "", true, ""))
	require.Equal(t, strings.ReplaceAll(printed, "not read", "    good"), settled(out.String()))
}

// TestDamagedFile: a damaged section is named, all others are printed.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "harbour.world")
	require.NoError(t, save(path))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	file[4194304+77]++
	require.NoError(t, os.WriteFile(path, file, 0o600))
	var out strings.Builder
	require.NoError(t, run(&out, path, false, ""), "nobody has looked at rows and records")
	out.Reset()
	err = run(&out, path, true, "")
	require.ErrorIs(t, err, image.ErrFile)
	require.ErrorContains(t, err, "section records is damaged between bytes 4194304 and 4259840")
	want := strings.ReplaceAll(printed, "not read", "    good")
	want = strings.ReplaceAll(want, "    good  records", " damaged  records")
	require.Equal(t, want, settled(out.String()))
}

func TestNoFile(t *testing.T) {
	var out strings.Builder
	require.ErrorIs(t, run(&out, filepath.Join(t.TempDir(), "none"), false, ""), os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "some.text")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no world. ", 500)), 0o600))
	err := run(&out, path, false, "")
	require.ErrorIs(t, err, image.ErrFile)
	require.ErrorContains(t, err, "it does not begin as one")
}

// TestAs: what becomes of the types beside another file.
func TestAs(t *testing.T) {
	path, newer := filepath.Join(t.TempDir(), "harbour.world"), filepath.Join(t.TempDir(), "newer.world")
	require.NoError(t, save(path))
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	ecs.Register[place](w, ecs.Enableable)
	require.NoError(t, image.SaveFile(w, newer))
	require.NoError(t, w.Close())
	var out strings.Builder
	require.NoError(t, run(&out, path, false, newer))
	_, plans, found := strings.Cut(out.String(), "\ntypes, opened by a program with those of newer.world\n")
	require.True(t, found)
	require.Contains(t, plans, "component quarry/ecs/examples/inspectfile.place: converted\n\tis enabled in all rows\n")
	require.Contains(t, plans, "buffer quarry/ecs/examples/inspectfile.crate: refused: types differ: "+
		"the buffer type quarry/ecs/examples/inspectfile.crate is not registered\n")
	require.ErrorIs(t, run(&out, path, false, filepath.Join(t.TempDir(), "none")), os.ErrNotExist)
}

// TestPageShowsIt: docs/files.md has the lines of archetypes.
func TestPageShowsIt(t *testing.T) {
	page, err := os.ReadFile("../../../docs/files.md")
	if os.IsNotExist(err) {
		t.Skip("the source is not in the working directory: ", err)
	}
	require.NoError(t, err)
	require.Contains(t, string(page), strings.Split(printed, "\n\n")[2])
}
