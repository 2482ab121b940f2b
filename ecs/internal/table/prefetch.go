package table

import (
	"unsafe"

	"quarry/asm"
	"quarry/internal/universe"
)

// Rows that a list names lie anywhere in a table, and each has a line of the cache in each of its
// columns. Code that works on many prefetches the lines of those to come, so that the waits for
// memory overlap: a row that ends costs some eleven waits otherwise.

// Purpose is what rows are prefetched for.
type Purpose uint8

// The purposes.
const (
	NoPurpose Purpose = iota
	LeaveRows         // rows are copied elsewhere, or end
	FillGaps          // the last rows of the table are copied over the rows
)

// farBytes is how many bytes of rows fit in a second-level cache. Below that, prefetching costs
// more than it gains.
const farBytes = 1 << 20

// Far reports whether the rows exceed the cache.
func (t *Table) Far() bool { return t.Store.Units()*universe.ChunkSize > farBytes }

// Prefetch prefetches rows of a table, which are worked on from the last to the first: their
// indices, in the low 32 bits of each word. Before them, others are worked on, as many as before.
func (t *Table) Prefetch(rows []uint64, before int, purpose Purpose) {
	var room [128]uintptr
	lines := room[:0]
	columns := t.Store.Columns()
	for i, index := range rows {
		pos, row := t.Store.Find(int(uint32(index)))
		at := t.Store.Row(pos, row)
		lines = append(lines, uintptr(unsafe.Pointer(IDAt(at)))) // Safe because the address is only a number.
		for _, c := range columns {
			if len(lines) > len(room)-4 {
				asm.Prefetch(lines)
				lines = lines[:0]
			}
			first := uintptr(at.Element(c.Offset, c.Size))
			lines = append(lines, first)
			if last := first + uintptr(c.Size) - 1; (first^last)/64 != 0 {
				lines = append(lines, last)
			}
		}
		last := t.Store.Len() - before - (len(rows) - i)
		if purpose == FillGaps && last >= 0 { // the row that will fill the gap
			pos, row := t.Store.Find(last)
			e := *IDAt(t.Store.Row(pos, row))
			lines = append(lines, t.all.ids.AddressOf(e))
		}
	}
	asm.Prefetch(lines)
}
