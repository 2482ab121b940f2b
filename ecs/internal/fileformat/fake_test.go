package fileformat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// Sizes of the bulk parts of fake images.
var (
	small = [worldfile.ImageBulk]int{0, 0, 700}
	mixed = [worldfile.ImageBulk]int{2 * granuleBytes, sumEvery + 24, 2*sumEvery - 8}
)

// fakeImage returns an image whose bytes depend on their place and a seed alone.
func fakeImage(seed uint64, size [worldfile.ImageBulk]int) *worldfile.Image {
	img := &worldfile.Image{Size: size, Read: func(part, at int, dst []byte) error {
		if part == worldfile.ImageRows && (at%sumEvery != 0 || len(dst)%sumEvery != 0) {
			return fmt.Errorf("rows are read at %d, %d bytes", at, len(dst))
		}
		fakeBytes(seed+uint64(part), at, dst)
		return nil
	}}
	for i := range img.Meta {
		img.Meta[i] = make([]byte, 37*i*i) // types are empty
		fakeBytes(seed+100+uint64(i), 0, img.Meta[i])
	}
	return img
}

// fakeRings has the bytes of each seed, which repeat after a prime number, so that no two MiB and
// no two granules of a part are equal.
var fakeRings sync.Map

// fakeBytes fills dst with bytes from place at on.
func fakeBytes(seed uint64, at int, dst []byte) {
	ring, known := fakeRings.Load(seed)
	if !known {
		b := make([]byte, 65_521)
		dice := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		_, _ = dice.Read(b)
		ring, _ = fakeRings.LoadOrStore(seed, b)
	}
	for b := ring.([]byte); len(dst) > 0; {
		n := copy(dst, b[at%len(b):])
		dst, at = dst[n:], at+n
	}
}

// fakeFile returns the file of a fake image, and where its sections are.
func fakeFile(t testing.TB, seed uint64, size [worldfile.ImageBulk]int) ([]byte, header) {
	var b bytes.Buffer
	require.NoError(t, Save(fakeImage(seed, size), &b))
	h, err := decode(b.Bytes()[:headerBytes])
	require.NoError(t, err)
	require.EqualValues(t, h.total, b.Len())
	return b.Bytes(), h
}

// readAll reads the parts of a file in order, in pieces of a size, and compares all with an image.
func readAll(t testing.TB, f *worldfile.File, img *worldfile.Image, piece int) {
	for i := range img.Meta {
		require.True(t, bytes.Equal(img.Meta[i], f.Meta[i]), sectionNames[i])
	}
	require.Equal(t, img.Size, f.Size)
	for part, n := range f.Size {
		for at := 0; at < n; at += piece {
			b := make([]byte, min(piece, n-at))
			require.NoError(t, f.Read(part, at, b))
			want := make([]byte, len(b))
			if part == worldfile.ImageRows {
				lo := at &^ (sumEvery - 1)
				whole := make([]byte, int(up(int64(at+len(b)), sumEvery))-lo)
				require.NoError(t, img.Read(part, lo, whole))
				copy(want, whole[at-lo:])
			} else {
				require.NoError(t, img.Read(part, at, want))
			}
			require.True(t, bytes.Equal(want, b), "%s at %d", sectionNames[firstBulk+part], at)
		}
	}
}

// drain reads all parts of a stream, and returns the first error, or that of finish.
func drain(f *worldfile.File, finish func() error) error {
	b := make([]byte, sumEvery)
	for part, n := range f.Size {
		for at := 0; at < n; at += len(b) {
			if err := f.Read(part, at, b[:min(len(b), n-at)]); err != nil {
				return err
			}
		}
	}
	return finish()
}
