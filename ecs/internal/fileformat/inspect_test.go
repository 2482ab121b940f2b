package fileformat

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
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
	img, err := door.ImageOfWorld(w)
	require.NoError(t, err)
	require.NoError(t, Replace(disk.FileSystem{}, img, path))
	img.Close()
	require.NoError(t, w.Close())
	file, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, file
}

// TestInspect: the description of each section is there.
func TestInspect(t *testing.T) {
	path, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	for _, whole := range []bool{false, true} {
		in, err := Inspect(path, whole)
		require.NoError(t, err)
		require.Equal(t, []int64{1, int64(len(file))}, []int64{int64(in.Format), in.Bytes})
		require.Len(t, in.Sections, 1+sections)
		require.Equal(t, Section{Name: "header", Bytes: headerBytes, State: Good}, in.Sections[0])
		for s := range sections {
			want := Section{Name: sectionNames[s], Offset: h.at[s], Bytes: h.n[s], State: Good}
			if s >= firstBulk && s != sums && !whole {
				want.State = Unread
			}
			require.Equal(t, want, in.Sections[1+s])
		}
		require.NotNil(t, in.Meta)
	}
}

// TestInspectDamage: of each damaged byte the section is named, all others are good, and the error
// is the one of Check; without Checked those of rows, records, entries and gaps are not seen.
func TestInspectDamage(t *testing.T) {
	path, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	change := func(at int64, section int) {
		file[at] ^= 4
		require.NoError(t, os.WriteFile(path, file, 0o600))
		file[at] ^= 4
		want := CheckFile(path)
		require.ErrorIs(t, want, worldfile.ErrImage)
		for _, whole := range []bool{false, true} {
			in, err := Inspect(path, whole)
			if seen := whole || section < firstBulk || section == sums; !seen {
				require.NoError(t, err)
				require.NotNil(t, in.Meta)
				continue
			}
			require.EqualError(t, err, want.Error())
			require.ErrorIs(t, err, worldfile.ErrImage)
			for s := range sections {
				got := in.Sections[1+s]
				if s == section {
					require.Equal(t, Damaged, got.State, "byte %d", at)
					require.ErrorContains(t, err, got.Err.Error())
					continue
				}
				bulk := s >= firstBulk && s != sums
				require.Equal(t, bulk && (!whole || section == sums), got.State == Unread, "byte %d, section %s",
					at, sectionNames[s])
				require.NoError(t, got.Err)
			}
			require.Equal(t, section >= firstBulk, in.Meta != nil, "described sections are told of if all are good")
		}
	}
	for s := range sections {
		for _, at := range []int64{h.at[s], h.at[s] + h.n[s]/2, h.at[s] + h.n[s] - 1} {
			change(at, s)
		}
		if end := h.at[s] + h.n[s]; s != sums && end < h.at[s+1] {
			change(end, sections)
			change(h.at[s+1]-1, sections)
		}
	}
}

// TestInspectWithoutHeader: a file with a bad header has no description, and a file that was cut
// has only that of its sections.
func TestInspectWithoutHeader(t *testing.T) {
	path, file := infoWorld(t)
	for _, n := range []int{0, 7, headerBytes - 1} {
		require.NoError(t, os.WriteFile(path, file[:n], 0o600))
		in, err := Inspect(path, false)
		require.ErrorIs(t, err, worldfile.ErrImage)
		require.ErrorContains(t, err, path)
		require.Empty(t, in)
	}
	file[80]++
	require.NoError(t, os.WriteFile(path, file, 0o600))
	in, err := Inspect(path, false)
	require.ErrorIs(t, err, worldfile.ErrImage)
	require.Empty(t, in)
	file[80]--
	for _, n := range []int{headerBytes, len(file) / 2, len(file) - 1} {
		require.NoError(t, os.WriteFile(path, file[:n], 0o600))
		in, err = Inspect(path, true)
		require.ErrorIs(t, err, worldfile.ErrImage)
		require.ErrorContains(t, err, fmt.Sprintf("it has %d bytes, by its header %d", n, len(file)))
		require.Len(t, in.Sections, 1+sections)
		for _, s := range in.Sections[1:] {
			require.Equal(t, Unread, s.State)
		}
		require.Nil(t, in.Meta)
	}
	_, err = Inspect(filepath.Join(t.TempDir(), "none"), false)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Inspect(t.TempDir(), false)
	require.Error(t, err)
}

// failingDisk fails where a section lies.
type failingDisk struct {
	*bytes.Reader
	from, to int64
}

func (d failingDisk) ReadAt(b []byte, at int64) (int, error) {
	if at < d.to && at+int64(len(b)) > d.from {
		return 0, errTest
	}
	return d.Reader.ReadAt(b, at)
}

// TestInspectWhatCannotBeRead: an error of the system is no damage.
func TestInspectWhatCannotBeRead(t *testing.T) {
	_, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	for s := range sections {
		var in Inspection
		err := in.inspect(failingDisk{bytes.NewReader(file), h.at[s], h.at[s] + h.n[s]}, h.total, true)
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, worldfile.ErrImage)
		require.Equal(t, Unread, in.Sections[1+s].State)
		require.ErrorIs(t, in.Sections[1+s].Err, errTest)
	}
}
