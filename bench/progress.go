package main

import (
	"os"

	"quarry/bench/progress"
	"quarry/bench/workload"
)

// bar shows how far a workload is, on a terminal only, and returns what takes
// it away again. The workload says how much there is in all when it begins.
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
