//go:build !linux && !darwin && !windows

package mmap

// hugePageSize is unknown.
func hugePageSize() int { return 0 }
