package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// function is a module with one function F in package f.
func function(body string) map[string]string {
	return map[string]string{
		"f/f.go": "package f\n\nfunc F(a, b, c int, p *T) {\n" + body + "\n}\n\ntype T struct{ x, y int; next *T }\n",
	}
}

func TestPatternsMatch(t *testing.T) {
	for _, c := range []struct {
		body, old, new string
		want           []string // the new text at each place
	}{
		{"_ = a  <  /* so */ b", "a < b", "a <= b", []string{"(a <= b)"}},
		{"_ = a < b", "b < a", "a", nil},
		{"_ = a + b + c", "$x + c", "$x", []string{"(a + b)"}},
		{"_ = a + b + c", "$x + $y", "$y * $x", []string{"(c * (a + b))", "(b * a)"}},
		{"_ = a + b + a + a", "$x + $x", "0", nil},
		{"_ = (a + b) * (a + b)", "$x * $x", "-$x", []string{"(-(a + b))"}},
		{"_ = (a+b) * (b+a)", "$x * $x", "0", nil},
		{"_ = (a+b) * (b+a)", "$_ * $_", "0", []string{"0"}},
		{"f(a); f(a, b); f(a, b, c)", "f($*x, b, $*y)", "f($*y, $*x)", []string{"f(, a)", "f(c, a)"}},
		{"f(a...); f(a)", "f(a...)", "g()", []string{"g()"}},
		{"a++; b++; c++", "a++\nb++", "", []string{""}},
		{"a++; b++; c++", "a++\nc++", "", nil},
		{"a++; b++; c++", "$*_\nc++", "", []string{""}},
		{"a++; b++", "$*all", "$*all\nc = 1", []string{"a++; b++\nc = 1"}},
		{"if a < b { a++; b++ }", "if a < b { $*body }", "$*body", []string{"a++; b++"}},
		{"if a < b { a++ } else { b++ }", "if a < b { $*body }", "", nil},
		{"if a < b { a++ }; if c < b { c++ }", "if $x < b { $x++ }", "$x--", []string{"a--", "c--"}},
		{"for a = 0; a < b; a++ { c++ }", "a++", "a += 2", []string{"a += 2"}},
		{"for a = 0; a < b; a++ { c++ }", "a = 0", "a = 1", []string{"a = 1"}},
		{"switch { case a < b: c = 1; c = 2 }", "c = 1\n\n// so\nc = 2", "c = 3", []string{"c = 3"}},
		{"if a := b; a < c { b++ }", "a := b", "a := c", []string{"a := c"}},
		{"L: for { break L }", "for { break L }", "", []string{""}},
		{"defer f()", "f()", "g()", []string{"g()"}},
		{"defer f()", "f()", "", nil}, // not a statement
		{"f(func() { a++ })", "func() { a++ }", "nil", []string{"nil"}},
		{"f(T{x: 1, y: 2})", "T{x: $x, y: $y}", "T{x: $y, y: $x}", []string{"T{x: 2, y: 1}"}},
		{"type A = int; type B int", "type A int", "", nil},
		{"_ = a < b && b < c", "$x && b < c", "$x", []string{"(a < b)"}},
	} {
		tree := loadTiny(t, function(c.body))
		name := fmt.Sprintf("%s in %s", c.old, c.body)
		m := &mutant{pkg: "f", fn: "F", old: c.old, new: c.new}
		replaced, _, err := parsePatterns(c.old, c.new)
		require.NoError(t, err, name)
		var fn *goFunc
		for _, f := range tree.functions {
			if f.name == "F" {
				fn = f
			}
		}
		require.Len(t, replaced.find(fn, false), len(c.want), name)
		for i, want := range c.want {
			if len(c.want) > 1 {
				m.nth, m.of = i+1, len(c.want)
			}
			p, now, err := tree.locate(m)
			require.NoError(t, err, name)
			require.Equal(t, want, p.text, name)
			require.Equal(t, *m, now, name)
		}
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	tree := loadTiny(t, function("a = b; c = b"))
	for _, c := range []struct {
		m    mutant
		want string
	}{
		{mutant{old: "a ="}, "f F: `a =` -> nothing: `a =`: neither an expression nor statements"},
		{mutant{old: "a = b", new: "}; func g() {"}, "neither an expression nor statements"},
		{mutant{old: ""}, "no text is replaced"},
		{mutant{old: "a = b", new: "a  =  b"}, "this changes nothing"},
		{mutant{old: "a = $x", new: "a = $y"}, "$y is not in what is replaced"},
		{mutant{old: "$_ = b", new: ""}, "it is in f F 2 times; name the place as N of 2"},
		{mutant{old: "$_ = b", new: "", nth: 1, of: 3}, "it is in f F 2 times"},
		{mutant{old: "a = b", new: "", nth: 1, of: 2}, "it is in f F 1 times"},
		{mutant{old: "a = c + 1"}, "nothing matches.\nthe function is now:\nfunc F(a, b, c int, p *T) {\na = b; c = b\n}"},
	} {
		c.m.pkg, c.m.fn = "f", "F"
		_, _, err := tree.locate(&c.m)
		require.ErrorContains(t, err, c.want, c.m.old)
	}
	_, _, err := tree.locate(&mutant{pkg: "f", fn: "G", old: "a = b"})
	require.ErrorContains(t, err, "\nthe text is in f F, 1 times\nno function f G")
}
