package wrap

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// callers is where a call came from: return addresses, the innermost first, 0 behind
// the last. Taking one costs about 0.3 us.
type callers [12]uintptr

// callersAt is the stack of the caller of the function that many frames up: 0 is the
// caller of whoever calls callersAt.
func callersAt(skip int) (c callers) {
	runtime.Callers(skip+3, c[:])
	return c
}

// pcs are the addresses without the zeros behind them.
func (c *callers) pcs() []uintptr {
	n := 0
	for n < len(c) && c[n] != 0 {
		n++
	}
	return c[:n]
}

// String has a line a frame, function, file and line, from the innermost on that is not
// an allocator's.
func (c *callers) String() string {
	var b strings.Builder
	for _, f := range shown(c.pcs()) {
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

// shown returns the frames of a stack from the innermost on that is not an allocator's, all
// when every one is, without the runtime's below the first function of the goroutine.
func shown(s []uintptr) (frames []runtime.Frame) {
	walk := runtime.CallersFrames(s)
	for more := true; more; {
		var f runtime.Frame
		if f, more = walk.Next(); f.Function != "runtime.goexit" {
			frames = append(frames, f)
		}
	}
	own := func(f runtime.Frame) bool {
		return !strings.HasPrefix(f.Function, "quarry/alloc.") && !strings.HasPrefix(f.Function, "quarry/alloc/wrap.")
	}
	return frames[max(slices.IndexFunc(frames, own), 0):]
}
