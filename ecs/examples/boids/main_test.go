package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/job"
	"quarry/internal/debug"
)

// The picture and the hash are those of the README.
func TestPicture(t *testing.T) {
	if debug.On {
		t.Skip("600 frames take ten seconds under the race detector; TestWorkers has ten")
	}
	name := filepath.Join(folder(t), "boids.png")
	hash, err := run(name, 600)
	require.NoError(t, err)
	require.Equal(t, uint64(0x6446cc7944082c06), hash)
	require.True(t, bytes.Equal(pixels(t, "../../../docs/images/boids.png"), pixels(t, name)), "draw it anew")
}

func TestWorkers(t *testing.T) {
	name := filepath.Join(folder(t), "boids.png")
	want, err := run(name, 10, job.Workers(1))
	require.NoError(t, err)
	for workers := 2; workers <= 8; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			hash, err := run(name, 10, job.Workers(workers), job.Inline(0)) // wakes all
			require.NoError(t, err)
			require.Equal(t, want, hash)
		})
	}
}

func TestNoFile(t *testing.T) {
	_, err := run(filepath.Join(folder(t), "missing", "boids.png"), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// folder returns one for files of this test. Under WASI a program has only the folders that it was
// given.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "boids")
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
