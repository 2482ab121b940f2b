package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinksReport(t *testing.T) {
	tree := files{
		"go.mod": rootModule,
		"docs/page.md": "# A page: `Of` two-fold\n## Twice\n```\n# no heading\n```\n## Twice\n#none\n" +
			"[a](#a-page-of-two-fold), [b](#twice-1), [c](other.md#here), [d](../x.md#there)\n" +
			"[e](#no-heading), [f](#twice-2), [g](#none)\n[h](other.md#gone), [i](https://a.b/c.md#x)\n",
		"docs/other.md": "# Here\n",
		"x.md":          "# There\n[back](docs/page.md#Twice)\n",
	}
	require.Equal(t, []string{
		"docs/page.md:9: there is no heading no-heading in docs/page.md",
		"docs/page.md:9: there is no heading twice-2 in docs/page.md",
		"docs/page.md:9: there is no heading none in docs/page.md",
		"docs/page.md:10: there is no heading gone in docs/other.md",
		"x.md:2: there is no heading Twice in docs/page.md",
	}, tree.find(t, brokenLinks))
}

func TestDecisionsReport(t *testing.T) {
	tree := files{
		"go.mod":                   rootModule,
		"docs/decisions/0007-a.md": "# 7. An A\n",
		"docs/decisions/0012-b.md": "# 12. A B\n",
		"docs/decisions/README.md": "# Decisions\n| [7](0007-a.md) | An A | accepted |\n| [12](0012-b.md) | A C | accepted |\n",
	}
	require.Equal(t, []string{
		"docs/decisions/0012-b.md: has no row in docs/decisions/README.md: | [12](0012-b.md) | A B | accepted |",
	},
		tree.find(t, missingDecisions))
	delete(tree, "docs/decisions/README.md")
	require.Len(t, tree.find(t, missingDecisions), 2)
}
