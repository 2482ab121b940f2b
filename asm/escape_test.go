package asm_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/debug"
)

// TestNothingEscapes asks the compiler what it decided about the package: that
// no argument of a kernel leaves it, so that slices of arrays on the stack may
// stay there, and that no variable is moved to the heap.
func TestNothingEscapes(t *testing.T) {
	if testing.Short() {
		t.Skip("this builds the package anew")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	// The generic functions are compiled where they are instantiated: by the tests.
	build := exec.Command(tool, "test", "-c", "-gcflags=-m", "-o", filepath.Join(t.TempDir(), "asm.test"), ".")
	var report bytes.Buffer
	build.Stdout, build.Stderr = &report, &report
	require.NoError(t, build.Run(), "%s", report.String())

	kernels := 0
	said := regexp.MustCompile(`^\.[/\\](\w+\.go):\d+:\d+: (.*)$`)
	// Strings that go into the text of a panic or an error; the type that a debug
	// build looks at.
	text := regexp.MustCompile(`^leaking param: (kernel|slice|name|word|t)$`)
	for line := range strings.Lines(report.String()) {
		m := said.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.HasSuffix(m[1], "_test.go") {
			continue
		}
		switch verdict := m[2]; {
		case strings.Contains(verdict, "does not escape"):
			kernels++
		case strings.HasPrefix(verdict, "moved to heap"), strings.HasPrefix(verdict, "leaking param"):
			assert.Regexp(t, text, verdict, "%s", line)
		}
	}
	assert.Greater(t, kernels, 100, "the compiler's report was not understood: %.2000s", report.String())
}

// TestNothingAllocates calls every kernel on memory of the stack.
func TestNothingAllocates(t *testing.T) {
	skipIfEverythingAllocates(t)
	if debug.On {
		t.Skip("debug builds look at types, which allocates")
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var w, v, m [100]uint64
		var f, g [100]float32
		var ids [100][2]uint32
		asm.And(w[:], v[:], m[:])
		asm.Or(w[:], v[:], m[:])
		asm.AndNot(w[:], v[:], m[:])
		asm.Match(m[:], w[:], v[:4], v[4:8], 4)
		asm.Fill(w[:], uint64(asm.PopCount(v[:])))
		asm.Fill(ids[:], [2]uint32{1, 2})
		asm.Consecutive(ids[:], 1, 2)
		b := (*[64]byte)(unsafe.Pointer(&v))[:]
		w[0] = asm.HashWords(b, 3, 4)
		asm.NotEqual(w[:], b, b)
		asm.Compact(ids[:], ids[:], w[:2])
		asm.Add(f[:], g[:])
		asm.AddAll(asm.Pair[float32]{Dst: f[:], X: g[:]}, asm.Pair[float32]{Dst: f[:50], X: g[:]})
		asm.Scale(f[:], 2)
		asm.MulAdd(f[:], g[:], g[:])
		asm.Minimum(f[:], g[:])
		asm.Maximum(f[:], g[:])
		f[0] = asm.Sum(g[:]) + asm.Dot(f[:], g[:]) + asm.Min(f[:]) + asm.Max(f[:])
		asm.FindRun512((*[8]uint64)(w[:8]), 20)
		var matrices [6][16]float32
		var placements [5][8]float32
		asm.Compose(matrices[:5], &matrices[5], placements[:])
	}))
}
