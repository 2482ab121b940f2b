//go:build !windows

package clock

import "time"

var start = time.Now()

func now() time.Duration { return time.Since(start) }
