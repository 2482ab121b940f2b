package main

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes that workloads run with.
const (
	one     = 1
	small   = 1000
	usual   = 16_000
	large   = 256_000
	million = 1_000_000
)

// workload is one row of the table: what is measured, and with how many entities.
type workload struct {
	name  string
	what  string // an operation, in words
	sizes []int
	child bool // in a process of its own, for its memory
	each  bool // every step is timed by itself

	alone   bool // in a process of its own; passes are timed as elsewhere
	garbage bool // in a process of its own, for the collector
}

// workloads are all of them, in the order in which they run.
var workloads = slices.Concat(basicWorkloads, singleWorkloads, systemsWorkloads, suiteWorkloads, treeWorkloads,
	garbageWorkloads, scaleWorkloads)

// basicWorkloads are the workloads of go-ecs-benchmarks, and memory.
var basicWorkloads = []workload{
	{name: "query2comp", what: "position += velocity for n of 11n entities; at n = 1 the whole call",
		sizes: []int{one, small, usual, large, million}},
	{name: "query2comp-kernel", what: "the same with a vector kernel on flat columns",
		sizes: []int{small, usual, large, million}},
	{name: "query32arch", what: "the same, entities spread over 32 archetypes", sizes: []int{usual}},
	{name: "query256arch", what: "the same, 4n entities in 256 archetypes do not match", sizes: []int{usual}},
	{name: "random", what: "Position of an entity, in shuffled order", sizes: []int{small, usual, million}},
	{name: "create2comp", what: "an entity made in a warm world, its id kept", sizes: []int{usual}},
	{name: "create2comp-batch", what: "n made at once in a warm world", sizes: []int{usual, million}},
	{name: "create2comp_alloc", what: "made in a fresh world, growth included", sizes: []int{usual}},
	{name: "create10comp", what: "an entity of ten components made in a warm world, its id kept", sizes: []int{usual}},
	{name: "create10comp-batch", what: "n of ten components made at once in a warm world", sizes: []int{usual}},
	{name: "delete2comp", what: "an entity taken away", sizes: []int{usual}},
	{name: "delete2comp-batch", what: "all taken away at once", sizes: []int{usual}},
	{name: "delete10comp", what: "an entity of ten components taken away", sizes: []int{usual}},
	{name: "delete10comp-batch", what: "all of ten components taken away at once", sizes: []int{usual}},
	{name: "add_remove", what: "Velocity added to an entity, and later removed", sizes: []int{usual}},
	{name: "add_remove-batch", what: "the same to all at once", sizes: []int{usual}},
	{name: "add_remove-shuffled", what: "add_remove in shuffled order", sizes: []int{usual}},
	{name: "add_remove-batch-shuffled", what: "add_remove-batch, rows shuffled among ids", sizes: []int{usual}},
	{name: "add_remove_large", what: "add_remove with ten more components", sizes: []int{usual}},
	{name: "add_remove_large-batch", what: "add_remove-batch with ten more components", sizes: []int{usual}},
	{name: "enable", what: "a component switched off", sizes: []int{million}},
	{name: "new_world", what: "a world made, the whole call", sizes: []int{one}},
	{name: "create-worst", what: "the slowest of n creates in a fresh world", sizes: []int{million}, each: true},
	{name: "memory", what: "peak resident memory of n entities, over that of an empty process",
		sizes: []int{4 * million}, child: true},
	{name: "archetypes", what: "the same of n archetypes of 3 entities", sizes: []int{10_000}, child: true},
}

// ways are all entrants on all workloads. In a round the entrants of a workload run in this order,
// each time beginning with a different one.
var ways = slices.Concat(sliceWays, quarryWays, arkWays, archeWays, voltWays, donburiWays, uotWays, systemsWays,
	sliceSingleWays, quarrySingleWays, arkSingleWays, suiteSliceWays, suiteQuarryWays, suiteArkWays, suiteArcheWays,
	treeWays, garbageWays, scaleWays)

// waysOf lists the entrants of a workload.
func waysOf(name string) []*way {
	var list []*way
	for i := range ways {
		if ways[i].workload == name {
			list = append(list, &ways[i])
		}
	}
	return list
}

// entrants lists the entrants of a workload with n entities. For a query with a million entities,
// the worlds of donburi and uot take 4 to 19 s of processor time to build, and donburi's 33 million
// objects cost 0.6 s in every collection between the turns of all other entrants: neither runs
// above 256,000.
func (w *workload) entrants(n int) []*way {
	list := waysOf(w.name)
	if n > large && strings.HasPrefix(w.name, "query") {
		list = slices.DeleteFunc(list, func(w *way) bool {
			return w.entrant == donburi || w.entrant == uot || w.entrant == uotSlices
		})
	}
	return list
}

// apart reports whether each entrant and round has a process of its own.
func (w *workload) apart() bool { return w.child || w.alone || w.garbage }

func wayNamed(workload, entrant string) (*way, error) {
	for _, w := range waysOf(workload) {
		if w.entrant == entrant {
			return w, nil
		}
	}
	return nil, fmt.Errorf("no entrant %q of workload %q", entrant, workload)
}

func names() []string {
	list := make([]string, len(workloads))
	for i := range workloads {
		list[i] = workloads[i].name
	}
	return list
}

func nameList() string { return strings.Join(names(), ", ") }

func workloadNamed(name string) *workload {
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
	if i < 0 {
		return nil
	}
	return &workloads[i]
}

// most is the largest n that a workload can do: a world has room for 2^27 ids, and for each of the
// n there are eleven entities in query2comp, five in query256arch.
func (w *workload) most() int {
	const ids = 1<<27 - 1
	switch w.name {
	case "archetypes":
		return maxArchetypes
	case "new_world", "world2types":
		return one
	case "query2comp", "query2comp-kernel":
		return ids / 11
	case "query256arch":
		return ids / 5
	case heavy:
		return usual // 3 us per entity
	case insert:
		return million // of 100 bytes, with room for all from the start
	}
	return maxN
}
