package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Peak is the peak resident memory of this process in bytes, Resident the present one. Both are
// read from procfs, because getrusage of a child starts with the peak of its parent.
func Peak() int64 { return field("VmHWM:") }

// Resident is the resident memory of this process in bytes.
func Resident() int64 { return field("VmRSS:") }

// field finds a line "NAME   123 kB" and returns bytes, 0 if there is none.
func field(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if len(words) < 2 || string(words[0]) != name {
			continue
		}
		if n, err := strconv.ParseInt(string(words[1]), 10, 64); err == nil {
			return n << 10
		}
	}
	return 0
}

func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
