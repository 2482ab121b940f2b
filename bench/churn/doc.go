// Package churn is a store whose records come, go and are looked up by id, four
// million of them, while other code makes garbage. It is written three ways over
// one stream of requests:
//
//	objects   id -> *object, each with a name of its own: two Go objects a record
//	slots     id -> place in one []record, and a list of the places that are free
//	quarry    id -> alloc.Ref of an alloc.Pool[record], table and pool off the heap
//
//	requests, 16 a batch               16 B an entry           48 B a record
//	+------------------------------+   +-----------------+     +---------------+
//	| find 60 %, remove 20, put 20 |-->| id | where it is |---->| id, name, ... |
//	+------------------------------+   +-----------------+     +---------------+
//
// The table of ids is the same code in all three, open addressing at half load, made
// at its full size, and so is the slice of slots: nobody pays for growth. quarry runs
// twice, with the collector set by alloc.GCFor as docs/gc.md says, and as Go sets it.
//
// Each way runs in a process of its own. Timed is a batch of 16 requests with the
// 512 bytes of garbage that each makes; the requests are drawn between batches. What
// the driver keeps of the stream is off the heap for all, so that no collector sees it.
// The answer is a checksum over all records that were found, in order: it is known for
// the built-in sizes, and the ways have to agree on it for any other.
package churn
