package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A user's module is made with these, the last argument of the second being the
// path of the repository.
var setup = [][]string{
	{"go", "mod", "init", "demo"},
	{"go", "mod", "edit", "-require", "quarry@v0.0.0", "-replace", "quarry="},
	{"go", "mod", "tidy"},
}

// patience bounds the building and running of a program of 25 lines.
const patience = 5 * time.Minute

func readme(t *testing.T) string {
	t.Helper()
	dir, err := home()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	return string(text)
}

// keep makes the program of a README in an empty folder, as a user of the
// repository at dir would, runs it and says how its output is not the promised.
func keep(ctx context.Context, p promise, folder, dir string) error {
	run := func(words ...string) (string, error) {
		var stdout, stderr bytes.Buffer
		command := exec.CommandContext(ctx, words[0], words[1:]...)
		command.Dir, command.Stdout, command.Stderr = folder, &stdout, &stderr
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+folder)
		if err := command.Run(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(words, " "), err, &stdout, &stderr)
		}
		return stdout.String(), nil
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(p.program), 0o644); err != nil {
		return err
	}
	for _, words := range setup {
		if last := len(words) - 1; strings.HasSuffix(words[last], "=") {
			words = append(words[:last:last], words[last]+dir)
		}
		if _, err := run(words...); err != nil {
			return err
		}
	}
	got, err := run("go", "run", ".")
	if err == nil && got != p.output {
		err = fmt.Errorf("README.md: the program printed\n%swant\n%s", got, p.output)
	}
	return err
}

func TestReadmeProgram(t *testing.T) {
	text := readme(t)
	p, err := readPromise(text)
	require.NoError(t, err)
	for _, words := range setup {
		require.Contains(t, text, strings.Join(words, " "),
			"README.md does not tell how to make a module for its program")
	}
	if testing.Short() {
		t.Skip("-short: the program of README.md is not built and run")
	}
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, keep(ctx, p, t.TempDir(), dir))
}

func TestReadmeCommands(t *testing.T) {
	require.Contains(t, commandBlocks(readme(t)), []string{
		"go run ./bench", "go test ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...",
	})
}

func TestReadmeProgramReports(t *testing.T) {
	fence := func(lang, text string) string { return "```" + lang + "\n" + text + "```\n" }
	program := "package main\n" + strings.Repeat("\n", programLimit-1)
	other := fence("go", "x := 1 // not package main\n")
	good := other + "\n" + fence("sh", "go version\n") + fence("go", program) + "It prints\n" + fence("text", "1\n")
	p, err := readPromise(good)
	require.NoError(t, err)
	require.Equal(t, promise{program, "1\n"}, p)

	for text, want := range map[string]string{
		"":                             "no ```go block has the line package main",
		other + fence("text", program): "no ```go block has the line package main",
		fence("text", "1\n") + fence("go", program):             "README.md:4: no ```text block follows the program",
		fence("go", program) + fence("", "1\n"):                 "README.md:1: no ```text block follows the program",
		"\n" + fence("go", program+"\n") + fence("text", "1\n"): "README.md:2: the program has 26 lines, 25 at most",
		fence("go", program) + "```text\nnever closed\n":        "no ```text block follows the program",
	} {
		_, err := readPromise(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestCommandBlocks(t *testing.T) {
	got := commandBlocks("```go\nx\n```\n```sh\ngo run ./bench\n\n  go test ./...\n```\n```sh\nls\n```\n")
	require.Equal(t, [][]string{{"go run ./bench", "go test ./..."}, {"ls"}}, got)
	require.Empty(t, commandBlocks("```go\nx\n```\n"))
}

func TestReadmeProgramMayFail(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no program is built and run")
	}
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const program = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"quarry/bitmask\"\n)\n\n" +
		"func main() { fmt.Println(bitmask.Mask(0, 4)) }\n"
	require.NoError(t, keep(ctx, promise{program, "15\n"}, t.TempDir(), dir))
	require.ErrorContains(t, keep(ctx, promise{program, "16\n"}, t.TempDir(), dir),
		"the program printed\n15\nwant\n16\n")

	err = keep(ctx, promise{strings.Replace(program, "bitmask.Mask", "bitmask.Nothing", 1), ""}, t.TempDir(), dir)
	require.ErrorContains(t, err, "go run .")
	require.ErrorContains(t, err, "undefined: bitmask.Nothing")
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit))
}
