// Command peers runs Quarry beside other entity component systems for Go on the
// workloads of go-ecs-benchmarks, ecs_benchmark and ecs_bench_suite, and says which
// targets hold. It exits with 1 when the result of an entrant is wrong, and with 2
// when it could not do what was asked; a target that does not hold is reported and
// no failure.
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
// An entrant is a library used in one way: one by one, by batches, by whole
// tables, with a filter that the world knows. The first word of its name says
// which library; slices are loops over plain Go slices. Entrants of a workload
// run in one process, in turns, each round beginning with another one; the
// collector runs before each turn. A figure is the median of the rounds, in ns
// per entity; add and remove count as one; n = 1 gives the ns of the whole call.
//
// Every entrant does the same work and every round ends with a check of it: sums
// of positions, numbers of entities, zeros where a new component must be zero.
// Worlds are warm where the workload says so: they have held as many entities
// before. Peers begin with room for 1,024 entities, as in go-ecs-benchmarks; in
// the workload archetypes also with room for 4, which suits them better there.
//
// The workloads systems-... are those of ecs_benchmark: all of seven systems in an
// update, or two, and creating, destroying, reading and changing entities of its
// components of 1 to 48 bytes. There the twin is a list of structs that does the
// same by itself: every value of every entity is compared with it. volt, donburi
// and uot do not take part in them.
//
// B/entity is what the entrant holds after its first pass, over n: the growth of
// the Go heap, collected, and what ours have committed off it, in granules of
// 2 MiB. Allocations are those on the Go heap in the pass that has fewest; p99 is
// of passes over all n, or of means of passes of less than 20 us. Ratio is ours to
// the best of all entrants that are other libraries, here as in targets the median of
// the ratios of all rounds: what slows the machine for some seconds slows both.
//
// The workloads memory, archetypes, gc and scale-... run in a process for each
// entrant and round. The figure of the first two is the greatest resident size over
// that before the world was made (Linux only), of gc the collector's processor time:
// docs/gc.md. In create-worst every create is timed by itself, the clock's 30 to
// 50 ns included, and p99 is of creates; memory is touched and freed before each turn,
// so that a virtual machine's host backs it.
//
// Of ecs_bench_suite all but serialize is there, compared by checksum with a twin in
// plain Go. bench/README.md says what is not the same for all, and what is left out.
//
// A target is a floor and a goal, each a multiple of the best of the peers named,
// or a figure of its own. Targets with entrants that are not there say so.
//
// A peer that is used badly would flatter us: -check clones go-ecs-benchmarks
// (-harness DIR: a clone that is there), builds it with the same libraries and runs
// both in turns. A peer more than 20 % slower here does not count until mended.
package main
