// Package cache is an example: a cache of bytes by string key, off the heap, with an order of use
// and times to live. All entries, keys and values lie in blocks of an allocator, and a collection
// of garbage marks a few KiB for each shard.
//
//	shard   Map: hash -> reference   List: order of use       Blocks
//	        +----------+------+      +--------------------+   +-----+-------+
//	        | hash 8 B | 8 B  |----->| links, entry: 48 B |-->| key | value |
//	        +----------+------+      +--------------------+   +-----+-------+
//
// Any goroutine may call a Cache. An expired entry goes when it is asked for, or as the oldest. A
// value that is larger than a shard's part is not kept, and the key has none. The bound is on keys
// and values; each has some 100 bytes of books besides. A program that allocates little else calls
// alloc.GCFor, as the collector runs often over a small heap. After an error of Set, which is the
// allocator's, the key has no value; nothing else has changed but that older entries made room.
package cache
