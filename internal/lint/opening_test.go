package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenings(t *testing.T) { obey(t, silentFiles) }
func TestFaceSize(t *testing.T) { obey(t, largeFace) }

// TestOpeningsReport: how a file may open, and how not.
func TestOpeningsReport(t *testing.T) {
	require.Equal(t, []string{
		"ecs/bare.go: opens without a statement of what it is: 0 words, at least 8",
		"ecs/directive.go: opens without a statement of what it is: 0 words, at least 8",
		"ecs/empty.go: opens without a statement of what it is: 0 words, at least 8",
		"ecs/late.go: opens without a statement of what it is: 0 words, at least 8",
		"ecs/other.go: opens with a statement that does not name other",
		"ecs/short.go: opens without a statement of what it is: 2 words, at least 8",
	}, files{
		"ecs/alone.go":     "package ecs\n\n// What stands alone: a comment that says what the file is.\n\nvar x int\n",
		"ecs/row.go":       "package ecs\n\nimport \"fmt\"\n\n// Row is the place of an entity in its chunk, by number.\ntype Row fmt.State\n",
		"ecs/bare.go":      "package ecs\n\nvar bare int\n",
		"ecs/empty.go":     "package ecs\n\n//\n//\n\nvar x int\n",
		"ecs/directive.go": "package ecs\n\n//go:generate the directive of a file is no statement of what it is\n\nvar x int\n",
		"ecs/late.go":      "package ecs\n\nvar x int\n\n// Late is a statement that comes behind the first declaration of its file.\nvar late int\n",
		"ecs/other.go":     "package ecs\n\n// Something is what this is about, in so many words.\nvar something int\n",
		"ecs/short.go":     "package ecs\n\n// Short things.\n\nvar x int\n",
		"ecs/bare_test.go": "package ecs\n\nvar y int\n",
		"ecs/job/bare.go":  "package job\n\nvar bare int\n",
	}.find(t, silentFiles))
}

func TestFaceSizeReports(t *testing.T) {
	tree := files{"ecs/long.go": "package ecs\n" + strings.Repeat("\n", ecsLines), "ecs/a_test.go": "package ecs\n"}
	require.Equal(t, []string{"ecs: has 1 files and 6001 lines, 45 and 6000 at most"}, tree.find(t, largeFace))
	many := files{}
	for i := range ecsFiles + 1 {
		many[fmt.Sprintf("ecs/f%d.go", i)] = "package ecs\n"
	}
	require.Equal(t, []string{"ecs: has 46 files and 46 lines, 45 and 6000 at most"}, many.find(t, largeFace))
}
