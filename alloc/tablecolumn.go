package alloc

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/layout"
)

// TableOption is a column of a table, or changes how NewTable works.
type TableOption func(*tableConfig)

type tableConfig struct {
	types  []reflect.Type
	rows   int
	growth Growth
}

// tableColumn is a type of a table's records.
type tableColumn struct {
	rtype  reflect.Type
	offset uint32 // bytes from a chunk's start to row 0
}

// Col gives the records of a table a T. It panics when T holds a Go pointer, with
// the path to it.
func Col[T any]() TableOption {
	t := reflect.TypeFor[T]()
	if err := layout.PointerFree(t); err != nil {
		panic(fmt.Sprintf("alloc: Col[%s]: %v; records must hold no Go pointers, for they lie outside the garbage collector's heap",
			t, err))
	}
	return func(c *tableConfig) { c.types = append(c.types, t) }
}

// PreAllocate makes NewTable take chunks for so many records in advance; they stay
// with the table until Trim or Close. It panics for a negative number.
func PreAllocate(rows int) TableOption {
	if rows < 0 {
		panic(fmt.Sprintf("alloc: PreAllocate: rows=%d is negative", rows))
	}
	return func(c *tableConfig) { c.rows = rows }
}

// ChunkGrowth sets how many chunks a table has after it must grow, and with it how
// many it keeps when they empty. The default is DefaultChunkGrowth.
func ChunkGrowth(g Growth) TableOption { return func(c *tableConfig) { c.growth = g } }

// Create writes a record's T and returns where it lies. It panics like Get.
func Create[T any](t *Table, h Handle, value T) *T {
	p := Get[T](t, h)
	*p = value
	return p
}

// Get returns a record's T. The pointer is good until the next Free or Clear of the
// table. It panics for a type that is no column of the table, for a handle of
// another table or from before Clear, and for one behind the last record. Cost: a
// comparison of types for each column up to T's; loops over many records are better
// off with ColumnOf.
func Get[T any](t *Table, h Handle) *T {
	var zero T
	if !t.has(h) {
		t.refuse("Get", h)
	}
	offset := t.column("Get", reflect.TypeFor[T]())
	// Safe because h names a row of the chunk, and the column, of the same type, has
	// room for them all.
	return (*T)(unsafe.Add(t.grid.u.PointerTo(t.grid.chunks[h.Chunk()].First), offset+uintptr(h.Row())*unsafe.Sizeof(zero)))
}

// ColumnOf returns the T of every record in a chunk, chunk in [0, t.Chunks()); it
// has t.Rows(chunk) elements. The slice is good until the next Free or Clear; a
// record that is allocated later is not in it. It panics for a type that is no
// column of the table and for a chunk that it does not have.
func ColumnOf[T any](t *Table, chunk int) []T {
	rows := t.Rows(chunk)
	offset := t.column("ColumnOf", reflect.TypeFor[T]())
	// Safe because the column, of the same type, has room for every row of the chunk.
	return unsafe.Slice((*T)(unsafe.Add(t.grid.u.PointerTo(t.grid.chunks[chunk].First), offset)), rows)
}

// column returns the offset of the column of a type.
func (t *Table) column(op string, of reflect.Type) uintptr {
	for i := range t.columns {
		if t.columns[i].rtype == of {
			return uintptr(t.columns[i].offset)
		}
	}
	t.refuseType(op, of)
	return 0
}

//go:noinline
func (t *Table) refuseType(op string, of reflect.Type) {
	panic(fmt.Sprintf("alloc: %s: %s is no column of %s", op, of, t))
}
