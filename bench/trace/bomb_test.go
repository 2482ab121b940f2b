package trace

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// pack makes a zip archive whose only member is the text.
func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("x.txt")
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// allocated reads a file and returns how many bytes were allocated meanwhile, an upper bound for
// what was held at any time.
func allocated(t *testing.T, content []byte) (*Trace, int, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tr, err := Read(path)
	runtime.ReadMemStats(&after)
	return tr, int(after.TotalAlloc - before.TotalAlloc), err
}

// small is the memory for reading besides operations and live blocks, in bytes: a line and the
// window of package flate, for each of three readings.
const small = 512 << 10

// bomb is a text of about 2 MiB that ends in x.
func bomb(text string) string { return strings.Repeat(text, 2<<20/len(text)) + "x" }

// TestBombs: malformed text is refused before any of it is held, packed or not, however long it is.
func TestBombs(t *testing.T) {
	freed := strings.Builder{}
	for i := range 1 << 16 {
		fmt.Fprintf(&freed, "Alloc(0),\nFree(%d),\n", i)
	}
	ids := strings.Builder{}
	ids.WriteString("0 67108864 67108864 0\n")
	for i := range 1 << 16 {
		fmt.Fprintf(&ids, "a %d 0\nf %d\n", i, i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"lines":     {bomb("\n"), `:2097153: expected TID: and a call (AOSP), a number (malloclab) or Alloc(SIZE), (wee_alloc), got "x"`},
		"zeros":     {bomb("\x00"), `:1: expected a line of at most 65536 bytes, got "\x00`},
		"one line":  {bomb("1"), `:1: expected a line of at most 65536 bytes, got "111`},
		"calls":     {bomb("1: free 0x0\n"), `:174763: expected TID: and a call, got "x"`},
		"blocks":    {bomb("1: malloc 0x10 8\n1: free 0x10\n"), `:139811: expected TID: and a call, got "x"`},
		"short ops": {"1 1 67108864 1\n" + bomb("f -1\n"), `:419432: expected a ID SIZE, r ID SIZE or f ID, got "x"`},
		"indexes":   {freed.String() + "x", `:131073: expected Alloc(SIZE), or Free(INDEX), got "x"`},
		"ids":       {ids.String() + "x", `:131074: expected a ID SIZE, r ID SIZE or f ID, got "x"`},
		"header":    {"1 1 67108864 1\n", `:2: expected 67108864 operations, the number in the header, after 0, got the end of the file`},
	} {
		for way, content := range map[string][]byte{"plain": []byte(c.text), "packed": pack(t, c.text)} {
			tr, bytes, err := allocated(t, content)
			if tr != nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got %v want %s", name, way, err, c.want)
			}
			if bytes > small {
				t.Errorf("%s, %s: a file of %d bytes took %d want at most %d", name, way, len(content), bytes, small)
			}
		}
	}
}

// TestReadTakes: of a good trace, only its operations and its live blocks are held, and nothing of
// the packed text or of the rest.
func TestReadTakes(t *testing.T) {
	text := strings.TrimSuffix(bomb("1: malloc 0x10 8\n1: free 0x10\n"), "x")
	for way, content := range map[string][]byte{"plain": []byte(text), "packed": pack(t, text)} {
		tr, bytes, err := allocated(t, content)
		if err != nil {
			t.Fatal(err)
		}
		if most := 16*len(tr.Ops) + small; len(tr.Ops) != 139810 || tr.Slots != 1 || bytes > most {
			t.Errorf("%s: %d operations took %d bytes want 139810, at most %d", way, len(tr.Ops), bytes, most)
		}
	}
	live := strings.Builder{}
	for i := range 1 << 16 {
		fmt.Fprintf(&live, "Alloc(%d),\n", i)
	}
	tr, bytes, err := allocated(t, pack(t, live.String()))
	// Tables grow, and both readings have a table.
	if most := (16+2*2*40)<<16 + small; err != nil || tr.Slots != 1<<16 || bytes > most {
		t.Errorf("live blocks took %d bytes (%v) want at most %d", bytes, err, most)
	}
}

// TestManyMembers: reading an archive's entries stops when there are too many, whatever number the
// archive's end gives.
func TestManyMembers(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for range 65_537 { // one, to package zip, which looks at 16 bits of the number
		if _, err := w.CreateHeader(&zip.FileHeader{Name: "a.txt"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"told": b.Bytes(), "one is told": asOne(b.Bytes())} {
		tr, bytes, err := allocated(t, content)
		if tr != nil || !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(),
				"expected a zip archive with one member, got a directory of more than 524288 bytes") {
			t.Errorf("%s: got %v", name, err)
		}
		if most := 16 << 20; bytes > most {
			t.Errorf("%s: %d bytes of archive took %d want at most %d", name, len(content), bytes, most)
		}
	}
}

// asOne gives the archive an end that claims one entry: the number is there twice, at offsets 8 and
// 10 of the end of the directory.
func asOne(content []byte) []byte {
	content = bytes.Clone(content)
	at := bytes.LastIndex(content, []byte("PK\x05\x06"))
	copy(content[at+8:], []byte{1, 0, 1, 0})
	return content
}

// TestLimits: each limit can be reached; anything beyond it is refused with the limit, the place
// and the remedy.
func TestLimits(t *testing.T) {
	tight := limits{text: 60, lines: 4, live: 2, threads: 2}
	const free = "1: free 0x0\n"
	for _, c := range []struct{ good, beyond, want string }{
		{strings.Repeat(free, 4), strings.Repeat(free, 5), "t:5: expected at most 4 lines: cut the recording before this one"},
		{"2 2 2 2\n\na 0 1\nf 0\n", "2 2 2 2\n\na 0 1\nf 0\n\n", "t:5: expected at most 4 lines: cut the recording before this one"},
		{"\n\n\n2 2 0 2\n", "\n\n\n\n2 2 0 2\n", "t:5: expected at most 4 lines: cut the recording before this one"},
		{"2 4 0 2\n", "2 5 0 2\n", "t:1: expected at most 4 ids and operations in the header: cut the recording"},
		{"2 1 2 2\na 0 1\nf 0\n", "2 1 5 2\n", "t:1: expected at most 4 ids and operations in the header: cut the recording"},
		{"1: malloc 0x1 1\n1: malloc 0x2 1\n", "1: malloc 0x1 1\n1: malloc 0x2 1\n1: realloc 0x3 0x0 1\n",
			"t:3: expected at most 2 blocks live at once: cut the recording before this line"},
		{"1 3 2 1\na 0 1\nr 1 1\n", "1 3 3 1\na 0 1\nr 1 1\na 2 1\n",
			"t:4: expected at most 2 blocks live at once: cut the recording before this line"},
		{"Alloc(1),\nAlloc(1),\nFree(0),\nAlloc(1),\n", "Alloc(1),\nAlloc(1),\nAlloc(1),\n",
			"t:3: expected at most 2 blocks live at once: cut the recording before this line"},
		{"1: free 0x0\n2: free 0x0\n", "1: free 0x0\n2: free 0x0\n3: free 0x0\n",
			"t:3: expected at most 2 different threads: give threads that ended before others began one number"},
		{strings.Repeat("0", 48) + free, strings.Repeat("0", 49) + free, "t: expected at most 60 bytes of text, got 61: cut the recording"},
	} {
		if _, _, err := parse("t", strings.NewReader(c.good), int64(len(c.good)), tight); err != nil {
			t.Errorf("%q: %v", c.good, err)
		}
		_, _, err := parse("t", strings.NewReader(c.beyond), int64(len(c.beyond)), tight)
		if want := "trace: limit reached: " + c.want; !errors.Is(err, ErrLimit) || errors.Is(err, ErrFormat) ||
			err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", c.beyond, err, want)
		}
		packed, want := pack(t, c.beyond), strings.Replace(c.want, "t:", "t(x.txt):", 1)
		_, _, err = parse("t", bytes.NewReader(packed), int64(len(packed)), tight)
		if !errors.Is(err, ErrLimit) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q, packed:\n got %v\nwant %s", c.beyond, err, want)
		}
	}
}

// changing is a file that another program writes while it is read.
type changing struct {
	*strings.Reader
	after string // the content from the third look on: the first is for the form, the second for the count
	looks int
}

func (c *changing) ReadAt(b []byte, off int64) (int, error) {
	if off == 0 && len(b) > 2 {
		if c.looks++; c.looks == 3 {
			c.Reader = strings.NewReader(c.after)
		}
	}
	return c.Reader.ReadAt(b, off)
}

// TestTextThatChanges: the result is what was read last, and well formed.
func TestTextThatChanges(t *testing.T) {
	const before = "Alloc(1),\nFree(0),\n"
	for after, want := range map[string]string{
		"Alloc(1),\nAlloc(2),\n":   "",
		"Alloc(1),\nFree(0),":      "",
		"Alloc(1),\nFree(1),\n":    "t:2: expected an INDEX below 1, the number of Alloc lines so far",
		"1: malloc 0x10 9000000\n": "t:1: expected Alloc(SIZE), or Free(INDEX)",
	} {
		tr, _, err := parse("t", &changing{Reader: strings.NewReader(before), after: after}, int64(len(before)), most)
		if want == "" {
			if err != nil || len(tr.Ops) != 2 || tr.Stats().Ops != 2 {
				t.Errorf("%q: got %v, %v want 2 operations", after, tr, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v want %s", after, err, want)
		}
	}
}
