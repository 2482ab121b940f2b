package image_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/internal/debug"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// TestOpenTakesWhatIsTouched: the pages that a process has of a file of 48 MB after it is opened,
// after a row is read, and after all are. Emulators of other processors have pages of their own.
func TestOpenTakesWhatIsTouched(t *testing.T) {
	if !mmap.Real || debug.On {
		t.Skip("the file is read, or rows are looked at when they are adopted")
	}
	path, _ := savedTown(t, 1_000_000)
	before := resident(t)
	m := opened(t, path)
	defer m.close(t)
	grown := func(what string) int {
		n := resident(t) - before
		t.Logf("%s: %d KiB", what, n>>10)
		return n
	}
	require.Less(t, grown("opened"), 12<<20) // a header, sections, and Go's own
	for rows := range m.moving.Rows() {
		require.Equal(t, 1.0, m.position.ReadOnly(rows)[0].Y)
		break
	}
	require.Less(t, grown("a row was read"), 13<<20)
	sum := 0.0
	for rows := range m.moving.Rows() {
		for _, p := range m.position.ReadOnly(rows) {
			sum += p.X
		}
	}
	require.Equal(t, 1e6*(1e6-1)/2, sum)
	require.Greater(t, grown("all positions were read"), 14<<20)
}

// TestConversionLeavesOthersMapped: where one archetype of a file is converted, no page of another
// one is touched, of 48 MB.
func TestConversionLeavesOthersMapped(t *testing.T) {
	if !mmap.Real || debug.On {
		t.Skip("the file is read, or rows are looked at when they are adopted")
	}
	type cell struct{ A, B, C, D, E float64 }
	path := filepath.Join(t.TempDir(), "cells.world")
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	cells, err := ecs.NewArchetype(w, ecs.Register[cell](w)).CreateN(1_000_000)
	require.NoError(t, err)
	last := cells.Entities(nil)[999_999]
	_, err = ecs.NewArchetype(w, ecs.Register[pos](w)).CreateN(1000)
	require.NoError(t, err)
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, w.Close())
	var (
		cell2  ecs.Component[cell]
		places ecs.Component[place]
	)
	register := func(w *ecs.World) { cell2, places = ecs.Register[cell](w), ecs.Register[place](w) }
	before := resident(t)
	w, err = image.Open(path, register, image.Renamed("pos", "place"))
	require.NoError(t, err)
	require.Less(t, resident(t)-before, 12<<20)
	require.Equal(t, 1000, ecs.NewQuery(w, ecs.With(places)).Count())
	require.NotNil(t, cell2.Get(last))
	require.Less(t, resident(t)-before, 12<<20)
	require.NoError(t, w.Close())
}

// resident returns the bytes of the pages that the process has.
func resident(t *testing.T) (n int) {
	f, err := os.Open("/proc/self/status")
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			_, err := fmt.Sscanf(text, "%d kB", &n)
			require.NoError(t, err)
			return n << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
