// Command server measures the world of a server on Quarry, on ark and in plain Go: frames in which
// units come, are hit, die and move, what garbage and a reader of states add to them, what a
// journal does, and memory. It exits with 1 if two sides end in different states and with 2 if it
// could not run.
//
//	go run ./bench/server                 a million units, 240 frames, three rounds, about four minutes
//	go run ./bench/server -quick          20,000 units, one round
//	go run ./bench/server -only frame -side quarry
//	go run ./bench/server -pointers       also plain Go whose units hold pointers, which the collector follows
//	go run ./bench/server -json           what each process found
//
// The package units has the rules of a frame, and what the sides keep.
//
// Modes: the frame alone; with 512 KiB of garbage a frame; with a state in each twelfth frame (5 Hz
// at 60 frames a second) that another goroutine reads whole while frames run; with both; a million
// spawns, a thousand at a time after as many were killed, and nothing else; and, for Quarry, a
// commit to a journal in each of 120 frames, whose folder is then opened again.
//
// Each side and mode runs in a process of its own, in turns, with the collector as Go sets it. What
// draws the events is not timed, and all sides get the same. The sums of all units must be the same
// at the end, and so must the sums of all states.
package main
