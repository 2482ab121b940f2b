package mmap

import (
	"errors"
	"fmt"
)

// Sentinels for errors.Is. An *Error wraps each of them except ErrFault, which a *FaultError wraps;
// none is returned bare.
var (
	// ErrAddressSpace means that the OS has no range of that size for this process.
	ErrAddressSpace = errors.New("mmap: no address space")

	// ErrMemory means that the OS refused to change what backs a range, or that the Go heap could
	// not hold it. The range is in the state before the call. The part of a refused Commit that the
	// OS granted has no access again, unless the OS refused that too.
	ErrMemory = errors.New("mmap: backing refused")

	// ErrAccess means that Decommit, Release, Guard or Lock was refused half way and undoing it was
	// refused as well. The granules concerned are reserved, not ready: their contents are lost, and
	// their memory returns to the OS at their next Commit. They have no access, unless the OS
	// refused to remove that as well. The pages of a failed Guard count as guarded, the granules of
	// a failed Lock as locked.
	ErrAccess = errors.New("mmap: backing refused and access lost")

	// ErrUnsupported means that this system, or this backing, lacks the operation. It wraps the
	// ErrUnsupported of package errors.
	ErrUnsupported = fmt.Errorf("mmap: not offered here: %w", errors.ErrUnsupported)

	// ErrFault means that memory was touched that must not be; a *FaultError wraps it.
	ErrFault = errors.New("mmap: fault")
)

// These stand in for an errno where this package refuses before the OS would.
var (
	errMappings = errors.New("too many separate ready ranges") // ready, guarded or locked; see space.claim
	errTooLarge = errors.New("more than addresses can count")
	errMost     = errors.New("more than all regions may have together")
	errGoHeap   = errors.New("more than the Go heap is asked to hold in one object")
	errNoGuards = fmt.Errorf("a Go object has no guards: %w", ErrUnsupported)
	errOfFile   = fmt.Errorf("pages of a file, whose bytes would come back: %w", ErrUnsupported)
	errFileEnds = errors.New("the file ends before")
	errNoSuch   = fmt.Errorf("no such call: %w", ErrUnsupported)
)

// Error is the refusal of one call. errors.Is and errors.As see both Err and Errno.
type Error struct {
	Op     string // function that failed, such as Reserve or Commit
	Offset int    // bytes from the base of the region; 0 for the whole region
	Size   int    // bytes of the request
	Err    error  // ErrAddressSpace, ErrMemory, ErrAccess or ErrUnsupported
	Errno  error  // error of the OS; a syscall.Errno where the OS was called

	advice string // what the user can do; may be empty
}

// Error returns the call, the size, the errno and what the user can do.
func (e *Error) Error() string {
	where := fmt.Sprintf("at offset %d", e.Offset)
	if e.Op == "Reserve" {
		where = "of address space"
	}
	text := fmt.Sprintf("mmap: %s: %d bytes %s: %v", e.Op, e.Size, where, e.Errno)
	if e.Err == ErrAccess {
		text += ", and access could not be restored"
	}
	if e.advice != "" {
		text += " (" + e.advice + ")"
	}
	return text
}

// Unwrap returns the sentinel and the errno, omitting nil.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Err, e.Errno} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
