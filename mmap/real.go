//go:build !race && (linux || darwin || windows)

package mmap

// Real is true if pages come from the OS, and touching memory that is not ready
// faults. It is false if they come from the Go heap.
const Real = true

func platform() system { return newPages() }
