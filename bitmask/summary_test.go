package bitmask_test

import (
	"testing"

	"quarry/bitmask"
)

// TestClassesAgreeWithTwin compares the class of a word with that of its longest
// run, found one bit at a time.
func TestClassesAgreeWithTwin(t *testing.T) {
	check := func(w uint64) {
		_, longest := bitmask.LongestRunRef(w)
		want := -1
		for run := 1; run <= longest; run *= 2 {
			want++
		}
		if got := bitmask.ClassOf(w); got != want {
			t.Fatalf("classOf(%#x): got %d want %d", w, got, want)
		}
	}
	i := 0
	interesting(func(w uint64) {
		if i++; !testing.Short() || i%7 == 0 {
			check(w)
		}
	})
	for at := range 64 {
		for n := 1; at+n <= 64; n++ {
			check(bitmask.MaskRef(at, n))
			check(^bitmask.MaskRef(at, n))
		}
	}
}
