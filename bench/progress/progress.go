// Package progress shows on a terminal how far a command is.
package progress

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bar shows on a terminal how many of total are done, and returns a function that removes the
// display. On anything else it shows nothing.
func Bar(out *os.File, total int) (show func(done int, name string), end func()) {
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
