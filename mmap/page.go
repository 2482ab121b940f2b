package mmap

import (
	"os"
	"sync"
)

// PageSize is the page size of the OS in bytes, a power of two: 4 KiB on amd64,
// 4, 16 or 64 KiB on arm64.
func PageSize() int { return os.Getpagesize() }

// HugePageSize is the size in bytes of the huge pages that the OS can give to
// ordinary memory, or 0 when unknown. On Linux with 4 KiB pages it is Granule.
// The first call reads a file of the kernel.
func HugePageSize() int { return hugePage() }

var hugePage = sync.OnceValue(hugePageSize)
