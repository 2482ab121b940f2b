package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// described is a tree of two packages and a module with a docs/architecture.md.
func described(text string) files {
	return files{
		"go.mod":               rootModule,
		"bench/go.mod":         "module quarry/bench\n",
		"bench/life/a.go":      "package life\n",
		"asm/axpy.go":          "package asm\n\nvar Level int\n\nfunc Axpy() {}\n",
		"bitmask/a.go":         "package bitmask\n\ntype Word struct{ v, w int }\n\nfunc (w *Word) Load() {}\n",
		"bitmask/a_test.go":    "package bitmask\n\nfunc Try() {}\n",
		"docs/architecture.md": text,
	}
}

const (
	benchRow   = "| bench | 1 | runs |\n"
	asmRow     = "| asm | 5 | adds |\n"
	bitmaskRow = "| bitmask | 5 | finds |\n"
	goodTable  = benchRow + asmRow + bitmaskRow
)

func TestArchitectureReports(t *testing.T) {
	const at = "docs/architecture.md"
	for text, want := range map[string][]string{
		goodTable + "```text\nWord.Store(1)": {at + ":5: there is no Word.Store in the root module"},
		goodTable + "asm.Load, bitmask.Try":  {at + ":4: there is no asm.Load in the root module", at + ":4: there is no bitmask.Try in the root module"},
		asmRow + bitmaskRow:                  {at + ": the table has no package bench"},
		goodTable + "| asm | 6 | |":          {at + ": asm has 5 lines, the table says 6"},
	} {
		require.Equal(t, want, described(text).find(t, staleArchitecture), text)
	}
	require.Len(t, files{"go.mod": rootModule}.find(t, staleArchitecture), 1)
}

// Programs of a folder have one row, and no other row lists it.
func TestArchitectureOfPrograms(t *testing.T) {
	tree := described("| bench | 1 | |\n" + asmRow + bitmaskRow + "| ecs/examples | 3 | shows |\n")
	tree["ecs/examples/a/main.go"] = "package main\n"
	tree["ecs/examples/b/main.go"] = "package main\n\nfunc main() {}\n"
	require.Equal(t, []string{"docs/architecture.md: ecs/examples has 4 lines, the table says 3"},
		tree.find(t, staleArchitecture))
}

func TestArchitecturePermits(t *testing.T) {
	text := goodTable + "`asm/axpy.go` has asm.Axpy and asm.Level; bitmask.Word, Word.v, `Word.Load(n)`. The end."
	require.Empty(t, described(text).find(t, staleArchitecture))
}
