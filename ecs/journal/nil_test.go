package journal_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	nothing := func(*ecs.World) {}
	lint.CheckNil(t,
		lint.NilPanics("Open: function", "journal: Open: ", func() { _, _ = journal.Open("", nil) }),
		lint.NilPanics("Open: option", "journal: Open: ", func() { _, _ = journal.Open("", nothing, nil) }),
		lint.NilPanics("View: function", "journal: View: ", func() { _, _, _ = journal.View("", nil) }),
		lint.NilPanics("View: option", "journal: View: ", func() { _, _, _ = journal.View("", nothing, nil) }),
		lint.NilPanics("Base", "journal: Base: ", func() { journal.Base(nil) }),
	)
}
