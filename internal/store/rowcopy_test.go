package store

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/layout"
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
		c.Row(Row{unsafe.Pointer(&to[0]), 8, dest}, Row{unsafe.Pointer(&from[0]), 2, row})
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
	c.Rows(Row{base, 1, 0}, Row{base, 1, 1}, rows-1)
	at := uint32(0)
	for i, size := range sizes {
		require.Equal(t, want[i], memory[at:][:len(want[i])], "size %d", size)
		at += (rows*size + 7) / 8 * 8
	}
}

// TestRepeatRow repeats a row of columns in each of the lists 1 to 40 times; other rows stay.
func TestRepeatRow(t *testing.T) {
	const rows = 50
	sizes := []uint32{16, 8, 16, 3, 100}
	for n := 1; n <= 40; n++ {
		var c RowCopy
		memory, end := make([]byte, 8192), uint32(0)
		for i := range memory {
			memory[i] = byte(i*13 + 5)
		}
		before := bytes.Clone(memory)
		for _, size := range sizes {
			c.Add(end, end, size)
			end += (rows*size + 7) / 8 * 8
		}
		base := unsafe.Pointer(&memory[0])
		c.Repeat(Row{base, 1, 7}, Row{base, 1, 2}, n)
		at := uint32(0)
		for _, size := range sizes {
			for row := range uint32(rows) {
				want := row
				if row >= 7 && row < 7+uint32(n) {
					want = 2
				}
				require.Equal(t, before[at+want*size:][:size], memory[at+row*size:][:size], "%d times, size %d, row %d",
					n, size, row)
			}
			at += (rows*size + 7) / 8 * 8
		}
	}
}

// TestScale: a chunk's size follows from its scale; its rows and columns lie in it; and
// where there are many, in none of several units are all at the same place modulo 4 KiB,
// for cache lines of every size.
func TestScale(t *testing.T) {
	u, err := universe.New(universe.Size(2 << 20))
	require.NoError(t, err)
	for _, line := range []int{64, 128, 256} {
		t.Run(fmt.Sprint(line, " B lines"), func(t *testing.T) { testScale(t, u, line) })
	}
}

func testScale(t *testing.T, u *universe.Universe, line int) {
	plan, err := layout.New([]layout.Column{{Name: "id", Size: 8, Align: 4}, {Name: "a", Size: 16, Align: 8},
		{Name: "b", Size: 16, Align: 8},
		{Name: "c", Size: 4, Align: 4}, {Name: "d", Size: 24, Align: 8}}, layout.Options{CacheLine: line})
	require.NoError(t, err)
	few := Make(u, nil, &plan, make([]Column, fewColumns), growth.Doubling(), MaxOrder)
	many := Make(u, nil, &plan, make([]Column, fewColumns+1), growth.Doubling(), MaxOrder)
	require.Equal(t, []bool{false, true}, []bool{few.IsSkewed(), many.IsSkewed()})
	few.Replan(plan.Rows, make([]Column, fewColumns), &many)
	require.True(t, few.IsSkewed())
	few.Replan(plan.Rows, make([]Column, fewColumns), nil)
	require.False(t, few.IsSkewed())
	for order := uint32(0); order <= MaxOrder; order++ {
		require.Equal(t, uintptr(1)<<order, few.Scale(order))
		g := &many
		scale := g.Scale(order)
		if line<<order < 4096<<UnitOrder {
			require.Equal(t, few.Scale(order), scale, "no unit of a chunk of order %d is given up in vain", order)
		}
		rows, places := g.Fits(Chunk{Order: order}), map[uintptr]bool{}
		end := uintptr(0)
		for _, p := range plan.Places {
			at := uintptr(p.Offset/eighths) * scale
			require.GreaterOrEqual(t, at, end, "%s in a chunk of order %d begins behind the column before",
				p.Name, order)
			end = at + uintptr(rows*p.Size)
			places[at%4096] = true
		}
		require.LessOrEqual(t, end, uintptr(SmallSize)<<order)
		if order > UnitOrder {
			require.Greater(t, len(places), 1, "order %d", order)
			require.Zero(t, scale%eighths, "columns begin on cache lines")
		}
	}
	require.Len(t, plan.Places, 5)
}
