package bitmask

// A mutation is one seeded defect of the protocols of Word and Hierarchy. The
// ordinary build has the constant healthy, so that every branch on a mutation is
// compiled away; under the tag bitmask_sched the tests plant one at a time and
// show that the scheduler finds an interleaving which exposes it.
type mutation uint8

const (
	healthy          mutation = iota
	storeForSwap              // a compare-and-swap that stores whatever it finds
	staleSearch               // TryAlloc keeps the offset of its first search after a lost swap
	uncheckedFree             // TryFree clears without a look at what is set
	dropRecheck               // settle does not test again after it cleared
	dropUpperRecheck          // the same, in the upper levels only
	recheckFirst              // settle swaps the clear and the second test
	raiseBeforeFree           // TryFree swaps the stores to summary and word
	trustSummary              // TryAlloc refuses on the word of a summary alone
	forgetClass               // TryAlloc does not note the class that is left
)
