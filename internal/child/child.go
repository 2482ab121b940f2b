// Package child runs a test again in a process of its own, under limits that a
// shell sets, for tests of what a whole process runs out of.
package child

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// variable in the environment of a child holds the limit that it runs under.
const variable = "QUARRY_TEST_CHILD"

// NoLimit is a limit of no kind, for a process of one's own.
const NoLimit = "true"

// Run runs body in a child process, after the shell command limit and with more
// environment ("NAME=value"). In the child it is called again by the same test and
// then runs body itself, so the test must call Run, and nothing that takes long
// before it. The child's run is short where its parent's is. Several calls of one test
// must differ in limit. The test fails unless the child's passes, and is skipped where
// the child's is or cannot be started.
func Run(t *testing.T, limit string, body func(t *testing.T), environment ...string) {
	t.Helper()
	switch os.Getenv(variable) {
	case "":
		run(t, limit, environment)
	case limit:
		body(t)
	}
}

func run(t *testing.T, limit string, environment []string) {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set a limit with")
	}
	child := exec.Command(shell, "-c", limit+`; exec "$0" -test.v -test.short=$2 -test.run "^$1\$"`,
		os.Args[0], t.Name(), strconv.FormatBool(testing.Short()))
	child.Env = append(append(os.Environ(), environment...), variable+"="+limit)
	out, err := child.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "Exec format error"):
		t.Skip("this program runs on an emulator and cannot start itself")
	case err != nil:
		t.Fatalf("%s: %v\n%s", limit, err, out)
	case strings.Contains(text, "--- SKIP: "+t.Name()):
		t.Skip(text)
	case !strings.Contains(text, "--- PASS: "+t.Name()):
		t.Fatalf("%s: the child ran no %s\n%s", limit, t.Name(), out)
	default:
		t.Logf("%s\n%s", limit, out)
	}
}
