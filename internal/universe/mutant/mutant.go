package mutant

// A mutation is one seeded defect of the protocols of universe and heap. The ordinary build has the
// constant Healthy, so every branch on a mutation is compiled away. Under the tag alloc_mutants,
// tests plant one mutation at a time and show that it is found. Histories in the fuzz module find
// the mutations of the universe, except the first two.
type mutation uint8

// The defects, and Healthy, which is the code without a defect.
const (
	Healthy           mutation = iota
	KeepClaim                  // a claim whose memory was refused is kept
	RollBackAll                // rollBack releases all other bits of the mask as well
	UncheckedFree              // a free does not check that the chunks are in use
	ForgetNote                 // a free does not update the index
	ForgetHome                 // a megachunk that ceases to be a home is not noted
	TrustIndex                 // a search that the index answers does not read the masks
	BlindTrim                  // a trim does not read the masks after it has cleared ready
	ForgetDirty                // chunks are handed out without being marked dirty
	KeepDirty                  // memory returned to the system stays marked dirty
	universeMutations          // the mutations of the heap follow
	BlindClaim                 // Heap.Alloc does not read the head again after its claim
	BlindFull                  // a slab is declared full without a second look for a free slot
	LateAdoption               // a Local adopts a slab without first marking all of it in use
	BlindShare                 // a Local that closes does not look for free slots in the slabs it leaves
	mutations
)
