package bitmask_test

import (
	"testing"

	"quarry/internal/lint"
)

// TestNil has no rows: no exported function takes a pointer, and the test fails for one that does.
func TestNil(t *testing.T) { lint.CheckNil(t) }
