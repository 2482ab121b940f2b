//go:build alloc_mutants

package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/fuzz"
)

// TestHistoriesCatchMutants plants each seeded defect of the universe's protocol and requires that
// a history, or Verify after it, shows the defect. Defects 1 and 2 need a refused commit; package
// alloc's own tests catch them.
func TestHistoriesCatchMutants(t *testing.T) {
	defer alloc.Plant(0)
	for n := 3; n <= alloc.Mutants; n++ {
		alloc.Plant(n)
		var err error
		seed := uint64(0)
		for ; err == nil && seed < 400_000; seed++ {
			err = fuzz.RunHistory(seed, 2+int(seed%7), 1+int(seed%2), 40)
		}
		require.Error(t, err, "defect %d", n)
		t.Logf("defect %d, after %d histories: %v", n, seed, err)
	}
}
