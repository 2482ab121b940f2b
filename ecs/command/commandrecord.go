package command

import (
	"unsafe"

	"quarry/ecs"
)

// commandKind is what a command does.
type commandKind uint8

const (
	create commandKind = iota
	instantiate
	destroy
	add      // gives a type that is missing
	put      // gives a type or replaces its value
	set      // replaces the value of a type that must exist
	appendTo // appends to a buffer that must exist
	remove
	apply // applies a change
	enable
	disable
	kinds
)

var kindNames = [kinds]string{"Create", "Instantiate", "Destroy", "Add", "Put", "Set", "Append", "Remove", "Apply",
	"Enable", "Disable"}

// commandRecord is a command in a stream. It lies outside the garbage collector's heap, and its
// size is a multiple of 8 bytes. What follows the header depends on the flags and on the op:
//
//	byte 0    2      4      8        16
//	     +----+------+------+--------+--------------+---------------+--------+
//	     | op | flags| size | entity | n, n entities| value         | caller |
//	     +----+------+------+--------+--------------+---------------+--------+
//	                                   if listed      if the op has   if traced
//
// The value is the value of a component; or the number of elements of a buffer, then the elements;
// or the number of a Go value of the stream.
type commandRecord struct {
	op    uint16 // number of the op in the stream
	flags uint16
	size  uint32     // bytes, including these 16
	e     ecs.Entity // that the command is about; Null for a list or a query
}

const recordSize = 16

const (
	listed          uint16 = 1 << iota // the command is about a list of entities
	hasPlaceholders                    // its value holds placeholders
	traced                             // the record ends with the caller
	stale                              // it names an entity that is another now, see stale.go
)

// head returns the record's first 8 bytes: the op, the flags and the size.
func (r *commandRecord) head() uint64 {
	return *(*uint64)(unsafe.Pointer(r)) // Safe because a record begins with them, aligned to 8 bytes.
}

// after returns the address of the record's n'th byte.
func (r *commandRecord) after(n uintptr) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(r), n) // Safe because n is at most the record's size.
}

// bytes returns the record's size without the caller.
func (r *commandRecord) bytes() uint32 {
	if r.flags&traced != 0 {
		return r.size - 8
	}
	return r.size
}

// list returns the entities of a command about a list.
func (r *commandRecord) list() []ecs.Entity {
	// Safe because a listed record has so many entities after their number.
	return unsafe.Slice((*ecs.Entity)(r.after(recordSize+8)), *(*uint64)(r.after(recordSize)))
}

// value returns the address of the value.
func (r *commandRecord) value() unsafe.Pointer {
	if r.flags&listed != 0 {
		return r.after(recordSize + 8 + 8*uintptr(len(r.list())))
	}
	return r.after(recordSize)
}

// from returns the position of the record in units of 8 bytes from base. A universe has at most
// 2^31.
func (r *commandRecord) from(base unsafe.Pointer) uint32 {
	return uint32((uintptr(unsafe.Pointer(r)) - uintptr(base)) / 8) // Safe because the address is only a number here.
}

// valueAt returns the position of the value, in the same units.
func (r *commandRecord) valueAt(base unsafe.Pointer) int32 {
	return int32((uintptr(r.value()) - uintptr(base)) / 8) // Safe because the address is only a number here.
}

// source returns the entity that an Instantiate copies.
func (r *commandRecord) source() ecs.Entity {
	return *(*ecs.Entity)(r.value()) // Safe because the value of an Instantiate is an entity.
}

// number returns the number of a Go value, or the number of elements of a buffer.
func (r *commandRecord) number() int {
	return int(*(*uint64)(r.value())) // Safe because such values begin with the number, in 8 bytes.
}

// caller returns the program counter of the call that recorded the command, or 0.
func (r *commandRecord) caller() uintptr {
	if r.flags&traced == 0 {
		return 0
	}
	return uintptr(*(*uint64)(r.after(uintptr(r.size) - 8))) // Safe because a traced record ends with it.
}

// roundUp rounds bytes up to a multiple of 8.
func roundUp(n int) int { return (n + 7) &^ 7 }

// mostBytes is the size of the largest record, the largest run of chunks.
const mostBytes = 1 << 20

// named is an entity that a record names.
type named struct {
	r *commandRecord
	e ecs.Entity
}
