package fuzz_test

import (
	"os"
	"testing"

	"quarry/alloc"
)

// TestMain stops the scavenger, which would return memory that the models
// count.
func TestMain(m *testing.M) {
	alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	os.Exit(m.Run())
}
