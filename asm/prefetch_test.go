package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/debug"
	"quarry/internal/guard"
)

// TestPrefetchNeverFaults asks for lines that no load could touch, in lists of every
// length up to some vectors and beyond what one assembly call takes, which must not
// change and whose ends lie against pages without access.
func TestPrefetchNeverFaults(t *testing.T) {
	page := uintptr(os.Getpagesize())
	tail, head := guard.Tail(t, 3), guard.Head(t, 3)
	behind := uintptr(unsafe.Pointer(&tail[2])) + 1
	before := uintptr(unsafe.Pointer(&head[0])) - 1
	var local [64]byte
	odd := []uintptr{
		0, 1, 63, 4095, // the page of nil
		behind, behind + page - 1, before, before - page + 1, // pages without access
		uintptr(unsafe.Pointer(&tail[0])), uintptr(unsafe.Pointer(&local[1])),
		1 << 46, 1<<47 - 1, 1 << 47, 1 << 62, // unmapped, and no addresses at all on amd64
		math.MaxUint64 - 63, math.MaxUint64,
	}
	longest := 2*asm.PrefetchCall + 3
	list := unsafe.Slice((*uintptr)(unsafe.Pointer(&guard.Tail(t, longest*8)[0])), longest)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range list {
		list[i] = odd[i%len(odd)]
		if i >= 2*len(odd) {
			list[i] = uintptr(rnd.Uint64())
		}
	}
	want := append([]uintptr(nil), list...)
	asm.Prefetch(nil)
	for n := range 40 {
		asm.Prefetch(list[longest-n:])
		asm.Prefetch(list[:n])
	}
	asm.Prefetch(list)
	require.Equal(t, want, list, "a hint changes nothing")
	require.Equal(t, [64]byte{}, local)
}

// TestPrefetchAllocatesNothing: the list may be an array of the stack.
func TestPrefetchAllocatesNothing(t *testing.T) {
	skipIfEverythingAllocates(t)
	if debug.On {
		t.Skip("debug builds may allocate")
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var x [100]uint64
		var list [100]uintptr
		for i := range list {
			list[i] = uintptr(unsafe.Pointer(&x[i]))
		}
		asm.Prefetch(list[:])
	}))
}

// BenchmarkPrefetch prefetches lines that are near already: what the asking costs.
func BenchmarkPrefetch(b *testing.B) {
	var lines [1024][64]byte
	for _, n := range []int{1, 8, 32, 256} {
		b.Run(fmt.Sprintf("kernel=Prefetch/n=%d/impl=public", n), func(b *testing.B) {
			list := make([]uintptr, n)
			for i := range list {
				list[i] = uintptr(unsafe.Pointer(&lines[i]))
			}
			for b.Loop() {
				asm.Prefetch(list)
			}
		})
	}
}
