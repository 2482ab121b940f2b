// Command containers measures container.Map, off the heap, beside Go's map, at the same entries.
//
//	go run ./bench/containers                 10 million entries, three rounds
//	go run ./bench/containers -n 1000000 -rounds 5
//	go run ./bench/containers -small          pages of 4 KiB below the heap
//
// Keys and values are uint64. Each round makes one map and then the other, and measures filling it,
// look-ups of keys that are there and of others in random order, iterating, removing all, the
// memory of an entry, and a collection while the map is there. It prints medians of the rounds. The
// command exits with 1 if the maps differ in what they found.
//
// Then it fills maps with a clock around each Set, four times in turns, and prints the longest
// waits, beside the goal: Go's map; container.Map on pages that are fresh from the system, in
// memory that [alloc.Universe.Prefault] made ready, and after Map.Reserve; and a loop that only
// reads the clock, for as long as a filling in memory made ready takes. That loop's waits are what
// the machine does to any program. Of the slowest, the 10th and the 100th slowest the filling with
// the least counts. container.Map is filled alike each time, which Go's map cannot be: of each Set
// the least of the fillings counts too, and the slowest of these is printed. What else the machine
// does hits another Set each time; what a Set costs, it costs each time.
package main
