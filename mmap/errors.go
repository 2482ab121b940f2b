package mmap

import (
	"errors"
	"fmt"
)

// Sentinels for errors.Is. Each is wrapped by an *Error, ErrFault by a *FaultError;
// none is returned bare.
var (
	// ErrAddressSpace: the OS has no range of that size for this process.
	ErrAddressSpace = errors.New("mmap: no address space")

	// ErrMemory: the OS would not change what backs a range, or the Go heap
	// would not hold it. The range is in the state it was in before the call; what
	// a refused Commit got of it has no access again, unless the OS refused that too.
	ErrMemory = errors.New("mmap: backing refused")

	// ErrAccess: Decommit, Release, Guard or Lock was refused half way and going back
	// was refused as well. The granules concerned are reserved, not ready: their
	// contents are gone, their memory goes back to the OS at their next Commit. They
	// have no access, unless the OS refused to take it away as well.
	// The pages of a Guard count as guarded, the granules of a Lock as locked.
	ErrAccess = errors.New("mmap: backing refused and access lost")

	// ErrUnsupported: this system, or this backing, has no such thing. It wraps
	// the ErrUnsupported of package errors.
	ErrUnsupported = fmt.Errorf("mmap: not offered here: %w", errors.ErrUnsupported)

	// ErrFault: memory was touched that may not be; wrapped by a *FaultError.
	ErrFault = errors.New("mmap: fault")
)

// These stand for an errno where this package refuses before the OS would.
var (
	errMappings = errors.New("too many separate ready ranges") // ready, guarded or locked; see space.claim
	errTooLarge = errors.New("more than addresses can count")
	errMost     = errors.New("more than all regions may have together")
	errGoHeap   = errors.New("more than the Go heap is asked to hold in one object")
	errNoGuards = fmt.Errorf("a Go object has no guards: %w", ErrUnsupported)
	errNoSuch   = fmt.Errorf("no such call: %w", ErrUnsupported)
)

// Error is the refusal of one call. errors.Is and errors.As see both Err and Errno.
type Error struct {
	Op     string // function that failed, such as Reserve or Commit
	Offset int    // bytes from the base of the region; 0 where it is about all of it
	Size   int    // bytes the call was about
	Err    error  // ErrAddressSpace, ErrMemory, ErrAccess or ErrUnsupported
	Errno  error  // what the OS said; a syscall.Errno where the OS was asked

	advice string // what the user can do; may be empty
}

// Error gives the call, the size, the errno and what to do about it.
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

// Unwrap gives the sentinel and the errno, without those that are nil.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Err, e.Errno} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
