package guard

import (
	"os"
	"runtime/debug"
	"sync"
	"unsafe"
)

// Fault returns the address that the system reports for a fault at addr: addr itself or, on a
// system that reports pages only (s390x), the first byte of its page.
func Fault(addr uintptr) uintptr {
	if pagesOnly() {
		return addr &^ (uintptr(os.Getpagesize()) - 1)
	}
	return addr
}

// pagesOnly touches the middle of a page without access, to see which address the system reports.
var pagesOnly = sync.OnceValue(func() bool {
	if !Real {
		return false
	}
	page := os.Getpagesize()
	room, release, err := pages(page)
	if err != nil {
		return false
	}
	defer release()
	// Safe because the page behind the room is mapped without access.
	return faultAt((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(room)), page+page/2)))%uintptr(page) == 0
})

// faultAt stores to p, which must fault, and returns the address reported for the fault.
func faultAt(p *byte) (addr uintptr) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { addr = recover().(interface{ Addr() uintptr }).Addr() }()
	*p = 1
	return 0
}
