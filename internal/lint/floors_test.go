package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// importing is a tree of one file that imports one package. x_test.go is a test apart.
func importing(name, imports string) files {
	pkg := "p"
	if strings.HasSuffix(name, "/x_test.go") {
		pkg = "p_test"
	}
	return files{
		"go.mod":       rootModule,
		"bench/go.mod": "module quarry/bench\n",
		"fuzz/go.mod":  "module quarry/fuzz\n",
		name:           "package " + pkg + "\n\nimport _ \"" + imports + "\"\n",
	}
}

func TestImportFloorsPermits(t *testing.T) {
	for name, imports := range map[string][]string{
		"bench/life/a.go":          {"quarry/ecs", "quarry/ecs/job", "quarry/bench/trace", "quarry/mmap", "gonum.org/v1/plot"},
		"bench/a.go":               {"quarry/bench/life"},
		"bench/peers/a.go":         {"quarry/bench/life", "github.com/stretchr/testify/require"},
		"fuzz/a_test.go":           {"quarry/alloc", "quarry/internal/guard"},
		"ecs/command/a.go":         {"quarry/ecs", "quarry/asm", "quarry/ecs/command/log", "iter"},
		"ecs/examples/x/main.go":   {"quarry/ecs/command", "quarry/ecs/inspect"},
		"ecs/internal/entity/a.go": {"quarry/alloc", "quarry/internal/debug"},
		"ecs/internal/match/a.go":  {"quarry/ecs/internal/table"},
		"ecs/a.go":                 {"quarry/ecs/internal/entity", "quarry/ecs/internal/match", "quarry/alloc", "quarry/layout", "quarry/internal/debug"},
		"ecs/a_test.go":            {"quarry/ecs", "quarry/internal/guard", "github.com/stretchr/testify/require"},
		"alloc/a.go":               {"quarry/mmap", "quarry/layout", "quarry/bitmask", "quarry/asm"},
		"alloc/b.go": {"quarry/internal/universe", "quarry/internal/universe/ledger", "quarry/internal/heap",
			"quarry/internal/store", "quarry/internal/growth"},
		"internal/store/a.go":          {"quarry/internal/universe", "quarry/internal/growth", "quarry/layout"},
		"internal/universe/door/a.go":  {"quarry/alloc", "quarry/internal/universe"},
		"ecs/c.go":                     {"quarry/internal/universe/door", "quarry/internal/store"},
		"ecs/internal/value/a.go":      {"quarry/internal/universe", "quarry/internal/heap", "quarry/internal/store", "quarry/internal/growth"},
		"mmap/a.go":                    {"golang.org/x/sys/unix", "quarry/asm", "unsafe", "internal/x"},
		"mmap/a_test.go":               {"quarry/mmap", "quarry/internal/debug"},
		"asm/a.go":                     {"github.com/klauspost/cpuid/v2", "quarry/internal/debug"},
		"internal/guard/a.go":          {"quarry/internal/debug", "testing"},
		"ecs/b.go":                     {"quarry/ecs/internal/world"},
		"ecs/x_test.go":                {"quarry/ecs/internal/door", "quarry/ecs/internal/ecstest"},
		"ecs/system/a.go":              {"quarry/ecs/internal/door"},
		"ecs/command/c.go":             {"quarry/ecs/internal/edit"},
		"ecs/internal/door/a.go":       {"quarry/ecs", "quarry/ecs/internal/edit"},
		"ecs/internal/ecstest/a.go":    {"quarry/ecs", "quarry/ecs/internal/door", "quarry/internal/long", "github.com/stretchr/testify/require"},
		"ecs/internal/delta/x_test.go": {"quarry/ecs", "quarry/ecs/internal/worldfile", "quarry/ecs/internal/ecstest"},
		"ecs/scene/a_test.go":          {"quarry/ecs/scene/internal/section", "quarry/ecs/scene/internal/load", "quarry/ecs/hierarchy"},
		"ecs/scene/internal/bake/a.go": {"quarry/ecs/scene/internal/section", "quarry/ecs/internal/door", "quarry/ecs/blob"},
		"ecs/scene/internal/load/load_test.go": {"quarry/ecs/scene/internal/section", "quarry/ecs/internal/door",
			"quarry/ecs/image"},
	} {
		for _, p := range imports {
			require.Empty(t, importing(name, p).find(t, importFloors), "%s imports %s", name, p)
		}
	}
}

// breachesOf has, by file and by what it imports, how the finding ends.
var breachesOf = map[string]map[string]string{
	"asm/a.go":                 {"quarry/mmap": "higher floor than asm", "quarry/alloc": "higher floor"},
	"asm/a_test.go":            {"quarry/bitmask": "higher floor", "quarry/ecs": "higher floor"},
	"mmap/a.go":                {"quarry/bitmask": "same floor as mmap", "quarry/layout": "same floor"},
	"layout/a_test.go":         {"quarry/mmap": "same floor"},
	"bitmask/a.go":             {"quarry/layout": "same floor"},
	"alloc/a.go":               {"quarry/ecs": "higher floor", "quarry/internal/guard": "only test files may"},
	"ecs/a_test.go":            {"quarry/ecs/command": "higher floor", "quarry/bench/life": "higher floor"},
	"ecs/internal/entity/a.go": {"quarry/ecs": "higher floor", "quarry/ecs/internal/match": "higher floor"},
	"alloc/b.go":               {"quarry/internal/universe/door": "higher floor"},
	"alloc/wrap/a.go": {
		"quarry/internal/universe/ledger": "only alloc may, and its strata", "quarry/internal/store": "only alloc, ecs, ecs/internal/* may, and its strata",
	},
	"internal/universe/ledger/a.go": {"quarry/alloc": "higher floor", "quarry/internal/heap": "higher floor"},
	"internal/store/a.go":           {"quarry/alloc": "higher floor", "quarry/internal/heap": "same floor"},
	"internal/debug/b.go":           {"quarry/internal/growth": "only alloc, ecs/internal/* may"},
	"ecs/c.go":                      {"quarry/internal/universe": "only alloc, ecs/internal/* may", "quarry/internal/heap": "only alloc, ecs/internal/value, "},
	"ecs/internal/table/a.go": {
		"quarry/internal/universe/door": "only alloc, ecs may", "quarry/internal/universe/ledger": "only alloc may",
		"quarry/internal/heap": "only alloc, ecs/internal/value, ",
	},
	"ecs/command/b.go": {"quarry/internal/universe/door": "only alloc, ecs may", "quarry/internal/store": "only alloc, ecs, "},
	"ecs/examples/y/main.go": {
		"quarry/internal/universe": "only alloc, ",
	},
	"bench/b.go":       {"quarry/internal/universe": "only alloc, "},
	"fuzz/b.go":        {"quarry/internal/universe/door": "only alloc, ecs may"},
	"ecs/command/a.go": {"quarry/ecs/internal/match": "only ecs may, and its strata", "quarry/ecs/job": "no door is listed", "quarry/fuzz": "higher floor"},
	"ecs/job/a.go":     {"quarry/ecs/examples": "no door is listed"},
	"bench/a.go": {
		"quarry/ecs/internal/entity": "only ecs, ecs/command may, and its strata", "quarry/fuzz": "same floor",
		"quarry/internal/guard": "only test files may",
	},
	"fuzz/a_test.go":      {"quarry/bench/life": "same floor"},
	"internal/debug/a.go": {"quarry/asm": "higher floor", "quarry/internal/guard": "only test files may"},
	"ecs/b.go":            {"quarry/ecs/internal/door": "higher floor", "quarry/ecs/internal/ecstest": "only test files may"},
	"ecs/b_test.go": {
		"quarry/ecs/scene/internal/section": "only ecs/scene may, and its strata",
		"quarry/ecs/internal/door":          "higher floor", "quarry/ecs/internal/ecstest": "higher floor",
	},
	"ecs/internal/delta/a.go":         {"quarry/ecs/internal/ecstest": "only test files may"},
	"ecs/internal/door/b.go":          {"quarry/ecs/internal/ecstest": "only test files may"},
	"ecs/internal/delta/a_test.go":    {"quarry/ecs": "higher floor", "quarry/ecs/internal/ecstest": "higher floor"},
	"ecs/internal/delta/x_test.go":    {"quarry/ecs/job": "higher floor"},
	"ecs/system/x_test.go":            {"quarry/ecs/internal/ecstest": "only ecs may, and its strata"},
	"alloc/x_test.go":                 {"quarry/ecs/internal/ecstest": "only ecs may, and its strata"},
	"ecs/hierarchy/a.go":              {"quarry/ecs/internal/door": "only ecs, ecs/command, "},
	"ecs/hierarchy/a_test.go":         {"quarry/ecs/internal/door": "only ecs, ecs/command, "},
	"ecs/examples/x/main.go":          {"quarry/ecs/internal/door": "only ecs, ecs/command, "},
	"ecs/job/b.go":                    {"quarry/ecs/internal/edit": "only ecs, ecs/command may, and its strata"},
	"ecs/internal/door/a.go":          {"quarry/ecs/job": "higher floor"},
	"ecs/journal/a.go":                {"quarry/ecs/scene/internal/section": "only ecs/scene may, and its strata"},
	"ecs/scene/a.go":                  {"quarry/ecs/internal/door": "only ecs, ecs/command, "},
	"ecs/examples/scene/a.go":         {"quarry/ecs/scene/internal/bake": "only ecs/scene may, and its strata"},
	"ecs/scene/internal/bake/a.go":    {"quarry/ecs/scene/internal/load": "no door is listed", "quarry/ecs/scene": "no door is listed"},
	"ecs/scene/internal/load/a.go":    {"quarry/ecs/scene/internal/bake": "no door is listed", "quarry/ecs/blob": "no door is listed"},
	"ecs/scene/internal/section/a.go": {"quarry/ecs/image": "higher floor", "quarry/ecs/internal/door": "only ecs, ecs/command, "},
	"layout/a.go": {
		"gonum.org/v1/plot": "standard library", "C": "standard library", "quarry": "standard library",
		"github.com/stretchr/testify/require": "only test files may", "golang.org/x/sysx": "standard library",
		"quarry/cellar": "that package has no floor",
	},
	"layout/b_test.go": {"github.com/google/go-cmp/cmp": "standard library"},
}

func TestImportFloorsReports(t *testing.T) {
	for name, breaches := range breachesOf {
		for imported, want := range breaches {
			found := importing(name, imported).find(t, importFloors)
			require.Len(t, found, 1, "%s imports %s", name, imported)
			require.True(t, strings.HasPrefix(found[0], name+":3: imports "+imported+": "), found[0])
			require.Contains(t, found[0], want)
		}
	}
}

func TestImportFloorsReportsPackageWithoutFloor(t *testing.T) {
	for _, dir := range []string{"cellar", "alloc/arena", "internalx", "benchmark"} {
		tree := importing(dir+"/a.go", "quarry/ecs")
		tree[dir+"/b.go"] = "package p\n"
		require.Equal(t, []string{dir + ": this package has no floor: add it to floors in internal/lint/floors.go"},
			tree.find(t, importFloors))
	}
}

func TestOutsideModules(t *testing.T) {
	require.ElementsMatch(t, []string{"golang.org/x/sys", "github.com/klauspost/cpuid/v2",
		"github.com/stretchr/testify"}, outsideModules())
}
