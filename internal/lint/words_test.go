package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForbiddenWordsReportsText(t *testing.T) {
	for text, want := range map[string]string{
		"// TO" + "DO: later":                   "leaves work for later: TO" + "DO",
		"x := 1 // FIX" + "ME":                  "leaves work for later: FIX" + "ME",
		"XX" + "X":                              "leaves work for later: XX" + "X",
		"cd /" + "work/main":                    "names a path of one machine",
		"(see /" + "tmp/x)":                     "names a path of one machine",
		"`/" + "root`":                          "names a path of one machine",
		"dir=/" + "home/someone":                "names a path of one machine",
		"file:///" + "tmp/x":                    "names a path of one machine",
		"https://proxy." + "golang.org/x":       "names the host of a package registry: proxy." + "golang.org",
		"from py" + "pi.org":                    "names the host of a package registry: py" + "pi.org",
		"https://static.crates." + "io/x":       "names the host of a package registry: crates." + "io",
		"deb https://deb." + "debian.org/x y z": "names the host of a package registry: deb." + "debian.org",
	} {
		for _, name := range []string{"README.md", ".ci/run", "Makefile", "docs/a.sh", "data.csv", "asm/a.s"} {
			require.Equal(t, []string{name + ":2: " + want}, files{name: "\n" + text + "\n"}.find(t, forbiddenWords),
				text)
		}
		require.Equal(t, []string{"a/b.go:3: " + want},
			files{"a/b.go": "package a\n\n// " + text + "\n"}.find(t, forbiddenWords), text)
		require.Empty(t, files{"go.sum": text}.find(t, forbiddenWords))
	}
	for _, text := range []string{
		"to do", "TO" + "DOS", "a/work/b", "../work", "./tmp/x", "$HOME/work", "${X}/tmp", "$(X)/tmp", "~/work",
		"<dir>/tmp", "*/work", "/workers", "/rooted", "golang.org/x/sys", "https://pkg.go.dev/x", "homes/root",
	} {
		require.Empty(t, files{"README.md": text}.find(t, forbiddenWords), text)
	}
}

func TestForbiddenWordsReportsGo(t *testing.T) {
	directive := "//go:link" + "name now runtime.nanotime\n"
	require.Equal(t, []string{
		"a.go:3: links to a name that its owner does not export",
		"b.go:5: type r" + "type looks like a copy of a layout inside the runtime",
		"b.go:8: type e" + "face looks like a copy of a layout inside the runtime",
		"b.go:9: reads a value as words, as one takes an interface apart",
		"b.go:10: reads a value as words, as one takes an interface apart",
		"c.s:1: links to a name that its owner does not export",
	}, files{
		"a.go": "package a\n\n" + directive + "func now() int64\n",
		"b.go": `package a

import "unsafe"

type r` + `type struct{}

func f(x any) {
	type e` + `face struct{ word [2]uintptr }
	_ = (*[2]uintptr)(unsafe.Pointer(&x))[0]
	_ = *(*[2]unsafe.Pointer)(unsafe.Pointer(&x))
}
`,
		"c.s":       directive,
		"README.md": directive,
		"good.go": `package a

// No go:link` + `name and no r` + `type here.

import "unsafe"

type t struct{ r` + `type reflect.Type }

func f(x []byte) {
	_ = (*[2]uint32)(unsafe.Pointer(&x[0]))
	_ = (*[2]uintptr)(x)
}
`,
	}.find(t, forbiddenWords))
}

func TestForbiddenWordsReportsEncodedInstructions(t *testing.T) {
	const why = "encodes an instruction as numbers: write its mnemonic"
	for text, want := range map[string][]string{
		"\tBYTE $0x90\n":            {"a.s:1: " + why},
		"\tNOP; WORD $0x1234\n":     {"a.s:1: " + why},
		"\n#define F LONG\t$0x12\n": {"a.s:2: " + why},
		"QUAD $1 // two words\n":    {"a.s:1: " + why},
		"\t// BYTE $0x90\n":         {},
		"DATA mask<>+0(SB)/8, $1\n": {},
		"\tMOVQ $1, AX\n":           {},
	} {
		require.Equal(t, want, files{"a.s": text}.find(t, forbiddenWords), text)
		require.Empty(t, files{"a.md": text}.find(t, forbiddenWords), text)
	}
}

func TestForbiddenWordsReportsNames(t *testing.T) {
	const why = " says nothing: name it for what it holds"
	require.Equal(t, []string{
		"alloc/Mem" + "Util.md: ut" + "il" + why,
		"asm/a.go:1: package name: hel" + "per" + why,
		"ecs/com" + "mon_test.go: com" + "mon" + why,
		"hel" + "pers: hel" + "per" + why,
		"hel" + "pers/chunk_man" + "ager.s: man" + "ager" + why,
	}, files{
		"alloc/Mem" + "Util.md":                 "",
		"asm/a.go":                              "package hel" + "per\n",
		"asm/b.go":                              "package asm\n\nfunc hel" + "per() {}\n",
		"ecs/com" + "mon_test.go":               "package ecs\n",
		"hel" + "pers/a.s":                      "",
		"hel" + "pers/chunk_man" + "ager.s":     "",
		"hel" + "pers/testdata/ut" + "ility.go": "",
	}.find(t, forbiddenNames))
}

func TestForbiddenWordsReportsHeadless(t *testing.T) {
	for _, phrase := range []string{"who" + "ever", "sa" + "ys no", "of which it sa" + "ys", "what is n" + "o file"} {
		require.Equal(t, []string{"a.go:3: names no thing: " + phrase + ": write what is meant"},
			files{"a.go": "package a\n\n// F waits for " + phrase + "\n", "a.md": phrase}.find(t, forbiddenWords))
		require.Empty(t, files{"a.go": "package a\n\nvar x = \"" + phrase + "\"\n"}.find(t, forbiddenWords))
	}
}

func TestForbiddenWordsReportsPredicates(t *testing.T) {
	for text, want := range map[string]string{
		"The zero value is n" + "one.":           "is n" + "one is no predicate: write what value is, or is not",
		"F returns 0, which ARE n" + "one of it": "ARE n" + "one is no predicate: write what which is, or is not",
		"The error sa" + "ys why.":               "an error means something, or has a text: error sa" + "ys",
		"Errors te" + "ll of it.":                "an error means something, or has a text: Errors te" + "ll",
	} {
		require.Equal(t, []string{"a.go:3: " + want},
			files{"a.go": "package a\n\n// " + text + "\n", "a.md": text}.find(t, forbiddenWords), text)
	}
	for _, text := range []string{"// If there is n" + "one, F waits.", "var x = \"it is n" + "one\"", "// errors.Is"} {
		require.Empty(t, files{"a.go": "package a\n\n" + text + "\n"}.find(t, forbiddenWords), text)
	}
}

func TestForbiddenWordsReportsDeclarations(t *testing.T) {
	const how = " nothing: it returns, reports, checks or has"
	require.Equal(t, []string{
		"a.go:4: f sa" + "ys" + how,
		"a.go:7: t te" + "lls" + how,
		"a.go:8: on sa" + "ys" + how,
		"a.go:11: parameter was: name it for what it is",
		"a.go:11: parameter is: name it for what it is",
	}, files{"a.go": "package a\n\n// f sa" + "ys whether.\nfunc f() {}\n\n// t te" + "lls all.\ntype t struct {\n" +
		"\ton bool // on sa" + "ys that it is on\n}\n\nfunc g(was, is int) (ok bool) { return was < is }\n\n" +
		"// h asks, and the page sa" + "ys why.\nfunc h() (was, is int) { return }\n"}.find(t, forbiddenWords))
}
