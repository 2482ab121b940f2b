// Command native runs rows of bench/peers, Quarry's and ark's, beside small programs of our own in
// C++ on EnTT, flecs and plain arrays, in turns, and prints ns an entity and the ratio to Quarry.
//
//	go run ./bench/native -entt DIR -flecs DIR            everything
//	go run ./bench/native -only random,query2comp         these rows
//	go run ./bench/native -quick                          see that it works; the figures say little
//	go run ./bench/native -json                           an array of objects
//
// DIR has a copy of the library: entt/entt.hpp, in DIR or in src or single_include below it;
// flecs.h and flecs.c, in DIR or in distr. Neither is part of this project. Without a flag EnTT is
// looked for where a system keeps headers; what is not found is said, and so is a compiler that is
// not there: then the rows of Go stand alone, and the exit code is 0. It is 1 when a result is
// wrong, and 2 when what was asked could not be done.
//
// The programs are compiled when the command runs, by $CXX or c++ and $CC or cc, with -O3
// -march=native -DNDEBUG; flecs.c alone takes half a minute. Each round and row begins with another
// entrant, and every turn of an entrant is a process of its own, for the rows of Go too (the
// command of bench/peers, which is built first). The figure is the median of the rounds, with the
// least beside it; the ratio is the median of the rounds' ratios to the entrant quarry.
//
// A program prints the sum of what it changed or read and how many passes it made; the sum is
// compared with what it must be, computed here. bench/peers checks its own.
//
// What is not the same: EnTT has neither prefabs nor components that are switched off, ark not the
// latter: values of an entity are copied, a tag is taken off and put on. flecs is used by its C
// interface and is not told of writes by ecs_modified. The arrays have no rows in which types
// change.
package main
