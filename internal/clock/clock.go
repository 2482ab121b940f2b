// Package clock measures time spans that may be short: budgets, parts of jobs, updates of systems.
//
// On most systems time.Now is precise enough. On Windows it returns the time of the last timer
// interrupt, and interrupts come every 15.6 ms unless a program has requested more. A shorter span
// then measures as nothing or 15.6 ms, and a budget of 1 ms lasts until the next interrupt. On
// Windows, Now reads the performance counter instead, which counts tenths of microseconds.
//
//	time.Now  |. . . . . . . . . . . . . . . .|. . . . . . . .   15.6 ms
//	Now       |||||||||||||||||||||||||||||||||||||||||||||||||   0.1 us
//
// Goroutines: any. Cost: as time.Since; on Windows, a call out of Go. In a bubble of
// testing/synctest Now returns the bubble's time, except on Windows.
package clock

import (
	"time"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// Now returns the time since a fixed moment before the program's first call. It never goes back and
// is independent of the machine's date.
func Now() time.Duration { return now() }
