package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlacesMove: a mutant is found where its function has moved, and the table is corrected.
func TestPlacesMove(t *testing.T) {
	const before = `package f

func (s *set) add(x int) {
	if s.full() {
		s.grow(s.n + 1)
	}
	s.items[s.n] = x
	s.n++
}
`
	grow := mutant{
		pkg: "f", fn: "set.add", old: "s.grow(s.n + 1)", new: "s.grow(s.n)", by: verdict{"f", "TestF", "0.01"},
	}
	more := mutant{pkg: "f", fn: "set.add", old: "s.items[s.n] = x", new: "s.items[0] = x"}
	for _, c := range []struct {
		name  string
		files map[string]string
		m     mutant
		place string // "": not found
		old   string
		new   string
	}{
		{"as it was", map[string]string{"f/f.go": before}, grow, "f set.add", grow.old, grow.new},
		{"another file, receiver by value, type parameters", map[string]string{"f/g.go": strings.Replace(before, "*set",
			"set[T]", 1)}, grow, "f set.add", grow.old, grow.new},
		{"another package", map[string]string{"f/in/g.go": before}, grow, "f/in set.add", grow.old, grow.new},
		{"another type", map[string]string{"f/f.go": strings.Replace(before, "*set", "*list", 1)}, grow, "f list.add", grow.old, grow.new},
		{"another name", map[string]string{"g/f.go": strings.Replace(before, " add", " put", 1)}, more, "g set.put", more.old, more.new},
		{"another name, of a text that says little", map[string]string{"g/f.go": strings.Replace(before, " add", " put", 1)}, grow, "", "", ""},
		{"another receiver", map[string]string{"f/f.go": strings.NewReplacer("(s *", "(t *", "s.",
			"t.").Replace(before)}, grow, "f set.add", "t.grow(t.n + 1)", "t.grow(t.n)"},
		{"another field", map[string]string{"f/f.go": strings.ReplaceAll(before, "s.n", "s.count")}, grow, "f set.add",
			"s.grow(s.count + 1)", "s.grow(s.count)"},
		{"what only the replacement names", map[string]string{"f/f.go": strings.NewReplacer("(s *", "(t *", "s.",
			"t.").Replace(before)},
			mutant{pkg: "f", fn: "set.add", old: "s.grow(s.n + 1)", new: "s.shrink()"}, "f set.add", "t.grow(t.n + 1)", "t.shrink()"},
		{"a part of a part", map[string]string{"f/f.go": strings.ReplaceAll(before, "s.", "s.in.")}, more, "f set.add",
			"s.in.items[s.in.n] = x", "s.in.items[0] = x"},
		{"package, receiver and field at once", map[string]string{"g/f.go": strings.NewReplacer("(s *set", "(t *list",
			"s.n", "t.count", "s.", "t.").Replace(before)},
			more, "g list.add", "t.items[t.count] = x", "t.items[0] = x"},
		{"most names are others", map[string]string{"f/f.go": strings.NewReplacer("s.n", "s.count", "grow", "extend").Replace(before)}, grow, "", "", ""},
		{"the same name twice", map[string]string{"g/f.go": before, "h/f.go": before}, grow, "", "", ""},
		{"one name for two", map[string]string{"f/f.go": strings.Replace(before, "s.items[s.n] = x", "s.items[x] = x", 1)}, more, "", "", ""},
		{"two places that are as near", map[string]string{"f/f.go": strings.Replace(before, "s.items[s.n] = x",
			"s.items[s.m] = x; s.items[s.o] = x", 1)}, more, "", "", ""},
		{"the nearer of two", map[string]string{"f/f.go": strings.Replace(before, "s.items[s.n] = x",
			"s.items[s.m] = x; s.other[s.m] = x", 1)}, more, "f set.add", "s.items[s.m] = x", "s.items[0] = x"},
		{"part of it is a method of its own", map[string]string{"f/f.go": before[:strings.Index(before, "\ts.items")] +
			"\ts.put(x)\n}\n\nfunc (s *set) put(y int) {\n\ts.items[s.n] = y\n\ts.n++\n}\n"},
			more, "f set.put", "s.items[s.n] = y", "s.items[0] = y"},
		{"gone, and another type has what is alike",
			map[string]string{"f/f.go": strings.Replace(before, "s.items[s.n] = x", "s.put(x)", 1),
				"f/g.go": strings.NewReplacer("(s *set", "(t *list", "s.", "t.").Replace(before)}, more, "", "", ""},
		{"the same in another package, by its face",
			map[string]string{"f/f.go": "package f\n\nfunc (s *set) add(x int) { s.in.add(x) }\n",
				"g/f.go": strings.NewReplacer("(s *set", "(t *list", "s.", "t.").Replace(before)}, more, "g list.add", "t.items[t.n] = x", "t.items[0] = x"},
		{"another operator", map[string]string{"f/f.go": strings.Replace(before, "s.n + 1", "s.n - 1", 1)}, grow, "", "", ""},
	} {
		tree := loadTiny(t, c.files)
		p, now, err := tree.locate(&c.m)
		if c.place == "" {
			require.ErrorContains(t, err, "nothing matches", c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.place, now.place(), c.name)
		require.Equal(t, c.old, now.old, c.name)
		require.Equal(t, c.new, now.new, c.name)
		require.Equal(t, c.m.by, now.by, c.name)
		require.Equal(t, now.old, string(p.fn.file.text[p.from:p.to]), c.name)
		require.Equal(t, now.new, p.text, c.name)
	}
}

// TestLocateAll: for each mutant, a move is reported and corrected, and a loss is an error.
func TestLocateAll(t *testing.T) {
	tree := loadTiny(t, nil)
	list := []*mutant{
		{pkg: "count", fn: "Counter.Full", old: "c.n == c.most", new: "true"},
		{pkg: "use", fn: "Counter.room", old: "c.n >= c.most", new: "c.n > c.most"},
		{pkg: "count", fn: "New", old: "most: least", new: "most: most + 1"},
		{pkg: "count", fn: "New", old: "x", new: "y"},
	}
	places, moved, err := tree.locateAll(list)
	require.Equal(t, "count Counter.Full", places[0].fn.String())
	require.Equal(t, "true", places[0].text)
	require.Equal(t, []string{
		"moved: use Counter.room: `c.n >= c.most` -> `c.n > c.most`\n    -> count Counter.room: `c.n >= c.most` -> `c.n > c.most`",
	}, moved)
	require.Equal(t, "count", list[1].pkg)
	require.ErrorContains(t, err, "count New: `most: least`")
	require.ErrorContains(t, err, "count New: `x` -> `y`: nothing matches.\nthe function is now:\nfunc New")
	require.ErrorContains(t, err, "\nthe text is in count First, 1 times")
	_, _, err = tree.locateAll([]*mutant{
		{pkg: "use", fn: "Counter.room", old: "c.n >= c.most", new: "c.n > c.most"},
		{pkg: "count", fn: "Counter.room", old: "c.n >= c.most", new: "c.n > c.most"},
	})
	require.ErrorContains(t, err, "count Counter.room: `c.n >= c.most` -> `c.n > c.most` is there twice")
}
