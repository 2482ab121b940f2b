package fileformat

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

var errTest = errors.New("refused by the test")

// testSizes are sizes of bulk parts: none, parts of MiB and granules, and more than one buffer.
var testSizes = [][worldfile.ImageBulk]int{
	{}, small, mixed,
	{granuleBytes, 0, 0}, {0, 8, 0}, {0, granuleBytes, 1}, {0, granuleBytes + 8, 0},
	{0, sumEvery, sumEvery}, {0, 3*sumEvery - 1, 5}, {3 * granuleBytes, 17, sumEvery + 1},
}

// testPieces are the sizes in which parts are read: a MiB, a granule, and one that divides neither.
func testPieces() []int {
	if testing.Short() {
		return []int{300_000}
	}
	return []int{sumEvery, granuleBytes, 300_000}
}

// TestLoadWhatWasSaved: bytes of all sections come back, read in pieces of several sizes.
func TestLoadWhatWasSaved(t *testing.T) {
	for _, size := range testSizes {
		file, _ := fakeFile(t, 7, size)
		for _, piece := range testPieces() {
			behind := bytes.NewReader(append(file[:len(file):len(file)], "behind"...))
			f, finish, err := Load(behind)
			require.NoError(t, err)
			readAll(t, f, fakeImage(7, size), piece)
			require.NoError(t, finish())
			rest, err := io.ReadAll(behind)
			require.NoError(t, err)
			require.Equal(t, "behind", string(rest), "what follows is left to the caller")
		}
		require.NoError(t, Check(bytes.NewReader(file), int64(len(file))))
	}
}

// TestLoadFromSlowReader: a reader may give less than it is asked for.
func TestLoadFromSlowReader(t *testing.T) {
	file, _ := fakeFile(t, 7, small)
	f, finish, err := Load(iotest.HalfReader(bytes.NewReader(file)))
	require.NoError(t, err)
	readAll(t, f, fakeImage(7, small), sumEvery)
	require.NoError(t, finish())
}

// TestBytesBetweenSectionsAreZero looks at the file itself, beside the code that checks it.
func TestBytesBetweenSectionsAreZero(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	end := int64(headerBytes)
	for s := range sections {
		for at := end; at < h.at[s]; at++ {
			if file[at] != 0 {
				t.Fatalf("byte %d is %02x", at, file[at])
			}
		}
		end = h.at[s] + h.n[s]
	}
	require.EqualValues(t, len(file), end)
}

// writer fails at a write.
type writer struct {
	left int // writes that go well
	fail func(b []byte) (int, error)
}

func (w *writer) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return w.fail(b)
	}
	return len(b), nil
}

// TestSaveFailsInWrite: at each write of a file the error comes back, and nothing is written after
// it.
func TestSaveFailsInWrite(t *testing.T) {
	count := &writer{left: 1 << 30}
	require.NoError(t, Save(fakeImage(7, mixed), count))
	writes := 1<<30 - count.left
	require.Greater(t, writes, 10)
	for at := range writes {
		w := &writer{at, func(b []byte) (int, error) { return len(b) / 2, errTest }}
		require.ErrorIs(t, Save(fakeImage(7, mixed), w), errTest)
		require.Equal(t, -1, w.left, "the write that failed is the last")
		w = &writer{at, func(b []byte) (int, error) { return len(b) - 1, nil }}
		require.ErrorIs(t, Save(fakeImage(7, mixed), w), io.ErrShortWrite)
		require.Equal(t, -1, w.left)
	}
}

// TestSaveFailsInRead: an error of the image comes back, with the place, and nothing is read after
// it.
func TestSaveFailsInRead(t *testing.T) {
	for fail := range 8 { // MiB of mixed
		calls := 0
		img := fakeImage(7, mixed)
		read := img.Read
		img.Read = func(part, at int, dst []byte) error {
			if calls++; calls > fail {
				return errTest
			}
			return read(part, at, dst)
		}
		err := Save(img, io.Discard)
		require.ErrorIs(t, err, errTest)
		require.Regexp(t, "^section [a-z]+ from its byte [0-9]+ on: ", err.Error())
		require.Equal(t, fail+1, calls)
	}
}

// TestSaveRefusesLengths: nothing is written of an image that no file can have.
func TestSaveRefusesLengths(t *testing.T) {
	for size, says := range map[[worldfile.ImageBulk]int]string{
		{granuleBytes / 2, 0, 0}: "section rows has 1048576 bytes, which are no multiple of 2097152",
		{0, mostBytes + 1, 0}:    "section records has 70368744177665 bytes, at most 70368744177664 are possible",
		{0, 0, -1}:               "section entries has 18446744073709551615 bytes, at most",
	} {
		var b bytes.Buffer
		require.ErrorContains(t, Save(fakeImage(7, size), &b), says)
		require.Zero(t, b.Len())
	}
}
