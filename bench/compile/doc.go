// Command compile measures what it costs to compile a program that uses Quarry, beside the same
// program on ark: the processor time of go build, its compilers and the linker together.
//
//	go run ./bench/compile                 programs of 20 component types, 5 rounds
//	go run ./bench/compile -types 5        of 5
//	go run ./bench/compile -json           an array of objects
//
// Both programs are generated: they register the types, create an entity, set and read each
// component, loop over pairs of columns, and remove and add each type. They print the same, which
// is compared.
//
//	edit   the main package was edited; everything it imports is built
//	cold   the standard library is built, nothing else: the first build after a clone
//
// Rounds go by turns, and begin with the other library each time. The figures are medians, with the
// least beside them, and the ratio is the median of the rounds' ratios. Every build has a cache of
// its own in a temporary folder; the command leaves the user's alone. It runs the go command in
// the folder of the module quarry/bench, which names the versions.
//
// The exit code is 0, 1 when the programs print something else, and 2 when a build fails.
package main
