package arrowalloc_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"quarry/alloc"
	"quarry/arrowalloc"
)

// The buffers of a record of 1,000 rows lie on a heap, until it is released.
func ExampleAllocator() {
	universe, err := alloc.NewUniverse()
	if err != nil {
		fmt.Println(err)
		return
	}
	heap, err := alloc.NewHeap(universe)
	if err != nil {
		fmt.Println(err)
		return
	}
	mem := arrowalloc.New(heap)

	schema := arrow.NewSchema([]arrow.Field{
		{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	b.Reserve(1000)
	for i := range 1000 {
		if numbers := b.Field(0).(*array.Int64Builder); i%10 == 0 {
			numbers.AppendNull()
		} else {
			numbers.Append(int64(i))
		}
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("n%03d", i))
	}
	record := b.NewRecordBatch()
	b.Release()

	for i, column := range record.Columns() {
		fmt.Printf("%-6s", record.ColumnName(i))
		for _, buffer := range column.Data().Buffers() {
			fmt.Printf(" %d B", buffer.Cap())
		}
		fmt.Printf(", %d null\n", column.NullN())
	}
	fmt.Println("live:", mem.CurrentAlloc(), "B")
	record.Release()
	fmt.Println("released:", mem.CurrentAlloc(), "B")
	fmt.Println(heap.Close(), universe.Close())
	// Output:
	// number 128 B 8000 B, 100 null
	// name   128 B 4160 B 4096 B, 0 null
	// live: 16512 B
	// released: 0 B
	// <nil> <nil>
}
