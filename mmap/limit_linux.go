package mmap

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// AddressSpaceLeft returns how many bytes of address space the process may still
// take under its limit (ulimit -v), and a number beyond all address spaces where
// there is no limit or it is not known. The Go runtime takes from the same.
func AddressSpaceLeft() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt {
		return math.MaxInt
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.MaxInt
	}
	pages := 0
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return math.MaxInt
	}
	return max(0, int(limit.Cur)-pages*os.Getpagesize())
}
