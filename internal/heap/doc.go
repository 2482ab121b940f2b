// Package heap cuts chunks of universes into blocks of every size. alloc.Heap and alloc.Local are
// its faces, where users read what each method promises.
//
//	size, bytes              from                             file
//	1 .. 8,192               slots of a chunk, by class       class.go slab.go shared.go
//	8,193 .. 40 KiB          slots of slabs of 2 to 8 chunks  wide.go
//	.. 1 MiB                 a run of chunks                  run.go
//	above                    a span of chunks, or a mapping   span.go, package mapping
//
// A [Local] has slabs of its own (localslab.go), hands out first what it freed last
// (localrecent.go), and keeps some freed runs and wide slots (localrun.go, localwide.go). Overflow
// heaps are further universes of a heap (overflow.go).
//
// Ownership: a heap owns the chunks that it takes; its metadata is in Go memory and holds no
// pointer into blocks.
//
// Lifetime: from [Heap.Open] to Close; a Local from [Heap.OpenLocal] to its Close.
//
// Goroutines: any may call any method of a heap but Close and Verify; one at a time may use a
// Local.
//
// Failure: errors wrap the sentinels of alloc; a block that is not one, or no longer, panics in the
// name of the method of package alloc.
//
// Cost: as alloc.Heap and alloc.Local say. The essay in heap.go has the invariants.
package heap
