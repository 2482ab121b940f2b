package container_test

import (
	"testing"

	"quarry/alloc/container"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("NewMap", "container: NewMap: the allocator is nil", func() { container.NewMap[int, int](nil) }),
	)
}
