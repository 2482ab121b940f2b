//go:build unix

package scene_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"quarry/ecs"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// TestLoadOfAPipe: a pipe fails at once, where its loader would wait for somebody who writes to it,
// and so would Close.
func TestLoadOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.world")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	h := scene.NewHost(w, func(*ecs.World) {})
	i := h.Load(pipe)
	for i.State() == scene.Reading {
		h.Update(0)
	}
	require.Equal(t, scene.Failed, i.State())
	require.ErrorContains(t, i.Err(), "no regular file")
	require.NoError(t, h.Close())
	require.NoError(t, w.Close())
}
