package input_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"quarry/bench/input"
)

// long is a text repeated to 64 MiB or more.
func long(text string) io.Reader {
	block := strings.Repeat(text, 1+(1<<16)/len(text))
	var parts []io.Reader
	for range (64 << 20) / len(block) {
		parts = append(parts, strings.NewReader(block))
	}
	return io.MultiReader(parts...)
}

// takes is how many bytes a function allocates: never less than it holds.
func takes(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func TestRecords(t *testing.T) {
	list, err := input.Records(strings.NewReader("a,b\n1,\"2\n3\"\n"))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", "b"}, {"1", "2\n3"}}, list)
	list, err = input.Records(strings.NewReader(strings.Repeat("1234567\n", 32<<10)))
	require.NoError(t, err, "the limit itself")
	require.Len(t, list, 32<<10)
	_, err = input.Records(strings.NewReader(strings.Repeat("1234567\n", 32<<10) + "\n"))
	require.ErrorIs(t, err, input.ErrLimit)
	require.EqualError(t, err, "limit reached: expected at most 262144 bytes: leave out what is not needed")
	_, err = input.Records(iotest.ErrReader(io.ErrNoProgress))
	require.ErrorIs(t, err, io.ErrNoProgress)
}

type object struct {
	Name string
	N    int
}

func TestObjects(t *testing.T) {
	list, err := input.Objects[object](strings.NewReader(` [ {"name":"a","n":1}, {"n":2,"more":[{}]} ] `))
	require.NoError(t, err)
	require.Equal(t, []object{{"a", 1}, {"", 2}}, list)
	list, err = input.Objects[object](strings.NewReader("[" + strings.Repeat("{},", 4095) + "{}]"))
	require.NoError(t, err, "the limit itself")
	require.Len(t, list, 4096)
	for text, want := range map[string]string{
		"":                                  "expected an array of objects: unexpected EOF",
		"{}":                                "expected an array of objects, got {",
		`"` + strings.Repeat("a", 99) + `"`: "expected an array of objects, got " + strings.Repeat("a", 60),
		"[{}":                               "expected an array of objects: after 1: unexpected EOF",
		"[{},":                              "expected an array of objects: object 2: unexpected EOF",
		"[{}}":                              "expected an array of objects: after 1: invalid character '}'",
		`[{},{"n":"x"}]`:                    "expected an array of objects: object 2: json: cannot unmarshal string",
		"[{},1]":                            "expected an array of objects: object 2: json: cannot unmarshal number",
		"[] []":                             "expected an array of objects and nothing after it",
		"[] x":                              "expected an array of objects and nothing after it: invalid character",
		"[" + strings.Repeat("{},", 4096) + "{}]": "limit reached: expected at most 4096 objects: leave out what is not needed",
		"[]" + strings.Repeat(" ", 4<<20):         "nothing after it: limit reached: expected at most 4194304 bytes: leave out what is not needed",
	} {
		_, err := input.Objects[object](strings.NewReader(text))
		require.ErrorContains(t, err, want)
		require.Equal(t, strings.Contains(want, "limit"), errors.Is(err, input.ErrLimit))
	}
}

// Text longer than any valid input is not read to its end.
func TestLong(t *testing.T) {
	records := func(r io.Reader) error { _, err := input.Records(r); return err }
	objects := func(r io.Reader) error { _, err := input.Objects[object](r); return err }
	for i, c := range []struct {
		read        func(io.Reader) error
		start, text string
	}{
		{records, "", "a\n"}, {records, "", "\n"}, {records, "", ","}, {records, "\"", "a"}, {records, "a\n", "a,a\n"}, {records, "", "\x00"},
		{objects, "", " "}, {objects, "[", `{"name":"a"},`}, {objects, `[{"name":"`, "a"}, {objects, `[{"other":`, "["}, {objects, `[{"other":`, "[],"},
		{objects, "[]", " "}, {objects, "", "\x00"}, {objects, "[", `{"name":null,"n":null},`},
		{objects, "[{", `"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",`},
	} {
		var err error
		got := takes(func() { err = c.read(io.MultiReader(strings.NewReader(c.start), long(c.text))) })
		require.Error(t, err, i)
		require.Less(t, got, 48<<20, "%d: %s%s...", i, c.start, c.text)
	}
}

func TestTail(t *testing.T) {
	var tail input.Tail
	all := strings.Builder{}
	for i := range 30_000 {
		n, err := fmt.Fprintf(io.MultiWriter(&tail, &all), "line %d\n", i)
		require.NoError(t, err)
		require.Positive(t, n)
		if i%7000 == 0 || i == 29_999 {
			require.Equal(t, all.String()[max(0, all.Len()-64<<10):], tail.String())
		}
	}
	n, err := tail.Write([]byte(strings.Repeat("a", 1<<20)))
	require.NoError(t, err)
	require.Equal(t, 1<<20, n)
	require.Equal(t, strings.Repeat("a", 64<<10), tail.String())
	require.Less(t, takes(func() {
		for range 1000 {
			_, _ = tail.Write(make([]byte, 10))
		}
	}), 1<<20)
}
