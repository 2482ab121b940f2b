// Command native runs rows of bench/peers, with Quarry and ark, in turns with small C++ programs of
// ours on EnTT, flecs and plain arrays. It prints ns per entity and the ratio to Quarry.
//
//	go run ./bench/native -entt DIR -flecs DIR            everything
//	go run ./bench/native -only random,query2comp         these rows
//	go run ./bench/native -quick                          see that it works; the figures say little
//	go run ./bench/native -json                           an array of objects
//
// DIR has a copy of the library: entt/entt.hpp, in DIR or in src or single_include below it;
// flecs.h and flecs.c, in DIR or in distr. Neither is part of this project. Without a flag, EnTT is
// looked for where systems keep headers. The command reports which libraries it did not find.
// Without a compiler it reports that and runs only the rows of Go. Either way the exit code is 0.
// It is 1 if a result is wrong, and 2 if the command could not run.
//
// The programs are compiled when the command runs, by $CXX or c++ and $CC or cc, with -O3
// -march=native -DNDEBUG; flecs.c alone takes half a minute. Each round of a row begins with a
// different entrant, and every turn of an entrant is a process of its own, also for the rows of Go
// (the command of bench/peers, which is built first). The figure is the median of the rounds, next
// to the least; the ratio is the median of the rounds' ratios to the entrant quarry.
//
// A program prints the sum of the values that it changed or read and how many passes it made; this
// command computes the expected sum and compares. bench/peers checks its own results.
//
// The entrants differ in this: EnTT has no prefabs, so an entity's values are copied; EnTT and ark
// cannot disable components, so a tag is taken off and put on. flecs is used through its C
// interface and gets no call of ecs_modified after writes. The variant direct of EnTT asks neither
// whether an entity is alive nor for a storage that it has found, and its threads spin. In the
// trees of depth and matrices EnTT's storage is sorted, ark's list of parents is made by hand, and
// flecs has Parent components, or, as the variant cascade, relationships; siblings look their
// parent up once. The arrays have no rows in which types change.
package main
