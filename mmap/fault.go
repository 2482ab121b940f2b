package mmap

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// FaultState is the state of the memory at a fault address.
type FaultState uint8

const (
	// FaultReserved: the granule is reserved: not committed, or decommitted.
	FaultReserved FaultState = iota

	// FaultGuard: the page is guarded.
	FaultGuard

	// FaultParked: the region has been released.
	FaultParked

	// FaultReady: the memory is ready by now; another goroutine changed it between the fault and
	// the look, or a hardware error took the page.
	FaultReady
)

var faultStates = [...]string{"reserved", "guard", "parked", "ready"}

// String is "reserved", "guard", "parked" or "ready".
func (s FaultState) String() string {
	if int(s) < len(faultStates) {
		return faultStates[s]
	}
	return fmt.Sprintf("FaultState(%d)", uint8(s))
}

// FaultError is a touch of memory of this package that was not allowed. It wraps ErrFault and what
// the runtime panicked with. Some systems tell only which page faulted: Addr is the first byte of
// the page then (on s390x always).
type FaultError struct {
	Addr   uintptr    // the first byte that faulted
	Base   uintptr    // first byte of the region that Addr lies in, or of the parked range, which may be that of several
	Size   int        // bytes of that region or range
	Offset int        // Addr - Base
	Region *Region    // that has the range; nil when the range is parked
	State  FaultState // what the memory at Addr was when the fault was looked at
	Name   string     // of the region (Region.Name), or ""

	cause runtime.Error
}

// Error gives the address, the state, the offset and the range.
func (e *FaultError) Error() string {
	if e.State == FaultParked {
		return fmt.Sprintf("mmap: fault at %#x: a released region, at offset %d of the %d bytes that are parked at %#x",
			e.Addr, e.Offset, e.Size, e.Base)
	}
	what := map[FaultState]string{
		FaultReserved: "reserved memory, which Commit has not made ready",
		FaultGuard:    "a guard page",
		FaultReady:    "memory that is ready by now",
	}[e.State]
	name := ""
	if e.Name != "" {
		name = fmt.Sprintf("%q ", e.Name)
	}
	return fmt.Sprintf("mmap: fault at %#x: %s, at offset %d of the region %sof %d bytes at %#x",
		e.Addr, what, e.Offset, name, e.Size, e.Base)
}

// Unwrap gives ErrFault and the panic of the runtime.
func (e *FaultError) Unwrap() []error { return []error{ErrFault, e.cause} }

// Guarded calls f and turns a fault on memory of this package into a *FaultError. The rest of f is
// not run then; its deferred calls are. Nil means that f returned. What counts is the value of the
// panic: the runtime's report of a fault there, new or raised again. A fault in a deferred call
// replaces the panic under way, as it does in all of Go. Every other panic goes on with its value
// unchanged, a nil dereference and a fault on memory of others among them (the latter as a panic,
// where without Guarded it would end the process); runtime.Goexit goes on too.
//
// Guarded holds for the calling goroutine alone: a fault in a goroutine that f starts ends the
// process. Calls nest; the innermost gets the fault. Go memory does not fault, so where Real is
// false there is nothing for Guarded to catch. Cost: some ns without a fault, some microseconds
// with one. System calls on memory that is not ready (File.Read into it, say) do not fault: they
// return EFAULT.
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

// fault is the error for a panic value that is a fault on memory of this space, or nil.
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

// locate fills in which range a fault is in, or reports that it is none of this space.
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

// explain fills in what the region knows of a fault.
func (r *Region) explain(e *FaultError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := e.Offset / PageSize()
	switch {
	case r.memory.base == nil: // released since the look into the list
		e.Region = nil
	case !r.ready.has(e.Offset / Granule):
		e.State, e.Name = FaultReserved, r.name
	case r.guards.next(p, p+1, true) == p:
		e.State, e.Name = FaultGuard, r.name
	default:
		e.State, e.Name = FaultReady, r.name
	}
}
