//go:build arrow_compute && unix

package arrowalloc_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/alloc/wrap"
	"quarry/arrowalloc"
)

// Arrow's package compute takes the compiler a minute and 3 GB, so what imports it has a build tag:
//
//	go test -tags arrow_compute ./arrowalloc

// TestCompute: filter and take give what they give on GoAllocator, under a Guard too, and all
// memory is freed.
func TestCompute(t *testing.T) {
	heap := newHeap(t)
	guard := wrap.NewGuard(heap)
	mine, guarded := arrowalloc.New(heap), arrowalloc.New(guard)
	for _, mem := range []*arrowalloc.Allocator{mine, guarded} {
		some, taken := chosen(t, mem)
		wantSome, wantTaken := chosen(t, memory.NewGoAllocator())
		require.True(t, array.RecordEqual(wantSome, some))
		require.True(t, array.Equal(wantTaken, taken))
		require.Positive(t, some.NumRows())
		some.Release()
		taken.Release()
		mem.AssertSize(t, 0)
	}
	require.NoError(t, guard.Close())
}

// chosen returns rows that a filter leaves, and values that are taken by their places.
func chosen(t *testing.T, mem memory.Allocator) (arrow.RecordBatch, arrow.Array) {
	ctx := compute.WithAllocator(context.Background(), mem)
	r := record(mem, 5000)
	defer r.Release()
	keep := array.NewBooleanBuilder(mem)
	for i := range int(r.NumRows()) {
		keep.Append(i%3 != 0)
	}
	mask := keep.NewArray()
	keep.Release()
	some, err := compute.FilterRecordBatch(ctx, r, mask, compute.DefaultFilterOptions())
	mask.Release()
	require.NoError(t, err)

	at := array.NewInt32Builder(mem)
	for i := range 300 {
		at.Append(int32(i * 11))
	}
	places := at.NewArray()
	at.Release()
	taken, err := compute.TakeArray(ctx, r.Column(1), places)
	require.NoError(t, err)
	places.Release()
	return some, taken
}

// TestComputeRefused: compute calls kernels in goroutines of its own, so a refusal there ends the
// program, with the text.
func TestComputeRefused(t *testing.T) {
	const child = "QUARRY_ARROW_CHILD"
	if os.Getenv(child) != "" {
		mem := arrowalloc.New(wrap.NewLimit(newHeap(t), 100))
		b := array.NewInt64Builder(memory.NewGoAllocator())
		for i := range 1000 {
			b.Append(int64(i))
		}
		a := b.NewArray()
		sum, err := compute.Add(compute.WithAllocator(context.Background(), mem), compute.ArithmeticOptions{},
			compute.NewDatumWithoutOwning(a), compute.NewDatumWithoutOwning(a))
		t.Log("came back", sum, err)
		return
	}
	again := exec.Command(os.Args[0], "-test.run", "^TestComputeRefused$", "-test.v")
	again.Env = append(os.Environ(), child+"=1")
	out, err := again.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) && err != nil {
		t.Skip("no process can be started here: ", err)
	}
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "panic: arrowalloc: Allocate: ")
	require.Contains(t, string(out), "full")
}

func init() {
	jobs = append(jobs, job{"filter and take", filterAndTake})
}

// filterAndTake keeps two of three of n values, and takes n of those in no order.
func filterAndTake(mem memory.Allocator, n int) {
	ctx := compute.WithAllocator(context.Background(), mem)
	values := numbers(mem, n)
	keep := array.NewBooleanBuilder(mem)
	keep.Reserve(n)
	for i := range n {
		keep.UnsafeAppend(i%3 != 0)
	}
	mask := keep.NewArray()
	some, err := compute.FilterArray(ctx, values, mask, *compute.DefaultFilterOptions())
	if err != nil {
		panic(err)
	}
	at := array.NewInt32Builder(mem)
	at.Reserve(n)
	for i := range n {
		at.UnsafeAppend(int32(uint32(i) * 2654435761 % uint32(some.Len())))
	}
	places := at.NewArray()
	taken, err := compute.TakeArray(ctx, some, places)
	if err != nil {
		panic(err)
	}
	for _, a := range []interface{ Release() }{taken, places, at, some, mask, keep, values} {
		a.Release()
	}
}
