package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows how many of the children are done, on a terminal only, and returns
// what takes it away again.
func bar(out *os.File, total int) (show func(done int, name string), end func()) {
	if !term.IsTerminal(int(out.Fd())) {
		return func(int, string) {}, func() {}
	}
	b := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetWidth(40),
		progressbar.OptionThrottle(50_000_000),
		progressbar.OptionClearOnFinish())
	show = func(done int, name string) {
		b.Describe(name)
		_ = b.Set(done)
	}
	return show, func() { _ = b.Finish() }
}
