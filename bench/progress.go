package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"quarry/bench/workload"
)

// bar shows how far a workload is, on a terminal only, and returns what takes
// it away again.
func bar(out *os.File, name string) (show workload.Progress, done func()) {
	if !term.IsTerminal(int(out.Fd())) {
		return nil, func() {}
	}
	var b *progressbar.ProgressBar
	show = func(at, total int) {
		if b == nil {
			b = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(out),
				progressbar.OptionSetDescription(name),
				progressbar.OptionSetWidth(40),
				progressbar.OptionThrottle(50_000_000),
				progressbar.OptionClearOnFinish())
		}
		_ = b.Set(at)
	}
	return show, func() {
		if b != nil {
			_ = b.Finish()
		}
	}
}
