package mmap

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// PageSize returns the page size of the OS in bytes, a power of two: 4 KiB on amd64, 4, 16 or 64
// KiB on arm64.
func PageSize() int { return os.Getpagesize() }

// HugePageSize returns the size in bytes of the huge pages that the OS can give to ordinary memory,
// or 0 when unknown, as everywhere except on Linux. On Linux with 4 KiB pages it is Granule. The
// first call reads a file of the kernel.
func HugePageSize() int { return hugePageSize() }

// hugePageSize reads a file that only Linux has. macOS offers no huge pages for anonymous memory;
// large pages of Windows need a privilege, must be committed with their reservation and cannot be
// decommitted.
var hugePageSize = sync.OnceValue(func() int {
	return readNumber("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
})

// readNumber returns the positive number that a file of the kernel holds, or 0.
func readNumber(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
