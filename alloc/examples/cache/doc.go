// Package cache is an example: a cache of bytes by string key, off the heap, with times to live, in
// 100 lines of code without unsafe. All entries lie in blocks of an allocator, and a collection of
// garbage marks some hundred bytes for each shard.
//
//	shard   Map: hash -> place    ring: entries one behind the other
//	        +--------+-------+    +--------------+-----+-------+--------------+---
//	        | 4 B    | 4 B   |--->| header, 21 B | key | value | header, 21 B | ...
//	        +--------+-------+    +--------------+-----+-------+--------------+---
//
// What goes first: a Set makes room of the oldest entries. One that was read since it was written
// stays, and is as if it were new; but after 16 of these the next one goes as well. So a Get only
// marks an entry. Expired, deleted and replaced entries take room until they are the oldest. A
// value that does not fit in a shard is not kept, and the key has none.
//
// Any goroutine may call a Cache. New takes the rings at once and whole; where the system backs
// memory when it is written, as Linux does, they are resident as they fill. An index takes 14 bytes
// an entry besides. A program that allocates little else calls alloc.GCFor, as the collector runs
// often over a small heap. After an error of Set, which is the allocator's for the index, the key
// has no value; nothing else has changed but that older entries made room.
package cache
