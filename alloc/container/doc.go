// Package container provides containers off the heap: their elements lie in blocks of an
// [alloc.Allocator], where the garbage collector neither scans nor counts them.
//
//   - [Map] is a hash map without a slow insert: it grows in tables of at most a thousand slots
//   - [List] is a list with two ends: an order of use or of arrival, from whose middle elements go
//   - [Queue] is a queue with two ends, in segments of 16 KiB: no push moves elements
//   - [PriorityQueue] hands out the value of the smallest priority, from a heap in one block
//   - [Bitset] is a growing set of integers, with And, Or and AndNot of whole sets
//   - [Text] keeps each text once, under an id of 8 bytes, and counts references
//   - [Buffer] is a bytes.Buffer whose growth may be refused; [BufferPool] is a sync.Pool of them
//     that gives memory back
//
// A table of a Map with keys and values of 8 bytes is up to 127 groups of two lines, 128 bytes:
//
//	| control word 8 B | slot 0: value, key | slot 1 | ... | slot 6 | unused 8 B |
//	  7 tags, 1 B of     16 B                                16 B
//	  passed marks
//
// Elements, keys and values are of types without Go pointers; a type with one is refused when the
// container is made ([layout.PointerFree]).
//
// Lifetime: a container belongs to its caller until Close, which frees its blocks; the allocator
// outlives it. Using it after Close panics, and so does using it after the allocator was closed, or
// after an arena went back to before the container last grew ([alloc.Hold]). Over a Stack, where
// blocks are freed in order, no container is made. Pointers into a container are valid until the
// next call that may add, remove, reserve or trim; those into a List or Text until the element is
// removed. In an Arena a block that is freed serves again only if it was the last one, so a
// container that is filled and emptied again and again grows it without end.
//
// Goroutines: one at a time, or several that only read; the race detector sees a writer beside
// others.
//
// Garbage collector: it marks the container's header, of some hundred bytes, and 8 bytes for each
// 16 KiB of a Queue or a Text.
//
// Failure: what adds returns the allocator's error, and the container is as before; Map.Reserve
// keeps what it got. A broken contract panics in the container's name.
package container
