package ecs

import "fmt"

// Placeholders stand for entities that are not made yet: what a command buffer gives out
// for those that it will create. They have the flag P of Entity, a number in place of index
// and tag, and the buffer in place of the version:
//
//	bit 0                             31  32                        64
//	    +-----------------------------+--+--------------------------+
//	    | number 31                   | 1| buffer 32                |
//	    +-----------------------------+--+--------------------------+

const placeholderFlag = 1 << 31

// MaxPlaceholders is the number of placeholders of a buffer.
const MaxPlaceholders = 1 << 31

// Placeholder returns the number'th placeholder of a buffer. It names no entity of any
// world: look-ups and changes panic for it. It panics for a number that is not in
// [0, MaxPlaceholders).
func Placeholder(number int, buffer uint32) Entity {
	if uint(number) >= MaxPlaceholders {
		panic(fmt.Sprintf("ecs: Placeholder: number %d is not in [0, %d)", number, MaxPlaceholders))
	}
	return Entity{ref: uint32(number) | placeholderFlag, version: buffer}
}

// IsPlaceholder reports whether e is a placeholder.
func (e Entity) IsPlaceholder() bool { return e.ref&placeholderFlag != 0 }

// Placeholder returns the number and the buffer of a placeholder.
func (e Entity) Placeholder() (number int, buffer uint32) {
	return int(e.ref &^ placeholderFlag), e.version
}

// Owns reports whether e carries the world's tag: whether this world made it, alive or
// not, or one that was closed before. Any goroutine may call it.
func (w *World) Owns(e Entity) bool { return e.ref&^indexMask == w.tag && e.ref&indexMask != 0 }
