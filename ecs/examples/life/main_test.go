package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The numbers are those of other programs, see bench/life/answers.go.
func TestPopulation(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, pentomino, 10, 100, 1000, 1103))
	require.Equal(t, `generation   10:  11 cells
generation  100: 121 cells
generation 1000: 156 cells
generation 1103: 116 cells
`, out.String())
}

func TestKnownPatterns(t *testing.T) {
	for name, p := range map[string]struct {
		cells []Cell
		want  string
	}{
		"a blinker stays three": {[]Cell{{0, 0}, {1, 0}, {2, 0}}, "generation    9:   3 cells\n"},
		"a pair dies":           {[]Cell{{0, 0}, {1, 0}}, "generation    9:   0 cells\n"},
		"a glider at the edge of int32": {
			[]Cell{{1, -1 << 31}, {2, -1<<31 + 1}, {0, -1<<31 + 2}, {1, -1<<31 + 2}, {2, -1<<31 + 2}}, "generation    9:   5 cells\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, run(&out, p.cells, 9))
			require.Equal(t, p.want, out.String())
		})
	}
}
