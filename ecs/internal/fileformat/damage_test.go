package fileformat

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// verdicts returns the errors of check and load for a file.
func verdicts(file []byte) (checked, loaded error) {
	f, finish, err := Load(bytes.NewReader(file))
	if err == nil {
		err = drain(f, finish)
	}
	return Check(bytes.NewReader(file), int64(len(file))), err
}

// TestEveryByteIsCovered flips a byte at each place of all sections and around them, and at some
// places in between (short: at each seventh): check and load refuse the file, and name the section.
func TestEveryByteIsCovered(t *testing.T) {
	file, h := fakeFile(t, 7, small)
	dice := rand.New(rand.NewPCG(1, 2))
	at, step := int64(0), int64(1)
	if testing.Short() {
		step = 7
	}
	for s := -1; s <= sections; s++ {
		lo, hi, says := int64(0), int64(headerBytes), "header"
		switch {
		case s == sections:
			lo, hi = h.total, h.total
		case s >= 0:
			lo, hi, says = h.at[s], h.at[s]+h.n[s], "section "+sectionNames[s]
		}
		for at < lo { // before the section
			flip(t, file, at, "lies between sections")
			if at += 1 + dice.Int64N(50_000); at < lo-8 && dice.IntN(2) == 0 {
				at = lo - 8
			}
		}
		for at = lo; at < hi; at += step {
			want := says
			if s < 0 && at < int64(len(magic)) {
				want = "does not begin as one"
			}
			flip(t, file, at, want)
		}
	}
}

// flip changes a bit of a byte for a moment, and asks for a text in the verdicts.
func flip(t *testing.T, file []byte, at int64, says string) {
	file[at] ^= 1 << (at % 8)
	checked, loaded := verdicts(file)
	file[at] ^= 1 << (at % 8)
	require.ErrorIs(t, checked, worldfile.ErrImage, "byte %d", at)
	require.ErrorContains(t, checked, says, "byte %d", at)
	require.EqualError(t, loaded, checked.Error(), "byte %d", at)
}

// TestDamagedMiBIsNamed: one byte of rows, records or entries, in a file and in a stream.
func TestDamagedMiBIsNamed(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	for part, size := range mixed {
		for _, at := range []int{0, size / 2, size - 1} {
			mib := at / sumEvery
			flip(t, file, h.at[firstBulk+part]+int64(at),
				"section "+sectionNames[firstBulk+part]+" is damaged between bytes ")
			flip(t, file, h.at[firstBulk+part]+int64(at), "its MiB "+string(rune('0'+mib))+": the checksum is ")
		}
	}
	rows := h.at[firstBulk+worldfile.ImageRows]
	file[rows+1], file[rows+3*sumEvery], file[rows+2*sumEvery] = ^file[rows+1], ^file[rows+3*sumEvery],
		^file[rows+2*sumEvery]
	checked, _ := verdicts(file)
	require.ErrorContains(t, checked, "its MiB 0, and 2 more: the checksum is ")
}

// TestZerosBehindRecords: they fill a granule, and are looked at.
func TestZerosBehindRecords(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	end := h.at[firstBulk+worldfile.ImageRecords] + h.n[firstBulk+worldfile.ImageRecords]
	for _, at := range []int64{end, end + 1, h.at[firstBulk+worldfile.ImageEntries] - 1} {
		flip(t, file, at, "lies between sections")
	}
}

// TestEveryPrefixIsRefused cuts a file: at each byte near sections, at some in between.
func TestEveryPrefixIsRefused(t *testing.T) {
	file, h := fakeFile(t, 7, small)
	cut := func(n int64) {
		checked, loaded := verdicts(file[:n])
		require.ErrorIs(t, checked, worldfile.ErrImage, "%d bytes", n)
		require.Regexp(t, "it ends in |it has [0-9]+ bytes, by its header ", checked.Error(), "%d bytes", n)
		require.ErrorIs(t, loaded, worldfile.ErrImage, "%d bytes", n)
		require.ErrorContains(t, loaded, "it ends in ", "%d bytes", n)
	}
	for n := int64(0); n < h.at[worldfile.ImageSparse]+h.n[worldfile.ImageSparse]+10; n += 3 {
		cut(n)
	}
	step := int64(1)
	if testing.Short() {
		step = 11
	}
	for n := h.at[firstBulk] - 3; n < h.total; n += step {
		cut(n)
	}
	for n := int64(10_000); n < h.total; n += 99_991 {
		cut(n)
	}
}

// TestLongerFileIsRefused: check knows the end of a file.
func TestLongerFileIsRefused(t *testing.T) {
	file, h := fakeFile(t, 7, small)
	err := Check(bytes.NewReader(append(file, 0)), h.total+1)
	require.ErrorIs(t, err, worldfile.ErrImage)
	require.ErrorContains(t, err, fmt.Sprintf("it has %d bytes, by its header %d", h.total+1, h.total))
}

// TestSplices: a file whose beginning is one's and whose end is another's, of the same sizes, is
// refused wherever they meet; so is one with a piece of another.
func TestSplices(t *testing.T) {
	a, h := fakeFile(t, 7, small)
	b, _ := fakeFile(t, 8, small)
	refuse := func(file []byte, at int64) {
		checked, loaded := verdicts(file)
		require.ErrorIs(t, checked, worldfile.ErrImage, "at %d", at)
		require.ErrorIs(t, loaded, worldfile.ErrImage, "at %d", at)
	}
	// The last byte that differs is one of the last checksum; the first is one of the header.
	first, last := 0, len(a)-1
	for a[first] == b[first] {
		first++
	}
	for a[last] == b[last] {
		last--
	}
	for s := range sections {
		for _, at := range []int64{h.at[s], h.at[s] + h.n[s]/2, h.at[s] + h.n[s], h.at[s] + 1} {
			if at > int64(first) && at <= int64(last) {
				refuse(append(append([]byte(nil), a[:at]...), b[at:]...), at)
			}
			if h.n[s] > 0 {
				piece := append([]byte(nil), a...)
				copy(piece[h.at[s]:h.at[s]+h.n[s]], b[h.at[s]:])
				refuse(piece, at)
			}
		}
	}
	both := append([]byte(nil), a...) // all bytes that the header does not describe
	copy(both[h.at[firstBulk]:], b[h.at[firstBulk]:])
	refuse(both, h.at[firstBulk])
}

// TestOpenRefusesMetadata: without check, flips of bytes that Open reads are refused when it opens,
// those of entries when they are read, and those of rows by check alone.
func TestOpenRefusesMetadata(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	path := filepath.Join(t.TempDir(), "world")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	flipped := func(at int64) (plain, whole error) {
		for _, whole := range []bool{false, true} {
			_, err := f.WriteAt([]byte{^file[at]}, at)
			require.NoError(t, err)
			img, closer, err := openScanned(path, whole)
			if err == nil {
				err = img.Read(worldfile.ImageEntries, 0, make([]byte, mixed[worldfile.ImageEntries]))
				require.NoError(t, closer.Close())
			} else {
				require.Nil(t, img)
				require.ErrorContains(t, err, path)
			}
			if _, err := f.WriteAt(file[at:at+1], at); err != nil {
				t.Fatal(err)
			}
			if whole {
				return plain, err
			}
			plain = err
		}
		return
	}
	for s := range sections {
		if h.n[s] == 0 {
			continue
		}
		for _, at := range []int64{0, h.n[s] / 2, h.n[s] - 1} {
			plain, whole := flipped(h.at[s] + at)
			require.ErrorIs(t, whole, worldfile.ErrImage, sectionNames[s])
			if s == firstBulk+worldfile.ImageRows {
				require.NoError(t, plain)
				continue
			}
			require.ErrorIs(t, plain, worldfile.ErrImage, sectionNames[s])
			require.ErrorContains(t, plain, "section "+sectionNames[s], at)
		}
	}
	plain, whole := flipped(100)
	require.ErrorContains(t, plain, "the header is damaged")
	require.ErrorContains(t, whole, "the header is damaged")
	plain, whole = flipped(headerBytes + h.n[0] + h.n[1] + 1)
	_ = plain
	require.ErrorIs(t, whole, worldfile.ErrImage)
}

// TestLyingHeaderTakesNoMemory: sections of 64 TiB in a stream that ends.
func TestLyingHeaderTakesNoMemory(t *testing.T) {
	h, _ := fakeHeader([worldfile.ImageBulk]int{mostBytes, mostBytes, mostBytes})
	var n [sums]int64
	copy(n[:], h.n[:])
	n[worldfile.ImageTables] = mostBytes
	h.plan = planOf(n)
	page := h.encode()
	stream := append(page, make([]byte, 3<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := Load(bytes.NewReader(stream))
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, worldfile.ErrImage)
	require.ErrorContains(t, err, "it ends in tables, after 3149824 bytes of ")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	_, err = (&reader{r: bytes.NewReader(stream)}).open(int64(len(stream)))
	require.ErrorContains(t, err, "it has 3149824 bytes, by its header 2814")
}

// TestReaderErrorIsNoVerdict: an error of the system is not the file's fault.
func TestReaderErrorIsNoVerdict(t *testing.T) {
	file, h := fakeFile(t, 7, mixed)
	for _, n := range []int64{0, 10, headerBytes, h.at[worldfile.ImageNames], h.at[firstBulk] - 1, h.at[firstBulk] + 5,
		h.at[sums] - 1, h.at[sums] + 1} {
		f, finish, err := Load(io.MultiReader(bytes.NewReader(file[:n]), failing{}))
		if err == nil {
			err = drain(f, finish)
		}
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, worldfile.ErrImage)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error)          { return 0, errTest }
func (failing) ReadAt([]byte, int64) (int, error) { return 0, errTest }
