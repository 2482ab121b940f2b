package wrap

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// callers is the stack of a call: return addresses, innermost first. Taking one costs about 0.3 us.
type callers []uintptr

const (
	someFrames = 12  // frames of a stack by default
	mostFrames = 128 // frames of a stack at most
)

// callersAt returns up to frames frames of the stack, from the skip'th above its caller on: 0 is
// the function that called callersAt's caller.
func callersAt(skip, frames int) callers {
	var c [mostFrames]uintptr
	return slices.Clone(c[:runtime.Callers(skip+3, c[:frames])])
}

// key returns the addresses as a string, equal for equal stacks.
func (c callers) key() string {
	// Safe because the bytes are those of the slice, which nobody changes.
	return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(c))), len(c)*int(unsafe.Sizeof(c[0])))
}

// String returns one line per frame, with function, file and line, starting at the innermost frame
// that is not an allocator's.
func (c callers) String() string {
	var b strings.Builder
	for _, f := range shown(c) {
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

// shown returns the frames of a stack, starting at the innermost that is not an allocator's, or at
// the first when all are. It omits the runtime's frames below the goroutine's first function.
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
