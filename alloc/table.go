package alloc

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/store"
	"quarry/layout"
)

// The table.
//
// A record is a row: one element of each column, at the same row of the same chunk. Two columns of
// 16 B and 4 B:
//
//	chunk 0   | A0 A1 ... A815 | B0 B1 ... B815 |    816 rows of 20 B
//	chunk 1   | A0 A1 ... A815 | B0 B1 ... B815 |
//	chunk 2   | A0 A1 A2       | B0 B1 B2       |    the only chunk that is part full
//
// A handle is a place, that is a chunk and a row, plus the number of the table. Places are dense,
// so a handle does not follow its record: Free moves the last record into the gap, where the freed
// handle names it, and reports the move. A caller that stores handles elsewhere must then replace
// the last record's handle by the freed one.
//
// The table detects a handle of another table, a handle from before the table was cleared or
// closed, and a handle beyond the last record. It cannot detect a freed handle whose place holds
// another record now; that takes a number per record, which ecs keeps for its entities. Table
// numbers repeat after 2^32 tables.
//
// Invariants: T1 to T5 of the store (internal/store/store.go), and
//
//	T6 Every column of a type lies where the plan says, and the types differ.

// Table stores records densely in columns, in memory of a universe, which the garbage collector
// does not scan. One goroutine at a time may use a Table.
type Table struct {
	store   store.Store
	plan    layout.Plan   // layout of a chunk
	columns []tableColumn // in the order of NewTable, including types without size
	id      uint32        // number that handles carry; 0: closed
}

// Handle names the place of a record in a table. It is 8 bytes and comparable; the zero Handle
// names no place.
type Handle struct {
	table uint32 // Table.id
	at    uint32 // position of the chunk 20 bits | row 12
}

const (
	tableRowBits = 12
	tableRowMask = 1<<tableRowBits - 1
)

const _ = uint(tableRowMask - (layout.MaxRows - 1))                           // a row fits its bits,
const _ = uint(1<<(32-tableRowBits) - MaxSize/ChunkSize)                      // so does a chunk,
const _ = uint(ChunkSize-layout.ChunkSize) + uint(layout.ChunkSize-ChunkSize) // and chunk sizes agree

// tableCount is the number given to the last table.
var tableCount atomic.Uint32

func nextTable() uint32 {
	for {
		if id := tableCount.Add(1); id != 0 {
			return id
		}
	}
}

// Chunk returns the position of the chunk, as ColumnOf takes it.
func (h Handle) Chunk() int { return int(h.at >> tableRowBits) }

// Row returns the row within the chunk.
func (h Handle) Row() int { return int(h.at & tableRowMask) }

// TableOption adds a column to a table or is another option of NewTable.
type TableOption func(*tableConfig)

type tableConfig struct {
	types  []reflect.Type
	rows   int
	growth Growth
}

// tableColumn is one type of a table's records.
type tableColumn struct {
	rtype  reflect.Type
	offset uint32 // bytes from a chunk's start to row 0
}

// Col adds a column of type T to the table. It panics when T holds a Go pointer, and names the path
// to it.
func Col[T any]() TableOption {
	t := reflect.TypeFor[T]()
	if err := layout.PointerFree(t); err != nil {
		panic(fmt.Sprintf(
			"alloc: Col[%s]: %v; records must hold no Go pointers, for they lie outside the garbage collector's heap",
			t, err))
	}
	return func(c *tableConfig) { c.types = append(c.types, t) }
}

// PreAllocate makes NewTable take chunks for rows records in advance. The table keeps them until
// Trim or Close. It panics when rows is negative.
func PreAllocate(rows int) TableOption {
	if rows < 0 {
		panic(fmt.Sprintf("alloc: PreAllocate: rows=%d is negative", rows))
	}
	return func(c *tableConfig) { c.rows = rows }
}

// ChunkGrowth sets the growth policy of the table, in chunks. The policy also determines how many
// empty chunks the table keeps. The default doubles, by at most 16 chunks (256 KiB) at a time.
// Measured on an EPYC virtual machine, all policies take the same time to append a million rows one
// by one (11 ns each, BenchmarkGrow of ecs); a larger step only keeps more in reserve.
func ChunkGrowth(g Growth) TableOption { return func(c *tableConfig) { c.growth = g } }

// NewTable returns an empty table whose records have the columns given by Col, in any order. It
// panics without a column, for a duplicate type, and when the universe is closed. An error wraps
// ErrTooBig when a record does not fit a chunk; with PreAllocate it may wrap ErrFull or ErrCommit.
func NewTable(u *Universe, options ...TableOption) (*Table, error) {
	if u.inside("NewTable").Index.Words() == 0 {
		panic("alloc: NewTable: the universe is closed")
	}
	config := tableConfig{growth: Doubling().Capped(16)}
	for _, o := range options {
		if o == nil {
			panic("alloc: NewTable: an option is nil")
		}
		o(&config)
	}
	plan, err := config.plan()
	if err != nil {
		return nil, err
	}
	t := &Table{id: nextTable(), plan: plan}
	var stored []store.Column
	for i, p := range plan.Places {
		c := tableColumn{rtype: config.types[i], offset: uint32(p.Offset)}
		if p.Size == 0 {
			c.offset = 0 // a place without size may be the chunk's very end: point inside
		} else {
			stored = append(stored, store.Column{
				Offset: c.offset >> store.UnitOrder, Size: uint32(p.Size), Key: uint32(i),
			})
		}
		t.columns = append(t.columns, c)
	}
	t.store = store.Make(&u.core, nil, &plan, stored, config.growth.core, store.UnitOrder)
	if config.rows > 0 {
		if err := t.store.Prepare(config.rows); err != nil {
			return nil, fmt.Errorf("alloc: NewTable: %d rows in advance: %w", config.rows, err)
		}
	}
	return t, nil
}

// plan lays out a record's columns.
func (c *tableConfig) plan() (layout.Plan, error) {
	if len(c.types) == 0 {
		panic("alloc: NewTable: no columns; give it alloc.Col of each type")
	}
	var columns []layout.Column
	for i, t := range c.types {
		if slices.Contains(c.types[:i], t) {
			panic(fmt.Sprintf("alloc: NewTable: %s is given twice", t))
		}
		columns = append(columns, layout.Column{Name: t.String(), Size: int(t.Size()), Align: t.Align()})
	}
	plan, err := layout.New(columns, layout.Options{})
	if errors.Is(err, layout.ErrTooBig) {
		return plan, fmt.Errorf("alloc: NewTable: %w: %w", ErrTooBig, err)
	}
	if err != nil {
		panic("alloc: NewTable: " + err.Error()) // sizes and alignments come from Go types
	}
	return plan, nil
}

// Allocate appends a zeroed record. An error wraps ErrFull or ErrCommit; nothing has changed then.
// Existing pointers and slices stay valid.
func (t *Table) Allocate() (Handle, error) {
	t.checkOpen("Allocate")
	if t.store.Full() {
		if err := t.store.Grow(1); err != nil {
			return Handle{}, fmt.Errorf("alloc: Table.Allocate: %w", err)
		}
	}
	at := t.store.Tail()
	t.store.Push(1)
	store.ClearRows(at, 1, t.store.Columns())
	return t.handle(t.store.LastChunk(), at.Row), nil
}

// AllocateN appends n zeroed records, or none: records first to first+n-1, counted over the table,
// as Handle takes them. An error wraps ErrFull, ErrCommit or ErrTooBig; nothing has changed then.
// AllocateN panics when n is negative.
func (t *Table) AllocateN(n int) (first int, err error) {
	t.checkOpen("AllocateN")
	if n < 0 {
		panic(fmt.Sprintf("alloc: Table.AllocateN: n=%d is negative", n))
	}
	if err := t.store.Grow(n); err != nil {
		return 0, fmt.Errorf("alloc: Table.AllocateN: %d rows: %w", n, err)
	}
	first, per := t.store.Len(), t.store.PerUnit()
	for at := first; at < first+n; {
		pos, row := at/per, at%per
		k := min(first+n-at, per-row)
		store.ClearRows(t.store.Row(pos, row), k, t.store.Columns())
		at += k
	}
	t.store.Push(n)
	return first, nil
}

// Free removes a record. The last record of the table moves into the gap: ok reports that there was
// a record to move, moved is the handle it had, and h is its handle from now on. Free panics as Get
// does.
func (t *Table) Free(h Handle) (moved Handle, ok bool) {
	if !t.has(h) {
		t.refuse("Table.Free", h)
	}
	g, pos, row := &t.store, h.Chunk(), h.Row()
	lastPos, lastRow := g.Last()
	last := g.Row(lastPos, lastRow)
	if ok = pos != lastPos || row != lastRow; ok {
		g.Own().Row(g.Row(pos, row), last)
		moved = t.handle(lastPos, lastRow)
	}
	if debug.On {
		store.PoisonRows(last, 1, g.Columns())
	}
	g.Pop(lastRow)
	return moved, ok
}

// Create sets a record's T and returns its address. It panics as Get does.
func Create[T any](t *Table, h Handle, value T) *T {
	if t == nil {
		t.refuse("Create", h)
	}
	p := Get[T](t, h)
	*p = value
	return p
}

// Get returns a pointer to a record's T, valid until the next Free or Clear of the table. It panics
// when T is not a column of the table, for a handle of another table or from before Clear, and for
// a handle beyond the last record. Cost: one comparison of types for each column up to the column
// of T. Loops over many records should use ColumnOf.
func Get[T any](t *Table, h Handle) *T {
	var zero T
	if t == nil || !t.has(h) {
		t.refuse("Get", h)
	}
	offset := t.column("Get", reflect.TypeFor[T]())
	// Safe because h names a row of the chunk, and the column, of the same type, has room for every
	// row.
	return (*T)(unsafe.Add(t.store.Base(h.Chunk()), offset+uintptr(h.Row())*unsafe.Sizeof(zero)))
}

// ColumnOf returns the T of every record in a chunk, as a slice of t.Rows(chunk) elements. The
// slice is valid until the next Free or Clear and does not include records allocated later.
// ColumnOf panics when T is not a column of the table, and unless chunk is in [0, t.Chunks()).
func ColumnOf[T any](t *Table, chunk int) []T {
	if t == nil {
		t.refuse("ColumnOf", Handle{})
	}
	rows := t.Rows(chunk)
	offset := t.column("ColumnOf", reflect.TypeFor[T]())
	// Safe because the column, of the same type, has room for every row of the chunk.
	return unsafe.Slice((*T)(unsafe.Add(t.store.Base(chunk), offset)), rows)
}

// column returns the offset of the column of a type; it panics when there is none.
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

// Clear removes every record. Later use of their handles panics. The table keeps the chunks that
// PreAllocate requested and those its policy would take first.
func (t *Table) Clear() {
	t.checkOpen("Clear")
	t.store.Clear()
	t.id = nextTable()
}

// Trim frees the chunks that hold no record and returns their number.
func (t *Table) Trim() (chunks int) {
	return t.store.TrimAll()
}

// Close frees every chunk. Handles, pointers and slices become invalid. A second call does nothing.
func (t *Table) Close() {
	t.store.Release()
	t.id = 0
}

// Len returns the number of records.
func (t *Table) Len() int { return t.store.Len() }

// Cap returns the number of records that the table's chunks have room for.
func (t *Table) Cap() int { return (t.store.Units() + t.store.Reserve()) * t.store.PerUnit() }

// Chunks returns the number of chunks that hold records.
func (t *Table) Chunks() int { return len(t.store.Chunks()) }

// Rows returns the number of records in a chunk, which is the same for all chunks but the last. It
// panics unless chunk is in [0, Chunks()).
func (t *Table) Rows(chunk int) int {
	if uint(chunk) >= uint(t.Chunks()) {
		panic(fmt.Sprintf("alloc: Table.Rows: chunk %d is not in [0, %d)", chunk, t.Chunks()))
	}
	return t.store.RowsOf(chunk)
}

// Handle returns the handle of the i'th record of the table: row r of chunk c is record i =
// c*Plan().Rows + r. It panics unless i is in [0, Len()).
func (t *Table) Handle(i int) Handle {
	if uint(i) >= uint(t.store.Len()) {
		panic(fmt.Sprintf("alloc: Table.Handle: record %d is not in [0, %d)", i, t.store.Len()))
	}
	return t.handle(i/t.store.PerUnit(), i%t.store.PerUnit())
}

func (t *Table) handle(pos, row int) Handle {
	return Handle{t.id, uint32(pos<<tableRowBits | row)}
}

// Plan returns the layout of the table's chunks. Its String method draws it.
func (t *Table) Plan() layout.Plan { return t.plan }

// String lists the types of the columns.
func (t *Table) String() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.rtype.String()
	}
	return "table(" + strings.Join(names, ", ") + ")"
}

// Verify checks the numbered invariants and returns an error that names the first that does not
// hold.
func (t *Table) Verify() error {
	for i, c := range t.columns {
		p := t.plan.Places[i]
		if c.offset != uint32(p.Offset) && p.Size > 0 || p.Name != c.rtype.String() || p.Size != int(c.rtype.Size()) {
			return fmt.Errorf("alloc: T6: column %s is at %d, the plan has %s of %d B at %d",
				c.rtype, c.offset, p.Name, p.Size, p.Offset)
		}
		for _, d := range t.columns[:i] {
			if d.rtype == c.rtype {
				return fmt.Errorf("alloc: T6: two columns of %s", c.rtype)
			}
		}
	}
	return t.store.Verify(t.plan)
}

// has reports whether a handle names the place of a record of this table. After Close the id is 0,
// which no handle but the zero Handle carries, and the table has no places.
func (t *Table) has(h Handle) bool {
	row := h.Row()
	return h.table == t.id && row < t.store.PerUnit() && h.Chunk()*t.store.PerUnit()+row < t.store.Len()
}

func (t *Table) checkOpen(op string) {
	if t.id == 0 {
		panic("alloc: Table." + op + ": the table is closed")
	}
}

//go:noinline
func (t *Table) refuse(op string, h Handle) {
	switch {
	case t == nil:
		panic("alloc: " + op + ": the table is nil")
	case t.id == 0:
		panic("alloc: " + op + ": the table is closed")
	case h == Handle{}:
		panic("alloc: " + op + ": the handle is the zero value; handles come from Allocate")
	case h.table != t.id:
		panic("alloc: " + op + ": the handle is of another table, or from before Clear")
	}
	panic(fmt.Sprintf("alloc: %s: row %d of chunk %d is behind the last of %d records of %d a chunk (freed twice?)",
		op, h.Row(), h.Chunk(), t.store.Len(), t.store.PerUnit()))
}

const _ = uint(unsafe.Sizeof(Handle{}) - 8) // 8 bytes each way:
const _ = uint(8 - unsafe.Sizeof(Handle{}))
