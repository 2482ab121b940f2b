package main

import _ "embed"

// arrowMemory makes the allocator that GoAllocator passes its calls to.
//
//go:embed arrow_memory.go.txt
var arrowMemory string

// arrow is columns in memory, and what computes with them and reads and writes them. All memory
// comes from interfaces of its package memory. What a program or test does not choose is
// GoAllocator, which CheckedAllocator wraps in tests. The edits make GoAllocator pass each call to
// our adapter when the environment says so. Its largest package, compute/internal/kernels, takes
// the compiler a minute and 3 GB, so both sides share one copy.
var arrow = &trial{
	name:    "arrow",
	module:  "github.com/apache/arrow-go/v18",
	version: "v18.8.0",
	groups: []group{
		{packages: []string{
			"./arrow", "./arrow/memory/...", "./arrow/array/...", "./arrow/ipc/...", "./arrow/scalar",
			"./arrow/arrio", "./arrow/bitutil", "./arrow/encoded", "./arrow/extensions", "./arrow/math/...",
			"./arrow/tensor", "./arrow/util", "./arrow/internal/...", "./arrow/csv", "./arrow/avro/...",
		}},
		{packages: []string{"./arrow/compute/..."}},
	},
	edits:    arrowEdits,
	modules:  []string{"arrowalloc"},
	variable: "QUARRY_OTHERS",
}

func arrowEdits(*options) []edit {
	const file, generator = "arrow/memory/go_allocator.go", "arrow/internal/testing/gen/random_array_gen.go"
	return []edit{
		{path: "arrow/memory/quarry.go", text: arrowMemory},
		passedOn(file, "Allocate(size int) []byte {\n", "return quarry.Allocate(size)"),
		passedOn(file, "Reallocate(size int, b []byte) []byte {\n", "return quarry.Reallocate(size, b)"),
		{
			path: file,
			old:  "func (a *GoAllocator) Free(b []byte) {}\n",
			text: "func (a *GoAllocator) Free(b []byte) {\n\tif quarry != nil {\n\t\tquarry.Free(b)\n\t}\n}\n",
		},
		// genListViewData, a generator of values for tests, releases an array and returns its bytes
		// in buffers that own nothing. On Go's memory nobody notices.
		copied(generator, "lengths.NullBitmapBytes()"),
		copied(generator, "lengths.Data().Buffers()[1].Bytes()"),
	}
}

// copied is an edit by which a buffer is made of a copy of some bytes.
func copied(file, bytes string) edit {
	return edit{
		path: file,
		old:  "\t\tmemory.NewBufferBytes(" + bytes + "),\n",
		text: "\t\tmemory.NewBufferBytes(append([]byte(nil), " + bytes + "...)),\n",
	}
}

// passedOn is an edit by which a method of GoAllocator begins with a call of ours, if there is one.
func passedOn(file, method, call string) edit {
	head := "func (a *GoAllocator) " + method
	return edit{path: file, old: head, text: head + "\tif quarry != nil {\n\t\t" + call + "\n\t}\n"}
}
