package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestTable: each text occurs once in its file and is changed, and each test exists.
func TestTable(t *testing.T) {
	for _, m := range mutants {
		_, err := m.overlay(root, t.TempDir())
		require.NoError(t, err)
		require.NotEqual(t, m.old, m.new)
		if m.test != "" {
			require.True(t, hasTest(t, filepath.Join(root, filepath.Dir(m.file)), m.test), "%s: no %s", m.file, m.test)
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// TestDocument: docs/mutants.md has a line for each mutant, and for no other.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/mutants.md"))
	require.NoError(t, err)
	for _, m := range mutants {
		line := "| " + m.file + " | " + code(m.old) + " | " + code(m.new) + " | " + m.test + " |"
		require.Equal(t, 1, strings.Count(string(text), line), line)
	}
	require.Equal(t, 1+len(mutants), strings.Count(string(text), "\n| "), "a heading, and the mutants")
}

// TestRun: a mutant that breaks something is noticed, one that breaks nothing survives,
// and what does not build or runs no test is an error.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package four times")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
	m := mutant{"bitmask/run.go", "if below+above < n {", "if below+above <= n {", "TestFindRunAgreesWithTwin"}
	require.True(t, hasTest(t, filepath.Join(root, "bitmask"), m.test))
	v, err := m.run(root)
	require.NoError(t, err)
	require.Equal(t, m.test, v.test)
	m.new = "if above+below < n {"
	v, err = m.run(root)
	require.NoError(t, err)
	require.Empty(t, v.test)
	m.new = "if below+above < {"
	_, err = m.run(root)
	require.ErrorContains(t, err, "no test ran")
	m.new, m.test = "if above+below < n {", "TestOfNoSuchName"
	_, err = m.run(root)
	require.ErrorContains(t, err, "ran no test")
	text, err := os.ReadFile(filepath.Join(root, m.file))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), m.old), "the tree is as it was")
}

func TestJudge(t *testing.T) {
	broken := errors.New("exit status 1")
	v, err := mutant{}.judge([]byte("=== RUN   TestA\n--- FAIL: TestA (0.25s)\n"), broken)
	require.NoError(t, err)
	require.Equal(t, verdict{"TestA", "0.25"}, v)
	v, err = mutant{}.judge([]byte("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: at B\n"), broken)
	require.NoError(t, err)
	require.Equal(t, "TestB", v.test)
	require.Equal(t, "`a \\| b`", code("a  |\n\tb"))
}
