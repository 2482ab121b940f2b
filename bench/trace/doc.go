// Package trace replays recordings of heap calls on the memory of a universe and on the Go heap,
// fills and checks every byte of every block on both, and compares its counts with the known
// answer.
//
// A trace is read into operations of 16 bytes. The names that the recorded program used for its
// blocks (addresses, ordinals, ids) are gone by then: each live block has a slot, slots are reused,
// and a replay is a walk over two arrays without a map:
//
//	text, AOSP form             operations, 16 B each            blocks, 32 B a slot
//	+-------------------------+  +-----------------------------+  +----------------+
//	| 7: malloc 0xb0 40       |  | malloc,  40 B, get slot 0   |  | slot 0: empty  |
//	| 7: calloc 0xc0 2 8      |->| calloc,  16 B, get slot 1   |->| slot 1: 64 B   |
//	| 7: realloc 0xd0 0xc0 64 |  | realloc, 64 B, resize slot 1|  |   of pattern 3 |
//	| 7: free 0xb0            |  | free,          drop slot 0  |  |                |
//	+-------------------------+  +-----------------------------+  +----------------+
//
// Forms, recognized by content and never by the name of the file:
//
//   - AOSP: "TID: malloc PTR SIZE", calloc, memalign, realloc, free and
//     thread_done; plain text, or a zip archive with that one member;
//   - malloclab .rep: a header of four numbers, then "a ID SIZE", "r ID SIZE"
//     and "f ID" ("f -1" is free of NULL, r of an id never given is an
//     allocation, r to size 0 a free);
//   - wee_alloc: "Alloc(SIZE)," and "Free(INDEX),".
//
// Lines may end in LF or CR LF. A line that breaks the form, or that makes no sense (a free of a
// block that is not live, a name given twice), is a [*SyntaxError] with file, line and what was
// expected; it matches [ErrFormat]. No input makes this package panic.
//
// The text is never held, packed or not, except for one line of at most 64 KiB. It is read twice,
// and the first reading keeps nothing but the live blocks, so that a malformed file, or an archive
// of a few megabytes with gigabytes of text in it, is refused before it takes memory. A trace may
// have 2^26 lines, 4 GiB of text, 2^23 blocks live at once and 2^16 threads; a larger one is
// refused with an error that matches [ErrLimit] and has the place where it exceeds the limit.
//
// A call that failed when it was recorded (it returned 0x0) is counted in its kind and in Failed
// and is not replayed; the block given to a failed realloc stays live. A realloc is one step: the
// peak is taken after the old size is gone and the new size is there.
//
// [Run] is the entry point of the benchmark. One goroutine does all the work, whatever threads the
// trace names. It costs 16 bytes per operation, 8 more while books are kept, and on each side the
// live bytes of the trace; a trace that has more than 4 GiB live at once, or requests an alignment
// above 1 MiB, is refused with an error that matches [ErrLimit].
package trace
