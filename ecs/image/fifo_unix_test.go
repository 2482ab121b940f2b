//go:build unix

package image_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// TestOfAPipe: a file that is not regular is an error at once. Opening a pipe would wait for a
// writer.
func TestOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	sound := filepath.Join(t.TempDir(), "old.world")
	require.NoError(t, saveOld(sound))
	none := func(*ecs.World) {}
	for _, path := range []string{pipe, filepath.Dir(pipe), "/dev/null"} {
		for name, open := range map[string]func() error{
			"Describe":    func() error { _, err := image.Describe(path); return err },
			"Checked":     func() error { _, err := image.Describe(path, image.Checked()); return err },
			"Check":       func() error { return image.Check(path) },
			"Open":        func() error { _, err := image.Open(path, none); return err },
			"Open whole":  func() error { _, err := image.Open(path, none, image.Checked()); return err },
			"Plan":        func() error { _, err := image.Plan(path, none); return err },
			"PlanBetween": func() error { _, err := image.PlanBetween(path, sound); return err },
			"its newer":   func() error { _, err := image.PlanBetween(sound, path); return err },
		} {
			err := open()
			require.ErrorIs(t, err, image.ErrFile, "%s of %s", name, path)
			require.ErrorContains(t, err, path)
		}
	}
}
