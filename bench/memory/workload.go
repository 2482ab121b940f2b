package main

// workload is one workload to measure.
type workload struct {
	name string
	kind kind
	only string // the one allocator for which it makes sense; "": all
	but  string // the one allocator for which it makes no sense; "": none
	what string // what an operation is
	run  func(e *env) error
}

var workloads = []workload{
	{"chunk-pair", chunks, "", "", "alloc and free of one chunk, over and over", chunkPair},
	{"chunk-batch", chunks, "", "", "pair; 10,000 chunks, all got and touched, then all freed", chunkBatch},
	{"chunk-two", chunks, "", "", "pair as each of two goroutines sees it; ratio to one goroutine alone", chunkTwo},
	// A fresh sync.Pool is empty: it would be make again.
	{"chunk-first", chunks, "", "sync.Pool", "chunk; the first 100,000 of a fresh allocator, got and touched", chunkFirst},
	{"chunk-churn", chunks, "", "", "pair; 100,000 chunks, a random half freed and got again, twice, with the shuffle", chunkChurn},
	{"chunk-search", chunks, "universe", "", "pair; all chunks but the last one are taken", chunkSearch},
	{"heap-pair", blocks, "", "", "alloc and free of 64 bytes, over and over", heapPair},
	{"heap-batch", blocks, "", "", "pair; 1,000 blocks of 16 to 256 bytes, all got, then all freed", heapBatch},
	{"larson", blocks, "", "", "free and alloc of a random slot; arrays are handed to new goroutines", larson},
	{"xmalloc", blocks, "", "", "pair of 64 bytes; producers get, consumers free, batches of 4,096", xmalloc},
	{"rptest", blocks, "", "", "pair of 8 to 16,000 bytes, a part of them freed by other goroutines", rptest},
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

// names are all values of -only.
func names() []string {
	var all []string
	for i := range workloads {
		all = append(all, workloads[i].name)
	}
	return append(all, tracesName)
}

// takes reports whether the workload runs on an allocator.
func (w *workload) takes(a *allocator) bool {
	return a.opener(w.kind) != nil && (w.only == "" || a.name == w.only) && a.name != w.but
}
