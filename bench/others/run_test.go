package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// verdicts makes a result of words such as "TestA=pass".
func verdicts(text string) *result {
	r := &result{verdict: passed, verdicts: map[string]verdict{}}
	for _, word := range strings.Fields(text) {
		name, v, _ := strings.Cut(word, "=")
		r.verdicts[name] = verdict(v)
		if verdict(v) == failed {
			r.verdict = failed
		}
	}
	return r
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		own, ours string
		want      []string
	}{
		{"A=pass A/x=pass B=skip", "A=pass A/x=pass B=skip", nil},
		{"A=fail B=pass", "A=fail B=pass", nil},
		{"A=fail B=pass", "A=pass B=pass", []string{"pass: 1 tests on its own memory, 2 on ours", "fail: 1 tests on its own memory, 0 on ours"}},
		{"A=pass", "A=pass A/x=pass", []string{"pass: 1 tests on its own memory, 2 on ours"}},
		{"A=pass", "A=skip", []string{"pass: 1 tests on its own memory, 0 on ours", "skip: 0 tests on its own memory, 1 on ours"}},
		{"A=fail B=pass", "A=pass B=fail", []string{"fails on our memory only: B"}},
		{"A=pass", "A=fail", []string{"the package fails on our memory only", "fails on our memory only: A",
			"pass: 1 tests on its own memory, 0 on ours", "fail: 0 tests on its own memory, 1 on ours"}},
	} {
		require.Equal(t, c.want, difference(verdicts(c.own), verdicts(c.ours)), "%s, then %s", c.own, c.ours)
	}
	require.Equal(t, []string{"A: own pass, ours skip", "B: own fail, ours not run"},
		changed(verdicts("A=pass B=fail C=pass"), verdicts("A=skip C=pass")))
}

func TestForget(t *testing.T) {
	all := runs{"p": verdicts("A=pass A/1=pass A/1/x=pass Ab/1=pass B=pass B/1=skip")}
	all.forget([]string{"A", "none"})
	require.Equal(t, verdicts("A=pass Ab/1=pass B=pass B/1=skip"), all["p"])
}

func TestRead(t *testing.T) {
	all := runs{}
	require.NoError(t, all.read(strings.NewReader(`{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"hello\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.5}
{"Action":"output","Package":"p","Test":"TestB/x","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"TestB/x","Elapsed":0}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"ImportPath":"q","Action":"build-output","Output":"q.go:1: no\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"fail","Package":"q","Elapsed":0,"FailedBuild":"q"}
`)))
	p := all["p"]
	require.Equal(t, map[string]verdict{"TestA": passed, "TestB/x": failed}, p.verdicts)
	require.Equal(t, 1500*time.Millisecond, p.time)
	require.Equal(t, []string{"why\n"}, p.output["TestB/x"])
	require.NotContains(t, p.output, "TestA")
	require.Equal(t, 1, p.count(failed, false))
	require.Equal(t, 0, p.count(failed, true))
	require.Equal(t, failed, all["q"].verdict)
	require.Equal(t, []string{"q.go:1: no\n"}, all["q"].output[""])
	require.ErrorContains(t, all.read(strings.NewReader("go: no such module\n")), "go test -json")
}

// madeModule is a library whose memory comes from one function, and the results of its tests.
var madeModule = map[string]string{
	"go.mod":       "module made.test/shelf\n\ngo 1.23\n",
	"go.sum":       "",
	"memory.go":    "package shelf\n\nfunc get(n int) []byte { return make([]byte, n) }\n",
	"sub/empty.go": "package sub\n",
	"shelf_test.go": `package shelf

import "testing"

func TestOne(t *testing.T) {
	t.Run("a", func(t *testing.T) {})
	t.Run("b", func(t *testing.T) { t.Skip("not here") })
}

func TestZero(t *testing.T) {
	if get(1)[0] != 0 {
		t.Fatal("the memory is not zero")
	}
}

func TestFails(t *testing.T) { t.Error("as always") }

func TestLarge(t *testing.T) {
	if len(get(8)) != 8 {
		t.Skip("too small")
	}
}
`,
}

// makeModule writes the made library as the module cache holds it, which nobody may write to.
func makeModule(t *testing.T) (dir string) {
	dir = t.TempDir()
	for name, text := range madeModule {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o444))
	}
	return dir
}

// TestMadeModule runs a made-up library: on memory like its own, on memory that is not zero, and on
// memory of which there is too little.
func TestMadeModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds four modules")
	}
	checkout, err := checkoutDir(t.Context())
	require.NoError(t, err)
	source := makeModule(t)
	const call = "return make([]byte, n)"
	for _, c := range []struct {
		text string
		same bool
		says []string
	}{
		{"b, _ := alloc.MakeSlice[byte](heap, n, n); return b", true, nil},
		{"b := make([]byte, n); b[0] = 0xCD; return b[:min(n, 4)]", false, []string{
			"(top): fails on our memory only: TestZero", "(top): TestLarge: own pass, ours skip",
			"the memory is not zero"}},
		{"return nothing", false, []string{"(top): pass: 4 tests on its own memory, 0 on ours", "undefined: nothing"}},
	} {
		s, err := newScratch(t.Context(), "", source, checkout, []edit{
			{path: "memory.go", old: call, text: c.text},
			{path: "memory.go", old: "package shelf\n", text: "package shelf\n\nimport \"quarry/alloc\"\n"},
			{path: "heap.go", text: `package shelf

import "quarry/alloc"

var heap = open()

func open() *alloc.Heap {
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	if err != nil {
		panic(err)
	}
	h, _ := alloc.NewHeap(u)
	return h
}

var _ = alloc.Free[int]
`},
		})
		require.NoError(t, err)
		if !strings.Contains(c.text, "alloc.") {
			require.NoError(t, apply(s.ours, []edit{{path: "memory.go", old: "import \"quarry/alloc\"\n"}}))
		}
		o := &options{
			trial:   &trial{module: "made.test/shelf", groups: []group{{packages: []string{"./..."}}}},
			timeout: time.Minute,
			stderr:  t.Output(),
		}
		var out bytes.Buffer
		same, err := o.compare(t.Context(), s, &out)
		require.NoError(t, err)
		require.Equal(t, c.same, same, out.String())
		for _, text := range c.says {
			require.Contains(t, out.String(), text)
		}
		if c.same {
			require.Regexp(t, `(?m)^\(top\) +4 +1 +1 +4 +1 +1 `, out.String())
			require.Regexp(t, `(?m)^without subtests +3 +0 +1 +3 +0 +1 `, out.String())
			require.NotContains(t, out.String(), "\nsub ", "a package without tests has no row")
		}
		require.NoError(t, s.remove())
	}
}

func TestNothingPassed(t *testing.T) {
	var out bytes.Buffer
	require.False(t, printRuns(&out, "m", runs{}, runs{}))
	require.Contains(t, out.String(), "no test passed on the library's own memory")
	out.Reset()
	own, ours := runs{"m/a": verdicts("A=pass")}, runs{"m/a": verdicts("A=pass")}
	require.True(t, printRuns(&out, "m", own, ours))
	ours["m/b"] = &result{verdict: failed}
	require.False(t, printRuns(&out, "m", own, ours))
	require.ElementsMatch(t, []string{"m/a", "m/b"}, slices.Collect(maps.Keys(ours)))
}
