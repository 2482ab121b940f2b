// Others runs libraries of other people on Quarry's memory: it copies a module from the module
// cache, edits the place where the library gets its memory, and runs the library's own tests first
// on its own memory and then on ours. docs/memory.md has the results.
//
//	go run ./bench/others pebble            # tests, without cgo
//	go run ./bench/others -race pebble      # with the race detector, so with cgo
//	go run ./bench/others -load pebble      # time and memory of a program
//	go run ./bench/others arrow             # tests of arrow-go; its largest package takes the compiler 3 GB
//
// Both copies are made alike but for the edits: they require this checkout's module, so that the
// go command chooses the same versions of everything else for both.
//
//	module cache --copy--> own   go.mod requires quarry
//	             --copy--> ours  go.mod requires quarry, and the trial's edits
//
// Where the edits read from an environment variable which memory to take, as arrow's do, there is
// one copy, compiled once, and both sides run in it.
//
// The command fails when a test fails on our memory that passed on the library's own, and when the
// counts of passed, skipped and failed tests differ.
package main
