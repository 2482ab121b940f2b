package lint

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerifyInAWorkspace: go mod verify, which refuses a module path without a dot, passes in a
// workspace with this repository, as docs/platforms.md says.
func TestVerifyInAWorkspace(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no module is made and verified")
	}
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, words := range [][]string{
		setup[0], {"go", "mod", "edit", "-require", "quarry@v0.0.0", "-replace", "quarry=" + dir},
		{"go", "work", "init", ".", dir}, {"go", "mod", "verify"},
	} {
		command := exec.Command(words[0], words[1:]...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=", "PWD="+folder)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%v\n%s", words, out)
	}
}
