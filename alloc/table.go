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
	"quarry/layout"
)

// The table.
//
// A record is a row: one element of every column, at the same row of the same
// chunk. Two columns of 16 B and 4 B:
//
//	chunk 0   | A0 A1 ... A815 | B0 B1 ... B815 |    816 rows of 20 B
//	chunk 1   | A0 A1 ... A815 | B0 B1 ... B815 |
//	chunk 2   | A0 A1 A2       | B0 B1 B2       |    the only one that is part full
//
// A handle is a place, chunk and row, with the number of the table. Places are
// dense, so a handle does not stay with its record: Free puts the last record into
// the gap, under the handle that was freed, and says so. A caller that keeps
// handles elsewhere replaces the last record's handle there by the one that was freed.
//
// What is told of a bad handle: that it is of another table, of a table that was
// cleared or closed since, or behind the last record. What cannot be told: a handle
// that was freed and whose place holds another record now; that needs a number per
// record, which ecs keeps for its entities. Numbers of tables come again after 2^32
// of them.
//
// Invariants: T1 to T5 of the store, and
//
//	T6 Every column of a type lies where the plan says, and the types differ.

// Table keeps records in columns, densely. One goroutine at a time may use it. Its
// memory is the universe's; the garbage collector does not look at it.
type Table struct {
	store   ColumnStore
	plan    layout.Plan   // of a chunk
	columns []tableColumn // in the order of NewTable, without storage too
	id      uint32        // that handles carry; 0: closed
}

// Handle names a place of a table where a record is. It is 8 bytes, compares with
// ==, and its zero value names none.
type Handle struct {
	table uint32 // Table.id
	at    uint32 // position of the chunk 20 bits | row 12
}

const (
	tableRowBits = 12
	tableRowMask = 1<<tableRowBits - 1
)

const _ = uint(tableRowMask - (layout.MaxRows - 1))                           // a row fits its bits,
const _ = uint(1<<(32-tableRowBits) - MaxSize/ChunkSize)                      // a chunk too,
const _ = uint(ChunkSize-layout.ChunkSize) + uint(layout.ChunkSize-ChunkSize) // and they are of one size

// tableCount is the number that the last table took.
var tableCount atomic.Uint32

func nextTable() uint32 {
	for {
		if id := tableCount.Add(1); id != 0 {
			return id
		}
	}
}

// Chunk returns the position of the chunk that the place is in, as ColumnOf takes it.
func (h Handle) Chunk() int { return int(h.at >> tableRowBits) }

// Row returns the row within the chunk.
func (h Handle) Row() int { return int(h.at & tableRowMask) }

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

// NewTable makes a table of records with the columns given by Col, in any order. It
// panics without a column, for a type that is given twice and when the universe is
// closed. An error wraps ErrTooBig when a record does not fit a chunk; with PreAllocate
// it may wrap ErrFull or ErrCommit.
func NewTable(u *Universe, options ...TableOption) (*Table, error) {
	checkUniverse("NewTable", u)
	if u.index.Words() == 0 {
		panic("alloc: NewTable: the universe is closed")
	}
	config := tableConfig{growth: DefaultChunkGrowth()}
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
	var stored []StoreColumn
	for i, p := range plan.Places {
		c := tableColumn{rtype: config.types[i], offset: uint32(p.Offset)}
		if p.Size == 0 {
			c.offset = 0 // a place without size may be the chunk's very end: point inside
		} else {
			stored = append(stored, StoreColumn{Offset: c.offset / eighths, Size: uint32(p.Size), Key: uint32(i)})
		}
		t.columns = append(t.columns, c)
	}
	t.store = MakeColumnStore(u, nil, &plan, stored, config.growth, UnitOrder)
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

// Allocate makes a record, all zero, behind the last one. An error wraps ErrFull or
// ErrCommit; nothing has changed then. Pointers and slices stay good.
func (t *Table) Allocate() (Handle, error) {
	t.checkOpen("Allocate")
	if t.store.Full() {
		if err := t.store.Grow(1); err != nil {
			return Handle{}, fmt.Errorf("alloc: Table.Allocate: %w", err)
		}
	}
	at := t.store.Tail()
	t.store.Push(1)
	ClearRows(at, 1, t.store.columns)
	return t.handle(len(t.store.chunks)-1, at.Row), nil
}

// AllocateN makes n records, all zero, behind the last one, or none: rows first to
// first+n-1, counted over the table, as Handle takes them. An error wraps ErrFull,
// ErrCommit or ErrTooBig; nothing has changed then. It panics for a negative n.
func (t *Table) AllocateN(n int) (first int, err error) {
	t.checkOpen("AllocateN")
	if n < 0 {
		panic(fmt.Sprintf("alloc: Table.AllocateN: n=%d is negative", n))
	}
	if err := t.store.Grow(n); err != nil {
		return 0, fmt.Errorf("alloc: Table.AllocateN: %d rows: %w", n, err)
	}
	first, per := t.store.count, t.store.per
	for at := first; at < first+n; {
		pos, row := at/per, at%per
		k := min(first+n-at, per-row)
		ClearRows(t.store.Row(pos, row), k, t.store.columns)
		at += k
	}
	t.store.Push(n)
	return first, nil
}

// Free ends a record. The last record of the table moves into the gap: ok says that
// there was another, moved is the handle that it had, and h is its handle from now
// on. It panics like Get.
func (t *Table) Free(h Handle) (moved Handle, ok bool) {
	if !t.has(h) {
		t.refuse("Table.Free", h)
	}
	g, pos, row := &t.store, h.Chunk(), h.Row()
	lastPos, lastRow := g.Last()
	last := g.Row(lastPos, lastRow)
	if ok = pos != lastPos || row != lastRow; ok {
		g.own.row(g.Row(pos, row), last)
		moved = t.handle(lastPos, lastRow)
	}
	if debug.On {
		PoisonRows(last, 1, g.columns)
	}
	g.Pop(lastRow)
	return moved, ok
}

// Create writes a record's T and returns where it lies. It panics like Get.
func Create[T any](t *Table, h Handle, value T) *T {
	if t == nil {
		t.refuse("Create", h)
	}
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
	if t == nil || !t.has(h) {
		t.refuse("Get", h)
	}
	offset := t.column("Get", reflect.TypeFor[T]())
	// Safe because h names a row of the chunk, and the column, of the same type, has
	// room for them all.
	return (*T)(unsafe.Add(t.store.u.PointerTo(t.store.chunks[h.Chunk()].First), offset+uintptr(h.Row())*unsafe.Sizeof(zero)))
}

// ColumnOf returns the T of every record in a chunk, chunk in [0, t.Chunks()); it
// has t.Rows(chunk) elements. The slice is good until the next Free or Clear; a
// record that is allocated later is not in it. It panics for a type that is no
// column of the table and for a chunk that it does not have.
func ColumnOf[T any](t *Table, chunk int) []T {
	if t == nil {
		t.refuse("ColumnOf", Handle{})
	}
	rows := t.Rows(chunk)
	offset := t.column("ColumnOf", reflect.TypeFor[T]())
	// Safe because the column, of the same type, has room for every row of the chunk.
	return unsafe.Slice((*T)(unsafe.Add(t.store.u.PointerTo(t.store.chunks[chunk].First), offset)), rows)
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

// Clear ends every record; the handles are void, and told to be. The table keeps
// what PreAllocate asked for and what its policy would take first.
func (t *Table) Clear() {
	t.checkOpen("Clear")
	t.store.Clear()
	t.id = nextTable()
}

// Trim gives back the chunks that hold no record and returns how many.
func (t *Table) Trim() (chunks int) {
	t.store.floor = 0
	return t.store.Trim(0)
}

// Close gives every chunk back; handles, pointers and slices are void. A second
// call does nothing.
func (t *Table) Close() {
	t.store.Release()
	t.id = 0
}

// Len returns the number of records.
func (t *Table) Len() int { return t.store.count }

// Cap returns the number of records that the chunks of the table have room for.
func (t *Table) Cap() int { return (t.store.units + t.store.spare) * t.store.per }

// Chunks returns the number of chunks that hold records.
func (t *Table) Chunks() int { return len(t.store.chunks) }

// Rows returns the number of records in a chunk, chunk in [0, Chunks()): those of
// all chunks but the last are the same. It panics for another chunk.
func (t *Table) Rows(chunk int) int {
	if uint(chunk) >= uint(len(t.store.chunks)) {
		panic(fmt.Sprintf("alloc: Table.Rows: chunk %d is not in [0, %d)", chunk, len(t.store.chunks)))
	}
	return t.store.RowsOf(chunk)
}

// Handle returns the handle of the i'th record, counted over the table, i in
// [0, Len()): that of row r of chunk c is i = c*Plan().Rows + r. It panics for
// another i.
func (t *Table) Handle(i int) Handle {
	if uint(i) >= uint(t.store.count) {
		panic(fmt.Sprintf("alloc: Table.Handle: record %d is not in [0, %d)", i, t.store.count))
	}
	return t.handle(i/t.store.per, i%t.store.per)
}

func (t *Table) handle(pos, row int) Handle {
	return Handle{t.id, uint32(pos<<tableRowBits | row)}
}

// Plan returns the layout of the table's chunks; it prints as a drawing.
func (t *Table) Plan() layout.Plan { return t.plan }

// String lists the columns' types.
func (t *Table) String() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.rtype.String()
	}
	return "table(" + strings.Join(names, ", ") + ")"
}

// Verify checks the numbered invariants and names the first that does not hold.
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

// has reports whether a handle names a place of this table where a record is. The
// handles of a closed table carry another number than 0, or no place.
func (t *Table) has(h Handle) bool {
	row := h.Row()
	return h.table == t.id && row < t.store.per && h.Chunk()*t.store.per+row < t.store.count
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
		op, h.Row(), h.Chunk(), t.store.count, t.store.per))
}

const _ = uint(unsafe.Sizeof(Handle{}) - 8) // 8 bytes each way:
const _ = uint(8 - unsafe.Sizeof(Handle{}))
