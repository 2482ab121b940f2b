package trace

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// malformed is a text, the name under which it is read, and the whole error.
type malformed struct{ file, text, want string }

var malformedAny = []malformed{
	{"none", "", `none:1: expected a trace of the AOSP, malloclab or wee_alloc form, got the end of the file`},
	{"blank", "\n \n",
		`blank:3: expected a trace of the AOSP, malloclab or wee_alloc form, got the end of the file`},
	{"odd", "\n#!/bin/sh\n",
		`odd:2: expected TID: and a call (AOSP), a number (malloclab) or Alloc(SIZE), (wee_alloc), got "#!/bin/sh"`},
}

var malformedWee = []malformed{
	{"ls.trace", "Alloc(1),\nFree(0),\nAloc(5),\n",
		`ls.trace:3: expected Alloc(SIZE), or Free(INDEX), got "Aloc(5),"`},
	{"w", "Alloc(1)\n", `w:1: expected Alloc(SIZE), or Free(INDEX), got "Alloc(1)"`},
	{"w", "Alloc(),\n", `w:1: expected Alloc(SIZE), or Free(INDEX), got "Alloc(),"`},
	{"w", "Alloc(-1),\n", `w:1: expected Alloc(SIZE), or Free(INDEX), got "Alloc(-1),"`},
	{"w", "Alloc(18446744073709551616),\n",
		`w:1: expected Alloc(SIZE), or Free(INDEX), got "Alloc(18446744073709551616),"`},
	{"w", "Alloc(4611686018427387904),\nAlloc(1),\n",
		`w:2: expected at most 4611686018427387904 bytes asked for in the whole file, got "Alloc(1),"`},
	{"w", "Alloc(1), \n", `w:1: expected Alloc(SIZE), or Free(INDEX), got "Alloc(1), "`},
	{"w", "Alloc(1),\n\nAlloc(1),\n", `w:2: expected Alloc(SIZE), or Free(INDEX), got ""`},
	{"w", "Alloc(1),\nFree(x),\n", `w:2: expected Alloc(SIZE), or Free(INDEX), got "Free(x),"`},
	{"w", "Alloc(1),\nFree(1),\n",
		`w:2: expected an INDEX below 1, the number of Alloc lines so far, got "Free(1),"`},
	{"w", "Alloc(1),\nFree(0),\nFree(0),",
		`w:3: expected the INDEX of a live block, and block 0 was freed before, got "Free(0),"`},
	{"w", "A" + strings.Repeat("x", 100),
		`w:1: expected Alloc(SIZE), or Free(INDEX), got "A` + strings.Repeat("x", 59) + `..."`},
}

var malformedAOSP = []malformed{
	{"a.txt", "1: malloc 0x10 8\n1:malloc 0x20 8\n",
		`a.txt:2: expected TID: and a call, got "1:malloc 0x20 8"`},
	{"a.txt", "1: malloc 0x10 8\n\n", `a.txt:2: expected TID: and a call, got ""`},
	{"a.txt", "1: mallok 0x10 8\n",
		`a.txt:1: expected malloc, calloc, memalign, realloc, free or thread_done after TID:, got "1: mallok 0x10 8"`},
	{"a.txt", "1: malloc 0x10\n", `a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 0x10"`},
	{"a.txt", "1: malloc 10 8\n", `a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 10 8"`},
	{"a.txt", "1: malloc 0x1G 8\n", `a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 0x1G 8"`},
	{"a.txt", "1: malloc 0x11112222333344445 8\n",
		`a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 0x11112222333344445 8"`},
	{"a.txt", "1: malloc 0x10 8 9\n", `a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 0x10 8 9"`},
	{"a.txt", "1: malloc 0x10  8\n", `a.txt:1: expected TID: malloc PTR SIZE, got "1: malloc 0x10  8"`},
	{"a.txt", "1: malloc 0x10 9223372036854775808\n",
		`a.txt:1: expected at most 4611686018427387904 bytes asked for in the whole file, ` +
			`got "1: malloc 0x10 9223372036854775808"`},
	{"a.txt", "1: malloc 0x10 8\n2: malloc 0x10 8\n",
		`a.txt:2: expected a PTR that is not live, and 0x10 is, got "2: malloc 0x10 8"`},
	{"a.txt", "1: calloc 0x10 8\n", `a.txt:1: expected TID: calloc PTR COUNT SIZE, got "1: calloc 0x10 8"`},
	{"a.txt", "1: calloc 0x10 4294967296 4294967296\n",
		`a.txt:1: expected COUNT x SIZE to fit 64 bits, got "1: calloc 0x10 4294967296 4294967296"`},
	{"a.txt", "1: memalign 0x10 64\n",
		`a.txt:1: expected TID: memalign PTR ALIGN SIZE, got "1: memalign 0x10 64"`},
	{"a.txt", "1: memalign 0x10 48 8\n",
		`a.txt:1: expected ALIGN to be a power of two up to 2147483648, got "1: memalign 0x10 48 8"`},
	{"a.txt", "1: memalign 0x10 0 8\n",
		`a.txt:1: expected ALIGN to be a power of two up to 2147483648, got "1: memalign 0x10 0 8"`},
	{"a.txt", "1: realloc 0x10 8\n",
		`a.txt:1: expected TID: realloc NEWPTR OLDPTR SIZE, got "1: realloc 0x10 8"`},
	{"a.txt", "1: realloc 0x20 0x10 8\n",
		`a.txt:1: expected OLDPTR to be a live block, and 0x10 is not, got "1: realloc 0x20 0x10 8"`},
	{"a.txt", "1: malloc 0x10 8\n1: malloc 0x20 8\n1: realloc 0x20 0x10 8\n",
		`a.txt:3: expected a NEWPTR that is not live, and 0x20 is, got "1: realloc 0x20 0x10 8"`},
	{"a.txt", "1: malloc 0x10 8\n1: realloc 0x0 0x10 0\n1: free 0x10\n",
		`a.txt:3: expected PTR to be a live block, and 0x10 is not, got "1: free 0x10"`},
	{"a.txt", "1: free 0xabc\n",
		`a.txt:1: expected PTR to be a live block, and 0xabc is not, got "1: free 0xabc"`},
	{"a.txt", "1: free 0x\n", `a.txt:1: expected TID: free PTR, got "1: free 0x"`},
	{"a.txt", "1: thread_done\n", `a.txt:1: expected TID: thread_done 0x0, got "1: thread_done"`},
}

var malformedLab = []malformed{
	{"l.rep", "1\n2\n",
		`l.rep:3: expected a header of four numbers: heap size, ids, operations, weight, got the end of the file`},
	{"l.rep", "1\n2\nx\n",
		`l.rep:3: expected a header of four numbers: heap size, ids, operations, weight, got "x"`},
	{"l.rep", "1 2 3 4 5\n",
		`l.rep:1: expected a header of four numbers: heap size, ids, operations, weight, got "1 2 3 4 5"`},
	{"l.rep", "1 2 3 4x\n",
		`l.rep:1: expected a header of four numbers: heap size, ids, operations, weight, got "1 2 3 4x"`},
	{"l.rep", "1 1 1 1\nb 0 5\n", `l.rep:2: expected a ID SIZE, r ID SIZE or f ID, got "b 0 5"`},
	{"l.rep", "1 1 1 1\na 0\n", `l.rep:2: expected a ID SIZE, got "a 0"`},
	{"l.rep", "1 1 1 1\nr 0 -5\n", `l.rep:2: expected r ID SIZE, got "r 0 -5"`},
	{"l.rep", "1 1 1 1\nf x\n", `l.rep:2: expected f ID, got "f x"`},
	{"l.rep", "1 1 1 1\nf -12\n", `l.rep:2: expected f ID, got "f -12"`},
	{"l.rep", "1 1 1 1\na 1 5\n",
		`l.rep:2: expected an ID below 1, the number of ids in the header, got "a 1 5"`},
	{"l.rep", "1 1 1 1\nf 7\n", `l.rep:2: expected an ID below 1, the number of ids in the header, got "f 7"`},
	{"l.rep", "1 1 2 1\na 0 5\na 0 6\n",
		`l.rep:3: expected an ID that is not live, and block 0 is, got "a 0 6"`},
	{"l.rep", "1 1 3 1\na 0 5\nf 0\nf 0\n",
		`l.rep:4: expected the ID of a live block, and block 0 is not live, got "f 0"`},
	{"l.rep", "1 1 3 1\na 0 5\nf 0\nr 0 6\n",
		`l.rep:4: expected the ID of a live block, and block 0 was freed before, got "r 0 6"`},
	{"l.rep", "1 1 1 1\na 0 5\n\nf 0\n",
		`l.rep:4: expected the end of the file after 1 operations, the number in the header, got "f 0"`},
	{"l.rep", "1 1 9 1\na 0 5\n",
		`l.rep:3: expected 9 operations, the number in the header, after 1, got the end of the file`},
}

// parseText reads a file with the given text.
func parseText[T string | []byte](name string, text T) (*Trace, *source, error) {
	return parse(name, bytes.NewReader([]byte(text)), int64(len(text)), most)
}

// TestMalformed: every way in which a text can break its form or make no sense, with the whole text
// of the error.
func TestMalformed(t *testing.T) {
	for _, c := range slices.Concat(malformedAny, malformedWee, malformedAOSP, malformedLab) {
		tr, _, err := parseText(c.file, c.text)
		if tr != nil || err == nil {
			t.Errorf("%q: got a trace want an error", c.text)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, err, c.want)
		}
		var syntax *SyntaxError
		if !errors.Is(err, ErrFormat) || !errors.As(err, &syntax) || syntax.File != c.file {
			t.Errorf("%q: got %#v want a SyntaxError that is ErrFormat", c.text, err)
		}
	}
}

// archive makes a zip of members, each with the given text.
func archive(t *testing.T, text string, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, member := range members {
		f, err := w.Create(member)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMalformedArchives: an error for a line inside an archive names the member, and a file that
// only looks like an archive is an error, never a panic.
func TestMalformedArchives(t *testing.T) {
	const line = "1: malloc 0x10 8\n1: free 0x20\n"
	good := archive(t, line, "x.txt")
	torn := bytes.Clone(good)
	torn[len("PK")+40] ^= 0xff // inside the deflated text
	long := bytes.Repeat([]byte("1: free 0x0\n"), 1000)
	lying := archive(t, string(long), "x.txt")
	// Its directory claims 10 bytes, or 12001: the unpacked size is at offset 24 of an entry.
	copy(lying[entry(lying)+24:], []byte{10, 0, 0, 0})
	longer := archive(t, string(long), "x.txt")
	copy(longer[entry(longer)+24:], []byte{0xe1, 0x2e, 0, 0})
	huge := archive(t, line, "x.txt")
	copy(huge[entry(huge)+24:], []byte{0xfe, 0xff, 0xff, 0xff})
	other := archive(t, string(long), "x.txt")
	other[entry(other)+16]++ // its checksum
	locked := archive(t, line, "x.txt")
	locked[entry(locked)+8] |= 1
	strange := archive(t, line, "x.txt")
	strange[entry(strange)+10] = 12
	elsewhere := archive(t, line, "x.txt")
	elsewhere[entry(elsewhere)+42] = 1 // where its header begins
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"line":      {good, `x.zip(x.txt):2: expected PTR to be a live block, and 0x20 is not, got "1: free 0x20"`},
		"no zip":    {[]byte("PK and nothing"), "x.zip: expected a zip archive, for it starts with PK"},
		"cut":       {good[:len(good)-9], "x.zip: expected a zip archive, for it starts with PK"},
		"none":      {archive(t, line), "x.zip: expected a zip archive with one member, got 0"},
		"two":       {archive(t, line, "a", "b"), "x.zip: expected a zip archive with one member, got 2"},
		"twice":     {archive(t, line, "a", "a"), "x.zip: expected a zip archive with one member, got 2"},
		"folder":    {archive(t, "", "a/"), "x.zip(a/): expected a file in the archive, got a folder"},
		"torn":      {torn, "x.zip(x.txt)"},
		"lying":     {lying, "x.zip(x.txt): expected a member that can be unpacked: zip: not a valid zip file"},
		"longer":    {longer, "x.zip(x.txt): expected a member that can be unpacked: unexpected EOF"},
		"huge":      {huge, "x.zip(x.txt): expected a member that can be unpacked: unexpected EOF"},
		"other":     {other, "x.zip(x.txt): expected a member that can be unpacked: zip: checksum error"},
		"locked":    {locked, "x.zip(x.txt): expected a member without a password: unpack it"},
		"strange":   {strange, "x.zip(x.txt): expected a member stored or deflated, got method 12: unpack it"},
		"elsewhere": {elsewhere, "x.zip(x.txt): expected a member that can be unpacked: zip: not a valid zip file"},
		"zip^2":     {archive(t, string(good), "x.zip"), "x.zip(x.zip):1: expected a trace, not an archive inside the archive: unpack it once"},
		"nothing":   {archive(t, "", "e.txt"), "x.zip(e.txt):1: expected a trace of the AOSP, malloclab or wee_alloc form"},
		"odd name":  {archive(t, "x", "a\x1b[2J"+strings.Repeat("b", 100)), `x.zip(a\x1b[2J` + strings.Repeat("b", 55) + "...):1: expected"},
	} {
		tr, _, err := parseText("x.zip", c.data)
		if tr != nil || err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v want %s", name, err, c.want)
		}
	}
}

// entry is where the first entry of an archive's directory begins.
func entry(archive []byte) int { return bytes.Index(archive, []byte("PK\x01\x02")) }

// TestSameTrace: line ends, blanks and packing make no difference.
func TestSameTrace(t *testing.T) {
	for want, others := range map[string][]string{
		"Alloc(8),\nFree(0),\n": {"Alloc(8),\r\nFree(0),\r\n", "Alloc(8),\nFree(0),"},
		"1: malloc 0x10 8\n1: free 0x10\n": {
			"1: malloc 0x10 8\r\n1: free 0x0010",
			string(archive(t, "1: malloc 0x10 8\n1: free 0x10\n", "a")),
		},
		"20\n2\n3\n1\na 0 8\nr 0 9\nf 0\n": {
			"20 2 3 1\n\na 0 8\n r 0\t9 \n\nf 0\n\n",
			"20 2\n3 1\r\na 0 8\r\nr 0 9\r\nf 0",
		},
		"1: calloc 0x10 4 5\n1: free 0x10\n":   {"01: calloc 0x10 2 10\n1: free 0x10\n"},
		"1: realloc 0x10 0x0 4\n2: free 0x0\n": {"1: realloc 0xffffffffffffffff 0x0 4\n2: free 0x0\n"},
	} {
		a, _, err := parseText("", want)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range others {
			b, _, err := parseText("", other)
			if err != nil {
				t.Errorf("%q: %v", other, err)
				continue
			}
			if got, want := opsText(b), opsText(a); got != want {
				t.Errorf("%q: got %s want %s", other, got, want)
			}
		}
	}
}

// TestReadMissing: a missing file is the error of the system, and a path that is not a file is
// refused.
func TestReadMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nothing.trace")
	if _, err := Read(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v want ErrNotExist with the path", err)
	}
	folder := t.TempDir()
	want := folder + ": expected an ordinary file, for it is read more than once"
	if _, err := Read(folder); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v want %s", err, want)
	}
}

var errDisk = errors.New("disk on fire")

// failing is a file that cannot be read from some offset on.
type failing struct {
	*strings.Reader
	from int64
}

func (f failing) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.Reader.ReadAt(b, off)
	if off+int64(n) > f.from {
		return int(max(f.from-off, 0)), errDisk
	}
	return n, err
}

// TestBrokenFile: the system's error is returned, in any form and at any place.
func TestBrokenFile(t *testing.T) {
	for _, text := range []string{
		"1: malloc 0x10 8\n1: free 0x10\n", "Alloc(8),\nFree(0),\n", "1 1 2 1\na 0 8\nf 0\n",
		string(archive(t, "1: malloc 0x10 8\n1: free 0x10\n", "x.txt")),
	} {
		for from := range int64(len(text)) {
			tr, _, err := parse("t", failing{strings.NewReader(text), from}, int64(len(text)), most)
			if tr != nil || !errors.Is(err, errDisk) {
				t.Errorf("%q from %d on: got %v want %v", text, from, err, errDisk)
			}
		}
	}
}
