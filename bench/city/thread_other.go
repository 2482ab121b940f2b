//go:build !linux

package city

import "time"

// threadTime returns 0: it is known on Linux alone.
func threadTime() time.Duration { return 0 }
