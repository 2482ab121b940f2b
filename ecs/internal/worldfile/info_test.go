package worldfile_test

import (
	"math"
	"reflect"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/long"
	"quarry/internal/typename"

	"github.com/stretchr/testify/require"
)

// describedImage returns an image of a world of all kinds of types, without rows to read.
func describedImage(t testing.TB, m *imaged, n int) *worldfile.File {
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, n)
	s := m.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Read = nil
	return f
}

// TestDescribeImage: a description equals that of the world.
func TestDescribeImage(t *testing.T) {
	var m imaged
	f := describedImage(t, &m, 3000)
	info, err := worldfile.DescribeImage(f)
	require.NoError(t, err)
	all := m.w.Components()
	require.Len(t, info.Types, len(all))
	for i, c := range all {
		got := &info.Types[i]
		name := c.Go.Name()
		if c.Go.PkgPath() != "" {
			name = typename.Of(c.Go)
		}
		require.Equal(t, name, got.Name)
		require.Equal(t, c.Kind, ecs.Kind(got.Kind))
		of := door.World(m.w).Types.List[i]
		require.Equal(t, []any{of.Enableable, of.Cleanup, of.Tracked, of.MaxRows},
			[]any{got.Enableable, got.Cleanup, got.TrackRows, got.MaxRows}, c.Name)
		if k := c.Kind; k == ecs.KindComponent || k == ecs.KindSparse || k == ecs.KindChunk {
			require.Equal(t, int(c.Go.Size()), got.Size, c.Name)
		}
	}
	require.Equal(t, []worldfile.InfoField{{Name: "X", Kind: reflect.Float64, Size: 8, Type: "float64"},
		{Name: "Y", Kind: reflect.Float64, Offset: 8, Size: 8, Type: "float64"}}, info.Types[4].Fields)
	require.Equal(t, 2, info.Types[9].Inline)

	entities, names, entries := 0, 0, 0
	require.Len(t, info.Archetypes, 6, "five, and that of dying owners")
	for _, a := range m.w.Archetypes() {
		types, values := []int{}, []string{}
		for _, c := range a.Components() {
			types = append(types, door.TypeIndex(m.w, c.Type))
		}
		bytes := 0
		for i := range a.Chunks() {
			_, n, _ := a.Chunk(i)
			bytes += n
		}
		switch {
		case a.Has(m.text):
			values = append(values, "{X:3 Y:4}", `"a text"`)
		case a.Has(m.zone):
			values = append(values, "{X:1 Y:2}")
		}
		found := false
		for _, got := range info.Archetypes {
			if reflect.DeepEqual(types, got.Types) {
				found = true
				require.Equal(t, []int{a.Len(), a.Chunks(), bytes}, []int{got.Rows, got.Chunks, got.Bytes}, "%v", a)
				texts := []string{}
				for _, v := range got.Shared {
					texts = append(texts, v.Text)
				}
				require.Equal(t, values, texts)
			}
		}
		require.True(t, found, "%v", a)
		entities += a.Len()
	}
	q := ecs.NewQueryOfAll(m.w)
	defer q.Close()
	for rows := range q.Rows() {
		for _, e := range rows.Entities() {
			if m.w.Name(e) != "" {
				names++
			}
			if m.trait.Has(e) {
				entries++
			}
		}
	}
	require.Equal(t, []int{entities, names}, []int{info.Alive, info.Names})
	require.Equal(t, []worldfile.InfoSet{{Type: door.TypeIndex(m.w, m.trait), Entries: entries, Bytes: 16 * entries}},
		info.Sets)
	require.Equal(t, f.Size[worldfile.ImageRecords]/8, info.Records)
	require.Equal(t, info.Records-2, info.Alive+info.Free, "all but the first and the last id are in use or free")
	require.Positive(t, info.Blocks)
	require.Positive(t, info.BlockBytes)
	require.Equal(t, m.w.Version()-1, info.Version, "a snapshot begins the next version")
}

// TestDescribeImageValues: shared values as text.
func TestDescribeImageValues(t *testing.T) {
	type inner struct {
		A int8
		B uint16
	}
	type mixed struct {
		Text  string
		In    inner
		Ratio float32
		On    bool
		Wide  int64
		Of    [2]uint16
		More  string
	}
	type none struct{}
	w := ecstest.NewWorld(t)
	types := []ecs.Type{
		ecs.RegisterShared[mixed](w).Of(mixed{"a \"b\"\n", inner{-3, 65535}, float32(math.Inf(1)), true, math.MinInt64,
			[2]uint16{1, 256}, "c"}),
		ecs.RegisterShared[string](w).Of("text, alone"), ecs.RegisterShared[float64](w).Of(math.NaN()),
		ecs.RegisterShared[int32](w).Of(-7),
		ecs.RegisterShared[[3]byte](w).Of([3]byte{1, 2, 255}), ecs.RegisterShared[none](w).Of(none{}),
		ecs.RegisterShared[complex64](w).Of(1),
	}
	ecs.NewArchetype(w, types...).Create()
	s := w.Snapshot()
	defer s.Close()
	info, err := worldfile.DescribeImage(ecstest.NewFile(t, s))
	require.NoError(t, err)
	require.Len(t, info.Archetypes, 1)
	var got []string
	for _, v := range info.Archetypes[0].Shared {
		got = append(got, v.Text)
	}
	require.Equal(t, []string{
		`{Text:"a \"b\"\n" In.A:-3 In.B:65535 Ratio:+Inf On:true Wide:-9223372036854775808 01 00 00 01 01 63}`,
		`"text, alone"`, "NaN", "-7", "01 02 ff", "{}", "00 00 80 3f 00 00 00 00",
	}, got)
}

// TestDescribeImageOfAnyBytes: bytes of sections are changed, cut and appended, where no checksum
// shows it. The description still names the sections that are there, and takes no more memory than
// the file has bytes.
func TestDescribeImageOfAnyBytes(t *testing.T) {
	t.Parallel()
	var m imaged
	f := describedImage(t, &m, 40)
	refused, described := 0, 0
	try := func(section int, bytes []byte) {
		was := f.Meta[section]
		f.Meta[section] = bytes
		defer func() { f.Meta[section] = was }()
		info, err := worldfile.DescribeImage(f)
		if err != nil {
			refused++
			require.ErrorIs(t, err, worldfile.ErrImage)
			return
		}
		described++
		rows, bytesOf := 0, 0
		for _, a := range info.Archetypes {
			rows, bytesOf = rows+a.Rows, bytesOf+a.Bytes
			for _, of := range a.Types {
				require.Less(t, of, len(info.Types))
			}
			for _, v := range a.Shared {
				require.Less(t, v.Type, len(info.Types))
			}
		}
		for _, s := range info.Sets {
			require.Less(t, s.Type, len(info.Types))
			require.LessOrEqual(t, s.Bytes, f.Size[worldfile.ImageEntries])
		}
		require.Equal(t, info.Alive, rows)
		require.LessOrEqual(t, rows, info.Records)
		require.LessOrEqual(t, bytesOf, f.Size[worldfile.ImageRows])
	}
	for section, was := range f.Meta {
		for at := range was {
			if !long.On() && at%5 != 0 && at >= 12 { // the counts, and one byte in five
				continue
			}
			for bit := range 8 {
				b := append([]byte(nil), was...)
				b[at] ^= 1 << bit
				try(section, b)
			}
			try(section, was[:at])
			b := append([]byte(nil), was[:at]...)
			try(section, append(append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), was[at+1:]...)) // a number of 42 bits
		}
		try(section, append(append([]byte(nil), was...), 0))
	}
	require.Greater(t, refused, 1000)
	require.Greater(t, described, 1000)
}

// TestDescribeImageOfASmallerFile: what is described fits in the parts of the file that have it.
func TestDescribeImageOfASmallerFile(t *testing.T) {
	var m imaged
	f := describedImage(t, &m, 40)
	for part, was := range f.Size {
		f.Size[part] = 0
		_, err := worldfile.DescribeImage(f)
		require.ErrorIs(t, err, worldfile.ErrImage, "part %d", part)
		f.Size[part] = was
	}
	_, err := worldfile.DescribeImage(f)
	require.NoError(t, err)
}
