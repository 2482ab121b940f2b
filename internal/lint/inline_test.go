package lint

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inlined are functions that loops over rows and changes of one entity count on the
// compiler to inline, by package. Several cost nearly what its budget of 80 allows: a
// field more, or another compiler, and each call is some 25 instructions longer.
var inlined = map[string][]string{
	"bitmask": {"FindRun", "(*Word).ClaimOne", "(*Word).FreeOne"},
	"alloc":   {"(*Grid).Full", "(*Grid).Tail", "(*Grid).LastRow", "(*Grid).Push", "(*Grid).Pop", "GridRow.Element", "CopyPairs", "(*Universe).PointerTo"},
	"ecs": {"Component[go.shape.struct {}].Slice", "Component[go.shape.struct {}].Get", "Component[go.shape.struct {}].Mut",
		"Component[go.shape.struct {}].Add", "handle.Has", "handle.Remove", "rawBuffer.header", "rawBuffer.bytes",
		"(*records).find", "(*World).ownerOf", "(*World).archetypeAt", "(*World).rowAt", "(*World).checkUnlocked",
		"(*World).idleScan", "(*World).lock", "(*scan).show", "makeRows", "(*Archetype).markRows"},
}

func TestInlined(t *testing.T) {
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	for pkg, names := range inlined {
		cmd := exec.Command("go", "build", "-gcflags=-m", "./"+pkg)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "GOFLAGS=-buildvcs=false") // no tags: those of debug builds check more
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		for _, name := range names {
			if !strings.Contains(string(out), ": can inline "+name+"\n") {
				t.Errorf("%s: the compiler no longer inlines %s; go build -gcflags=-m=2 ./%[1]s says why", pkg, name)
			}
		}
	}
}
