package bitmask

// A mutation is one seeded defect of the protocols of Word and Hierarchy. The ordinary build has
// the constant healthy, so every branch on a mutation is compiled away. Under the tag bitmask_sched
// the tests plant one mutation at a time and show that the scheduler finds an interleaving that
// exposes it.
type mutation uint8

const (
	healthy          mutation = iota
	storeForSwap              // a compare-and-swap stores whatever it finds
	staleSearch               // TryAlloc keeps the offset of its first search after a lost swap
	uncheckedFree             // TryFree clears without checking which bits are set
	dropRecheck               // settle does not test again after the clear
	dropUpperRecheck          // the same, in the upper levels only
	recheckFirst              // settle reverses the clear and the second test
	raiseBeforeFree           // TryFree reverses the stores to summary and word
	trustSummary              // TryAlloc refuses because of a summary alone
	forgetClass               // TryAlloc does not note the class that the word leaves
)
