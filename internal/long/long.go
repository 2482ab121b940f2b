// Package long decides how much of a long test runs. Without it a test runs its short form, which
// ends soon on a slow machine too; with QUARRY_LONG=1 in the environment it runs whole: every byte,
// all seeds, all steps. Beside each short form a comment states what it still proves.
package long

import (
	"os"
	"strconv"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// Times returns the number in QUARRY_LONG: 0 for short forms, 1 for whole tests, n for whole tests
// with n times the random steps. Any other text counts as 1.
func Times() int {
	text := os.Getenv("QUARRY_LONG")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return max(n, 0)
}

// On reports whether tests run whole.
func On() bool { return Times() > 0 }

// N returns whole where tests run whole, else short.
func N(short, whole int) int {
	if On() {
		return whole
	}
	return short
}
