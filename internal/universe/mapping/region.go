package mapping

import (
	"os"
	"unsafe"

	"quarry/mmap"
)

// Region is what a mapping needs of package mmap: *mmap.Region, or in tests a region that fails on
// command.
type Region interface {
	// Base is the address of the first byte.
	Base() unsafe.Pointer
	// Size is in bytes.
	Size() int
	// Commit makes n bytes at offset usable, which read as zero.
	Commit(offset, n int) error
	// Decommit takes them back.
	Decommit(offset, n int) error
	// MapFile makes n bytes at offset usable, which are those of a file from at on.
	MapFile(offset, n int, f *os.File, at int64) error
	// Guard makes n bytes at offset fault, and gives their memory back.
	Guard(offset, n int) error
	// Unguard undoes Guard.
	Unguard(offset, n int) error
	// Hint requests a kind of page.
	Hint(h mmap.Hint, on bool) error
	// Release ends all of it.
	Release() error
	// Committed is the number of bytes committed.
	Committed() int
}
