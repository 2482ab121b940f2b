package main

import _ "embed"

// pebbleManual is what stands in the place of pebble's calls of calloc and free.
//
//go:embed pebble_manual.go.txt
var pebbleManual string

// pebbleHeap and pebbleGuard make what that file calls.
var (
	//go:embed pebble_heap.go.txt
	pebbleHeap string
	//go:embed pebble_guard.go.txt
	pebbleGuard string
)

// pebbleLoad fills and reads a database.
//
//go:embed pebble_load.go.txt
var pebbleLoad string

// pebble is a key-value store. It keeps its block cache and its memtables in memory of package
// internal/manual: with cgo that of calloc, without cgo that of the Go heap.
var pebble = &trial{
	name:    "pebble",
	module:  "github.com/cockroachdb/pebble/v2",
	version: "v2.1.7",
	groups: []group{
		{packages: []string{"./internal/manual", "./internal/cache", "./internal/arenaskl"}},
		// Three tests of blocks at the bounds of 32 bits are left out: they take 7 GiB of the Go heap,
		// and nothing of internal/manual.
		{packages: []string{"./sstable/..."}, flags: []string{"-skip=RestartsOverflow|ExceedingMaximumRestartOffset"}},
		{packages: []string{"."}, flags: []string{"-short"}},
	},
	edits:   pebbleEdits,
	program: &program{text: pebbleLoad},
}

func pebbleEdits(o *options) []edit {
	memory := pebbleHeap
	if o.guard {
		memory = pebbleGuard
	}
	list := []edit{
		{path: "internal/manual/manual_cgo.go", gone: true},
		{path: "internal/manual/manual_nocgo.go", text: pebbleManual},
		{path: "internal/manual/memory.go", text: memory},
		// Without cgo pebble makes the head of a cached block an object of the Go heap, so that the
		// collector sees the block by it. With memory that the collector does not free, both can lie
		// in one block, as with cgo.
		{
			path: "internal/cache/value.go",
			old:  "const valueEntryGoAllocated = !buildtags.Cgo || invariants.UseFinalizers",
			text: "const valueEntryGoAllocated = invariants.UseFinalizers",
		},
		{
			path: "internal/cache/value.go",
			old:  "\t\"github.com/cockroachdb/pebble/v2/internal/buildtags\"\n",
		},
	}
	if !o.load {
		list = append(list, edit{path: "internal/manual/scavenger.go", text: pebbleScavenger})
	}
	return list
}

// pebbleScavenger turns the scavenger of the process off for tests: some of pebble's fail when a
// goroutine is there that was not there before them, and the scavenger's comes and goes.
const pebbleScavenger = `package manual

import "quarry/alloc"

func init() { alloc.SetScavenger(alloc.Scavenger{Percent: -1}) }
`
