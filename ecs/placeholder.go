package ecs

import (
	"fmt"
	"quarry/ecs/internal/entity"
)

// Placeholders stand for entities that are not made yet: what a command buffer gives out
// for those that it will create. They have the flag P of Entity, a number in place of index
// and tag, and the buffer in place of the version:
//
//	bit 0                             31  32                        64
//	    +-----------------------------+--+--------------------------+
//	    | number 31                   | 1| buffer 32                |
//	    +-----------------------------+--+--------------------------+

// MaxPlaceholders is the number of placeholders of a buffer.
const MaxPlaceholders = 1 << 31

// Placeholder returns the number'th placeholder of a buffer. It names no entity of any
// world: look-ups and changes panic for it. It panics for a number that is not in
// [0, MaxPlaceholders).
func Placeholder(number int, buffer uint32) Entity {
	if uint(number) >= MaxPlaceholders {
		panic(fmt.Sprintf("ecs: Placeholder: number %d is not in [0, %d)", number, MaxPlaceholders))
	}
	return Entity(entity.MakePlaceholder(uint32(number), buffer))
}

// IsPlaceholder reports whether e is a placeholder.
func (e Entity) IsPlaceholder() bool { return entity.ID(e).IsPlaceholder() }

// Placeholder returns the number and the buffer of a placeholder.
func (e Entity) Placeholder() (number int, buffer uint32) {
	n, buffer := entity.ID(e).Placeholder()
	return int(n), buffer
}

// Owns reports whether e carries the world's tag: whether this world made it, alive or
// not, or one that was closed before. Any goroutine may call it.
func (w *World) Owns(e Entity) bool { return entity.ID(e).Is(w.ids.Tag()) && e.index() != 0 }
