package main

import (
	"go/importer"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/long"
)

// TestArrange: a chain has no arrow that runs up, a circle one, and two files that use each other
// one.
func TestArrange(t *testing.T) {
	for _, c := range []struct {
		n, up  int
		arrows [][2]int
	}{
		{1, 0, nil},
		{4, 0, [][2]int{{2, 0}, {0, 3}, {3, 1}, {2, 1}}},
		{3, 1, [][2]int{{0, 1}, {1, 2}, {2, 0}}},
		{4, 1, [][2]int{{0, 1}, {1, 0}, {3, 0}, {1, 2}}},
		{6, 2, [][2]int{{0, 1}, {1, 0}, {2, 3}, {3, 2}, {4, 5}}},
	} {
		arrows := map[[2]int]bool{}
		for _, a := range c.arrows {
			arrows[a] = true
		}
		order := arrange(c.n, arrows)
		require.Len(t, order, c.n)
		require.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5}[:c.n], order)
		require.Len(t, up(order, arrows), c.up, "%v in order %v", c.arrows, order)
	}
}

// TestBestPlace: a file that two others use goes behind both, and stays where no place is better.
func TestBestPlace(t *testing.T) {
	arrows := map[[2]int]bool{{1, 0}: true, {2, 0}: true, {0, 3}: true}
	require.Equal(t, 2, bestPlace([]int{0, 1, 2, 3}, 0, arrows))
	require.Equal(t, 2, bestPlace([]int{1, 2, 0, 3}, 2, arrows))
	require.Equal(t, 1, bestPlace([]int{0, 3, 1, 2}, 1, arrows), "behind what uses it already")
	require.Empty(t, up(arrange(4, arrows), arrows))
}

// TestArrangeExhaustive: no order of up to four files has fewer arrows that run up. The short form
// takes all sets of arrows of three files, and one in seven of four.
func TestArrangeExhaustive(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for set := 0; set < 1<<(n*(n-1)); set += long.N(1+6*(n/4), 1) {
			arrows := map[[2]int]bool{}
			for bit := range n * (n - 1) {
				if from, to := bit/(n-1), bit%(n-1); set>>bit&1 != 0 {
					if to >= from {
						to++
					}
					arrows[[2]int{from, to}] = true
				}
			}
			require.Len(t, up(arrange(n, arrows), arrows), fewest(nil, n, arrows), "%v", arrows)
		}
	}
}

// fewest tries all orders that begin as given.
func fewest(order []int, n int, arrows map[[2]int]bool) int {
	if len(order) == n {
		return len(up(order, arrows))
	}
	least := len(arrows)
	for file := range n {
		if !slices.Contains(order, file) {
			least = min(least, fewest(append(order, file), n, arrows))
		}
	}
	return least
}

// TestListUp: files in their order, and below each what it uses of files before it.
func TestListUp(t *testing.T) {
	p := &room{names: []string{"ecs/world.go", "ecs/entity.go", "ecs/query.go"}}
	arrows := map[[2]int]map[string]bool{
		{0, 1}: {"Entity": true},
		{0, 2}: {"Query": true},
		{1, 0}: {"ids": true, "World": true},
		{1, 2}: {"walk": true},
		{2, 0}: {"World": true},
	}
	var out strings.Builder
	p.listUp(&out, []int{2, 0, 1}, arrows)
	require.Equal(t,
		"query.go\nworld.go\n\t-> query.go: Query\nentity.go\n\t-> query.go: walk\n\t-> world.go: World, ids\n",
		out.String())
}

// TestFields counts those of embedded structs one by one.
func TestFields(t *testing.T) {
	inner := types.NewStruct([]*types.Var{
		field("a", types.Typ[types.Int], false), field("b", types.Typ[types.Int], false),
	}, nil)
	outer := types.NewStruct([]*types.Var{field("inner", inner, true), field("c", inner, false)}, nil)
	require.Equal(t, 3, fields(outer))
}

func field(name string, of types.Type, embedded bool) *types.Var {
	return types.NewField(token.NoPos, nil, name, of, embedded)
}

// sources returns a loader that reads packages as their sources, the same for all tests: what it
// has read once, the standard library above all, it need not read again. It skips the test where
// the go command, which finds packages, cannot be run.
func sources(t *testing.T) *loader {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command, or no child processes: ", err)
	}
	t.Chdir("../../..")
	return shared()
}

var shared = sync.OnceValue(func() *loader {
	set := token.NewFileSet()
	return &loader{set, importer.ForCompiler(set, "source", nil)}
})

// TestRead reads a package of this repository and compares some of its figures.
func TestRead(t *testing.T) {
	load := sources(t)
	p, err := load.read("internal/lint/report")
	require.NoError(t, err)
	require.Len(t, p.names, 2, "main.go and order.go")
	require.Zero(t, p.exported())
	arrows := p.arrows()
	require.Len(t, arrows, 2, "each uses the other")
	require.Contains(t, arrows[[2]int{0, 1}], "arrange", "main.go uses it")
	require.Greater(t, p.lines, 200)
	_, err = load.read("nowhere")
	require.Error(t, err)
}

// writers are the methods that write rows, records of alive entities, and the metadata of chunks
// for rows that come, move or go, by the type that has them.
var writers = map[string]string{
	"entity.Store":     "Take TakeRows FreeID FreeIDs Move MoveRows Revive CopyFrom",
	"table.Table":      "Push CloseGap Cut Release MoveOne Promote Refit Grow MakeRoom",
	"table.Transition": "Send Copy Repeat MoveChunks UseSourceLayout",
	"table.Metadata":   "Add Cut Promote MoveChunks Mark MarkLast Order OrderLast OrderFrom Carry EnableRows ClearRows CopyRows CopyBits Close",
	"store.Store":      "Push Pop Cut Grow GrowExact MoveChunks Promote Refit Prepare",
}

// TestOnlyChangeWritesRows: package ecs brings rows, moves and ends them by package change only.
func TestOnlyChangeWritesRows(t *testing.T) {
	load := sources(t)
	written := map[string]int{}
	for _, dir := range []string{"ecs/internal/change", "ecs", "ecs/internal/world", "ecs/internal/query",
		"ecs/internal/edit", "ecs/internal/snapshot", "ecs/internal/delta", "ecs/internal/worldfile"} {
		p, err := load.read(dir)
		require.NoError(t, err)
		for use, of := range p.info.Uses {
			f, ok := of.(*types.Func)
			if !ok || f.Signature().Recv() == nil {
				continue
			}
			recv := f.Signature().Recv().Type()
			if pointer, ok := recv.(*types.Pointer); ok {
				recv = pointer.Elem()
			}
			named, ok := recv.(*types.Named)
			if !ok || f.Pkg() == nil ||
				!slices.Contains(strings.Fields(writers[f.Pkg().Name()+"."+named.Obj().Name()]), f.Name()) {
				continue
			}
			written[dir]++
			if dir != "ecs/internal/change" {
				t.Errorf("%v: calls %s.%s, which only package change may",
					p.set.Position(use.Pos()), named.Obj().Name(), f.Name())
			}
		}
	}
	require.Greater(t, written["ecs/internal/change"], 15,
		"the methods of the list are those that package change calls")
}

// TestDeprecated: names, methods and fields that a file deprecated.go declares do not count.
func TestDeprecated(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"world.go":      "package p\n\ntype World struct{ Size int }\n\nfunc (w World) Len() int { return w.Size }\n",
		"deprecated.go": "package p\n\ntype Hall struct{ Size int }\n\nfunc (w World) Count() int { return w.Len() }\n\nfunc Each() {}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	load := loader{FileSet: token.NewFileSet()}
	p, err := load.read(dir)
	require.NoError(t, err)
	require.Len(t, p.names, 2)
	require.Equal(t, 3, p.exported(), "World, Size and Len")
	require.Equal(t, 1, p.scope(), "World")
}

// TestSugarIsOnTop: no other file of ecs uses what the files of views, bundles, Each and Occupancy
// declare, so they can become a package of their own when exported names change.
func TestSugarIsOnTop(t *testing.T) {
	load := sources(t)
	p, err := load.read("ecs")
	require.NoError(t, err)
	sugar := map[string]bool{"bundle.go": false, "cursor.go": false, "deprecated.go": false,
		"elements.go": false, "field.go": false,
		"occupancy.go": false, "view.go": false, "viewfield.go": false, "viewlist.go": false}
	for _, name := range p.names {
		if _, ok := sugar[filepath.Base(name)]; ok {
			sugar[filepath.Base(name)] = true
		}
	}
	for name, there := range sugar {
		require.True(t, there, name)
	}
	for arrow, names := range p.arrows() {
		from, to := filepath.Base(p.names[arrow[0]]), filepath.Base(p.names[arrow[1]])
		if sugar[to] {
			require.True(t, sugar[from], "%s uses %v of %s", from, names, to)
		}
	}
}
