package mmap

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages gives ranges of the address space of the process.
type pages struct {
	huge     bool // ask for huge pages; false: ask for small ones
	mappings int  // runs of equal access to stop at
	guards   GuardKind
}

func newPages() pages {
	return pages{
		huge:     os.Getenv("QUARRY_HUGEPAGES") != "off",
		mappings: mapCount() / 4, // a run is up to two mappings; half of them stay for everyone else
		guards:   guardKind(),
	}
}

// mapCount is how many mappings the kernel allows a process.
func mapCount() int {
	const usual = 65530 // default of the kernel since 2.6
	if n := readNumber("/proc/sys/vm/max_map_count"); n > 0 {
		return n
	}
	return usual
}

// mapped counts the lines of a file of the kernel, one for each mapping.
func (pages) mapped() int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return bytes.Count(maps, []byte("\n"))
}

// hugePageSize is the size that a huge page of anonymous memory has.
func hugePageSize() int {
	return max(readNumber("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"), 0)
}

// readNumber is the decimal number that a file of the kernel holds, or 0.
func readNumber(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}

func (p pages) traits() traits {
	return traits{name: "Linux pages", align: Granule, mappings: p.mappings, refused: ErrAddressSpace, guards: p.guards}
}

const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

func (p pages) reserve(size int) (memory, error) {
	slack := Granule - PageSize() // enough to align any page
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size+slack), unix.PROT_NONE, reserveFlags)
	if err != nil {
		return memory{}, err
	}
	head := int(-uintptr(start) & (Granule - 1))
	// Safe because start is a multiple of the page size, so head <= slack and
	// [head, head+size) lies inside the mapping of size+slack bytes.
	m := memory{base: unsafe.Add(start, head), size: size}
	trim(start, head)
	// Safe because it is the end of the range, slack-head >= 0 bytes before the
	// end of the mapping, and is not touched.
	trim(unsafe.Add(m.base, size), slack-head)

	// Once for the whole range, not at each Commit: so ready granules, and
	// reserved ones that were ready, have equal flags and share mappings. A
	// kernel without huge pages refuses, which changes nothing.
	advice := unix.MADV_HUGEPAGE
	if !p.huge {
		advice = unix.MADV_NOHUGEPAGE
	}
	_ = unix.Madvise(m.bytes(0, size), advice)
	return m, nil
}

// trim gives back what alignment did not need, which nobody has seen yet. If the
// OS refuses, it stays reserved without access and is lost to the process.
func trim(start unsafe.Pointer, n int) {
	if n > 0 {
		_ = unix.MunmapPtr(start, uintptr(n))
	}
}

// room maps and unmaps: nobody has seen the range.
func (pages) room(size int) error {
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, reserveFlags)
	if err == nil {
		err = unix.MunmapPtr(start, uintptr(size))
	}
	return err
}

func (p pages) allow(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_READ|unix.PROT_WRITE)
}

func (p pages) deny(m *memory, off, n int) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_NONE)
}

func (p pages) drop(m *memory, off, n int) error {
	return unix.Madvise(m.bytes(off, n), unix.MADV_DONTNEED)
}

func (p pages) advice(op string, errno error) string {
	switch {
	case errno == errMappings && op == "Guard":
		return "use fewer guards, or a kernel that marks pages (6.13), or raise vm.max_map_count"
	case errno == errMappings:
		return "commit neighbouring granules, or raise vm.max_map_count, of which a quarter may be ready ranges"
	case op == "Lock":
		return `lock less, or raise the limit that "ulimit -l" shows`
	case op == "Guard" && errno == unix.EINVAL:
		return "locked memory takes no marks: munlockall, or set QUARRY_GUARDS=access"
	case op == "Reserve":
		return `lower the size, or raise the limit that "ulimit -v" shows`
	case errno == unix.ENOMEM:
		return `decommit something, or raise the limit that "ulimit -d" shows or vm.max_map_count`
	case errno == unix.EINVAL && (op == "Decommit" || op == "Release"):
		return "locked memory cannot be decommitted: munlockall, or do not use mlockall"
	}
	return ""
}
