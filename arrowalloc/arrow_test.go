package arrowalloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/arrowalloc"
	"quarry/mmap"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
}, nil)

// fillRecord appends n rows, from the row first on, to a builder.
func fillRecord(b *array.RecordBuilder, first, n int) {
	for i := first; i < first+n; i++ {
		if i%7 == 3 {
			for _, field := range b.Fields() {
				field.AppendNull()
			}
			continue
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i * i))
		b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", i%50) + fmt.Sprint(i))
		list := b.Field(2).(*array.ListBuilder)
		list.Append(true)
		for k := range i % 5 {
			list.ValueBuilder().(*array.Float32Builder).Append(float32(i) / float32(1+k))
		}
		if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString([]string{
			"a", "few", "words",
		}[i%3]); err != nil {
			panic(err)
		}
	}
}

// record returns a record of n rows.
func record(mem memory.Allocator, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	fillRecord(b, 0, n)
	return b.NewRecordBatch()
}

// TestRecords: records of all kinds of buffers, through concatenation and ipc, are those that
// GoAllocator has, and all memory is freed.
func TestRecords(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	mine, gos := passThrough(t, mem), passThrough(t, memory.NewGoAllocator())
	require.Len(t, mine, len(gos))
	for i := range mine {
		require.True(t, array.RecordEqual(mine[i], gos[i]), "%d: %v %v", i, mine[i], gos[i])
		require.Positive(t, mine[i].NumRows())
		mine[i].Release()
	}
	mem.AssertSize(t, 0)
}

// passThrough returns a record, and what ipc and concatenation make of it.
func passThrough(t *testing.T, mem memory.Allocator) (made []arrow.RecordBatch) {
	r := record(mem, 5000)
	made = append(made, r)

	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema), ipc.WithAllocator(mem), ipc.WithLZ4())
	require.NoError(t, errors.Join(w.Write(r), w.Write(r), w.Close()))
	reader, err := ipc.NewReader(&file, ipc.WithAllocator(mem))
	require.NoError(t, err)
	for reader.Next() {
		back := reader.RecordBatch()
		back.Retain()
		made = append(made, back)
	}
	require.NoError(t, reader.Err())
	reader.Release()

	part := array.NewSlice(r.Column(1), 10, 3000)
	both, err := array.Concatenate([]arrow.Array{part, r.Column(1)}, mem)
	require.NoError(t, err)
	made = append(made, array.NewRecordBatch(arrow.NewSchema(schema.Fields()[1:2], nil), []arrow.Array{both}, -1))
	part.Release()
	both.Release()
	return made
}

// TestEveryFailure refuses each request for memory in turn, of the universe and then of the
// allocator, while a record is built and goes through ipc: nothing is lost.
func TestEveryFailure(t *testing.T) {
	program := func(mem *arrowalloc.Allocator) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = r.(error)
			}
			if live := mem.CurrentAlloc(); live != 0 {
				err = fmt.Errorf("%d bytes are live: %w", live, alloc.ErrLeak)
			}
		}()
		buffer := memory.NewResizableBuffer(mem)
		defer buffer.Release()
		for _, size := range []int{100, 5000, 3 << 20, 50, 0, 1 << 20} {
			buffer.Resize(size)
		}
		b := array.NewInt64Builder(mem)
		defer b.Release()
		for i := range 3000 {
			b.Append(int64(i))
		}
		a := b.NewArray()
		defer a.Release()
		both, err := array.Concatenate([]arrow.Array{a, a}, mem)
		if err == nil {
			both.Release()
		}
		return err
	}
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		if err != nil {
			return err
		}
		return errors.Join(program(arrowalloc.New(h)), h.Verify(), h.Close(), u.Close())
	}), "universe")
	h := newHeap(t)
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		return program(arrowalloc.New(wrap.NewFail(h, f)))
	}), "allocator")
}

// TestIPCRefused: a reader of ipc returns a refusal as an error with its text, which need not wrap
// it.
func TestIPCRefused(t *testing.T) {
	r := record(memory.NewGoAllocator(), 5000)
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema), ipc.WithLZ4())
	require.NoError(t, errors.Join(w.Write(r), w.Close()))
	mem := arrowalloc.New(wrap.NewLimit(newHeap(t), 100))
	reader, err := ipc.NewReader(&file, ipc.WithAllocator(mem), ipc.WithDelayReadSchema(true))
	require.NoError(t, err)
	require.False(t, reader.Next())
	require.ErrorContains(t, reader.Err(), "arrowalloc: Allocate: ")
	require.ErrorContains(t, reader.Err(), "of 100: full")
	reader.Release()
	mem.AssertSize(t, 0)
}

// TestReleasedElsewhere: goroutines build arrays and others release them.
func TestReleasedElsewhere(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	made := make(chan arrow.RecordBatch, 10)
	var makers, enders sync.WaitGroup
	for range 3 {
		makers.Go(func() {
			for i := range 20 {
				made <- record(mem, 10*i)
			}
		})
		enders.Go(func() {
			for r := range made {
				if r.NumRows() > 1 && r.Column(0).(*array.Int64).Value(1) != 1 {
					t.Error("written by another")
				}
				r.Release()
			}
		})
	}
	makers.Wait()
	close(made)
	enders.Wait()
	mem.AssertSize(t, 0)
}

// TestGuard: a program that is right passes under a Guard, with and without canaries; one that uses
// values after Release faults there.
func TestGuard(t *testing.T) {
	for _, options := range [][]wrap.GuardOption{nil, {wrap.Canaries()}} {
		guard := wrap.NewGuard(newHeap(t), options...)
		mem := arrowalloc.New(guard)
		for _, r := range passThrough(t, mem) {
			r.Release()
		}
		mem.AssertSize(t, 0)
		require.NoError(t, guard.Verify())
		if options == nil && mmap.Guards() != mmap.GuardNone {
			r := record(mem, 100)
			values := r.Column(0).(*array.Int64).Int64Values()
			r.Release()
			var sum int64
			err := guard.Run(func() { sum += values[50] })
			var report *wrap.GuardError
			require.ErrorAs(t, err, &report)
			require.True(t, report.Freed)
			require.Equal(t, 400, report.Where())
		}
		require.NoError(t, guard.Close())
	}
}

// TestTrack: a Track says where what was not released was allocated.
func TestTrack(t *testing.T) {
	track := wrap.NewTrack(newHeap(t), "arrow")
	mem := arrowalloc.New(track)
	r := record(mem, 10)
	leaks := track.Leaks()
	require.NotEmpty(t, leaks)
	require.Contains(t, leaks[0].Stack, "arrowalloc_test.record")
	r.Release()
	require.NoError(t, track.Close())
}
