package hierarchy_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("New", "hierarchy: New: ", func() { hierarchy.New(nil) }),
		lint.NilPanics("Columns", "hierarchy: Columns: ",
			func() { hierarchy.Columns(nil, ecs.Component[int32]{}, nil) }),
	)
}
