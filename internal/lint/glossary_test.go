package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlossary(t *testing.T) { obey(t, ambiguousWords) }

// glossaryTree is a tree whose words each have one meaning, but for those of pages that change it.
func glossaryTree(rows string) files {
	return files{
		"go.mod":                     "module quarry\n",
		"bench/go.mod":               "module quarry/bench\n",
		"bench/chunk.go":             "package bench\n\ntype Chunk int // another module\n",
		"alloc/chunk.go":             "package alloc\n\ntype Chunk struct{}\n\ntype ChunkList struct{}\n",
		"alloc/chunk_test.go":        "package alloc\n\ntype chunk int // a test\n",
		"ecs/chunk.go":               "package ecs\n\ntype Chunk = alloc.Chunk\n",
		"ecs/loop.go":                "package ecs\n\nfunc f() { type chunk int } // of a function\n",
		"ecs/examples/boids/row.go":  "package boids\n\ntype row int // an example\n",
		"ecs/internal/door/chunk.go": "package door\n",
		glossaryPage: "| word | meaning | where |\n|---|---|---|\n" +
			"| chunk | Memory. | `alloc.Chunk`, `ecs.Chunk`, `door` |\n" + rows,
	}
}

func TestAmbiguousWordsPermits(t *testing.T) {
	for _, rows := range []string{
		"",
		"| chunk list | Chunks. | `alloc.ChunkList` |\n",
		"| loop | A loop. | `ecs/loop.go` |\n",
		"| row | A row. | `ecs` |\n",
		"Prose about a `chunk` and | a bar |.\n",
	} {
		require.Empty(t, glossaryTree(rows).find(t, ambiguousWords), rows)
	}
}

func TestAmbiguousWordsReportsPage(t *testing.T) {
	for rows, want := range map[string]string{
		"| chunk | Again. | `ecs` |\n":          ":4: chunk has a row already",
		"| row | A row. | `ecs.Row` |\n":        ":4: no type, file or package is called ecs.Row",
		"| row | A row. | `ecs/row.go` |\n":     ":4: no type, file or package is called ecs/row.go",
		"| row | A row. | `boids.row` |\n":      ":4: no type, file or package is called boids.row",
		"| row | A row. | the rows |\n":         ":4: row names no type, file or package",
		"| row | A row. | `alloc.Chunk` |\n":    ":4: alloc.Chunk is the meaning of chunk already",
		"| bench | A row. | `bench.Chunk` |\n":  ":4: no type, file or package is called bench.Chunk",
		"| test | A test. | `alloc.chunk` |\n":  ":4: no type, file or package is called alloc.chunk",
		"| local | A type. | `ecs.chunk` |\n":   ":4: no type, file or package is called ecs.chunk",
		"| chunk list | Chunks. | `ecs.Gone` |": ":4: no type, file or package is called ecs.Gone",
	} {
		found := glossaryTree(rows).find(t, ambiguousWords)
		require.NotEmpty(t, found, rows)
		require.Equal(t, glossaryPage+want, found[0])
	}
	require.Equal(t, []string{glossaryPage + ": is missing"}, files{"go.mod": ""}.find(t, ambiguousWords))
	require.Equal(t, []string{glossaryPage + ": has no rows"},
		files{"go.mod": "", glossaryPage: "# Words\n"}.find(t, ambiguousWords))
}

func TestAmbiguousWordsReportsCode(t *testing.T) {
	const gives, how = ", which docs/glossary.md gives to alloc.Chunk, ecs.Chunk, door",
		": list it there if it is the same thing, or rename it"
	code := glossaryTree("")
	code["ecs/job/part.go"] = "package job\n\ntype (\n\tcHUNK int\n)\n"
	code["ecs/job/chunk.go"] = "package job\n"
	code["alloc/other.go"] = "package alloc\n\ntype chunk int\n"
	want := []string{
		"alloc/other.go:3: alloc.chunk is named for the word chunk" + gives + how,
		"ecs/job/chunk.go: ecs/job/chunk.go is named for the word chunk" + gives + how,
		"ecs/job/part.go:4: job.cHUNK is named for the word chunk" + gives + how,
	}
	require.Equal(t, want, code.find(t, ambiguousWords))

	listed := map[string]string{"alloc.chunk": "a", "job.cHUNK": "b", "ecs/job/chunk.go": "c"}
	list := func(t *tree) []finding { return ambiguousBut(t, listed) }
	require.Empty(t, code.find(t, list))
	delete(listed, "job.cHUNK")
	require.Equal(t, want[2:], code.find(t, list))
	listed["job.gone"] = "d"
	require.Equal(t, append(want[2:], "internal/lint/glossary.go: otherMeanings has job.gone without need"),
		code.find(t, list))
}

// TestAmbiguousWordsReportsFields: a field that is named for a word has not the type of another.
func TestAmbiguousWordsReportsFields(t *testing.T) {
	code := glossaryTree("| row | A row. | `alloc.Row` |\n")
	code["alloc/row.go"] = "package alloc\n\ntype Row struct {\n\tchunk Chunk\n\tat    Row\n}\n"
	require.Empty(t, code.find(t, ambiguousWords))
	code["ecs/loop.go"] = "package ecs\n\ntype loop struct {\n\trow   []*alloc.Chunk\n\tChunk map[int]alloc.Row\n\trows  alloc.Chunk\n}\n"
	require.Equal(t, []string{
		"ecs/loop.go:4: ecs.loop.row is named for the word row, and has the type of the word chunk, alloc.Chunk",
		"ecs/loop.go:5: ecs.loop.Chunk is named for the word chunk, and has the type of the word row, alloc.Row",
	}, code.find(t, ambiguousWords))
	listed := map[string]string{"ecs.loop.row": "a", "ecs.loop.Chunk": "b"}
	require.Empty(t, code.find(t, func(t *tree) []finding { return ambiguousBut(t, listed) }))
}

// TestAmbiguousWordsPermitsTerms: a term of several words lists a type and a file that are named
// for one of them, and fields of that type have its name.
func TestAmbiguousWordsPermitsTerms(t *testing.T) {
	code := glossaryTree("| scene chunk | A part of a scene. | `scene.Chunk`, `scene/chunk.go` |\n")
	code["scene/chunk.go"] = "package scene\n\ntype Chunk struct{}\n\ntype scene struct{ chunk *Chunk }\n"
	require.Empty(t, code.find(t, ambiguousWords))
	code["scene/block.go"] = "package scene\n\ntype chunk struct{}\n"
	require.Equal(t, []string{"scene/block.go:3: scene.chunk is named for the word chunk, which docs/glossary.md " +
		"gives to alloc.Chunk, ecs.Chunk, door: list it there if it is the same thing, or rename it"},
		code.find(t, ambiguousWords))
}
