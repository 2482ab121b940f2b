package main

import (
	"slices"
	"strings"
)

// workload is one workload to measure.
type workload struct {
	name   string
	kind   kind
	only   string // the one allocator for which it makes sense; "": all
	but    string // the one allocator for which it makes no sense; "": none
	what   string // what an operation is
	run    func(e *env) error
	second bool                              // it has a second method, which is run once, in a process of its own
	args   func(sc scale, second bool) []any // the input of the program of C; nil: it does not do this
	long   bool                              // -quick leaves it out
	lean   bool                              // on allocators that have such a set-up, set up for a small footprint
}

var workloads = []workload{
	{name: "chunk-pair", kind: chunks, run: chunkPair, what: "alloc and free of one chunk, over and over"},
	{name: "chunk-batch", kind: chunks, run: chunkBatch,
		what: "pair; 10,000 chunks, all got and touched, then all freed"},
	{name: "chunk-two", kind: chunks, run: chunkTwo,
		what: "pair as each of two goroutines sees it; ratio to one goroutine alone"},
	// A fresh sync.Pool is empty: it would be make again.
	{name: "chunk-first", kind: chunks, but: "sync.Pool", run: chunkFirst,
		what: "chunk; the first 100,000 of a fresh allocator, got and touched"},
	{name: "chunk-churn", kind: chunks, run: chunkChurn,
		what: "pair; 100,000 chunks, a random half freed and got again, twice, with the shuffle"},
	{name: "chunk-search", kind: chunks, only: "universe", run: chunkSearch,
		what: "pair; all chunks but the last one are taken"},
	{name: "heap-pair", kind: blocks, run: heapPair, what: "alloc and free of 64 bytes, over and over"},
	{name: "heap-batch", kind: blocks, run: heapBatch,
		what: "pair; 1,000 blocks of 16 to 256 bytes, all got, then all freed"},
	larsonOf("larson", 0), larsonOf("larson/1", 1), larsonOf("larson/4", 4), larsonOf("larson/8", 8),
	xmallocOf("xmalloc", 0), xmallocOf("xmalloc/4", 4), xmallocOf("xmalloc/8", 8),
	mstressOf("mstress", 0), mstressOf("mstress/1", 1), mstressOf("mstress/4", 4), mstressOf("mstress/8", 8),
	{name: "rptest", kind: blocks, run: rptest,
		what: "pair of 8 to 16,000 bytes, a part of them freed by other goroutines"},
	{name: "blocks/pair", kind: blocks, only: "local", run: refsPair,
		what: "alloc and free of 64 bytes by a reference of Blocks; ratio to pointers of the Local"},
	{name: "blocks/look-up", kind: blocks, only: "local", run: func(e *env) error { return refsLookUp(e, false) },
		what: "byte read at random of a million blocks of 64 bytes, by Bytes"},
	{name: "blocks/look-up-many", kind: blocks, only: "local", run: func(e *env) error { return refsLookUp(e, true) },
		what: "the same by BytesMany, 256 references a call"},
	{name: "blocks/free", kind: blocks, only: "local", run: func(e *env) error { return refsFree(e, false) },
		what: "free at random of a million blocks of 64 bytes"},
	{name: "blocks/free-many", kind: blocks, only: "local", run: func(e *env) error { return refsFree(e, true) },
		what: "the same by FreeMany, 256 references a call"},
	{name: "pages/64B", kind: chunks, only: "universe", run: func(e *env) error { return pagesPair(e, 64) },
		what: "alloc, touch and free of a block of Pages; ratio to mmap, touch and munmap"},
	{name: "pages/4KiB", kind: chunks, only: "universe", run: func(e *env) error { return pagesPair(e, 4<<10) },
		what: "alloc, touch and free of a block of Pages; ratio to mmap, touch and munmap"},
	fragmentOf("fragment", 16, 128<<10),
	fragmentOf("fragment/small", 16, 1024),
	hugeOf("16KiB", 16<<10, false),
	hugeOf("48KiB", 48<<10, true),
	hugeOf("64KiB", 64<<10, true),
	hugeOf("256KiB", 256<<10, true),
	hugeOf("1MiB", 1<<20, true),
	hugeOf("1MiB+1", overMiB, false),
	hugeOf("1.5MiB", 3<<19, true),
	hugeOf("4MiB+4KiB", 4<<20+4<<10, true),
	hugeOf("16MiB", 16<<20, false),
	hugeOf("64MiB", 64<<20, true),
	hugeOf("256MiB", 256<<20, true),
	{name: "huge/count", kind: held, lean: true, run: hugeCount, args: countArgs,
		what: "block of 1 MiB + 1 byte got and touched; live_blocks is how many could live"},
	{name: "growth", kind: held, run: growth, args: growthArgs,
		what: "buffer grown from 4 KiB by a quarter at a time, and freed"},
}

// tracesName is the workload that the table and the flags treat as one, and that runs one child per
// trace.
const tracesName = "traces"

func workloadNamed(name string) *workload {
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	return nil
}

// family is what -only calls a workload: its name up to the first /.
func family(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}

// names are all values of -only.
func names() []string {
	var all []string
	for i := range workloads {
		all = append(all, family(workloads[i].name))
	}
	return append(slices.Compact(all), tracesName)
}

// takes reports whether the workload runs on an allocator.
func (w *workload) takes(a *allocator) bool {
	if a.peer != nil {
		return w.args != nil && !a.reuses
	}
	return a.opener(w.kind) != nil && (w.only == "" || a.name == w.only) && a.name != w.but
}
