package main

import (
	"os"

	"quarry/bench/progress"
	"quarry/bench/workload"
)

// bar shows on a terminal how far a workload is, and returns a function that removes the display.
// The workload gives the total when it begins.
func bar(name string) (show workload.Progress, end func()) {
	var update func(done int, name string)
	takeAway := func() {}
	show = func(done, total int) {
		if update == nil {
			update, takeAway = progress.Bar(os.Stderr, total)
		}
		update(done, name)
	}
	return show, func() { takeAway() }
}
