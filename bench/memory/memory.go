package main

import (
	"errors"
	"fmt"
	"unsafe"
)

// errWrong is wrapped by every error about a wrong answer: a byte that is not as it was written,
// blocks that overlap, books that do not add up.
var errWrong = errors.New("wrong answer")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errWrong, fmt.Sprintf(format, args...))
}

// memory is one allocator as the workloads see it. A value is the handle of one goroutine; fork
// makes a handle on the same memory for another goroutine.
//
// Calls go through this interface, which costs every allocator the same 1 to 2 ns per pair; the
// null allocator shows how much.
type memory interface {
	// alloc returns a block of at least size bytes, aligned to align, a power of two; 0 stands for
	// the alignment that the allocator promises, at least 8.
	alloc(size, align int) (unsafe.Pointer, error)
	// realloc resizes a block of old bytes that came from alloc with align 0 or from realloc, and
	// keeps its first min(old, size) bytes.
	realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error)
	// free takes a block back; size and align are as for alloc.
	free(p unsafe.Pointer, size, align int)
	// zeroed is set if alloc returns zeros.
	zeroed() bool
	// fork returns a handle for another goroutine, which ends it with retire. A block outlives the
	// handle that it came from.
	fork() (memory, error)
	retire() error
	// committed is the memory that the system has promised in bytes, or -1 if the allocator does
	// not report it.
	committed() int64
	// close ends the allocator. Live blocks are a wrong answer.
	close() error
}

// trimmer is a memory that can give memory back to the system.
type trimmer interface {
	trim() error
}

// preparer is a memory that wants to know in advance how many blocks will be live at once.
type preparer interface {
	prepare(size, n int) error
}

// kind is what a workload allocates.
type kind int

const (
	chunks kind = iota // 16 KiB each
	blocks             // of any size, also by several goroutines
	held               // blocks of any size by one goroutine, where resident memory is measured
)

// allocator is one allocator by name.
type allocator struct {
	name   string
	ours   bool                   // Quarry's
	chunks func() (memory, error) // nil: not for chunks
	blocks func() (memory, error) // nil: not for blocks
	lean   func() (memory, error) // blocks, set up for a small footprint; nil: no such set-up
	reuses bool                   // it hands out what it keeps: its resident memory is no measure
	single bool                   // it is for one goroutine
	peer   *peer                  // an allocator of C, which the C program runs; nil: it is in Go
}

// allocators are run in this order within a round.
var allocators = append(quarry,
	allocator{name: "go", chunks: newMake, blocks: newMake},
	allocator{name: "modernc", blocks: newModernc, single: true},
	allocator{name: "sync.Pool", chunks: newPool, blocks: newPool, reuses: true},
	allocator{name: "null", chunks: newNull, blocks: newNull, reuses: true},
)

// opener returns the function that opens the allocator for a kind, or nil.
func (a *allocator) opener(k kind) func() (memory, error) {
	switch {
	case k == chunks:
		return a.chunks
	case k == blocks && a.single, k == held && a.reuses:
		return nil
	}
	return a.blocks
}

// replays reports whether the allocator can replay traces.
func (a *allocator) replays() bool { return a.blocks != nil || a.peer != nil }

func allocatorNamed(name string) *allocator {
	for i := range allocators {
		if allocators[i].name == name {
			return &allocators[i]
		}
	}
	return nil
}

// at is the byte at p + i.
func at(p unsafe.Pointer, i int) *byte {
	// Safe because callers stay below the size of the block.
	return (*byte)(unsafe.Add(p, i))
}

// mark writes the tag of a block of size bytes into its first and last byte.
func mark(p unsafe.Pointer, size int, tag byte) {
	if size > 0 {
		*at(p, size-1) = ^tag
		*at(p, 0) = tag
	}
}

// marked reports whether the first and the last byte are as mark wrote them.
func marked(p unsafe.Pointer, size int, tag byte) bool {
	return size == 0 || *at(p, 0) == tag && (size == 1 || *at(p, size-1) == ^tag)
}

// pageSize is the distance between the bytes that touch writes.
const pageSize = 4 << 10

// touch writes one byte in each 4 KiB of a block.
func touch(p unsafe.Pointer, size int, tag byte) {
	for i := 0; i < size; i += pageSize {
		*at(p, i) = tag
	}
}

// touched reports whether all bytes are as touch wrote them.
func touched(p unsafe.Pointer, size int, tag byte) bool {
	for i := 0; i < size; i += pageSize {
		if *at(p, i) != tag {
			return false
		}
	}
	return true
}

// tagOf spreads a number over a byte.
func tagOf(n int) byte { return byte(uint32(n) * 0x9e3779b1 >> 24) }

// solid is a tag that is not 0, as memory is that nobody wrote.
func solid(n int) byte { return tagOf(n) | 1 }
