// Package ledger counts the bytes that the universes and mappings of a process have committed, and
// refuses more than a budget allows. Package alloc sets the budget; this package enforces it.
//
//	Charge(n)   before memory is committed      ok, or an error that wraps sentinel.ErrBudget
//	Refund(n)   after memory was returned
//	Set(terms)  replaces the budget             Purge first, so that what is empty counts for nothing
//
// Ownership: the ledger owns no memory. [Ledger.Kept] and [Ledger.Empty] lead to whatever can give
// some back, and the packages that have it set them when the program starts.
//
// Goroutines: any may call any method. Nobody may charge while holding a lock that a purge takes:
// the lock of a universe or of mappings.
//
// Failure: a charge that no purge makes room for counts nothing and returns an error.
//
// Cost: without a budget an atomic addition for each charge and refund.
package ledger
