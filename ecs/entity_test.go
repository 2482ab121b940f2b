package ecs_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

var (
	_ encoding.TextMarshaler     = ecs.Entity{}
	_ encoding.TextAppender      = ecs.Entity{}
	_ encoding.TextUnmarshaler   = (*ecs.Entity)(nil)
	_ encoding.BinaryMarshaler   = ecs.Entity{}
	_ encoding.BinaryAppender    = ecs.Entity{}
	_ encoding.BinaryUnmarshaler = (*ecs.Entity)(nil)
)

// entityCases are entities at the limits of each part, and their text.
var entityCases = []struct {
	e    ecs.Entity
	text string
}{
	{ecs.Null, "null"},
	{ecstest.MakeEntity(12|5<<27, 3), "12v3@5"},
	{ecstest.MakeEntity(1, 1), "1v1@0"},
	{ecstest.MakeEntity(1<<27-1, 1<<32-1), "134217727v4294967295@0"},
	{ecstest.MakeEntity(1<<27-1|15<<27, 1<<32-1), "134217727v4294967295@15"},
}

func TestEntityText(t *testing.T) {
	for _, c := range entityCases {
		text, err := c.e.MarshalText()
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
		require.True(t, strings.HasPrefix(c.text, c.e.String()), "String prints the same without the world")
		text, err = c.e.AppendText([]byte("at "))
		require.NoError(t, err)
		require.Equal(t, "at "+c.text, string(text))
		back := ecstest.MakeEntity(7, 7)
		require.NoError(t, back.UnmarshalText([]byte(c.text)))
		require.Equal(t, c.e, back)
	}
}

func TestEntityTextIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "want null, or index, version and world as 12v3@5",
		"nul":                      "want null, or index, version and world as 12v3@5",
		"Null":                     "want null, or index, version and world as 12v3@5",
		"12":                       "want null, or index, version and world as 12v3@5",
		"12v3":                     "want null, or index, version and world as 12v3@5",
		"12@5":                     "want null, or index, version and world as 12v3@5",
		"12@5v3":                   "want null, or index, version and world as 12v3@5",
		"v@":                       `index "" is not a number: it needs digits, and no zeros in front`,
		"12v@5":                    `version "" is not a number: it needs digits, and no zeros in front`,
		"12v3@":                    `world "" is not a number: it needs digits, and no zeros in front`,
		"012v3@5":                  `index "012" is not a number: it needs digits, and no zeros in front`,
		" 12v3@5":                  `index " 12" is not a number: byte 0 is ' '`,
		"12v+3@5":                  `version "+3" is not a number: byte 0 is '+'`,
		"12v3@5 ":                  `world "5 " is not a number: byte 1 is ' '`,
		"12v3v3@5":                 `version "3v3" is not a number: byte 1 is 'v'`,
		"1_2v3@5":                  `index "1_2" is not a number: byte 1 is '_'`,
		"0x2v3@5":                  `index "0x2" is not a number: byte 1 is 'x'`,
		"134217728v3@5":            "index 134217728 is out of range: at most 134217727",
		"12v4294967297@5":          "version 4294967297 is out of range: at most 4294967295",
		"12v3@16":                  "world 16 is out of range: at most 15",
		"99999999999999999999v3@5": "index 99999999999999999999 is out of range: at most 134217727",
		"12v4@5":                   "version 4 is even; an entity has an odd one",
		"12v0@5":                   "version 0 is even; an entity has an odd one",
		"0v1@5":                    "index 0 is that of null; entities have 1..134217727",
		"0v0@5":                    "index 0 is that of null; entities have 1..134217727",
		"0v0@0":                    "null is written null",
	} {
		e := ecstest.MakeEntity(7, 7)
		require.EqualError(t, e.UnmarshalText([]byte(text)),
			fmt.Sprintf("ecs: Entity.UnmarshalText: %q: %s", text, want))
		require.Equal(t, ecstest.MakeEntity(7, 7), e, "a refused text leaves the entity alone")
	}
	require.Less(t, len(new(ecs.Entity).UnmarshalText([]byte(strings.Repeat("1", 1<<20))).Error()), 200)
	p := ecstest.MakeEntity(1<<31|7, 1)
	_, err := p.MarshalText()
	require.EqualError(t, err,
		"ecs: Entity.MarshalText: a placeholder of a command buffer, which is good in that buffer only")
	b, err := p.AppendText([]byte("at "))
	require.Error(t, err)
	require.Equal(t, "at ", string(b))
}

func TestEntityBinary(t *testing.T) {
	for _, c := range entityCases {
		b, err := c.e.MarshalBinary()
		require.NoError(t, err)
		require.Len(t, b, 8)
		var back ecs.Entity
		require.NoError(t, back.UnmarshalBinary(b))
		require.Equal(t, c.e, back)
	}
	b, err := ecstest.MakeEntity(0x01020304, 0x05060709).AppendBinary([]byte{9})
	require.NoError(t, err)
	require.Equal(t, []byte{9, 4, 3, 2, 1, 9, 7, 6, 5}, b, "little endian, the index first")
	_, err = ecstest.MakeEntity(1<<31|1, 1).MarshalBinary()
	require.EqualError(t, err,
		"ecs: Entity.MarshalBinary: a placeholder of a command buffer, which is good in that buffer only")
	for want, data := range map[string][]byte{
		"7 bytes, want 8": make([]byte, 7),
		"9 bytes, want 8": make([]byte, 9),
		"0 bytes, want 8": nil,
		"0x0000000180000001: a placeholder of a command buffer, which is good in that buffer only": {1, 0, 0, 0x80, 1, 0, 0, 0},
		"0x0000000200000001: version 2 is even; an entity has an odd one":                          {1, 0, 0, 0, 2, 0, 0, 0},
		"0x0000000108000000: index 0 is that of null; entities have 1..134217727":                  {0, 0, 0, 8, 1, 0, 0, 0},
	} {
		e := ecstest.MakeEntity(7, 7)
		require.EqualError(t, e.UnmarshalBinary(data), "ecs: Entity.UnmarshalBinary: "+want)
		require.Equal(t, ecstest.MakeEntity(7, 7), e)
	}
}

// TestEntityJSON takes entities of a world through JSON, as values and as keys.
func TestEntityJSON(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	type save struct {
		Player ecs.Entity
		Target *ecs.Entity
		Scores map[ecs.Entity]int
	}
	e, f := a.Create(), a.Create()
	in := save{Player: e, Scores: map[ecs.Entity]int{e: 1, f: 2, ecs.Null: 3}}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	var out save
	require.NoError(t, json.Unmarshal(text, &out))
	require.Equal(t, in, out)
	require.True(t, w.Alive(out.Player))
	w.Destroy(e)
	require.NoError(t, json.Unmarshal(text, &out))
	require.False(t, w.Alive(out.Player), "the text names the entity, not its index")
	require.ErrorContains(t, json.Unmarshal([]byte(`{"Player":"1v2@0"}`), &out), "version 2 is even")
}

// TestEntityByNumbers finds what a log names.
func TestEntityByNumbers(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	e := a.Create()
	reserved := ecstest.Reserve(t, w, 2)
	ecstest.CreateReserved(t, a, reserved[:1])
	for _, e := range []ecs.Entity{e, reserved[0]} {
		found, ok := w.Entity(e.Index(), e.Version())
		require.True(t, ok)
		require.Equal(t, e, found)
	}
	for _, c := range []struct {
		index   int
		version uint32
	}{{1, 0}, {1, 2}, {1, 3}, {2, 1}, {0, 0}, {0, 1}, {-1, 1}, {1 << 27, 1}, {1<<27 + 1, 1}, {1 << 40, 1},
		{reserved[1].Index(), reserved[1].Version()}} {
		found, ok := w.Entity(c.index, c.version)
		require.False(t, ok, "%v", c)
		require.Equal(t, ecs.Null, found)
	}
	require.True(t, w.Destroy(e))
	_, ok := w.Entity(1, 1)
	require.False(t, ok)
	require.NoError(t, w.Close())
	_, ok = w.Entity(1, 1)
	require.False(t, ok)
}

// TestEntityCompare compares all pairs of some entities with a comparison by words.
func TestEntityCompare(t *testing.T) {
	var list []ecs.Entity
	for _, index := range []uint32{0, 1, 2, 1<<27 - 1} {
		for _, version := range []uint32{0, 1, 3, 1 << 31, 1<<32 - 1} {
			list = append(list, ecstest.MakeEntity(index, version))
		}
	}
	for i, e := range list {
		for j, f := range list {
			require.Equal(t, min(max(i-j, -1), 1), e.Compare(f), "%v %v", e, f)
		}
	}
	shuffled := slices.Clone(list)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(list),
		func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, ecs.Entity.Compare)
	require.Equal(t, list, shuffled)
}

func ExampleEntity_Compare() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	a := ecs.NewArchetype(w)
	first, second, third := a.Create(), a.Create(), a.Create()
	list := []ecs.Entity{third, first, ecs.Null, second}
	slices.SortFunc(list, ecs.Entity.Compare)
	fmt.Println(list)
	// Output:
	// [null 1v1 2v1 3v1]
}

// FuzzEntityText: what the parser takes it also writes, byte for byte, and so does the
// binary form.
func FuzzEntityText(f *testing.F) {
	for _, c := range entityCases {
		f.Add([]byte(c.text))
	}
	for _, text := range []string{
		"", "0v0@0", "012v3@5", "12v4@5", "1v1@16", "134217728v1@0", "1v99999999999999999999@0", "12v3@5@", "v@",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e ecs.Entity
		if err := e.UnmarshalText(text); err != nil {
			require.Equal(t, ecs.Null, e)
			require.Contains(t, err.Error(), "ecs: Entity.UnmarshalText: ")
			return
		}
		again, err := e.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, again)
		b, err := e.MarshalBinary()
		require.NoError(t, err)
		var back ecs.Entity
		require.NoError(t, back.UnmarshalBinary(b))
		require.Equal(t, e, back)
		ref, version := ecstest.Bits(e)
		require.Zero(t, ref>>31)
		require.True(t, e == ecs.Null || version%2 == 1 && e.Index() > 0)
	})
}
