package main

import _ "embed"

// arrowMemory makes the allocator that GoAllocator passes its calls to.
//
//go:embed arrow_memory.go.txt
var arrowMemory string

// arrow is columns in memory, and what computes with them and reads and writes them. All memory
// comes from interfaces of its package memory. What a program or test does not choose is
// GoAllocator, which CheckedAllocator wraps in tests. The edits make GoAllocator pass each call to
// our adapter if the environment is set so. Its largest package, compute/internal/kernels, takes
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
	const file = "arrow/memory/go_allocator.go"
	return append([]edit{
		{path: "arrow/memory/quarry.go", text: arrowMemory},
		passedOn(file, "Allocate(size int) []byte {\n", "return quarry.Allocate(size)"),
		passedOn(file, "Reallocate(size int, b []byte) []byte {\n", "return quarry.Reallocate(size, b)"),
		{
			path: file,
			old:  "func (a *GoAllocator) Free(b []byte) {}\n",
			text: "func (a *GoAllocator) Free(b []byte) {\n\tif quarry != nil {\n\t\tquarry.Free(b)\n\t}\n}\n",
		},
	}, arrowFaults()...)
}

// arrowFaults are edits that put uses after free of arrow's own right, which Go's memory bears and
// which are in both sides' copy. docs/memory.md describes each.
func arrowFaults() []edit {
	const (
		generator = "arrow/internal/testing/gen/random_array_gen.go"
		csv       = "arrow/csv/reader_test.go"
		writer    = "arrow/internal/arrjson/writer.go"
	)
	return []edit{
		// genListViewData, a generator of values for tests, releases an array and returns its bytes
		// in buffers that own nothing.
		copied(generator, "lengths.NullBitmapBytes()"),
		copied(generator, "lengths.Data().Buffers()[1].Bytes()"),
		// TestInferringSchemaWithoutHeaderPreservesFirstRow keeps strings of records that Next has
		// released.
		{
			path: csv,
			old:  "append(strings, rec.Column(1).(*array.String).Value(0))",
			text: "append(strings, string(append([]byte(nil), rec.Column(1).(*array.String).Value(0)...)))",
		},
		// Write puts strings and offsets of a record and of its dictionaries into raw, which Close
		// encodes, at each of its calls. Who reads records from a file has released them by then.
		{
			path: writer,
			old:  "type Writer struct {\n",
			text: "type Writer struct {\n\tkept []arrow.RecordBatch // whose bytes raw refers to\n",
		},
		{
			path: writer,
			old:  "\t\t\tdefer dummy.Release()\n",
			text: "\t\t\tw.kept = append(w.kept, dummy)\n",
		},
		{
			path: writer,
			old:  "\tw.nrecs++\n",
			text: "\tw.nrecs++\n\trec.Retain()\n\tw.kept = append(w.kept, rec)\n",
		},
		{
			path: writer,
			old:  "\treturn enc.Encode(w.raw)\n",
			text: "\terr := enc.Encode(w.raw)\n\tfor _, rec := range w.kept {\n\t\trec.Release()\n\t}\n" +
				"\tw.w, w.kept = nil, nil\n\treturn err\n",
		},
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
