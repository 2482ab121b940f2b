package command

import (
	"unsafe"

	"quarry/ecs"
)

// kind is what a command does.
type kind uint8

const (
	create kind = iota
	instantiate
	destroy
	add      // gives what is not there
	put      // gives, or replaces
	set      // replaces what must be there
	appendTo // to a buffer that must be there
	remove
	apply // a change
	enable
	disable
	kinds
)

var kindNames = [kinds]string{"Create", "Instantiate", "Destroy", "Add", "Put", "Set", "Append", "Remove", "Apply", "Enable", "Disable"}

// record is a command as it lies in a stream, outside the garbage collector's heap, a
// multiple of 8 bytes. What follows depends on the flags and on the op:
//
//	byte 0    2      4      8        16
//	     +----+------+------+--------+--------------+---------------+--------+
//	     | op | flags| size | entity | n, n entities| value         | caller |
//	     +----+------+------+--------+--------------+---------------+--------+
//	                                   if listed      if the op has   if traced
//
// The value is a component's, or the number of elements and the elements of a buffer, or the
// number of a Go value of the stream.
type record struct {
	op    uint16 // number of the op in the stream
	flags uint16
	size  uint32     // bytes, these 16 included
	e     ecs.Entity // that the command is about; Null where it is a list or a query
}

const recordSize = 16

const (
	listed uint16 = 1 << iota // the command is about a list of entities
	linked                    // its value holds placeholders
	traced                    // the caller is known
)

// head returns the record's first 8 bytes: the op, the flags and the size.
func (r *record) head() uint64 {
	return *(*uint64)(unsafe.Pointer(r)) // Safe because a record begins with them, aligned to 8 bytes.
}

// after returns where the record's n'th byte is.
func (r *record) after(n uintptr) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(r), n) // Safe because n is at most the record's size.
}

// bytes returns the size without the caller.
func (r *record) bytes() uint32 {
	if r.flags&traced != 0 {
		return r.size - 8
	}
	return r.size
}

// list returns the entities of a command about a list.
func (r *record) list() []ecs.Entity {
	// Safe because a listed record has so many entities behind their number.
	return unsafe.Slice((*ecs.Entity)(r.after(recordSize+8)), *(*uint64)(r.after(recordSize)))
}

// value returns where the value is.
func (r *record) value() unsafe.Pointer {
	if r.flags&listed != 0 {
		return r.after(recordSize + 8 + 8*uintptr(len(r.list())))
	}
	return r.after(recordSize)
}

// from returns where the record is, in 8 bytes from a base: a universe has at most 2^31 such.
func (r *record) from(base unsafe.Pointer) uint32 {
	return uint32((uintptr(unsafe.Pointer(r)) - uintptr(base)) / 8) // Safe because the address is only a number here.
}

// valueAt returns where the value is, in the same way.
func (r *record) valueAt(base unsafe.Pointer) uint32 {
	return uint32((uintptr(r.value()) - uintptr(base)) / 8) // Safe because the address is only a number here.
}

// source returns the entity that an Instantiate copies.
func (r *record) source() ecs.Entity {
	return *(*ecs.Entity)(r.value()) // Safe because the value of an Instantiate is an entity.
}

// number returns the number of a Go value, or of a buffer's elements.
func (r *record) number() int {
	return int(*(*uint64)(r.value())) // Safe because such values begin with 8 bytes that are it.
}

// caller returns the program counter of the call that recorded the command, or 0.
func (r *record) caller() uintptr {
	if r.flags&traced == 0 {
		return 0
	}
	return uintptr(*(*uint64)(r.after(uintptr(r.size) - 8))) // Safe because a traced record ends with it.
}

// roundUp rounds bytes up to a multiple of 8.
func roundUp(n int) int { return (n + 7) &^ 7 }
