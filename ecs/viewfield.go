package ecs

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// View fields, the types that a field of a view may have: slices of a column, the buffers of rows,
// and their enable bits, to read or to write.

// W is a field of a view: the column of T, for writing. Filling the view marks the column changed.
type W[T any] []T

// R is a field of a view: the column of T, for reading. Nothing stops the caller from writing to
// it, but such a write is not recorded in any version.
type R[T any] []T

func (W[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[W[T]](), of: reflect.TypeFor[T](), write: true}
}

func (R[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[R[T]](), of: reflect.TypeFor[T]()}
}

// BufferW is a field of a view: the buffers of T, one per row, for writing. Filling the view marks
// them changed.
type BufferW[T any] struct{ buffersOf[T] }

// BufferR is a field of a view: the buffers of T, one per row, for reading.
type BufferR[T any] struct{ buffersOf[T] }

// buffersOf has the methods of a BufferW and a BufferR.
type buffersOf[T any] struct{ b buffers }

func (BufferW[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[BufferW[T]](), of: reflect.TypeFor[T](), kind: fieldBuffers, write: true}
}

func (BufferR[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[BufferR[T]](), of: reflect.TypeFor[T](), kind: fieldBuffers}
}

// At returns the buffer of row i, for writing if the field is a BufferW. It panics if i is not the
// index of a row.
func (b buffersOf[T]) At(i int) DynamicBuffer[T] { return DynamicBuffer[T]{array{b.b.at(i)}} }

// buffers is a BufferW or BufferR without the type of its elements.
type buffers struct {
	first unsafe.Pointer // header of row 0
	f     *world.Lookup
	rows  int
	epoch uint64
	write bool
	keeps bool // at keeps the row for snapshots
}

func (b *buffers) at(i int) world.RawBuffer {
	if uint(i) >= uint(b.rows) {
		panic(fmt.Sprintf("ecs: View: row %d of the buffers is not in [0, %d)", i, b.rows))
	}
	h := value.HeaderAt(b.first, i, uint32(b.f.Size))
	if b.keeps {
		b.f.KeepBuffer(h)
	}
	return world.RawBuffer{Lookup: b.f, Head: h, Epoch: b.epoch, Write: b.write}
}

// Bits is a field of a view: the enable bits of T, one per row; T must be an Enableable component,
// no buffer. Bits shows the current bits, whereas Rows.Each and Rows.Mask are snapshots: a
// component toggled inside the loop shows at once. Bits are for reading; see BitsW.
//
// A view that has Bits or BitsW of T matches entities with T enabled or disabled, and may have W or
// R of T as well.
type Bits[T any] struct{ b enableBits }

func (Bits[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[Bits[T]](), of: reflect.TypeFor[T](), kind: fieldBits}
}

// Enabled reports whether T is enabled in row i. It panics if i is not the index of a row. While
// the world is lent, any goroutine may call it.
func (b Bits[T]) Enabled(i int) bool { return b.b.enabled(i) }

// BitsW is a field of a view: the enable bits of T, one per row, to read as Bits does and to
// switch. Switching a row's bit marks T changed in the chunk. It is valid until the next structural
// change and, in the body of a job, whose goroutines switch the bits of their own rows, until the
// job is complete; then it panics.
type BitsW[T any] struct{ b switches }

func (BitsW[T]) column() columnKind {
	return columnKind{self: reflect.TypeFor[BitsW[T]](), of: reflect.TypeFor[T](), kind: fieldBits, write: true}
}

// Enabled reports whether T is enabled in row i. It panics if i is not the index of a row, and
// after a structural change.
func (b BitsW[T]) Enabled(i int) bool { return b.b.bits.Has(b.b.row("BitsW.Enabled", i)) }

// Enable enables T in row i. It panics like Enabled.
func (b BitsW[T]) Enable(i int) { b.b.set("BitsW.Enable", i, true) }

// Disable disables T in row i. It panics like Enabled.
func (b BitsW[T]) Disable(i int) { b.b.set("BitsW.Disable", i, false) }

// switches is a BitsW without its type.
type switches struct {
	bits  *entity.EnableBits // of the chunk
	first int                // the bit of row 0
	rows  int
	a     *Archetype // of the rows
	slot  uint16
	pos   int           // of the chunk
	f     *world.Lookup // of the owner, or of the borrow whose goroutines switch bits of other rows at the same time
	epoch uint64        // the world's epoch when the view was filled
}

// row returns the bit of row i. It panics if there is none, or if the bits are no longer current.
func (b *switches) row(op string, i int) int {
	if uint(i) >= uint(b.rows) {
		panic(fmt.Sprintf("ecs: %s: row %d is not in [0, %d)", op, i, b.rows))
	}
	if b.epoch != *b.f.ToWrite {
		world.RawBuffer{Lookup: b.f, Epoch: b.epoch, Write: true}.Refuse(op)
	}
	return b.first + i
}

func (b *switches) set(op string, i int, on bool) {
	i = b.row(op, i)
	if b.f.Lease != nil {
		b.bits.Toggle(i, on)
		b.a.inner().Touch(b.f.Lease, b.slot, b.pos, i, 1)
		return
	}
	b.bits.Set(i, on)
	b.a.core.Table.Metadata.Touch(b.slot, b.pos, i, 1, b.a.core.World.Tables.Version)
}

// enableBits is a Bits without its type.
type enableBits struct {
	words []uint64 // of the chunk
	first int      // the bit of row 0
	rows  int
}

func (b *enableBits) enabled(i int) bool {
	if uint(i) >= uint(b.rows) {
		panic(fmt.Sprintf("ecs: Bits.Enabled: row %d is not in [0, %d)", i, b.rows))
	}
	i += b.first
	return atomic.LoadUint64(&b.words[i/64])>>(i%64)&1 != 0
}
