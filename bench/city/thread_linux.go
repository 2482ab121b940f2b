package city

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadUsage returns what the calling thread has had so far.
func threadUsage() usage {
	var t unix.Timespec
	var r unix.Rusage
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil || unix.Getrusage(unix.RUSAGE_THREAD, &r) != nil {
		return usage{}
	}
	return usage{time.Duration(t.Nano()), int(r.Minflt), int(r.Nvcsw), int(r.Nivcsw)}
}
