package mmap

import (
	"fmt"
	"strings"
)

// Hint is a property of a whole region that the OS may have for it.
type Hint uint8

// Hints hold for all of a region whatever its states, from [Region.Hint] to
// Release; a parked range has none.
const (
	// NoDump leaves the region out of core dumps. Linux.
	NoDump Hint = 1 << iota

	// WipeOnFork: a child process sees zeros. Linux; without effect on Windows,
	// which has no fork.
	WipeOnFork

	// SmallPages asks for no huge pages, for regions with many guards or that
	// are touched here and there. Linux.
	SmallPages

	hintEnd
)

// String is the name of the constant.
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

// Hint switches one hint on or off. An error is an *Error that wraps
// ErrUnsupported where the system has no such thing, else ErrMemory; then the
// hint is as it was.
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
	if errno := r.hint(h, on); errno != nil {
		return r.refuse("Hint", 0, r.memory.size, ErrMemory, errno)
	}
	return r.done()
}

// hint is Hint for a change. r.mu is held.
func (r *Region) hint(h Hint, on bool) error {
	if errno := r.space.sys.hint(&r.memory, h, on); errno != nil {
		_ = r.space.sys.hint(&r.memory, h, !on) // the OS may have got through half of the mappings
		return errno
	}
	r.hints ^= h
	return nil
}

// unhint takes all hints back; what came before a refusal stays taken. r.mu is held.
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

// maxName is the length of the longest name in bytes that Linux takes.
const maxName = 79

// Name labels the region in lists of mappings: /proc/self/maps shows
// "[anon:text]" on Linux kernels built for it. It is best effort: other systems
// ignore it, a long text is cut to 79 bytes and what the kernel does not allow
// becomes '_'. An empty text, and Release, take the name away.
func (r *Region) Name(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Name")
	}
	r.name = label(text)
	r.space.sys.name(&r.memory, r.name)
}

// label is the nearest text that is allowed as a name.
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

// Advice is what the program expects to do with ready memory.
type Advice uint8

// Advice changes no contents and no states, only when the OS moves pages.
const (
	// Collapse: make huge pages of it now. Linux 6.1 and later.
	Collapse Advice = iota

	// WillNeed: read it back from swap. Linux and macOS.
	WillNeed

	// Cold: take its pages first when memory is short. Linux 5.4 and later.
	Cold

	// PageOut: write it to swap, where there is any. Linux 5.4 and later, macOS.
	PageOut

	adviceEnd
)

// Advise gives advice on [off, off+n), once, not for the future. off and n are
// multiples of PageSize, n > 0, and all of it is ready. An error is an *Error
// that wraps ErrUnsupported where the system knows no such advice or does not
// take it for this range, else ErrMemory; both can be ignored.
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
