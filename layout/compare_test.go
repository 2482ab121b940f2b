package layout_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/layout"
)

var update = flag.Bool("update", false, "rewrite the table of docs/platforms.md")

// worked is one archetype of the comparison: the sizes of its components beside
// the 8-byte entity, and the row count that the original is known to have.
type worked struct {
	name     string
	sizes    []int
	original int
}

var workedValues = []worked{
	{"Entity only", nil, 128},
	{"+ 12", []int{12}, 128},
	{"+ 12 + 12 + 16", []int{12, 12, 16}, 128},
	{"+ 16 + 16", []int{16, 16}, 128},
	{"+ 32 + 64", []int{32, 64}, 128},
	{"+ 119", []int{119}, 128},
	{"+ 120", []int{120}, 127},
	{"+ 144 (a default buffer)", []int{144}, 107},
	{"+ 144 + 144", []int{144, 144}, 55},
	{"+ 20 x 16", []int{16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, 48},
	{"+ 1,024", []int{1024}, 15},
	{"+ 8,192", []int{8192}, 1},
}

// originalRows is the original's rule: 16,320 bytes behind a header of 64, each
// array rounded up to 64, never more than 128 rows.
func originalRows(sizes []int) int {
	sum := 8
	for _, s := range sizes {
		sum += s
	}
	rows := 16320 / sum
	for {
		need := (8*rows + 63) &^ 63
		for _, s := range sizes {
			need += (s*rows + 63) &^ 63
		}
		if need <= 16320 {
			return min(rows, 128)
		}
		rows--
	}
}

// comparison is the table of docs/platforms.md.
func comparison(t *testing.T) string {
	var b strings.Builder
	b.WriteString(
		"| components, bytes | bytes a row | rows, original | used | rows, ours | used |\n|---|---|---|---|---|---|\n")
	for _, w := range workedValues {
		columns := []layout.Column{{Name: "Entity", Size: 8, Align: 4}}
		row := 8
		for _, s := range w.sizes {
			columns = append(columns, layout.Column{Name: "C", Size: s, Align: 1})
			row += s
		}
		require.Equal(t, w.original, originalRows(w.sizes), w.name)
		plan, err := layout.New(columns, layout.Options{CacheLine: 64})
		require.NoError(t, err)
		require.GreaterOrEqual(t, plan.Rows, w.original, w.name)
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %d | %.1f %% |\n", w.name, row,
			w.original, float64(100*row*w.original)/16384, plan.Rows, float64(100*plan.Used())/16384)
	}
	return b.String()
}

// TestComparisonTable keeps the table of the docs what this code computes.
func TestComparisonTable(t *testing.T) {
	const path, begin, end = "../docs/platforms.md", "<!-- table -->\n", "<!-- end of table -->\n"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	old, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := comparison(t)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644))
		return
	}
	require.Equal(t, want, old, "run go test ./layout -update")
}
