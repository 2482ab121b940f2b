package wrap_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc/wrap"
)

// TestPattern fills spans of all lengths at all places in a line and changes bytes of
// them: what is outside stays, and every change is found.
func TestPattern(t *testing.T) {
	all := make([]byte, 200<<10)
	spans := [][2]int{{5, 200_000}, {0, 64 << 10}, {1, 64<<10 + 1}, {63, 128 << 10}}
	for from := range 64 {
		for n := range 130 {
			spans = append(spans, [2]int{from, n})
		}
	}
	for _, k := range wrap.Patterns {
		for _, span := range spans {
			from, to := span[0], span[0]+span[1]
			memory := all[:to+64]
			clear(memory)
			b := memory[from:to]
			k.Fill(b)
			require.Equal(t, -1, bytes.IndexByte(b, 0))
			require.Zero(t, len(bytes.Trim(memory[:from], "\x00"))+len(bytes.Trim(memory[to:], "\x00")))
			first, last := k.Changed(b)
			require.Equal(t, []int{-1, -1}, []int{first, last})
			first, last = k.Changed(b[span[1]/3:]) // the byte at an address is the same wherever one begins
			require.Equal(t, []int{-1, -1}, []int{first, last})
			for _, at := range [][2]int{{0, 0}, {0, len(b) - 1}, {len(b) / 3, len(b) / 2}, {len(b) - 1, len(b) - 1}} {
				if len(b) == 0 {
					break
				}
				before := [2]byte{b[at[0]], b[at[1]]}
				b[at[0]], b[at[1]] = 0, 0
				first, last = k.Changed(b)
				require.Equal(t, at, [2]int{first, last}, span)
				b[at[0]], b[at[1]] = before[0], before[1]
			}
		}
	}
}
