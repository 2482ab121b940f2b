package alloc

// A mutation is one seeded defect of the universe's protocol. The ordinary build
// has the constant healthy, so that every branch on a mutation is compiled away;
// under the tag alloc_mutants the fuzz module plants one at a time and shows that
// its histories find it.
type mutation uint8

const (
	healthy       mutation = iota
	keepClaim              // a claim whose memory was refused is kept
	rollBackAll            // it is taken back with all other bits of its mask
	uncheckedFree          // a free does not look whether the chunks are in use
	forgetNote             // a free does not tell the index
	forgetHome             // a home that is left is not noted
	trustIndex             // a search refuses on the index's word alone
	blindTrim              // a trim does not look at the masks after it has cleared ready
	forgetDirty            // chunks are handed out without being marked dirty
	keepDirty              // memory that went back to the system stays marked dirty
	mutations
)
