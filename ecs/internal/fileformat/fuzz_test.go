package fileformat

import (
	"bytes"
	"encoding/binary"
	"testing"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// FuzzFile makes a file of a header, with lengths as given, and of bytes behind it, puts in the
// right offsets and checksums, and then changes one byte. So it goes to the end of all that reads
// without luck: load, check and open give one verdict.
func FuzzFile(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0}, []byte{}, uint32(0), byte(0))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 0, 9, 20}, []byte("some bytes of sections"), uint32(4100), byte(0))
	f.Add([]byte{200, 0, 64, 65, 63, 70, 1, 255, 1}, []byte{1}, uint32(1<<21), byte(1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 2, 0, 0}, []byte{0, 7}, uint32(1<<22-1), byte(128))
	f.Fuzz(func(t *testing.T, lengths, body []byte, at uint32, flip byte) {
		file, h := madeFile(lengths, body)
		at %= uint32(len(file))
		file[at] ^= flip
		checked, loaded := verdicts(file)
		require.Equal(t, flip == 0, checked == nil, "%v", checked)
		require.Equal(t, checked == nil, loaded == nil, "%v", loaded)
		r := &reader{r: bytes.NewReader(file)}
		_, opened := r.open(int64(len(file)))
		for part := range worldfile.ImageBulk {
			if opened == nil {
				opened = r.scan(part, func(int, []byte) error { return nil })
			}
		}
		switch s := sectionAt(&h, int64(at)); {
		case flip == 0 || s == sections:
			require.NoError(t, opened)
		default:
			require.ErrorIs(t, opened, worldfile.ErrImage)
		}
	})
}

// madeFile returns a file whose sections have lengths by the bytes of one list, a granule at most,
// and bytes of another, over and over.
func madeFile(lengths, body []byte) ([]byte, header) {
	var n [sums]int64
	for s := range n {
		if s >= len(lengths) {
			break
		}
		switch x := int64(lengths[s]); s {
		case firstBulk + worldfile.ImageRows:
			n[s] = x % 3 * granuleBytes
		case firstBulk + worldfile.ImageRecords, firstBulk + worldfile.ImageEntries:
			n[s] = x * x * 40 // 2.6 MB at most
		default:
			n[s] = x
		}
	}
	h := header{plan: planOf(n)}
	file := make([]byte, h.total)
	var list []uint32
	for s := range sums {
		section := file[h.at[s]:][:h.n[s]]
		for at := 0; len(body) > 0 && at < len(section); at += len(body) {
			copy(section[at:], body)
		}
		if s < firstBulk {
			h.sums[s] = crc(section)
			continue
		}
		t := tally{n: h.n[s]}
		t.add(section)
		list = append(list, t.sums...)
	}
	copy(file, h.encode())
	copy(file[h.at[sums]:], h.encodeSums(list))
	return file, h
}

// sectionAt returns the section that has a byte, -1 for the header, sections for none.
func sectionAt(h *header, at int64) int {
	if at < headerBytes {
		return -1
	}
	for s := range sections {
		if at >= h.at[s] && at < h.at[s]+h.n[s] {
			return s
		}
	}
	return sections
}

// TestFileByHand reads a file as docs/files.md describes it, without the code of this package.
func TestFileByHand(t *testing.T) {
	file, _ := fakeFile(t, 7, mixed)
	img := fakeImage(7, mixed)
	le := binary.LittleEndian
	require.Equal(t, "\x89quarry\n", string(file[:8]))
	require.EqualValues(t, 1, le.Uint32(file[8:]))
	require.EqualValues(t, len(file), le.Uint64(file[16:]))
	require.EqualValues(t, 2<<20, le.Uint32(file[24:]))
	require.EqualValues(t, 1<<20, le.Uint32(file[28:]))
	require.EqualValues(t, 10, le.Uint32(file[32:]))
	require.Equal(t, crc(file[:4092]), le.Uint32(file[4092:]))
	sum := le.Uint64(file[64+9*32+8:])
	for s := range 10 {
		e := file[64+32*s:]
		require.EqualValues(t, s+1, le.Uint32(e))
		b := file[le.Uint64(e[8:]):][:le.Uint64(e[16:])]
		if s < 6 {
			require.Equal(t, crc(b), le.Uint32(e[4:]))
			require.True(t, bytes.Equal(img.Meta[s], b))
			continue
		}
		require.Zero(t, le.Uint32(e[4:]))
		if s == 9 {
			require.EqualValues(t, len(file), sum+4)
			both := append(append([]byte(nil), file[:4092]...), b[:len(b)-4]...)
			require.Equal(t, crc(both), le.Uint32(b[len(b)-4:]))
			continue
		}
		want := make([]byte, len(b))
		require.NoError(t, img.Read(s-6, 0, want))
		require.True(t, bytes.Equal(want, b))
		for len(b) > 0 {
			n := min(1<<20, len(b))
			require.Equal(t, crc(b[:n]), le.Uint32(file[sum:]))
			b, sum = b[n:], sum+4
		}
	}
}
