package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// sewnTree is a tree whose seam is whole.
func sewnTree() files {
	return files{
		"go.mod":                rootModule,
		"ecs/p.go":              "package ecs\n\ntype inside struct{}\n\nfunc (inside) Index(t int) int { return int(index(t)) }\nfunc (inside) Settle() { settle() }\n",
		seam + "/p.go":          "// Package seam is.\n//\n//\tIndex   command, job   why\n//\tSettle  job            why\npackage seam\n\nimport \"quarry/ecs\"\n\nfunc Index(t int) int { return ecs.Inside(0).Index(t) }\nfunc Settle() { ecs.Inside(0).Settle() }\n",
		"ecs/command/p.go":      "package command\n\nimport \"quarry/internal/seam\"\n\nvar _ = seam.Index\n",
		"ecs/command/p_test.go": "package command\n\nimport \"quarry/internal/seam\"\n\nvar _ = seam.Settle\n",
		"ecs/job/p.go":          "package job\n\nimport s \"quarry/internal/seam\"\n\nvar _, _ = s.Index, s.Settle\n",
	}
}

func TestLooseSeamPermits(t *testing.T) { require.Empty(t, sewnTree().find(t, looseSeam)) }

func TestLooseSeamReports(t *testing.T) {
	for _, x := range []struct{ path, text, want string }{
		{"ecs/job/q.go", "package job\n\nimport core \"quarry/ecs\"\n\nvar _ = core.Inside\n", "ecs/job/q.go:5: uses ecs.Inside: only internal/seam may"},
		{"ecs/q_test.go", "package ecs_test\n\nimport \"quarry/ecs\"\n\nvar _ = ecs.Inside\n", "ecs/q_test.go:5: uses ecs.Inside: only internal/seam may"},
		{"ecs/q.go", "package ecs\n\nfunc (inside) Index(t int) int { return t + 1 }\n", "ecs/q.go:3: inside.Index does more than one call: the seam has no logic"},
		{"ecs/q.go", "package ecs\n\nfunc (inside) Locked() bool { return locked() }\n", "ecs/q.go:3: internal/seam has no function Locked"},
		{seam + "/q.go", "package seam\n\nfunc Locked() bool { return true }\n", "internal/seam/q.go:3: ecs has no inside.Locked"},
		{"ecs/job/p.go", "package job\n\nimport \"quarry/internal/seam\"\n\nvar _ = seam.Index\n", "internal/seam/p.go:10: nobody uses Settle but tests"},
		{"ecs/system/p.go", "package system\n\nimport \"quarry/internal/seam\"\n\nvar _ = seam.Settle\n", `internal/seam/p.go:10: Settle is used by job, system; the table of the package comment says "job"`},
		{seam + "/q.go", "// Package seam has more.\n//\n//\tGone    job            why\npackage seam\n", "internal/seam: the table of the package comment has Gone, which is no function"},
	} {
		tree := sewnTree()
		tree[x.path] = x.text
		require.Equal(t, []string{x.want}, tree.find(t, looseSeam))
	}
}
