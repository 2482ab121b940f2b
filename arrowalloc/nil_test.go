package arrowalloc_test

import (
	"testing"

	"quarry/arrowalloc"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("New", "arrowalloc: New: the allocator is nil", func() { arrowalloc.New(nil) }),
		lint.NilPanics("Allocator.AssertSize", "arrowalloc: AssertSize: the test is nil", func() {
			arrowalloc.New(newHeap(t)).AssertSize(nil, 0)
		}),
	)
}
