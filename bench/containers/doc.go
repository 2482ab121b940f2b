// Command containers measures container.Map, off the heap, beside Go's map, at the same entries.
//
//	go run ./bench/containers                 10 million entries, three rounds
//	go run ./bench/containers -n 1000000 -rounds 5
//	go run ./bench/containers -small          pages of 4 KiB below the heap
//
// Keys and values are uint64. Each round makes one map and then the other, and measures filling it,
// look-ups of keys that are there and of others in random order, iterating, removing all, the
// memory of an entry, a collection while the map is there, and, in a second filling with a clock
// around each Set, the slowest ones. It prints medians of the rounds; of the slowest ones the round
// with the least, as what else the machine does makes them slower and nothing makes them faster.
// container.Map is also filled several times in the same way, which Go's map cannot be: of each Set
// the least counts, and the slowest of these is printed. The command exits with 1 if the maps
// differ in what they found.
package main
