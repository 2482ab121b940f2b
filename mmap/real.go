//go:build !race && (linux || darwin || windows)

package mmap

// Real reports whether pages come from the OS, so that touching memory that is not ready faults.
// Otherwise they come from the Go heap.
const Real = true

func platform() backing { return newPages() }
