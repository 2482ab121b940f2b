// Command peers runs Quarry beside other entity component systems for Go on the
// workloads of go-ecs-benchmarks and ecs_benchmark, and says which targets hold.
// It exits with 1 when the result of an entrant is wrong, and with 2 when it
// could not do what was asked; a target that does not hold is reported and no
// failure.
//
//	go run ./bench/peers                       everything
//	go run ./bench/peers -only query2comp,random -n 16000 -rounds 3
//	go run ./bench/peers -quick                see that it works; the figures say little
//	go run ./bench/peers -json                 an array of objects instead of tables
//
// The libraries are ark v0.8.3, arche v0.15.3, volt v1.7.0 (akmonengine/volt),
// donburi v1.15.8 (yohamta/donburi) and uot v0.0.3 (unitoftime/ecs): pinned, not
// proven the newest. volt and uot are the versions of go-ecs-benchmarks.
//
// An entrant is a library used in one way: one by one, by batches, by whole
// tables, with a filter that the world knows. Entrants of a workload run in one
// process, in turns, each round beginning with another one; the collector runs
// before each turn. A figure is the median of the rounds, in ns per entity; add
// and remove count as one; n = 1 gives the ns of the whole call. The columns
// least and most are the rounds', p99 is that of single samples, each of as many
// passes as the column passes says. Allocations are those on the Go heap, in one
// pass after the first.
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
// What is not the same: no peer has calls for a list of entities, so
// where the order of a list matters they work one by one; volt and uot have no
// calls for many entities at all, donburi only one that makes them; GetUnchecked
// of ark and arche skips the test whether an entity is alive, which ours has no way
// to skip, so it is shown and not compared with. In create2comp_alloc the peers' memory
// comes from a Go heap that is warm, ours from the system; the entrant with a
// shared universe has it warm as well, and no target counts it. In new_world
// each takes its memory where the world before left it, ours from parked ranges;
// taking a world away is not timed, and for the peers it is the collector's work.
//
// Left out: what runs on several goroutines; donburi and uot in queries of more
// than 256,000 entities, whose worlds take too long to build and to collect; and
// donburi in archetypes, where a component that is first used in archetype 512 or a
// later one is out of its range. volt cannot say whether an entity is alive, so its
// deletions are only counted.
//
// The workloads memory and archetypes run in a process for each entrant and
// round: the figure is the greatest resident size over that before the world was
// made (Linux only). In create-worst every create is timed by itself, the clock's
// 30 to 50 ns included.
//
// A target is a floor and a goal, each a multiple of the best of the peers named,
// or a figure of its own. Targets with entrants that are not there say so.
package main
