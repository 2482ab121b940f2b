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
		c.copy(GridRow{unsafe.Pointer(&to[0]), 8, dest}, GridRow{unsafe.Pointer(&from[0]), 2, row})
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
		small:  []ColumnCopy{{0, 10, 8}},
		large:  []ColumnCopy{{2, 12, 800}},
	}, c)
}
