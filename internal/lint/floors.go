package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	root       = "quarry" // module path of the root module
	floorTable = "floors in internal/lint/floors.go"
	doorTable  = "doors in internal/lint/floors.go"
)

// floors lists the packages, the lowest floor first. "x/*" stands for every package under x that is
// not listed itself.
var floors = [][]string{
	{"internal/*"},
	{"internal/growth"},
	{"asm"},
	{"bitmask", "layout", "mmap"},
	{"internal/universe/sentinel", "internal/universe/memory", "internal/universe/mutant",
		"internal/universe/registry"},
	{"internal/universe/ledger"},
	{"internal/universe/mapping"},
	{"internal/universe"},
	{"internal/heap", "internal/store"},
	{"alloc"},
	{"internal/universe/door"},
	{"alloc/container", "alloc/wrap"},
	{"arrowalloc"},
	{"ecs/internal/past", "ecs/internal/codec"},
	{"ecs/internal/entity"},
	{"ecs/internal/name", "ecs/internal/sparse", "ecs/internal/value"},
	{"ecs/internal/table"},
	{"ecs/internal/change"},
	{"ecs/internal/match"},
	{"ecs/internal/world"},
	{"ecs/internal/query"},
	{"ecs/internal/edit"},
	{"ecs/internal/snapshot"},
	{"ecs/internal/delta"},
	{"ecs/internal/worldfile"},
	{"ecs"},
	{"ecs/internal/door"},
	{"ecs/internal/fileformat", "ecs/internal/ecstest", "ecs/scene/internal/section"},
	{"ecs/*", "alloc/examples/cache"},
	{"bench", "bench/*", "fuzz", "fuzz/*", "publish", "publish/*"},
}

// doors lists which layers may import which others on their own floor.
var doors = map[string][]string{
	"alloc/container": {"alloc/wrap"},                          // its tests
	"ecs/blob":        {"ecs/image", "ecs/job", "ecs/journal"}, // its tests
	"ecs/job":         {"ecs/command"},
	"ecs/journal":     {"ecs/image"},
	"ecs/system":      {"ecs/command", "ecs/job"},
	"ecs/transform":   {"ecs/hierarchy", "ecs/job"},
	"ecs/scene":       {"ecs/blob", "ecs/hierarchy", "ecs/image", "ecs/scene/internal/bake", "ecs/scene/internal/load"},
	"ecs/examples": {"ecs/blob", "ecs/command", "ecs/hierarchy", "ecs/image", "ecs/inspect", "ecs/job", "ecs/journal",
		"ecs/scene", "ecs/system", "ecs/transform"},

	// rooms of ecs/scene, which stand beside what they use
	"ecs/scene/internal/bake": {"ecs/blob", "ecs/hierarchy", "ecs/image"},
	"ecs/scene/internal/load": {"ecs/image"},
}

// shared lists the strata of alloc, with what is in their folders. They lie in internal and not in
// the folder of alloc, so that ecs may stand on them too.
var shared = []string{"internal/growth", "internal/universe", "internal/heap", "internal/store"}

// faceOf returns the package whose strata dir is one of: floors inside alloc, ecs or ecs/scene,
// each of which is a room. Only that package and the strata themselves may import them, and whom
// entries names. It returns "" for a package that is no stratum.
func faceOf(dir string) string {
	switch face, _, inside := strings.Cut(dir, "/internal/"); {
	case inside && (face == "ecs" || face == "ecs/scene"):
		return face
	case slices.ContainsFunc(shared, func(stratum string) bool { return strings.HasPrefix(dir+"/", stratum+"/") }):
		return "alloc"
	}
	return ""
}

// door is the package by which the siblings of ecs get from what programs hold to its core.
// doorOfAlloc is that by which ecs gets to the core of a universe.
const (
	door        = "ecs/internal/door"
	doorOfAlloc = "internal/universe/door"
	everyRoom   = "ecs/internal/*"
)

// entries lists which siblings of ecs, or rooms of one, may enter which of its rooms, tests too,
// and why. ecs/hierarchy, ecs/transform, ecs/blob, ecs/inspect and ecs/examples may not: they show
// what a program can do. Tests of ecs and of its rooms, which stand above it, may enter all.
// Before these stand the strata of alloc that ecs stands on too; everyRoom are all rooms of ecs.
var entries = map[string][]string{
	// Programs give a world a universe and policies of growth, and ask for its universe.
	doorOfAlloc:                  {"ecs"},
	"internal/growth":            {everyRoom},                                     // how tables and buffers grow
	"internal/universe":          {everyRoom},                                     // chunks and extents
	"internal/universe/sentinel": {everyRoom},                                     // the errors of these
	"internal/heap":              {"ecs/internal/value", "ecs/internal/snapshot"}, // the blocks of buffers
	// Rows, which handles read at the face.
	"internal/store": {"ecs", everyRoom},

	door: { // what programs do not need
		"ecs/command", "ecs/image", "ecs/job", "ecs/journal", "ecs/system",
		"ecs/scene/internal/bake", // placeholders; values and links of types that it knows by handle
		"ecs/scene/internal/load", // values and links of such types; moves that use memory again
	},
	"ecs/internal/edit":  {"ecs/command"}, // playback is one transaction of many groups
	"ecs/internal/query": {"ecs/job"},     // how jobs cut and read what they borrow
	// Entities that recordings have named; what a type was registered with.
	"ecs/internal/world":      {"ecs/command"},
	"ecs/internal/entity":     {"ecs/command"},              // the ids of copied entities
	"ecs/internal/delta":      {"ecs/journal"},              // memory for deltas one after the other
	"ecs/internal/worldfile":  {"ecs/image", "ecs/journal"}, // what a file has, and errors of files
	"ecs/internal/fileformat": {"ecs/image", "ecs/journal"}, // bases of journals are world files
}

// forTests lists the packages that only test files may import, and that may import what those may.
var forTests = []string{"ecs/internal/ecstest", "internal/child", "internal/disk/simdisk", "internal/guard",
	"internal/lint", "internal/long"}

// outside lists the modules that the root module may import and require, and whether its tests only
// may.
var outside = map[string]bool{
	"golang.org/x/sys":              false,
	"github.com/klauspost/cpuid/v2": false,
	"github.com/stretchr/testify":   true,
}

// floorOf returns the floor of the package in dir, -1 if it has none.
func floorOf(dir string) int {
	if i := slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, dir) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(floors, func(floor []string) bool {
		return slices.ContainsFunc(floor, func(pattern string) bool {
			stem, deep := strings.CutSuffix(pattern, "*")
			return deep && strings.HasPrefix(dir, stem)
		})
	})
}

// roomOf returns the part of a floor within which imports are free: a stratum, a
// layer of ecs or alloc with what is under it, a module of its own, all of internal, or a package.
func roomOf(dir string) string {
	if faceOf(dir) != "" {
		return dir
	}
	first, rest, _ := strings.Cut(dir, "/")
	if (first == "ecs" || first == "alloc") && rest != "" {
		layer, _, _ := strings.Cut(rest, "/")
		return first + "/" + layer
	}
	return first
}

// importFloors finds imports that do not go down, packages without a floor and, in the root module,
// imports of anything but the permitted modules.
func importFloors(t *tree) []finding {
	var found []finding
	homeless := map[string]bool{}
	for _, f := range t.goFiles() {
		dir := f.dir()
		test := f.isTest() || slices.Contains(forTests, dir)
		if floorOf(dir) < 0 && !homeless[dir] {
			homeless[dir] = true
			found = append(found, finding{path: dir, what: "this package has no floor: add it to " + floorTable})
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has checked it
			}
			why := ""
			if to, ok := strings.CutPrefix(name, root+"/"); ok {
				why = refuseFloor(dir, to, test, f.isApart())
			} else if t.inRoot(f) {
				why = refuseOutside(name, test)
			}
			if why != "" {
				found = append(found, t.at(spec.Pos(), "imports %s: %s", name, why))
			}
		}
	}
	return found
}

// refuseFloor returns why the package in from may not import the one in to, or "". Tests that are a
// package of their own, apart from the one that they test, stand above ecs if they lie in it or in
// one of its rooms.
func refuseFloor(from, to string, test, apart bool) string {
	low, high := floorOf(to), floorOf(from)
	inside := func(dir string) bool { return dir == "ecs" || faceOf(dir) == "ecs" }
	above := apart && inside(from) && inside(to)
	switch {
	case high < 0:
		return "" // reported once, for the package
	case low < 0:
		return "that package has no floor: add it to " + floorTable
	case slices.Contains(forTests, to) && !test:
		return "only test files may"
	case faceOf(to) != "" && from != faceOf(to) && faceOf(from) != faceOf(to) && !hasEntry(from, to):
		return "only " + strings.Join(append([]string{faceOf(to)}, entries[to]...), ", ") + " may, and its strata"
	case low < high, roomOf(from) == roomOf(to), above:
		return ""
	case low > high:
		return "it is on a higher floor than " + from + ", and imports go down only"
	case slices.Contains(doors[roomOf(from)], roomOf(to)):
		return ""
	}
	return "it is on the same floor as " + from + ", and no door is listed among " + doorTable
}

// hasEntry reports whether entries lists the room of from for to.
func hasEntry(from, to string) bool {
	return slices.ContainsFunc(entries[to], func(entry string) bool {
		return entry == roomOf(from) || entry == everyRoom && faceOf(from) == "ecs"
	})
}

// refuseOutside returns why the root module may not import a package from elsewhere, or "". The
// standard library has no dot in its first element.
func refuseOutside(name string, test bool) string {
	for module, testsOnly := range outside {
		if name == module || strings.HasPrefix(name, module+"/") {
			if testsOnly && !test {
				return "only test files may"
			}
			return ""
		}
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") && first != "C" && first != root {
		return ""
	}
	return "the root module imports the standard library and " + strings.Join(outsideModules(), ", ") + " only"
}

func outsideModules() []string {
	var list []string
	for module := range outside {
		list = append(list, module)
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(path.Base(a)+a, path.Base(b)+b) })
	return list
}
