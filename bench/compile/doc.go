// Command compile measures what it costs to compile a program that uses Quarry, and the same
// program on ark: the processor time of go build, including its compilers and the linker.
//
//	go run ./bench/compile                 programs of 20 component types, 5 rounds
//	go run ./bench/compile -types 5        of 5
//	go run ./bench/compile -json           an array of objects
//
// Both programs are generated: they register the types, create an entity, set and read each
// component, loop over pairs of columns, and remove and add each type. Both must print the same.
//
//	edit   the main package was edited; everything it imports is built
//	cold   the standard library is built, nothing else: the first build after a clone
//
// The libraries take turns, and each round begins with the other one. The figures are medians, next
// to the least time, and the ratio is the median of the rounds' ratios. Builds use caches in a
// temporary folder and leave the user's cache alone. The go command runs in the folder of the
// module quarry/bench, which fixes the versions.
//
// The exit code is 0, 1 if the programs print different text, and 2 if a build fails.
package main
