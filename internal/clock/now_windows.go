package clock

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel    = windows.NewLazySystemDLL("kernel32.dll")
	counter   = kernel.NewProc("QueryPerformanceCounter").Addr()
	frequency = read(kernel.NewProc("QueryPerformanceFrequency").Addr()) // counts per second; 10,000,000 as a rule
	start     = read(counter)
)

// read calls a procedure that writes one number. Neither of the two procedures can fail on Windows
// XP or later.
func read(procedure uintptr) (n uint64) {
	// Safe because SyscallN keeps n alive, and its stack where it is, until the procedure
	// has written the 8 bytes of n.
	syscall.SyscallN(procedure, uintptr(unsafe.Pointer(&n)))
	return n
}

// now multiplies to 128 bits, since 64 bits would overflow after half an hour.
func now() time.Duration {
	hi, lo := bits.Mul64(read(counter)-start, uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, frequency)
	return time.Duration(ns)
}
