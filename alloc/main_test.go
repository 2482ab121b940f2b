package alloc_test

import (
	"os"
	"testing"

	"quarry/alloc"
)

// TestMain stops the scavenger, which would return memory that tests count. Tests of the scavenger
// start it.
func TestMain(m *testing.M) {
	alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	os.Exit(m.Run())
}
