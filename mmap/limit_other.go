//go:build !linux

package mmap

import "math"

// AddressSpaceLeft returns how many bytes of address space the process may still
// take under its limit, where that is known: here a number beyond all address
// spaces.
func AddressSpaceLeft() int { return math.MaxInt }
