// Package child runs a test again in a process of its own, under limits set by a shell. It is for
// tests of exhausting a resource of a whole process.
package child

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// variable is the environment variable that holds the limit of a child process.
const variable = "QUARRY_TEST_CHILD"

// NoLimit is the limit for a child process without a limit.
const NoLimit = "true"

// Run runs body in a child process, after the shell command limit, with additional environment
// variables ("NAME=value"). The child runs the same test, and its call of Run calls body. So the
// test must call Run, and do nothing slow before. The child runs in short mode if its parent does.
// Several calls in one test must differ in limit. The test fails unless the child passes; it is
// skipped if the child is skipped or cannot be started.
//
// The C library has one heap there. It gives new threads heaps of 64 MiB of addresses each, as many
// as eight a core, and takes them from Go's room between a refusal and the next look (measured
// with ten such processes of package mmap on two cores: 3 to 7 in 400 died of it, and none with
// one heap).
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
	child.Env = append(append(os.Environ(), environment...), variable+"="+limit, "MALLOC_ARENA_MAX=1")
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
