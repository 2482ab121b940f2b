package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSiblingNames(t *testing.T) {
	for name, x := range map[string]struct{ path, text, want string }{
		"nobody": {"ecs/job/q_test.go", "package job\n\nvar _ = ecs.Meet\n", ""},
		"sibling": {
			"ecs/job/q.go", "package job\n\nvar _ = w.Meet\n",
			"ecs/p.go:7: Meet is used by siblings of ecs and by no program or page: it belongs behind ecs/internal/door, or among spared in internal/lint/sibling.go",
		},
		"a type": {"ecs/system/q.go", "package system\n\nvar _ ecs.Thing\n",
			"ecs/p.go:3: Thing is used by siblings of ecs and by no program or page: it belongs behind ecs/internal/door, or among spared in internal/lint/sibling.go"},
		"page":        {"ecs/job/q.go", "package job\n\nvar _ = w.Told\n", ""},
		"example":     {"ecs/job/q.go", "package job\n\nvar _ = w.Shown\n", ""},
		"door":        {"ecs/job/q.go", "package job\n\nvar _ = door.Hidden\n", ""},
		"spared":      {"ecs/job/q.go", "package job\n\nvar _ = w.Closed\n", ""},
		"not of ecs":  {"ecs/job/q.go", "package job\n\nvar _ = w.Foreign\n", ""},
		"from bench":  {"ecs/job/q.go", "package job\n\nvar _ = w.Timed\n", ""},
		"of a module": {"fuzz/q.go", "package fuzz\n\nvar _ = w.Meet\n", ""},
	} {
		tree := files{
			"go.mod":       rootModule,
			"bench/go.mod": "module quarry/bench\n",
			"fuzz/go.mod":  "module quarry/fuzz\n",
			"ecs/p.go": "package ecs\n\ntype Thing struct{}\n\nfunc hidden() {}\n\nfunc (t *Thing) Meet()  {}\n" +
				"func (t *Thing) Told() {}\nfunc (t *Thing) Shown() {}\nfunc (t *Thing) Timed() {}\nfunc (t *Thing) Closed() {}\n",
			"ecs/example_a_test.go": "package ecs_test\n\nvar _ = w.Shown\n",
			"bench/life/a.go":       "package life\n\nvar _ = w.Timed\n",
			"docs/semantics.md":     "`World.Told` tells.\n",
			"docs/errors.md":        "`Meet` is met.\n",
		}
		tree[x.path] = x.text
		found := tree.find(t, siblingNames)
		if x.want == "" {
			require.Empty(t, found, name)
			continue
		}
		require.Equal(t, []string{x.want}, found, name)
	}
}
