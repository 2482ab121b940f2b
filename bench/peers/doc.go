// Command peers runs Quarry and other entity component systems for Go on the workloads of
// go-ecs-benchmarks, ecs_benchmark and ecs_bench_suite, and reports which targets hold. It exits
// with 1 if an entrant's result is wrong, and with 2 if it could not run; a target that does not
// hold is reported but is not a failure.
//
//	go run ./bench/peers                       everything
//	go run ./bench/peers -only query2comp,random -n 16000 -rounds 3
//	go run ./bench/peers -quick                see that it works; the figures say little
//	go run ./bench/peers -json                 an array of objects, see bench/README.md
//	go run ./bench/peers -check                the peers beside their own harness
//
// The libraries are ark v0.8.3, arche v0.15.3, volt v1.7.0 (akmonengine/volt),
// donburi v1.15.8 (yohamta/donburi) and uot v0.0.3 (unitoftime/ecs): pinned, not
// proven the newest. volt and uot are the versions of go-ecs-benchmarks.
//
// An entrant is a library used in one way: one by one, by batches, by whole tables, with a filter
// that the world caches. The first word of its name is the library; slices are loops over plain Go
// slices. Entrants of a workload run in one process, in turns, and each round begins with a
// different entrant; the collector runs before each turn. A figure is the median of the rounds, in
// ns per entity; an add and a remove count as one; for n = 1 it is the time of the whole call in
// ns.
//
// Every entrant does the same work, and every round ends with a check of the result: sums of
// positions, numbers of entities, zeros where a new component must be zero. Worlds are warm in
// workloads that are called so: they have held as many entities before. Peers begin with room for
// 1,024 entities, as in go-ecs-benchmarks; in the workload archetypes they also run with room for
// 4, which suits them better there.
//
// The workloads systems-... come from ecs_benchmark: all of seven systems in an update, or two, and
// creating, destroying, reading and changing entities with its components of 1 to 48 bytes. Their
// twin is a list of structs that does the same by itself: every value of every entity is compared
// with it. volt, donburi and uot do not take part.
//
// B/entity is the memory that the entrant holds after its first pass, over n: the growth of the Go
// heap after a collection, and for ours the memory committed off the heap, in granules of 2 MiB.
// Allocations are on the Go heap, in the pass that has the fewest; p99 is over passes over all n,
// or over means of passes that take less than 20 us. The ratio compares ours with the best entrant
// of another library. Here and in targets it is the median of the ratios of all rounds, because a
// disturbance of some seconds slows both.
//
// The workloads memory, archetypes, gc and scale-... run in a process per entrant and round. The
// figure of the first two is the greatest resident size, less the size before the world was made
// (Linux only); the figure of gc is the collector's processor time: see docs/memory.md. In
// create-worst every create is timed by itself, including the clock's 30 to 50 ns, and p99 is over
// creates; memory is touched and freed before each turn, so that a virtual machine's host backs it.
//
// Of ecs_bench_suite everything but serialize is here; results are compared by checksum with a
// plain Go twin. bench/README.md lists the differences between entrants, and what is left out.
//
// A target is a floor and a goal, each a multiple of the best of the named peers, or an absolute
// figure. A target whose entrants are missing is reported as such.
//
// A badly used peer would flatter us: -check clones go-ecs-benchmarks (-harness DIR: an existing
// clone), builds it with the same libraries and runs both in turns. A peer that is more than 20 %
// slower here does not count until that is fixed.
package main
