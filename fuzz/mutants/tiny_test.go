package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tiny is a module of two packages: what the tests of this program break.
var tiny = map[string]string{
	"go.mod": "module tiny\n\ngo 1.26.0\n",
	"count/count.go": `package count

import "errors"

// Counter counts up to a limit.
type Counter[T any] struct {
	n, most int
	seen    []T
}

var ErrFull = errors.New("full")

// Add counts v.
func (c *Counter[T]) Add(v T) (n int, err error) {
	defer func() {
		if recover() != nil {
			n, err = -1, ErrFull
		}
	}()
	room, err := c.room() // assigns to the result
	if err != nil {
		return
	}
	c.n++ // one more
	c.seen = append(c.seen, v)
	return room - 1, nil
}

func (c *Counter[T]) room() (int, error) {
	if c.n >= c.most {
		return 0, ErrFull
	}
	return c.most - c.n, nil
}

// New makes a Counter.
func New[T any](most int) *Counter[T] { return &Counter[T]{most: most} }

// First returns the first of a list that is x, or -1.
func First(x int, lists ...[]int) int {
	n := 0
outer:
	for _, list := range lists {
		for _, y := range list {
			if y > 100 {
				continue outer
			}
			if x == y {
				return n
			}
			n++
		}
	}
	return -1
}
`,
	"count/count_test.go": `package count

import "testing"

func TestAdd(t *testing.T) {
	c := New[string](2)
	for want := 1; want >= 0; want-- {
		if n, err := c.Add("x"); n != want || err != nil {
			t.Fatal(n, err)
		}
	}
	if n, err := c.Add("x"); n != 0 || err != ErrFull {
		t.Fatal(n, err)
	}
}

func TestFirst(t *testing.T) {
	if n := First(3, []int{101, 3}, []int{1, 3}); n != 1 {
		t.Fatal(n)
	}
}
`,
	"use/use.go": `package use

import "tiny/count"

// Twice adds two.
func Twice(c *count.Counter[int]) { c.Add(1); c.Add(2) }
`,
	"use/use_test.go": `package use

import (
	"testing"

	"tiny/count"
)

func TestTwice(t *testing.T) {
	c := count.New[int](2)
	Twice(c)
	if c.Full() != true {
		t.Fatal("room is left")
	}
}
`,
	"count/full.go": `package count

// Full is not looked at by the tests of its own package.
func (c *Counter[T]) Full() bool { return c.n == c.most }
`,
}

// write makes a module of the files, with some of them changed: "" is no file.
func write(t *testing.T, changed map[string]string) (root string) {
	root = t.TempDir()
	for name, text := range tiny {
		if other, ok := changed[name]; ok {
			text = other
		}
		writeFile(t, root, name, text)
	}
	for name, text := range changed {
		writeFile(t, root, name, text)
	}
	return root
}

func writeFile(t *testing.T, root, name, text string) {
	if text == "" {
		return
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func loadTiny(t *testing.T, changed map[string]string) *tree {
	tree, err := load(write(t, changed))
	require.NoError(t, err)
	return tree
}
