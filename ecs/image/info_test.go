package image

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
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
	place, crates := ecs.Register[infoPlace](w, ecs.Enableable, ecs.MaxRows(64)), ecs.RegisterBuffer[infoCrate](w, ecs.Inline(1))
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

// TestDescribe: all that a file says is there.
func TestDescribe(t *testing.T) {
	path, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	for _, options := range [][]Option{nil, {Checked()}, {World(), World()}} {
		whole := len(options) == 1
		info, err := Describe(path, options...)
		require.NoError(t, err)
		require.Equal(t, []int64{1, int64(len(file))}, []int64{int64(info.Format), info.Bytes})
		require.Len(t, info.Sections, 1+sections)
		require.Equal(t, Section{Name: "header", Bytes: headerBytes, State: Good}, info.Sections[0])
		for s := range sections {
			want := Section{Name: sectionNames[s], Offset: h.at[s], Bytes: h.n[s], State: Good}
			if s >= firstBulk && s != sums && !whole {
				want.State = Unread
			}
			require.Equal(t, want, info.Sections[1+s])
		}
		require.Equal(t, []int{100, 8192, 8192 - 2 - 100, 3, 1, 16}, []int{info.Entities, info.IDs, info.Free, info.Names, info.Blocks, info.BlockBytes})
		require.Len(t, info.Types, 8)
		require.Equal(t, "quarry/ecs.DisabledEntity", info.Types[0].Name)
		place := info.Types[4]
		require.Len(t, place.Fields, 2)
		require.Equal(t, "{Y float32 4 4 float32}", fmt.Sprint(place.Fields[1]))
		require.Equal(t, Type{Name: "quarry/ecs/image.infoPlace", Size: 8, Enableable: true, MaxRows: 64, Fields: place.Fields}, place)
		require.Equal(t, []any{ecs.KindBuffer, 1, 24}, []any{info.Types[5].Kind, info.Types[5].Inline, info.Types[5].Size})
		require.Equal(t, []Archetype{{Types: []int{4, 5, 7}, Shared: []SharedValue{{7, `"Genoa"`, []byte("\x05Genoa")}}, Rows: 100, Chunks: 2, Bytes: info.Archetypes[0].Bytes}}, info.Archetypes)
		require.Equal(t, []Sparse{{6, 3, 48}}, info.Sparse)
	}
}

// TestDescribeDamage: of each damaged byte the section is named, all others are good, and the error
// is the one of Check; without Checked those of rows, records, entries and gaps are not seen.
func TestDescribeDamage(t *testing.T) {
	path, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	change := func(at int64, section int) {
		file[at] ^= 4
		require.NoError(t, os.WriteFile(path, file, 0o600))
		file[at] ^= 4
		want := Check(path)
		require.ErrorIs(t, want, ErrFile)
		for _, whole := range []bool{false, true} {
			var options []Option
			if whole {
				options = append(options, Checked())
			}
			info, err := Describe(path, options...)
			if seen := whole || section < firstBulk || section == sums; !seen {
				require.NoError(t, err)
				require.Equal(t, 100, info.Entities)
				continue
			}
			require.EqualError(t, err, strings.Replace(want.Error(), "image: Check:", "image: Describe:", 1))
			require.ErrorIs(t, err, ErrFile)
			for s := range sections {
				got := info.Sections[1+s]
				if s == section {
					require.Equal(t, Damaged, got.State, "byte %d", at)
					require.ErrorContains(t, err, got.Err.Error())
					continue
				}
				bulk := s >= firstBulk && s != sums
				require.Equal(t, bulk && (!whole || section == sums), got.State == Unread, "byte %d, section %s", at, sectionNames[s])
				require.NoError(t, got.Err)
			}
			require.Equal(t, section >= firstBulk, info.Entities == 100, "described sections are told of if all are good")
			require.Equal(t, section >= firstBulk, len(info.Types) > 0)
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

// TestDescribeWithoutHeader: where the header is no good there is nothing to tell, and of a file
// that was cut there are only its sections.
func TestDescribeWithoutHeader(t *testing.T) {
	path, file := infoWorld(t)
	for _, n := range []int{0, 7, headerBytes - 1} {
		require.NoError(t, os.WriteFile(path, file[:n], 0o600))
		info, err := Describe(path)
		require.ErrorIs(t, err, ErrFile)
		require.ErrorContains(t, err, "image: Describe: "+path+": ")
		require.Empty(t, info)
	}
	file[80]++
	require.NoError(t, os.WriteFile(path, file, 0o600))
	info, err := Describe(path)
	require.ErrorIs(t, err, ErrFile)
	require.Empty(t, info)
	file[80]--
	for _, n := range []int{headerBytes, len(file) / 2, len(file) - 1} {
		require.NoError(t, os.WriteFile(path, file[:n], 0o600))
		info, err = Describe(path, Checked())
		require.ErrorIs(t, err, ErrFile)
		require.ErrorContains(t, err, fmt.Sprintf("it has %d bytes, by its header %d", n, len(file)))
		require.Len(t, info.Sections, 1+sections)
		for _, s := range info.Sections[1:] {
			require.Equal(t, Unread, s.State)
		}
		require.Empty(t, info.Types)
	}
	_, err = Describe(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Describe(t.TempDir())
	require.Error(t, err)
	require.PanicsWithValue(t, "image: Describe: an option is nil", func() { _, _ = Describe(path, nil) })
}

// TestDescribeContentThatMakesNoSense: all checksums are right, and sections are bytes of no world.
func TestDescribeContentThatMakesNoSense(t *testing.T) {
	for _, size := range testSizes[:3] {
		info, err := Describe(fakePath(t, 7, size), Checked())
		require.ErrorIs(t, err, ErrFile)
		for _, s := range info.Sections {
			require.Equal(t, Good, s.State)
		}
		require.Empty(t, info.Types)
	}
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

// TestDescribeWhatCannotBeRead: an error of the system is no damage.
func TestDescribeWhatCannotBeRead(t *testing.T) {
	_, file := infoWorld(t)
	h, err := decode(file[:headerBytes])
	require.NoError(t, err)
	for s := range sections {
		var info Info
		err := info.describe(failingDisk{bytes.NewReader(file), h.at[s], h.at[s] + h.n[s]}, h.total, true)
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, ErrFile)
		require.Equal(t, Unread, info.Sections[1+s].State)
		require.ErrorIs(t, info.Sections[1+s].Err, errTest)
	}
}

func TestStates(t *testing.T) {
	require.Equal(t, "not read good damaged State(3)", fmt.Sprint(Unread, " ", Good, " ", Damaged, " ", State(3)))
}
