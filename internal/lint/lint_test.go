package lint

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is read once for all rules.
var repository = sync.OnceValues(func() (*tree, error) {
	dir, err := home()
	if err != nil {
		return nil, err
	}
	return load(os.DirFS(dir))
})

// home returns the folder of the repository that this test runs in.
func home() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return findRoot(dir)
}

// needsGo skips a test that runs the go command where there is none.
func needsGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
}

// obey reports every breach of a rule in the repository.
func obey(t *testing.T, rule func(*tree) []finding) {
	t.Helper()
	repo, err := repository()
	require.NoError(t, err)
	for _, f := range rule(repo) {
		t.Error(f)
	}
}

// The tests that show that a rule can fail are in the files of the rules.

func TestImportFloors(t *testing.T)       { obey(t, importFloors) }
func TestDirectDependencies(t *testing.T) { obey(t, directDependencies) }
func TestGofmt(t *testing.T)              { obey(t, unformatted) }
func TestFileLength(t *testing.T)         { obey(t, longFiles) }
func TestFunctionLength(t *testing.T)     { obey(t, longFunctions) }
func TestProseWidth(t *testing.T)         { obey(t, wideProse) }
func TestCodeWidth(t *testing.T)          { obey(t, wideCode) }
func TestNoForbiddenWords(t *testing.T)   { obey(t, forbiddenWords) }
func TestExportedHaveDocs(t *testing.T)   { obey(t, undocumented) }
func TestUnsafeIsExplained(t *testing.T)  { obey(t, unexplainedUnsafe) }
func TestArchitecture(t *testing.T)       { obey(t, staleArchitecture) }
func TestPages(t *testing.T)              { obey(t, stalePages) }
func TestLinks(t *testing.T)              { obey(t, brokenLinks) }
func TestDecisions(t *testing.T)          { obey(t, missingDecisions) }
func TestNamesOfSiblings(t *testing.T)    { obey(t, siblingNames) }

func TestRepositoryIsSeen(t *testing.T) {
	repo, err := repository()
	require.NoError(t, err)
	require.Subset(t, repo.modules, []string{".", "arrowalloc", "bench", "fuzz", "publish"})
	for _, name := range []string{"go.mod", ".gitignore", "ecs/world.go", "asm/axpy_amd64.s", "mmap/pages_windows.go"} {
		f := repo.file(name)
		require.NotNil(t, f, "%s was not read: a rule that sees nothing finds nothing", name)
		require.NotEmpty(t, f.text, name)
		require.True(t, repo.inRoot(f), name)
	}
}
