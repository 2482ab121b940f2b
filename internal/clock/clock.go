// Package clock measures stretches of time that may be short: budgets, parts of jobs, updates
// of systems.
//
// Elsewhere that is what time.Now measures. On Windows time.Now tells when the last timer
// interrupt was, and those come every 15.6 ms unless a program has asked for more: what takes
// less than that takes nothing or 15.6 ms, and a budget of 1 ms lasts until the next interrupt.
// There Now reads the performance counter, which counts tenths of microseconds.
//
//	time.Now  |. . . . . . . . . . . . . . . .|. . . . . . . .   15.6 ms
//	Now       |||||||||||||||||||||||||||||||||||||||||||||||||   0.1 us
//
// Goroutines: any. Cost: elsewhere that of time.Since; on Windows a call out of Go. In a
// bubble of testing/synctest Now is the bubble's time, but for Windows.
package clock

import (
	"time"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// Now returns the time since some moment before the program's first call. It does not go
// back, and the machine's date is not in it.
func Now() time.Duration { return now() }
