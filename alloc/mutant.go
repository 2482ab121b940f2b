package alloc

// A mutation is one seeded defect of the protocols of universe and heap. The ordinary build has the
// constant healthy, so every branch on a mutation is compiled away. Under the tag alloc_mutants,
// tests plant one mutation at a time and show that it is found. Histories in the fuzz module find
// the mutations of the universe, except the first two.
type mutation uint8

const (
	healthy           mutation = iota
	keepClaim                  // a claim whose memory was refused is kept
	rollBackAll                // rollBack releases all other bits of the mask as well
	uncheckedFree              // a free does not check that the chunks are in use
	forgetNote                 // a free does not tell the index
	forgetHome                 // a megachunk that ceases to be a home is not noted
	trustIndex                 // a search that the index answers does not read the masks
	blindTrim                  // a trim does not read the masks after it has cleared ready
	forgetDirty                // chunks are handed out without being marked dirty
	keepDirty                  // memory returned to the system stays marked dirty
	universeMutations          // the mutations of the heap follow
	blindClaim                 // Heap.Alloc does not read the head again after its claim
	blindFull                  // a slab is declared full without a second look for a free slot
	lateAdoption               // a Local adopts a slab without first marking all of it in use
	blindShare                 // a Local that closes does not look for free slots in the slabs it leaves
	mutations
)
