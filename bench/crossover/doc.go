// Command crossover measures from how many entities Quarry is faster than plain Go slices, and
// where it never is. Each row of its table is a task, each column a number of entities; a cell is
// the time that Quarry takes, divided by that of the slice, the median of rounds in turns. It exits
// with 1 if both did not do the same and with 2 if it could not run.
//
//	go run ./bench/crossover                     10 to a million, nine rounds, about two minutes
//	go run ./bench/crossover -quick              10 to 1,000, one round
//	go run ./bench/crossover -json > FILE        an object with all figures
//	go run ./bench/crossover -from FILE          the table of an object that was kept
//
// docs/performance.md has the table of bench/results/crossover.json. After another run,
//
//	go run ./bench/crossover -json > bench/results/crossover.json
//	go test ./bench/crossover -run TestPage -update
//
// The plain side is a slice of structs without holes, and a table from handles with versions to
// places, as one writes it in Go for speed. The tasks:
//
//	make       a store of n records from nothing, with its values; the store ends
//	loop       position += velocity, records of 32 bytes
//	loop 2/8   the same with records of 128 bytes, of which the loop needs a quarter
//	get        n look-ups by handle in shuffled order; the handle is checked
//	replace    n/16 records at random removed and as many made, one by one
//	flag       n/16 records at random flagged, a loop over those that are not, the flags taken away
//	state      the state of the moment kept, n/64 records side by side changed, the state summed up
//	scattered  the same, but the records that change are anywhere
package main
