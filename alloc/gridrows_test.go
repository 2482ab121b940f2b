package alloc

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestCopyRow moves a row of elements of every size between chunks of different sizes:
// the element arrives and its neighbours stay.
func TestCopyRow(t *testing.T) {
	const rows, row, dest, offset = 4, 2, 1, 64
	for size := uint32(1); size <= 130; size++ {
		from, to := make([]byte, 8+offset*2+rows*size), make([]byte, offset*8+rows*size)
		for i := range from {
			from[i] = byte(i*7 + 1)
		}
		want := bytes.Clone(to)
		copy(want[offset*8+dest*size:][:size], from[(offset+4)*2+row*size:])
		var c RowCopy
		c.Add(offset+4, offset, size)
		c.row(GridRow{unsafe.Pointer(&to[0]), 8, dest}, GridRow{unsafe.Pointer(&from[0]), 2, row})
		require.Equal(t, want, to, "size %d", size)
	}
}

// TestRowCopyAdd sorts columns: those of 16 bytes are apart.
func TestRowCopyAdd(t *testing.T) {
	var c RowCopy
	for i, size := range []uint32{8, 16, 800, 16} {
		c.Add(uint32(i), uint32(10+i), size)
	}
	require.Equal(t, RowCopy{
		Pairs:  []PairCopy{{1, 11}, {3, 13}},
		Others: true,
		small:  []columnCopy{{0, 10, 8}},
		large:  []columnCopy{{2, 12, 800}},
	}, c)
}

// TestCopyRows moves rows that overlap, of columns in each of the lists, by one row: all
// arrive as they were.
func TestCopyRows(t *testing.T) {
	const rows = 20
	sizes := []uint32{16, 8, 16, 3, 100}
	var c RowCopy
	var want [][]byte
	memory, end := make([]byte, 4096), uint32(0)
	for i := range memory {
		memory[i] = byte(i*13 + 5)
	}
	for _, size := range sizes {
		c.Add(end, end, size)
		want = append(want, bytes.Clone(memory[end+size:][:(rows-1)*size]))
		end += (rows*size + 7) / 8 * 8
	}
	base := unsafe.Pointer(&memory[0])
	c.Rows(GridRow{base, 1, 0}, GridRow{base, 1, 1}, rows-1)
	at := uint32(0)
	for i, size := range sizes {
		require.Equal(t, want[i], memory[at:][:len(want[i])], "size %d", size)
		at += (rows*size + 7) / 8 * 8
	}
}
