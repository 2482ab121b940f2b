package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A speed of 1 at distance 1 is an energy of -1/2, and after a year the distance from the start
// is 0, if the steps were small enough. The picture is the README's, pixel by pixel.
func TestYear(t *testing.T) {
	name := filepath.Join(folder(t), "orbits.png")
	var out strings.Builder
	require.NoError(t, run(&out, name))
	require.Equal(t, `year   energy of a piece   mean distance from the start
1/8        -0.500001136                       0.809667
2/8        -0.500000034                       1.337122
3/8        -0.499999895                       1.579363
4/8        -0.499999876                       1.654381
5/8        -0.499999895                       1.579365
6/8        -0.500000034                       1.337128
7/8        -0.500001136                       0.809682
8/8        -0.500000000                       0.000022
`, out.String())
	require.True(t, bytes.Equal(pixels(t, "../../../docs/images/orbits.png"), pixels(t, name)), "draw it anew")
}

// folder returns one for files of this test. Under WASI a program has only the folders that it was
// given.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "orbits")
	if err != nil {
		t.Skip("no temporary folder can be made: ", err)
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func pixels(t *testing.T, name string) []uint8 {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, side, side), picture.Bounds())
	return picture.(*image.NRGBA).Pix
}
