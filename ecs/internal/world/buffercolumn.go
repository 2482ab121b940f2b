package world

import (
	"unsafe"

	"quarry/ecs/internal/value"
)

// BufferColumn is the buffers of rows of one chunk, for a caller that writes elements to many of
// them, where these fit the chunk. It checks nothing: the caller has the rows, and has marked them
// changed.
type BufferColumn struct {
	first unsafe.Pointer // header of the first row
	size  uintptr        // bytes from one row's to the next
	shape *value.Shape
}

// BuffersAt returns the buffers of a type, the first of which is at p.
func (t *Type) BuffersAt(p unsafe.Pointer) BufferColumn {
	return BufferColumn{p, uintptr(t.Size), &t.Shape}
}

// header returns the header of the i'th row.
func (c *BufferColumn) header(i int) *value.Header {
	// Safe because the caller's rows have a header each.
	return (*value.Header)(unsafe.Add(c.first, uintptr(i)*c.size))
}

// Inline returns where n elements of the i'th row belong if the buffer is inline and they fit:
// behind the others, or in their place unless more is set. Otherwise it returns nil.
func (c *BufferColumn) Inline(i, n int, more bool) unsafe.Pointer {
	h, at := c.header(i), 0
	if more {
		at = h.Len()
	}
	if h.Spilled() || at+n > c.shape.Inline {
		return nil
	}
	if n == 0 {
		return unsafe.Pointer(h) // behind the last header of a chunk it would lie outside
	}
	return unsafe.Add(unsafe.Pointer(h), value.HeaderSize+at*c.shape.Element) // Safe because there is room for them.
}

// SetLen counts n elements that were written where Inline has said.
func (c *BufferColumn) SetLen(i, n int, more bool) {
	h := c.header(i)
	if more {
		n += h.Len()
	}
	h.SetLen(n)
}
