package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPicture: each mill stands below its rotor; rotors and blades move, and nothing else.
func TestPicture(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, 5))
	require.Equal(t, picture, out.String())
}

// TestTurns: after a whole turn of the small mill, 64 frames of a 32nd of half a turn, its picture
// is the one of the beginning.
func TestTurns(t *testing.T) {
	left := func(frames int) (lines []string) {
		var out strings.Builder
		require.NoError(t, run(&out, frames))
		for _, line := range strings.Split(out.String(), "\n")[1:] {
			lines = append(lines, strings.TrimRight(line[:min(len(line), 24)], " "))
		}
		return lines
	}
	require.Equal(t, left(1), left(65))
	require.NotEqual(t, left(1), left(5))
}

const picture = `62 parts, of which 42 move in a frame



                                      *       *
                                       x     x
                                        x   x
                                         + +
                                          o
            *
             x                           +#+
             x    *                     x # x
              + xx                     x     x
             +o+                      *   #   *
           xx +                           #
          *   #x
              #x                          #
              # *                         #
              #
              #                           #
              #                           #
              #
              #                           #
`
