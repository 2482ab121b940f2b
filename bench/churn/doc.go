// Package churn is a store of four million records that come, go and are looked up by id while
// other code makes garbage. It is written three ways over the same stream of requests:
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
// The table of ids is the same code in all three ways, open addressing at half load, made at its
// full size, and so is the slice of slots: no way pays for growth. quarry runs twice: with the
// collector set by alloc.GCFor, as docs/memory.md recommends, and with Go's default.
//
// Each way runs in a process of its own. The clock covers batches of 16 requests with 512 bytes of
// garbage for each request; the requests are drawn between batches. The driver keeps its part of
// the stream off the heap for every way, so that the collector never sees it. The answer is a
// checksum over all records found, in order: it is known for the built-in sizes, and for any other
// size the ways have to agree on it.
package churn
