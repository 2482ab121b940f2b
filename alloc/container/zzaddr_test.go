package container
import "unsafe"
func addr(p unsafe.Pointer, n uintptr) unsafe.Pointer { return unsafe.Add(p, n) }
