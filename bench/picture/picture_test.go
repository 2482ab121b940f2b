package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme: README.md has the figures of the results, and the picture can be drawn of them.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(readme)), " ")
	file := filepath.Join(t.TempDir(), "picture.png")
	var out, errs bytes.Buffer
	require.Zero(t, command([]string{"-results", "../results", "-o", file}, &out, &errs), errs.String())
	for line := range strings.Lines(out.String()) {
		require.Contains(t, text, strings.TrimSpace(line))
	}
	picture, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(picture, []byte("\x89PNG")))
}

func TestNoResults(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, 2, command([]string{"-results", t.TempDir()}, &out, &errs))
	require.Contains(t, errs.String(), "cache.json")
	require.Equal(t, 2, command([]string{"-no"}, &out, &errs))
}
