package mmap

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// FaultState is the state of the memory at a fault address.
type FaultState uint8

const (
	// FaultReserved: the granule is reserved, either not committed or decommitted.
	FaultReserved FaultState = iota

	// FaultGuard: the page is guarded.
	FaultGuard

	// FaultParked: the region has been released.
	FaultParked

	// FaultReady: the memory is ready by now. Another goroutine changed it between the fault and
	// the check, or a hardware error took the page.
	FaultReady

	// FaultFile: the page is of a file (MapFile), which does not have it any more or could not be
	// read.
	FaultFile
)

var faultStates = [...]string{"reserved", "guard", "parked", "ready", "file"}

// String returns "reserved", "guard", "parked", "ready" or "file".
func (s FaultState) String() string {
	if int(s) < len(faultStates) {
		return faultStates[s]
	}
	return fmt.Sprintf("FaultState(%d)", uint8(s))
}

// FaultError reports an access to memory of this package that was not allowed. It wraps ErrFault
// and the value of the runtime's panic. Where a system reports only the page that faulted (always
// on s390x), Addr is the first byte of the page.
type FaultError struct {
	Addr   uintptr    // the first byte that faulted
	Base   uintptr    // first byte of the region that Addr lies in, or of the parked range, which may join several
	Size   int        // bytes of that region or range
	Offset int        // Addr - Base
	Region *Region    // region that has the range; nil for a parked range
	State  FaultState // state of the memory at Addr when the fault was examined
	Name   string     // name of the region (Region.Name), or ""

	cause runtime.Error
}

// Error returns the address, the state, the offset and the range.
func (e *FaultError) Error() string {
	if e.State == FaultParked {
		return fmt.Sprintf("mmap: fault at %#x: a released region, at offset %d of the %d bytes that are parked at %#x",
			e.Addr, e.Offset, e.Size, e.Base)
	}
	what := map[FaultState]string{
		FaultReserved: "reserved memory, which Commit has not made ready",
		FaultGuard:    "a guard page",
		FaultReady:    "memory that is ready by now",
		FaultFile:     "a page of a file that was cut, or could not be read",
	}[e.State]
	name := ""
	if e.Name != "" {
		name = fmt.Sprintf("%q ", e.Name)
	}
	return fmt.Sprintf("mmap: fault at %#x: %s, at offset %d of the region %sof %d bytes at %#x",
		e.Addr, what, e.Offset, name, e.Size, e.Base)
}

// Unwrap returns ErrFault and the panic of the runtime.
func (e *FaultError) Unwrap() []error { return []error{ErrFault, e.cause} }

// Guarded calls f and turns a fault on memory of this package into a *FaultError. A fault ends f;
// its deferred calls run. A nil error means that f returned. Guarded examines the value of the
// panic: it recognizes the runtime's report of a fault on this memory, whether new or raised again.
// A fault in a deferred call replaces the panic under way, as anywhere in Go. Every other panic
// continues with its value unchanged, including a nil dereference and a fault on other memory (the
// latter as a panic, where without Guarded it would end the process); runtime.Goexit continues too.
//
// Guarded affects only the calling goroutine: a fault in a goroutine that f starts ends the
// process. Calls nest, and the innermost catches the fault. Go memory does not fault, so where Real
// is false Guarded catches nothing. Cost: some ns without a fault, some microseconds with one.
// System calls on memory that is not ready, such as File.Read into it, do not fault: they return
// EFAULT.
func Guarded(f func()) error {
	if f == nil {
		panic("mmap: Guarded: the function is nil")
	}
	return process().guarded(f)
}

func (s *space) guarded(f func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		value := recover()
		if value == nil {
			return
		}
		fault := s.fault(value)
		if fault == nil {
			panic(value)
		}
		err = fault
	}()
	f()
	return nil
}

// fault returns the error for a panic value that is a fault on memory of this space, or nil.
func (s *space) fault(value any) *FaultError {
	cause, ok := value.(runtime.Error)
	if !ok {
		return nil
	}
	at, ok := cause.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	addr := at.Addr()
	e := &FaultError{Addr: addr, State: FaultParked, cause: cause}
	if !s.locate(e) {
		return nil
	}
	if e.Region != nil {
		e.Region.explain(e)
	}
	return e
}

// locate fills in the range of a fault, or reports that the range is not of this space.
func (s *space) locate(e *FaultError) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.parked.at(e.Addr); m != nil {
		e.Base, e.Size = uintptr(m.base), m.size
	} else if e.Region = s.tenants.at(e.Addr); e.Region != nil {
		e.Base, e.Size = uintptr(e.Region.memory.base), e.Region.memory.size
	} else {
		return false
	}
	e.Offset = int(e.Addr - e.Base)
	return true
}

// explain adds the region's state to a fault.
func (r *Region) explain(e *FaultError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := e.Offset / PageSize()
	switch {
	case r.memory.base == nil: // released since the list was searched
		e.Region = nil
	case !r.ready.has(e.Offset / Granule):
		e.State, e.Name = FaultReserved, r.name
	case r.guards.next(p, p+1, true) == p:
		e.State, e.Name = FaultGuard, r.name
	case r.filed.has(e.Offset / Granule):
		e.State, e.Name = FaultFile, r.name
	default:
		e.State, e.Name = FaultReady, r.name
	}
}
