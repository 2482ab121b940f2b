package universe

import (
	"os"
	"unsafe"
)

// Pages is the part of package mmap that the universe needs: *mmap.Region, or in tests a type that
// fails on command. Each call covers at most one granule.
type Pages interface {
	// Base is the address of the first byte.
	Base() unsafe.Pointer
	// Size is in bytes.
	Size() int
	// Commit makes n bytes at offset usable, which read as zero.
	Commit(offset, n int) error
	// Decommit takes them back.
	Decommit(offset, n int) error
	// Discard gives their memory back; they stay usable and read as zero.
	Discard(offset, n int) error
	// Fine switches small pages for the granule at offset on or off.
	Fine(offset int, on bool) error
	// FineSize is the number of bytes that have small pages by Fine.
	FineSize() int
	// Prefault backs n bytes at offset with memory.
	Prefault(offset, n int) error
	// MapFile makes n bytes at offset usable, which are those of a file from at on. It covers any
	// number of granules.
	MapFile(offset, n int, f *os.File, at int64) error
	// Release ends all of it.
	Release() error
	// Committed is the number of bytes committed.
	Committed() int
	// Resident is the number of bytes that the system has backed with memory.
	Resident() (int, error)
}
