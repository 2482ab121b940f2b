package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// tries is how often arrange looks for a better order from a shuffled one; on the files of ecs 50
// find what 200 do.
const tries = 200

// arrange orders files so that few arrows run up: by rank, then each file goes where fewest of its
// arrows run up. Orders in which no one file has a better place are left by putting some elsewhere
// and beginning again; the numbers are the same in each run.
func arrange[names any](n int, arrows map[[2]int]names) []int {
	random := rand.New(rand.NewPCG(1, 2))
	best := settle(rank(n, arrows), arrows)
	least := len(up(best, arrows))
	for range tries {
		other := slices.Clone(best)
		for range min(n, 6) {
			from, to := random.IntN(n), random.IntN(n)
			file := other[from]
			other = slices.Insert(slices.Delete(other, from, from+1), to, file)
		}
		other = settle(other, arrows)
		if n := len(up(other, arrows)); n <= least {
			best, least = other, n
		}
	}
	return best
}

// settle moves one file at a time to its best place until each is there.
func settle[names any](order []int, arrows map[[2]int]names) []int {
	for moved := true; moved; {
		moved = false
		for file := range len(order) {
			from := slices.Index(order, file)
			if to := bestPlace(order, from, arrows); to != from {
				order = slices.Insert(slices.Delete(order, from, from+1), to, file)
				moved = true
			}
		}
	}
	return order
}

// bestPlace returns where the file at a place of the order has the fewest arrows that run up:
// there, when no other place has fewer.
func bestPlace[names any](order []int, from int, arrows map[[2]int]names) (best int) {
	file, others := order[from], slices.Delete(slices.Clone(order), from, from+1)
	ups := make([]int, len(order)) // by place, less those of the first one
	for at, other := range others {
		ups[at+1] = ups[at]
		if _, uses := arrows[[2]int{file, other}]; uses {
			ups[at+1]++
		}
		if _, used := arrows[[2]int{other, file}]; used {
			ups[at+1]--
		}
	}
	best = from
	for at := range ups {
		if ups[at] < ups[best] {
			best = at
		}
	}
	return best
}

// rank orders files: those that nothing uses come first, those that use nothing last, and of the
// rest always the one with the most arrows out for those in.
func rank[names any](n int, arrows map[[2]int]names) []int {
	out, in, placed := make([]int, n), make([]int, n), make([]bool, n)
	for a := range arrows {
		out[a[0]]++
		in[a[1]]++
	}
	var first, last []int
	take := func(file int) {
		placed[file] = true
		for a := range arrows {
			if a[0] == file {
				in[a[1]]--
			} else if a[1] == file {
				out[a[0]]--
			}
		}
	}
	for left := n; left > 0; left-- {
		best := -1
		for file := range n {
			switch {
			case placed[file]:
			case out[file] == 0:
				best = file
			case best < 0 || out[best] != 0 && out[file]-in[file] > out[best]-in[best]:
				best = file
			}
		}
		if take(best); out[best] == 0 {
			last = append(last, best)
			continue
		}
		first = append(first, best)
	}
	for i := range last {
		first = append(first, last[len(last)-1-i])
	}
	return first
}

// up returns the arrows that lead to a file before their own, sorted by where they begin in the
// order and then by where they end.
func up[names any](order []int, arrows map[[2]int]names) (list [][2]int) {
	at := make([]int, len(order))
	for i, file := range order {
		at[file] = i
	}
	for a := range arrows {
		if at[a[1]] < at[a[0]] {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(at[a[0]], at[b[0]]), cmp.Compare(at[a[1]], at[b[1]]))
	})
	return list
}

// listUp writes the files in their order, and below each its references that run up, with the names
// used.
func (p *room) listUp(w io.Writer, order []int, arrows map[[2]int]map[string]bool) {
	left := up(order, arrows)
	for _, file := range order {
		fmt.Fprintln(w, filepath.Base(p.names[file]))
		for ; len(left) > 0 && left[0][0] == file; left = left[1:] {
			to := left[0][1]
			fmt.Fprintf(w, "\t-> %s: %s\n",
				filepath.Base(p.names[to]), strings.Join(slices.Sorted(maps.Keys(arrows[left[0]])), ", "))
		}
	}
}

// parse reads the files of a package that this system builds, without tests.
func (l *loader) parse(dir string) (files []*ast.File, err error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(l.FileSet, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}
