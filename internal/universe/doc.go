// Package universe hands out the chunks of one reservation of address space, without a lock. It
// knows chunks, runs and spans, and nothing of blocks: package heap cuts chunks into these, and
// package store fills them with rows. alloc.Universe is its face, where users read what each method
// promises; what is exported here beside it is for those two, for alloc itself and for ecs.
//
//	masks, 8 B a megachunk     claim of runs, free: by           claim.go free.go span.go; the run
//	                           compare-and-swap                  that fits: bitmask/fit.go
//	leases, a line a shard     which single chunk is taken       masklease.go shard.go
//	ready, 4 B a granule       commit, decommit, under a lock    claim.go trim.go
//	gone, 8 B a megachunk      free chunks given back            discard.go scavenger.go
//
// An [Extent] is memory that stays contiguous as it grows (extent.go).
//
// Ownership: a universe owns its address space and its metadata, which lies in a block of its own
// (metadatablock.go). The ledger counts what it commits.
//
// Lifetime: from [Universe.Open] to [Universe.Close].
//
// Goroutines: any may call any method but Close and Verify.
//
// Failure: a refusal is the bare sentinel.ErrFull inside the package, an error with numbers at its
// border; nothing has changed then. A broken contract panics in the name of package alloc.
//
// Cost: that of alloc.Universe. The essay in universe.go has the protocol and its invariants.
package universe
