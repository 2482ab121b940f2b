package image

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

type (
	infoPlace struct{ X, Y float32 }
	infoCrate struct{ Goods uint64 }
	infoMark  struct{ N int64 }
)

// infoWorld returns the path and the bytes of the file of a small world.
func infoWorld(t testing.TB) (path string, file []byte) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	place := ecs.Register[infoPlace](w, ecs.Enableable, ecs.MaxRows(64))
	crates := ecs.RegisterBuffer[infoCrate](w, ecs.Inline(1))
	mark, port := ecs.RegisterSparse[infoMark](w), ecs.RegisterShared[string](w)
	batch, err := ecs.NewArchetype(w, place, crates, port.Of("Genoa")).CreateN(100)
	require.NoError(t, err)
	for i, e := range batch.Entities(nil)[:3] {
		w.SetName(e, "same")
		mark.Add(e, infoMark{1})
		crates.Append(e, make([]infoCrate, i)...)
	}
	path = filepath.Join(t.TempDir(), "port.world")
	require.NoError(t, SaveFile(w, path))
	require.NoError(t, w.Close())
	file, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, file
}

// TestDescribe: all content of a file is there.
func TestDescribe(t *testing.T) {
	path, file := infoWorld(t)
	for _, options := range [][]Option{nil, {Checked()}, {World(), World()}} {
		whole := len(options) == 1
		info, err := Describe(path, options...)
		require.NoError(t, err)
		require.Equal(t, []int64{1, int64(len(file))}, []int64{int64(info.Format), info.Bytes})
		in, err := fileformat.Inspect(path, whole)
		require.NoError(t, err)
		require.Len(t, info.Sections, len(in.Sections))
		for k, s := range in.Sections {
			require.Equal(t, Section{s.Name, s.Offset, s.Bytes, State(s.State), nil}, info.Sections[k])
		}
		require.Equal(t, []int{100, 8192, 8192 - 2 - 100, 3, 1, 16}, []int{
			info.Entities, info.IDs, info.Free, info.Names, info.Blocks, info.BlockBytes,
		})
		require.Len(t, info.Types, 8)
		require.Equal(t, "quarry/ecs.DisabledEntity", info.Types[0].Name)
		place := info.Types[4]
		require.Len(t, place.Fields, 2)
		require.Equal(t, "{Y float32 4 4 float32}", fmt.Sprint(place.Fields[1]))
		require.Equal(t, Type{
			Name: "quarry/ecs/image.infoPlace", Size: 8, Enableable: true, MaxRows: 64, Fields: place.Fields,
		}, place)
		require.Equal(t, []any{ecs.KindBuffer, 1, 24}, []any{
			info.Types[5].Kind, info.Types[5].Inline, info.Types[5].Size,
		})
		require.Equal(t, []Archetype{
			{Types: []int{4, 5, 7}, Shared: []SharedValue{{7, `"Genoa"`, []byte("\x05Genoa")}}, Rows: 100, Chunks: 2, Bytes: info.Archetypes[0].Bytes},
		}, info.Archetypes)
		require.Equal(t, []Sparse{{6, 3, 48}}, info.Sparse)
	}
}

// TestDescribeDamage: damaged sections are named, and whole ones are described.
func TestDescribeDamage(t *testing.T) {
	path, file := infoWorld(t)
	info, err := Describe(path)
	require.NoError(t, err)
	for _, whole := range []bool{false, true} {
		for i, s := range info.Sections[1:] {
			var options []Option
			if whole {
				options = append(options, Checked())
			}
			file[s.Offset] ^= 4
			require.NoError(t, os.WriteFile(path, file, 0o600))
			file[s.Offset] ^= 4
			got, err := Describe(path, options...)
			if !whole && s.State == Unread {
				require.NoError(t, err)
				require.Equal(t, info, got)
				continue
			}
			require.ErrorIs(t, err, ErrFile)
			require.ErrorContains(t, err, "image: Describe: "+path+": ")
			require.Equal(t, Damaged, got.Sections[1+i].State)
			require.ErrorContains(t, err, got.Sections[1+i].Err.Error())
			described := s.Name == "rows" || s.Name == "records" || s.Name == "entries" || s.Name == "sums"
			require.Equal(t, described, got.Entities == 100, s.Name)
			require.Equal(t, described, len(got.Types) > 0, s.Name)
		}
	}
	_, err = Describe(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.PanicsWithValue(t, "image: Describe: an option is nil", func() { _, _ = Describe(path, nil) })
}

// TestDescribeContentThatMakesNoSense: all checksums are right, and sections are bytes of no world.
func TestDescribeContentThatMakesNoSense(t *testing.T) {
	img := &worldfile.Image{Read: func(int, int, []byte) error { return nil }}
	for i := range img.Meta {
		img.Meta[i] = bytes.Repeat([]byte{7}, 37*i)
	}
	path := filepath.Join(t.TempDir(), "none.world")
	require.NoError(t, fileformat.Replace(disk.FileSystem{}, img, path))
	info, err := Describe(path, Checked())
	require.ErrorIs(t, err, ErrFile)
	for _, s := range info.Sections {
		require.Equal(t, Good, s.State)
	}
	require.Empty(t, info.Types)
}

func TestStates(t *testing.T) {
	require.Equal(t, "not read good damaged State(3)", fmt.Sprint(Unread, " ", Good, " ", Damaged, " ", State(3)))
}
