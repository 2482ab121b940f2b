package lint

import (
	"os"
	"os/exec"
	"path/filepath"
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

// TestSeamIsShut: a program of another module is built with ecs, and not when it reaches for
// the seam, by a path or by a value that looks like the key.
func TestSeamIsShut(t *testing.T) {
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	require.NoError(t, err)
	for _, x := range []struct{ imports, body, refusal string }{
		{`"quarry/ecs"`, "_, _ = ecs.NewWorld()", ""},
		{`"quarry/internal/seam"`, "_ = seam.Writes", "use of internal package quarry/internal/seam not allowed"},
		{`"quarry/ecs"; "quarry/internal/seam/under"`, "ecs.Inside(under.Key{})", "use of internal package quarry/internal/seam/under not allowed"},
		{`"quarry/ecs"`, "ecs.Inside(struct{}{})", "cannot use struct{}{}"},
		{`"quarry/ecs"`, "ecs.Inside(struct{ _ struct{} }{})", "cannot use struct{_ struct{}}{}"},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":  "module demo\n\ngo 1.26.0\n\nrequire quarry v0.0.0\n\nreplace quarry => " + dir + "\n",
			"go.sum":  string(sums),
			"main.go": "package main\n\nimport (" + x.imports + ")\n\nfunc main() { " + x.body + " }\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
		}
		build := exec.Command("go", "build", "-o", filepath.Join(folder, "demo"), ".")
		build.Dir = folder
		build.Env = append(build.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := build.CombinedOutput()
		if x.refusal == "" {
			require.NoError(t, err, "%s", out)
			continue
		}
		require.Error(t, err, x.body)
		require.Contains(t, string(out), x.refusal)
	}
}
