package wrap_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/internal/lint"
)

func TestNil(t *testing.T) {
	h := newHeap(t)
	var out bytes.Buffer
	around := map[string]alloc.Allocator{
		"Fail":    wrap.NewFail(h, alloc.FailAt(1<<30)),
		"Guard":   wrap.NewGuard(h, wrap.Quarantine(0)),
		"Limit":   wrap.NewLimit(h, 1<<20),
		"Sampled": wrap.NewProfile(1).Wrap(h, "nil"),
		"Stats":   wrap.NewStats(h),
		"Trace":   wrap.NewTrace(h, &out),
		"Track":   wrap.NewTrack(h, "nil"),
		"Zero":    wrap.NewZero(h, wrap.Wipe()),
	}
	resizes := map[string]string{"Guard": "wrap: Guard.ResizeSized: ", "Track": "wrap: Track.ResizeSized: "}
	calls := []lint.NilCall{
		lint.NilPanics("NewFail: allocator", "wrap: NewFail: the allocator is nil",
			func() { wrap.NewFail(nil, alloc.FailAt(1)) }),
		lint.NilPanics("NewFail: failures", "wrap: NewFail: the failures are nil", func() { wrap.NewFail(h, nil) }),
		lint.NilPanics("NewGuard: allocator", "wrap: NewGuard: the allocator is nil", func() { wrap.NewGuard(nil) }),
		lint.NilPanics("NewGuard: option", "wrap: NewGuard: an option is nil", func() { wrap.NewGuard(h, nil) }),
		lint.NilPanics("NewLimit", "wrap: NewLimit: the allocator is nil", func() { wrap.NewLimit(nil, 1) }),
		lint.NilPanics("NewStats", "wrap: NewStats: the allocator is nil", func() { wrap.NewStats(nil) }),
		lint.NilPanics("NewTrace: allocator", "wrap: NewTrace: the allocator is nil",
			func() { wrap.NewTrace(nil, &out) }),
		lint.NilPanics("NewTrace: writer", "wrap: NewTrace: the writer is nil", func() { wrap.NewTrace(h, nil) }),
		lint.NilPanics("NewTrack: allocator", "wrap: NewTrack: the allocator is nil",
			func() { wrap.NewTrack(nil, "nil") }),
		lint.NilPanics("NewTrack: option", "wrap: NewTrack: an option is nil", func() { wrap.NewTrack(h, "nil", nil) }),
		lint.NilPanics("Watched", "wrap: Watched: the monitor is nil", func() { wrap.Watched(nil) }),
		lint.NilPanics("NewZero: allocator", "wrap: NewZero: the allocator is nil", func() { wrap.NewZero(nil) }),
		lint.NilPanics("NewZero: option", "wrap: NewZero: an option is nil", func() { wrap.NewZero(h, nil) }),
		lint.NilPanics("Profile.Wrap", "wrap: Profile.Wrap: the allocator is nil",
			func() { wrap.NewProfile(1).Wrap(nil, "nil") }),
		lint.NilPanics("Profile.WriteProfile", "wrap: Profile.WriteProfile: the writer is nil",
			func() { _ = wrap.NewProfile(1).WriteProfile(nil) }),
		lint.NilPanics("Guard.Run", "wrap: Guard.Run: the function is nil", func() { _ = wrap.NewGuard(h).Run(nil) }),
	}
	for name, a := range around {
		resize := resizes[name]
		if resize == "" {
			resize = "alloc: Heap.ResizeSized: " // which the call goes on to
		}
		calls = append(calls,
			lint.NilPanics(name+".ResizeSized", resize, func() { a.ResizeSized(nil, 16, 16, 16) }),
			lint.NilReturns(name+".FreeSized", func(t *testing.T) {
				p := must(a.Alloc(16, 16))
				a.FreeSized(nil, 16, 16)
				require.EqualValues(t, 1, h.Stats().LiveBlocks)
				a.FreeSized(p, 16, 16)
				require.Zero(t, h.Stats().LiveBlocks)
			}))
		r := a.(alloc.Reallocator)
		for call, realloc := range map[string]func(unsafe.Pointer, int, int, int) (unsafe.Pointer, error){
			"ReallocSized": r.ReallocSized, "ReallocZeroed": r.ReallocZeroed,
		} {
			calls = append(calls, lint.NilReturns(name+"."+call, func(t *testing.T) { // a block is made
				p := must(realloc(nil, 0, 8, 32))
				require.EqualValues(t, 1, h.Stats().LiveBlocks)
				r.FreeSized(p, 32, 8)
				require.Zero(t, h.Stats().LiveBlocks)
			}))
		}
	}
	lint.CheckNil(t, calls...)
}
