package lint

import (
	"go/build"
	"go/types"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// only64 is the file that does not compile where an int has 32 bits; the package that it is
// in is below all that a user imports, so there the compiler says nothing else.
const only64 = "internal/debug/only64.go"

// goTool runs the go command in the root folder, with more environment.
func goTool(t *testing.T, environment []string, arguments ...string) (out string, err error) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command, or no child processes")
	}
	dir, err := home()
	require.NoError(t, err)
	cmd := exec.Command("go", arguments...)
	cmd.Dir = dir
	// No tags: those of debug builds check more.
	cmd.Env = append(append(cmd.Environ(), "GOFLAGS=-buildvcs=false"), environment...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// TestOnly64: of all systems that Go knows, those whose int has 32 bits, and no others, are
// refused, in one line.
func TestOnly64(t *testing.T) {
	list, err := goTool(t, nil, "tool", "dist", "list")
	require.NoError(t, err, list)
	dir, err := home()
	require.NoError(t, err)
	refused, others := map[string]bool{}, 0
	for target := range strings.FieldsSeq(list) {
		context := build.Default
		context.GOOS, context.GOARCH, _ = strings.Cut(target, "/")
		compiled, err := context.MatchFile(path.Join(dir, path.Dir(only64)), path.Base(only64))
		require.NoError(t, err)
		narrow := types.SizesFor("gc", context.GOARCH).Sizeof(types.Typ[types.Int]) < 8
		require.Equal(t, narrow, compiled, target)
		if !narrow {
			others++
		} else if !refused[context.GOARCH] {
			refused[context.GOARCH] = true
			out, err := goTool(t, []string{"GOOS=" + context.GOOS, "GOARCH=" + context.GOARCH, "CGO_ENABLED=0"},
				"build", "./"+path.Dir(only64))
			require.Error(t, err, target)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			require.Len(t, lines, 2, out)
			require.Equal(t, "# quarry/internal/debug", lines[0])
			require.Regexp(t, `only64\.go:\d+:\d+: undefined: quarry_is_for_64_bit_systems\r?$`, lines[1])
		}
	}
	require.GreaterOrEqual(t, len(refused), 4, "386, arm, mips, mipsle")
	require.GreaterOrEqual(t, others, 30)
}

// TestOnly64IsBelowAll: every package that a user may import imports, in the end, the one that
// does not compile where an int has 32 bits.
func TestOnly64IsBelowAll(t *testing.T) {
	repo, err := repository()
	require.NoError(t, err)
	imports := map[string][]string{} // of packages of the root module, without their tests
	for _, f := range repo.goFiles() {
		if !repo.inRoot(f) || f.isTest() {
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			to, _ := strings.CutPrefix(name, root+"/")
			imports[f.dir()] = append(imports[f.dir()], to)
		}
	}
	var above func(dir string) bool
	above = func(dir string) bool {
		if dir == path.Dir(only64) {
			return true
		}
		for _, to := range imports[dir] {
			if above(to) {
				return true
			}
		}
		return false
	}
	for dir := range imports {
		require.True(t, above(dir) || dir == "internal/lint" || faceOf(dir) != "", // a face is compiled with its strata
			"%s is compiled without %s", dir, only64)
	}
	require.Greater(t, len(imports), 15)
}
