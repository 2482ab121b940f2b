package alloc

// A mutation is one seeded defect of the protocols of universe and heap. The ordinary build
// has the constant healthy, so that every branch on a mutation is compiled away;
// under the tag alloc_mutants tests plant one at a time and show that it is found:
// those of the universe by histories in the fuzz module, but for the first two.
type mutation uint8

const (
	healthy           mutation = iota
	keepClaim                  // a claim whose memory was refused is kept
	rollBackAll                // it is taken back with all other bits of its mask
	uncheckedFree              // a free does not look whether the chunks are in use
	forgetNote                 // a free does not tell the index
	forgetHome                 // a home that is left is not noted
	trustIndex                 // a search refuses on the index's word alone
	blindTrim                  // a trim does not look at the masks after it has cleared ready
	forgetDirty                // chunks are handed out without being marked dirty
	keepDirty                  // memory that went back to the system stays marked dirty
	universeMutations          // those of the heap follow
	blindClaim                 // Heap.Alloc does not look at the head again after its claim
	blindFull                  // a slab is called full without another look for a free slot
	lateAdoption               // a Local adopts a slab without saying first that all of it is in use
	blindShare                 // a Local that closes does not look for free slots in what it leaves
	mutations
)
