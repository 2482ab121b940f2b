package mmap

import (
	"fmt"
	"strings"
)

// Hint is a property of a whole region that the OS may support.
type Hint uint8

// A hint holds for the whole region in all its states, from [Region.Hint] to Release; a parked
// range has none.
const (
	// NoDump leaves the region out of core dumps. Linux.
	NoDump Hint = 1 << iota

	// WipeOnFork: a child process sees zeros. Linux; no effect on Windows, which has no fork.
	WipeOnFork

	// SmallPages requests no huge pages, for regions with many guards or that are touched sparsely.
	// It replaces what [Region.Fine] has set. Linux.
	SmallPages

	hintEnd
)

// String returns the name of the constant.
func (h Hint) String() string {
	switch h {
	case NoDump:
		return "NoDump"
	case WipeOnFork:
		return "WipeOnFork"
	case SmallPages:
		return "SmallPages"
	}
	return fmt.Sprintf("Hint(%d)", uint8(h))
}

// Hint switches one hint on or off. An error is an *Error that wraps ErrUnsupported where the
// system lacks the hint, and for NoDump and WipeOnFork while a file is mapped (MapFile), and
// otherwise ErrMemory; then the hint is unchanged.
func (r *Region) Hint(h Hint, on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Hint")
	}
	if h == 0 || h&(h-1) != 0 || h >= hintEnd {
		panic(fmt.Sprintf("mmap: Hint: %v is not one of NoDump, WipeOnFork, SmallPages", h))
	}
	if on == (r.hints&h != 0) {
		return nil
	}
	if on && h != SmallPages {
		if filed, _ := r.filed.count(); filed > 0 {
			return r.refuse("Hint", 0, r.memory.size, ErrUnsupported, errNoSuch)
		}
	}
	if h == SmallPages {
		if errno := r.coarsenAll(); errno != nil {
			return r.refuse("Hint", 0, r.memory.size, ErrMemory, errno)
		}
	}
	if errno := r.hint(h, on); errno != nil {
		return r.refuse("Hint", 0, r.memory.size, ErrMemory, errno)
	}
	return r.done()
}

// hint is Hint for a hint that changes. r.mu is held.
func (r *Region) hint(h Hint, on bool) error {
	if errno := r.space.sys.hint(&r.memory, h, on); errno != nil {
		_ = r.space.sys.hint(&r.memory, h, !on) // the OS may have changed some of the mappings
		return errno
	}
	r.hints ^= h
	return nil
}

// unhint removes all hints; those removed before a refusal stay removed. r.mu is held.
func (r *Region) unhint() error {
	for h := NoDump; h < hintEnd; h <<= 1 {
		if r.hints&h == 0 {
			continue
		}
		if errno := r.hint(h, false); errno != nil {
			return errno
		}
	}
	return nil
}

// maxName is the length in bytes of the longest name that Linux accepts.
const maxName = 79

// Name labels the region in lists of mappings: /proc/self/maps shows "[anon:text]" on Linux kernels
// built for it. It is best effort. Other systems ignore it; a long text is cut to 79 bytes, and
// characters that the kernel does not allow become '_'. An empty text, and Release, remove the
// name.
func (r *Region) Name(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Name")
	}
	r.name = label(text)
	r.space.sys.name(&r.memory, r.name)
}

// label returns the nearest text that is allowed as a name.
func label(text string) string {
	text = text[:min(len(text), maxName)]
	allowed := []byte(text)
	for i, c := range allowed {
		if c < ' ' || c > '~' || strings.IndexByte("\\`$[]", c) >= 0 {
			allowed[i] = '_'
		}
	}
	return string(allowed)
}

// Advice is the use of ready memory that the program expects.
type Advice uint8

// Advice changes neither contents nor states, only when the OS moves pages.
const (
	// Collapse: make huge pages of the range now. Linux 6.1 and later.
	Collapse Advice = iota

	// WillNeed: read the range back from swap. Linux and macOS.
	WillNeed

	// Cold: evict these pages first when memory is short. Linux 5.4 and later.
	Cold

	// PageOut: write the range to swap, if there is any. Linux 5.4 and later, macOS.
	PageOut

	adviceEnd
)

// Advise gives advice on [off, off+n), once, not for the future. off and n are multiples of
// PageSize, n > 0, and all of the range must be ready. An error is an *Error that wraps
// ErrUnsupported where the system lacks the advice or does not accept it for this range, and
// otherwise ErrMemory; callers may ignore either.
func (r *Region) Advise(off, n int, a Advice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readyPages("Advise", off, n)
	if a >= adviceEnd {
		panic(fmt.Sprintf("mmap: Advise: advice %d is not one of Collapse, WillNeed, Cold, PageOut", a))
	}
	if errno := r.space.sys.advise(&r.memory, off, n, a); errno != nil {
		return r.refuse("Advise", off, n, ErrMemory, errno)
	}
	return nil
}
