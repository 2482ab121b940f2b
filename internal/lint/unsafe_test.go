package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// using is a tree whose root module has one Go file with this code.
func using(code string) files {
	return files{"go.mod": rootModule, "a/a.go": "package a\n\nimport \"unsafe\"\n\n" + code}
}

func TestUnsafeIsExplainedReports(t *testing.T) {
	for code, want := range map[string]string{
		"func f() { _ = unsafe.Add(p, 1) }":                  "a/a.go:5: f",
		"func f() {\n\t_ = unsafe.Slice(p, 1)\n}":            "a/a.go:6: f",
		"func f() { _ = unsafe.String(p, 1) }":               "a/a.go:5: f",
		"func (x *T) m() { _ = uintptr(unsafe.Pointer(x)) }": "a/a.go:5: m",
		"func f() { _ = *(*T)(p) }":                          "a/a.go:5: f",
		"func f() { g(func() { _ = (*T)(q()) }) }":           "a/a.go:5: f",
		"var x = unsafe.Pointer(&y)":                         "a/a.go:5: declaration",
		"// Safe because of f.\nfunc f() {}\n\nfunc g() { _ = unsafe.Add(p, 1) }\n// Safe because of nothing.\n": "a/a.go:8: g",
		"// Safe because it is far away.\n\nfunc f() { _ = unsafe.Add(p, 1) }":                                   "a/a.go:7: f",
		"func f() {\n\t_ = unsafe.Add(p, 1) // It is safe.\n}":                                                   "a/a.go:6: f",
		"func f() { _ = unsafe.Add(p, \"Safe because\") }":                                                       "a/a.go:5: f",
	} {
		require.Equal(t, []string{want + ` uses unsafe, and no comment in it says "Safe because ..."`},
			using(code).find(t, unexplainedUnsafe), code)
	}
	renamed := files{
		"go.mod": rootModule, "a/a.go": "package a\n\nimport u \"unsafe\"\n\nfunc f() { _ = u.Add(p, 1) }\n",
	}
	require.Len(t, renamed.find(t, unexplainedUnsafe), 1)
}

func TestUnsafeIsExplainedPermits(t *testing.T) {
	for _, code := range []string{
		"// f adds.\n// Safe because p is long enough.\nfunc f() { _ = unsafe.Add(p, 1) }",
		"func f() {\n\t// It is. Safe\n\t// because p is long enough.\n\t_ = unsafe.Add(p, 1)\n}",
		"func f() { _ = unsafe.Add(p, 1) } // Safe because p is long enough.",
		"// Safe because y lives as long as the program.\nvar x = unsafe.Pointer(&y)",
		"func f(p unsafe.Pointer) unsafe.Pointer { return p }",
		"func f() { _ = unsafe.Sizeof(x) + unsafe.Offsetof(x.y) }",
		"func f() { _ = unsafe.SliceData(s) }",
		"type t struct{ p unsafe.Pointer }",
		"var _ I = (*T)(nil)",
		"func f() { other.Add(1); other.Pointer(2) }",
	} {
		require.Empty(t, using(code).find(t, unexplainedUnsafe), code)
	}
	const bare = "package a\n\nimport \"unsafe\"\n\nfunc f() { _ = unsafe.Add(p, 1) }\n"
	require.Empty(t, files{
		"go.mod": rootModule, "a/a_test.go": bare, "bench/go.mod": "module quarry/bench\n", "bench/a.go": bare,
		"b/b.go": "package b\n\nfunc f() { _ = (*T)(x) }\n",
	}.find(t, unexplainedUnsafe))
}
