// Package mapping gives a block a mapping of its own: all blocks of alloc.Pages, large blocks of a
// heap for which its universe has no room, and large extents.
//
//	region   | granule | granule | granule | not committed |    2 MiB each
//	         |<- slack ->|<-- block ------>|
//
// Ownership: a [Set] owns its regions; some freed ones stay committed for the next block of about
// their size. The ledger counts the committed bytes, and takes back kept blocks when a budget is
// used up.
//
// Lifetime: a block is valid from Alloc to Free; Close ends all.
//
// Goroutines: any may call any method but Close and Verify; a live mapping belongs to its caller.
//
// Failure: errors wrap sentinel.ErrReserve, ErrCommit or ErrTooBig; nothing has changed then. What
// the system refuses to take back stays on a list, and the next call tries again.
//
// Cost: some system calls a block, or a lock when a kept mapping fits.
package mapping
