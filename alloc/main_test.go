package alloc_test

import (
	"math"
	"os"
	"testing"

	"quarry/alloc"
)

// underRace is set in builds for the race detector.
var underRace bool

// TestMain stops the scavenger, which would return memory that tests count; tests of the scavenger
// start it. Under the race detector it runs beside all tests. First granules have huge pages,
// however many universes other tests have left; tests of small pages request these.
func TestMain(m *testing.M) {
	if !underRace {
		alloc.SetScavenger(alloc.Scavenger{Percent: -1})
	}
	alloc.FineFrom(math.MaxInt32)
	os.Exit(m.Run())
}
